package requests

import (
	"context"
	"errors"
	"net/http"
	"time"
)

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
