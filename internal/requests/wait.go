package requests

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// wait returns when the next attempt may begin: with a turn, in a slot, and within the rate limit. The attempt holds its slot
// until it is done. A credential that turns out to be wrong meanwhile is replaced.
func (d *delivery) wait(ctx context.Context, c *credential) (_ *credential, done func(), err error) {
	for err = d.waitForTurn(ctx, c); errors.Is(err, errRejected); err = d.waitForTurn(ctx, c) {
		if c, err = d.credentials.get(ctx, ""); err != nil {
			return nil, nil, err
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if done, err = d.client.waitForSlot(ctx); err != nil {
		c.trial.release(c.trial.tries)
	}
	return c, done, err
}

// waitForTurn waits until the credential may be sent. While nothing responds, that takes less time than a short attempt, because
// who gets a turn at the end of the wait makes such an attempt, too.
func (d *delivery) waitForTurn(ctx context.Context, c *credential) error {
	if ctx.Err() != nil { // an operation that has ended has not waited
		return ctx.Err()
	}
	if d.turn != c.trial {
		d.endTurn()
	}
	interval := max(1, shortened(d.client.settings.RequestTimeout)*3/5)
	if d.turn == nil {
		if err := c.trial.acquire(ctx, c.trial.turns, interval, d.checkSilence); err != nil {
			return err
		}
		d.turn = c.trial
	}
	return c.trial.acquire(ctx, c.trial.tries, interval, d.checkSilence)
}

func (d *delivery) endTurn() {
	if d.turn != nil {
		d.turn.release(d.turn.turns)
	}
	d.turn = nil
}

// checkSilence returns an error if nothing responds to other deliveries.
func (d *delivery) checkSilence() error {
	now := d.endpoint.now()
	if now.condition != mute {
		return nil
	}
	err := fmt.Errorf("the %s %w %s to other operations", d.subject.Receiver(), ErrRequestTimeout, d.client.settings.RequestTimeout)
	if errors.Is(now.silence, transport.ErrNoConnection) {
		err = fmt.Errorf("%w: %w", err, transport.ErrNoConnection)
	}
	return err
}

// waitForSlot waits until fewer requests are under way, and then for the rate limit: last, because the requests after another wait
// would burst.
func (c *client) waitForSlot(ctx context.Context) (done func(), err error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrSlotWait, ctx.Err())
	}
	done = func() { <-c.slots }
	if c.limiter.Wait(ctx) != nil {
		done()
		return nil, cmp.Or(ctx.Err(), ErrRateLimit) // the limiter does not wait beyond the deadline
	}
	return done, nil
}
