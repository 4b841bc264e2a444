package requests

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// delivery is one request, to the service or for a token, with all its attempts.
type delivery struct {
	sender      *Sender
	health      *health // of the endpoint
	credentials *credentials
	pass        pass
	history     history
}

// run makes attempts until one of them is the result, or an error ends a wait.
func (d *delivery) run(ctx context.Context, req *http.Request) (end step, err error) {
	defer d.pass.end() // also after a panic, which ends only this operation
	next := step{ending: goesOn}
	for err == nil && next.ending == goesOn {
		var a attempt
		if a, err = d.attempt(ctx, req, next); err != nil {
			break
		}
		d.history.add(a)
		d.learn(a, req.Method)
		next = decide(d.history.attempts, d.sender.settings.Retry, timeLimitOf(ctx), time.Now(), rand.Float64())
		if d.sender.settings.Observe != nil {
			d.sender.settings.Observe(ctx, d.history.describe(next))
		}
		err = d.wait(ctx, a.credential, next)
	}
	if taken, c := showsOutage(d.history.attempts, next.ending, time.Now()); c != working {
		d.health.fail(taken, c)
	}
	no, isUnsent := errors.AsType[*noCredential](err)
	if d.history.last().isRejection() && (!isUnsent || no.isRejection) { // which is the result if nothing can be sent after it
		err = nil
	}
	return next, err
}

// attempt waits until an attempt may be made, makes it, and notes what it shows about the endpoint.
func (d *delivery) attempt(ctx context.Context, req *http.Request, next step) (a attempt, err error) {
	c, release, err := d.admit(ctx)
	if err != nil {
		return a, err
	}
	defer release()
	limit, late := d.timeout(next.short)
	taken := d.health.now().taken
	if n := len(d.history.attempts); n > 0 {
		taken = d.history.attempts[n-1].health.taken
	}
	a = transmit(ctx, d.sender.network, d.newRequest(req, c), limit, late)
	a.credential, a.forToken, a.secondTry, a.backoff = c, d.history.subject.TokenRequest, next.secondTry, next.backoff
	a.short, a.health = limit < d.sender.settings.RequestTimeout, d.health.learn(a)
	a.beside = a.health.taken > taken
	return a, nil
}

// admit waits until an attempt may be made, and returns the credential that it sends. If that is outdated after a wait, the delivery
// waits with the current one.
func (d *delivery) admit(ctx context.Context) (c *credential, release func(), err error) {
	for err = errOutdated; errors.Is(err, errOutdated); {
		if c, err = d.credentials.get(ctx, nil); err == nil {
			err = d.pass.enter(ctx, c.gate)
		}
		if err == nil {
			release, err = d.sender.limits.acquire(ctx, d.urgency(), c.isOver)
		}
	}
	return c, release, err
}

// urgency returns how soon the next attempt gets a slot.
func (d *delivery) urgency() urgency {
	switch taken := d.health.now().taken; {
	case len(d.history.attempts) == 0:
		return normal
	case taken > d.history.last().health.taken:
		return later
	}
	return urgent
}

// timeout returns the time limit of an attempt, and the error once it has passed.
func (d *delivery) timeout(short bool) (limit time.Duration, late error) {
	full, note := d.sender.settings.RequestTimeout, ""
	switch limit = full; {
	case d.health.now().condition == silent:
		limit = min(full, shortAttempt)
	case short:
		limit = min(full, max(full/3, shortAttempt))
	}
	if limit < full {
		note = fmt.Sprintf(" (shortened from %s after other failures)", full)
	}
	return limit, fmt.Errorf("the %s %w %s%s", d.history.subject.Receiver(), ErrRequestTimeout, limit, note)
}

// newRequest returns the request of one attempt.
func (d *delivery) newRequest(req *http.Request, c *credential) *http.Request {
	req = req.Clone(req.Context())
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", d.sender.settings.UserAgent)
	}
	if req.GetBody != nil {
		req.Body, _ = req.GetBody() // which is in memory
	}
	if c.value != "" {
		req.Header.Set("Authorization", c.value)
	}
	return req
}

// learn notes what the last attempt shows about its credential.
func (d *delivery) learn(a attempt, method string) {
	switch {
	case a.isRejection():
		d.pass.reject(d.history.result(step{}, nil))
		return
	case a.secondTry && a.isTaken():
		d.credentials.helped(a.credential)
	}
	d.pass.learn(a, method)
}

// wait waits until the next attempt is due. After a rejection, it looks for another credential meanwhile.
func (d *delivery) wait(ctx context.Context, rejected *credential, next step) error {
	if next.ending != goesOn {
		return nil
	}
	if next.secondTry {
		if _, err := d.credentials.get(ctx, rejected); err != nil {
			return err
		}
	}
	select {
	case <-time.After(time.Until(next.due)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
