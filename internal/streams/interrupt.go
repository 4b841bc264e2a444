package streams

import (
	"context"
	"errors"
	"time"
)

// interruptGrace is how long an attempt may go on after an interrupt. The service has probably received
// its request, and only the response tells whether the stream was changed.
const interruptGrace = 5 * time.Second

// attemptContext returns the context of one attempt. It ends with the request timeout and with the time
// limit of the operation, and interruptGrace after the operation was cancelled.
func attemptContext(operation context.Context, requestTimeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(operation))
	timeout := time.AfterFunc(requestTimeout, func() { cancel(ErrRequestTimeout) })
	unregister := context.AfterFunc(operation, func() {
		if errors.Is(operation.Err(), context.Canceled) {
			grace := interruptGrace
			if deadline, ok := operation.Deadline(); ok {
				grace = min(grace, time.Until(deadline))
			}
			timer := time.NewTimer(grace)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
		cancel(operation.Err())
	})
	return ctx, func() {
		unregister()
		timeout.Stop()
		cancel(context.Canceled)
	}
}
