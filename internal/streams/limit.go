package streams

import (
	"context"
	"time"
)

// withoutLimit is the key of the context that a time limit was set for.
type withoutLimit struct{}

// WithTimeLimit is like [context.WithTimeout]. The time that an operation waits for the first responses to requests with
// its credential does not count.
func WithTimeLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithValue(ctx, withoutLimit{}, ctx), limit)
}

// postpone returns a context with a later end, if ctx is one of [WithTimeLimit]. An interrupt ends it as well.
func postpone(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	interrupted, ours := ctx.Value(withoutLimit{}).(context.Context)
	if !ours {
		return context.WithCancel(ctx)
	}
	end, _ := ctx.Deadline()
	later, cancel := context.WithDeadline(context.WithoutCancel(ctx), end.Add(by))
	unregister := context.AfterFunc(interrupted, cancel)
	return later, func() {
		unregister()
		cancel()
	}
}
