package provider

import (
	"context"
	"fmt"
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
	if observer, ok := ctx.Value(attemptObserverKey{}).(func(streams.Attempt)); ok {
		observer(a)
	}
}

// describeAttempt says what became of an attempt, in one line.
func describeAttempt(a streams.Attempt) string {
	result := streams.StatusText(a.Status)
	if a.Err != "" {
		result = "no response: " + a.Err
	}
	if a.Retry {
		result += ", next in " + nextIn(a)
	}
	return fmt.Sprintf("Attempt %d: %s %s → %s", a.Number, a.Method, a.URL, result)
}

func nextIn(a streams.Attempt) string { return a.RetryWait.Round(time.Millisecond).String() }

type attemptObserverKey struct{}

// withAttemptObserver makes observe call observer after each attempt of an operation with the returned context.
func withAttemptObserver(ctx context.Context, observer func(streams.Attempt)) context.Context {
	return context.WithValue(ctx, attemptObserverKey{}, observer)
}
