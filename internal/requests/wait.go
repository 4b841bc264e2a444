package requests

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// limits are those of all requests together.
type limits struct {
	slots   chan struct{} // has an element for each attempt under way
	limiter *rate.Limiter
}

// wait waits until fewer requests are under way, and then for the rate limit: last, because the requests after another wait would
// burst. The attempt holds its slot until it is done.
func (l limits) wait(ctx context.Context) (done func(), err error) {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrSlotWait, ctx.Err())
	}
	done = func() { <-l.slots }
	if l.limiter.Wait(ctx) != nil {
		done()
		return nil, cmp.Or(ctx.Err(), ErrRateLimit) // the limiter does not wait beyond the deadline
	}
	return done, nil
}

// turn is that of a delivery, with the credential that it sent last.
type turn struct{ trial *trial } // nil without one

// wait waits until the credential may be sent. After each interval, ask says whether to go on.
func (t *turn) wait(ctx context.Context, c *credential, interval time.Duration, ask func() error) error {
	if ctx.Err() != nil { // an operation that has ended has not waited
		return ctx.Err()
	}
	if t.trial != c.trial {
		t.end()
	}
	if t.trial == nil {
		if err := c.trial.acquire(ctx, c.trial.turns, interval, ask); err != nil {
			return err
		}
		t.trial = c.trial
	}
	return c.trial.acquire(ctx, c.trial.tries, interval, ask)
}

// end lets another delivery send the credential.
func (t *turn) end() {
	if t.trial != nil {
		t.trial.release(t.trial.turns)
	}
	t.trial = nil
}
