package requests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
)

// gate is where deliveries wait that would send an untested credential. Services lock accounts: two deliveries at a time send it, until
// the service responds with anything but a rejection. Once two of them have ended with a rejection, the credential is wrong.
type gate struct {
	places chan struct{} // has an element for each delivery that sends the untested credential, and for each one that was rejected
	opened chan struct{} // closed when the places do not count any more

	mu sync.Mutex
	evidence
}

// evidence is what the responses to requests with a credential have shown.
type evidence struct {
	verdict    verdict
	rejections int        // deliveries that have ended with one
	rejection  Result     // the last one
	accepted   Acceptance // requests with the credential, or with one that it replaces
}

type verdict int

const (
	untested verdict = iota
	unproven         // as before, but nothing responds: deliveries must not wait for that two at a time
	right
	wrong // or replaced
)

const maxUntested, maxRejections = 2, 2 // deliveries

func newGate(accepted Acceptance) *gate {
	g := &gate{places: make(chan struct{}, maxUntested), opened: make(chan struct{})}
	g.accepted = accepted
	return g
}

var errRejected = errors.New("the service has rejected the credentials of other requests")

// now returns the evidence at this moment.
func (g *gate) now() evidence {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.evidence
}

// refusal returns why nobody sends a wrong credential, or nil.
func (g *gate) refusal() error {
	now, what := g.now(), "the same credentials"
	if now.verdict != wrong {
		return nil
	}
	if now.rejection.Credentials == NoCredentials {
		what = "requests without credentials"
	}
	unsent := now.rejection.unsent("the service has rejected " + what + " for other streams")
	return fmt.Errorf("%w: %w", errRejected, &failedSearch{result: unsent})
}

// conclude changes the evidence. With a verdict, all deliveries may send the credential, or none.
func (g *gate) conclude(change func(e *evidence)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.verdict
	if change(&g.evidence); before == untested && g.verdict != untested {
		close(g.opened)
	}
}

// accept notes a final response that is no rejection.
func (g *gate) accept(method string, status int) {
	accepted := AcceptedUpdates
	if method == http.MethodGet {
		accepted = AcceptedReads
	}
	g.conclude(func(e *evidence) {
		if e.verdict = right; status/100 == 2 {
			e.accepted = max(e.accepted, accepted)
		}
	})
}

// hearNothing notes an attempt without a response.
func (g *gate) hearNothing() {
	g.conclude(func(e *evidence) { e.verdict = max(e.verdict, unproven) })
}

// reject notes the end of a delivery that was rejected.
func (g *gate) reject(rejection Result) {
	g.conclude(func(e *evidence) {
		e.rejections++
		e.rejection = rejection
		if e.rejections >= maxRejections && e.verdict != right {
			e.verdict = wrong
		}
	})
}

// close ends all waits: another credential replaces this one.
func (g *gate) close() {
	g.conclude(func(e *evidence) { e.verdict = wrong })
}

// pass is what a delivery has at the gate of the credential that it sends.
type pass struct {
	gate      *gate // nil before the first one; a token request has none
	hasPlace  bool
	rejection *Result // with this credential; nil: none
}

// enter waits until the delivery may send a credential. The error is errRejected if nobody may.
func (p *pass) enter(ctx context.Context, g *gate) error {
	if p.gate != g {
		p.end()
		*p = pass{gate: g}
	}
	switch {
	case ctx.Err() != nil: // an operation that has ended has not waited
		return ctx.Err()
	case g == nil:
		return nil
	case !p.hasPlace && g.now().verdict == untested:
		select {
		case g.places <- struct{}{}:
			p.hasPlace = true
		case <-g.opened:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrTurnWait, ctx.Err())
		}
	}
	if g.now().verdict == wrong {
		return errRejected
	}
	return nil
}

// learn notes what an attempt shows about the credential. A failure of the service or of a connection shows nothing: another delivery
// may have the place.
func (p *pass) learn(a attempt, method string) {
	switch {
	case p.gate == nil:
	case a.isTaken():
		p.gate.accept(method, a.status)
	case a.isSilence():
		p.gate.hearNothing()
	case p.rejection == nil:
		p.leave()
	}
}

// reject notes that the request was rejected. The delivery keeps its place: no other one may be rejected in its stead.
func (p *pass) reject(r Result) { p.rejection = &r }

// leave gives the place to another delivery.
func (p *pass) leave() {
	if p.hasPlace {
		<-p.gate.places
	}
	p.hasPlace = false
}

// end ends the pass of a delivery.
func (p *pass) end() {
	if p.rejection != nil {
		p.gate.reject(*p.rejection)
	} else {
		p.leave()
	}
}
