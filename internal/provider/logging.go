package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// observe logs an attempt: a line at DEBUG, the bodies at TRACE. Headers are never logged.
func observe(ctx context.Context, a streams.Attempt) {
	fields := map[string]any{
		"method":      a.Method,
		"url":         a.URL,
		"status":      a.Status,
		"duration_ms": a.Duration.Milliseconds(),
		"attempt":     a.Number,
	}
	if a.Err != "" {
		fields["error"] = a.Err
	}
	tflog.Debug(ctx, "stream service request", fields)
	tflog.Trace(ctx, "stream service bodies", map[string]any{
		"request": a.RequestBody, "response": a.ResponseBody, "attempt": a.Number,
	})
	if progress, ok := ctx.Value(progressKey{}).(func(streams.Attempt)); ok {
		progress(a)
	}
}

// progressKey finds, in the context of an operation, who wants to hear of its attempts.
type progressKey struct{}
