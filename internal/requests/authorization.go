package requests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// authorization is what an operation does with the credential.
type authorization struct {
	header   *header // sent last; for a token request, none
	hasTurn  bool    // with this header, see [trial]
	replaced bool    // the service has rejected another header before
	waited   bool    // since a rejection
}

// sendAuthorized sends the request, again after a rejection that may not be final. A rejection that has arrived is the
// result if nothing can be sent after it.
func (o *operation) sendAuthorized(ctx context.Context) error {
	defer o.endTurn()
	isRejected := false
	next, err := o.credential.get(ctx, "")
	for err == nil {
		attempts := o.result.Attempts
		failure := o.send(ctx, next)
		switch {
		case errors.Is(failure, errRejected): // while the request waited for its turn
			next, err = o.credential.get(ctx, "")
			if err != nil && isRejected {
				return nil
			}
		case isRejected && o.result.Attempts == attempts:
			return nil
		case failure != nil || o.result.Status != http.StatusUnauthorized:
			return failure
		default:
			isRejected = true
			next, err = o.headerAfterRejection(ctx)
			if errors.Is(err, errRejected) {
				return nil
			}
		}
	}
	return err
}

// headerAfterRejection returns what to send after a 401: at once another header if there is one, else the same one after a
// second, because one node of the service may not know it yet. The error is errRejected if the rejection is final.
func (o *operation) headerAfterRejection(ctx context.Context) (*header, error) {
	again := time.Now().Add(rejectionDelay)
	switch {
	case o.waited:
		return nil, errRejected
	case o.replaced:
		o.header.exhaust()
	default:
		next, err := o.credential.get(ctx, o.header.value)
		switch {
		case ctx.Err() != nil:
			return nil, errRejected
		case err != nil || next.value != o.header.value:
			o.replaced = true
			return next, err
		}
	}
	attempts := o.settings.Retry.MaxAttempts
	deadline, hasDeadline := ctx.Deadline()
	if attempts > 0 && o.result.Attempts >= attempts || hasDeadline && deadline.Before(again) {
		return nil, errRejected
	}
	o.waited = true
	select {
	case <-time.After(time.Until(again)):
	case <-ctx.Done():
		return nil, errRejected
	}
	next, err := o.credential.get(ctx, "") // by now, another operation may have found a better one
	if err != nil {
		return nil, errRejected
	}
	return next, nil
}

// use begins to send a header.
func (o *operation) use(h *header) {
	if o.header != nil && o.header.trial != h.trial {
		o.endTurn()
	}
	o.header = h
}

// waitForTurn waits until the header may be sent. While nothing answers, that takes no longer than a short attempt.
func (o *operation) waitForTurn(ctx context.Context) error {
	if ctx.Err() != nil { // an operation that has ended has not waited
		return ctx.Err()
	}
	timeout := o.settings.RequestTimeout
	ask := func() error {
		if o.endpoint.now().condition != mute {
			return nil
		}
		o.result.Repeated = true
		return fmt.Errorf("the %s %w %s to other operations", o.result.Receiver(), ErrRequestTimeout, timeout)
	}
	if !o.hasTurn {
		if err := o.header.acquire(ctx, o.header.turns, shortened(timeout), ask); err != nil {
			return err
		}
		o.hasTurn = true
	}
	return o.header.acquire(ctx, o.header.tries, shortened(timeout), ask)
}

func (o *operation) endTurn() {
	if o.hasTurn {
		o.header.release(o.header.turns)
	}
	o.hasTurn = false
}
