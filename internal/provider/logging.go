package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// observe logs an attempt: one line at DEBUG; bodies and the headers of the response at TRACE. Headers of requests are
// never logged.
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
	if a.Retry {
		fields["next_in"] = nextIn(a)
	}
	tflog.Debug(ctx, "stream service request", fields)
	tflog.Trace(ctx, "stream service bodies", map[string]any{
		"request": a.RequestBody, "response": a.ResponseBody, "response_headers": a.Header, "attempt": a.Number,
	})
	if observer, ok := ctx.Value(attemptObserver{}).(func(streams.Attempt)); ok {
		observer(a)
	}
}

func nextIn(a streams.Attempt) string { return a.RetryWait.Round(time.Millisecond).String() }

// attemptObserver is the key of a function in a context, which observe calls after each attempt.
type attemptObserver struct{}
