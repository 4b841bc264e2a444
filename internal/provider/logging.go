package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// observe logs an attempt: one line at DEBUG, the bodies at TRACE. Headers are never logged.
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
	if observer, ok := ctx.Value(attemptObserverKey{}).(func(streams.Attempt)); ok {
		observer(a)
	}
}

type attemptObserverKey struct{}

// withAttemptObserver makes observe call observer after each attempt of an operation with the returned context.
func withAttemptObserver(ctx context.Context, observer func(streams.Attempt)) context.Context {
	return context.WithValue(ctx, attemptObserverKey{}, observer)
}
