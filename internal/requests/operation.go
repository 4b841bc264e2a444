package requests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// operation is one request, to the service or for a token, with all its attempts.
type operation struct {
	*Sender
	authorization
	endpoint *health
	request  Request
	began    time.Time // the first attempt
	patience patience
	next     nextTry // what follows the last attempt
	result   Result  // so far

	brokeEarly bool // the result MayHaveActed only because new connections broke without a response
}

// authorization is what an operation does with the credential.
type authorization struct {
	header   *header // sent last; for a token request, none
	hasTurn  bool    // with this header, see [trial]
	replaced bool    // the service has rejected another header before
	waited   bool    // since a rejection
}

// use begins to send a header.
func (o *operation) use(h *header) {
	if o.header != nil && o.header.trial != h.trial {
		o.endTurn()
	}
	o.header = h
}

func (o *operation) endTurn() {
	if o.hasTurn {
		o.header.release(o.header.turns)
	}
	o.hasTurn = false
}

// wait returns when the next attempt may begin: with a turn, in a slot, and within the rate limit. The attempt holds its slot
// until it is done.
func (o *operation) wait(ctx context.Context) (done func(), err error) {
	if err := o.waitForTurn(ctx); err != nil {
		return nil, err
	}
	select {
	case o.slots <- struct{}{}:
	case <-ctx.Done():
		o.header.release(o.header.tries)
		return nil, fmt.Errorf("%w: %w", ErrSlotWait, ctx.Err())
	}
	done = func() { <-o.slots }
	if o.limiter.Wait(ctx) != nil { // last, because the requests after another wait would burst
		done()
		o.header.release(o.header.tries)
		return nil, cmp.Or(ctx.Err(), ErrRateLimit) // the limiter does not wait beyond the deadline
	}
	return done, nil
}

// waitForTurn waits until the header may be sent. While nothing responds, that takes no longer than a short attempt.
func (o *operation) waitForTurn(ctx context.Context) error {
	if ctx.Err() != nil { // an operation that has ended has not waited
		return ctx.Err()
	}
	timeout := o.settings.RequestTimeout
	ask := func() error {
		now := o.endpoint.now()
		if now.condition != mute {
			return nil
		}
		o.result.Repeated = true
		err := fmt.Errorf("the %s %w %s to other operations", o.result.Receiver(), ErrRequestTimeout, timeout)
		if errors.Is(now.silence, transport.ErrNoConnection) {
			err = fmt.Errorf("%w: %w", err, transport.ErrNoConnection)
		}
		return err
	}
	if !o.hasTurn {
		if err := o.header.acquire(ctx, o.header.turns, shortened(timeout), ask); err != nil {
			return err
		}
		o.hasTurn = true
	}
	return o.header.acquire(ctx, o.header.tries, shortened(timeout), ask)
}

// timeLimit returns how long the next attempt may take.
func (o *operation) timeLimit() time.Duration {
	if o.endpoint.now().condition == mute {
		return shortened(o.settings.RequestTimeout)
	}
	return o.settings.RequestTimeout
}

// noteEnding notes why no other attempt follows one that failed for the moment.
func (o *operation) noteEnding(err error) {
	o.result.Repeated = o.endpoint.now().condition != working
	reason := ""
	switch o.next.ending {
	case impatient:
		o.endpoint.lostPatience(o.patience.successes)
	case interrupted:
		if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) { // the error says why
			reason = "the request was not retried, because the operation was interrupted or its time limit had passed"
		}
	case noTime:
		o.result.Err, reason = ErrNoTime, ErrNoTime.Error()
		if o.next.asked != "" {
			reason = fmt.Sprintf("the %s asked to wait (%s), longer than the operation's time limit allows",
				o.result.Receiver(), o.Printable(o.next.asked, masking.MaxText))
		}
	}
	o.result = o.result.because(reason)
}

// failed returns the result of an operation whose last attempt got no response, or which had no header to send.
func (o *operation) failed(err error) Result {
	if search, isSearch := errors.AsType[*failedSearch](err); isSearch {
		shared := search.result // of another request, which did not reach the stream
		shared.MayHaveActed, shared.Attempts = o.result.MayHaveActed, cmp.Or(shared.Attempts, o.result.Attempts)
		return shared
	}
	if u, isURL := errors.AsType[*url.Error](err); isURL {
		err = u.Err // without method and URL, which the result has
	}
	failure, reason := TimedOut, ""
	switch {
	case errors.Is(err, context.Canceled):
		failure, reason = Interrupted, "the operation was interrupted"
	case errors.Is(err, ErrRateLimit), errors.Is(err, ErrRequestTimeout):
		reason = err.Error()
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*net.OpError)):
		reason = "the operation did not finish within its time limit"
		for _, wait := range []error{ErrSlotWait, ErrTurnWait, ErrTokenWait} {
			if errors.Is(err, wait) {
				reason += ": " + wait.Error()
			}
		}
	case errors.Is(err, transport.ErrNotSent), errors.Is(err, ErrIncomplete):
		failure, reason = NoResponse, o.Printable(err.Error(), masking.MaxText)
	default:
		failure, reason = NoResponse, "the connection failed: "+o.Printable(err.Error(), masking.MaxText)
	}
	result := o.result.because(reason)
	result.Failure, result.Err = failure, err
	return result
}
