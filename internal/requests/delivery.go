package requests

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// client has what all deliveries share.
type client struct {
	settings Config // with the defaults
	redactor *masking.Redactor
	network  transport.Network
	limits   limits
}

// delivery is one request, to the service or for a token, with all its attempts.
type delivery struct {
	client      *client
	health      *health      // of the endpoint
	credentials *credentials // nil for a token request
	turn        turn
	history     history
}

// newDelivery returns a delivery to an endpoint with this health. subject is what its result says about the request.
func (c *client) newDelivery(health *health, credentials *credentials, subject Result) *delivery {
	return &delivery{client: c, health: health, credentials: credentials, history: history{
		subject: subject, redactor: c.redactor,
	}}
}

// run makes attempts until one of them is the result, or an error ends a wait.
func (d *delivery) run(ctx context.Context, req *http.Request) (end step, err error) {
	defer d.turn.end() // also after a panic, which ends only this operation
	next := step{ending: goesOn, kind: first}
	c, err := d.credentials.get(ctx, "")
	for err == nil && next.ending == goesOn {
		var a attempt
		if a, err = d.attempt(ctx, req, c, next); err != nil {
			break
		}
		d.history.add(a)
		d.learnAboutCredential(a)
		next = decide(d.history.attempts, d.client.settings.Retry, timeLimitOf(ctx), time.Now(), rand.Float64())
		if d.client.settings.Observe != nil {
			d.client.settings.Observe(ctx, d.history.describe(req, next))
		}
		c, next, err = d.prepare(ctx, a.credential, next)
	}
	if taken, c := showsOutage(d.history.attempts, next.ending, time.Now()); c != working {
		d.health.fail(taken, c)
	}
	if d.history.last().isRejection() && !isFailedSearch(ctx, err) { // a rejection is the result if nothing can be sent after it
		err = nil
	}
	return next, err
}

// beginTry waits until the credential may be sent, and returns it, or the one that replaces it if it turns out to be wrong meanwhile.
func (d *delivery) beginTry(ctx context.Context, c *credential) (*credential, error) {
	err := d.turn.beginTry(ctx, c)
	for errors.Is(err, errRejected) {
		if c, err = d.credentials.get(ctx, ""); err != nil {
			return nil, err
		}
		err = d.turn.beginTry(ctx, c)
	}
	return c, err
}

// attempt waits until an attempt is allowed, makes it, and notes what it shows about the endpoint.
func (d *delivery) attempt(ctx context.Context, req *http.Request, c *credential, next step) (a attempt, err error) {
	if c, err = d.beginTry(ctx, c); err != nil {
		return a, err
	}
	release, err := d.client.limits.acquire(ctx, d.urgency())
	if err != nil {
		return a, err
	}
	defer release()
	limit, late := d.timeout(next.short)
	accepted, taken := c.trial.now().accepted, d.health.now().taken
	if n := len(d.history.attempts); n > 0 {
		taken = d.history.attempts[n-1].health.taken
	}
	a = transmit(ctx, d.client.network, d.newRequest(req, c), limit, late)
	a.credential, a.accepted, a.forToken, a.kind, a.backoff = c, accepted, d.history.subject.TokenRequest, next.kind, next.backoff
	a.short, a.health = limit < d.client.settings.RequestTimeout, d.health.learn(a)
	a.beside = a.health.taken > taken
	return a, nil
}

// urgency returns how soon the next attempt gets a slot.
func (d *delivery) urgency() urgency {
	switch taken := d.health.now().taken; {
	case d.history.subject.TokenRequest:
		return urgent
	case len(d.history.attempts) == 0:
		return normal
	case taken > d.history.last().health.taken:
		return later
	}
	return urgent
}

// timeout returns the time limit of an attempt, and the error once it has passed.
func (d *delivery) timeout(short bool) (limit time.Duration, late error) {
	full, note := d.client.settings.RequestTimeout, ""
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
		req.Header.Set("User-Agent", d.client.settings.UserAgent)
	}
	if req.GetBody != nil {
		req.Body, _ = req.GetBody() // which is in memory
	}
	if c.value != "" {
		req.Header.Set("Authorization", c.value)
	}
	return req
}

// learnAboutCredential notes what the last attempt shows about its credential.
func (d *delivery) learnAboutCredential(a attempt) {
	trial := a.credential.trial
	switch {
	case a.isRejection(): // the delivery may make another try in its turn
		d.turn.useUpTry()
		trial.reject(a.accepted, hasKind(d.history.attempts, secondTry), d.history.result(step{}, nil))
		if hasKind(d.history.attempts, replacement) { // the service would reject a third credential, too
			trial.exhaust()
		}
	case a.isSilence():
		trial.open()
		d.turn.end()
	case a.isEnded():
		d.turn.endTry()
	case a.isTaken():
		trial.accept()
		d.turn.end()
	default: // a failure of the service, of a proxy or of a connection says nothing about the credential: another delivery may send it
		d.turn.end()
	}
}

// prepare returns when the next attempt is due, with the credential that it sends.
func (d *delivery) prepare(ctx context.Context, c *credential, next step) (*credential, step, error) {
	if next.searches {
		other, err := d.credentials.get(ctx, c.value)
		if err != nil || other.value != c.value {
			return other, step{ending: goesOn, kind: replacement}, err
		}
	}
	if next.ending != goesOn {
		return c, next, nil
	}
	select {
	case <-time.After(time.Until(next.due)):
	case <-ctx.Done():
		return c, next, ctx.Err()
	}
	if next.kind != secondTry {
		return c, next, nil
	}
	newest, err := d.credentials.get(ctx, "") // by now, another delivery may have found a better one
	if err != nil {                           // the rejection is the result
		next.ending = final
	}
	return newest, next, nil
}

// isFailedSearch reports whether an error is why there is no other credential.
func isFailedSearch(ctx context.Context, err error) bool {
	return errors.As(err, new(*failedSearch)) && !errors.Is(err, errRejected) && ctx.Err() == nil
}
