package requests

import (
	"context"
	"fmt"
	"net/http"
	"sync"
)

// gate is where deliveries wait that would send an untested credential. Services lock accounts: two deliveries at a time send it, until
// the service responds with anything but a rejection. Once two of them have ended with a rejection, the credential is wrong.
type gate struct {
	places chan struct{} // has an element for each delivery that may still send it; closed when they do not count any more

	mu         sync.Mutex
	verdict    verdict
	rejections int        // deliveries that have ended with one
	rejection  Result     // the last one
	accepted   Acceptance // requests with the credential, or with one that it replaces
}

// verdict is what the responses to requests with a credential have shown.
type verdict int

const (
	untested verdict = iota
	unproven         // as before, but nothing responds: deliveries must not wait for that two at a time
	right
	wrong // or replaced
)

const maxUntested, maxRejections = 2, 2 // deliveries

func newGate(accepted Acceptance) *gate {
	g := &gate{places: make(chan struct{}, maxUntested), accepted: accepted}
	for range maxUntested {
		g.places <- struct{}{}
	}
	return g
}

// now returns what is known at this moment.
func (g *gate) now() (verdict, Acceptance) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.verdict, g.accepted
}

// refusal returns why nobody sends a wrong credential, or nil.
func (g *gate) refusal() *noCredential {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.verdict != wrong {
		return nil
	}
	what := "the same credentials"
	if g.rejection.Credentials == NoCredentials {
		what = "requests without credentials"
	}
	return &noCredential{result: g.rejection.because("the service has rejected " + what + " for other streams"), isRejection: true}
}

// conclude changes the verdict: all deliveries may send the credential, or none.
func (g *gate) conclude(v verdict) {
	if g.verdict == untested && v != untested {
		close(g.places)
	}
	g.verdict = v
}

// learn notes an attempt that was not rejected.
func (g *gate) learn(a attempt, method string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case a.isTaken():
		g.conclude(right)
	case a.isSilence():
		g.conclude(max(g.verdict, unproven))
	}
	switch isSuccess := a.isTaken() && a.status/100 == 2; {
	case isSuccess && method == http.MethodGet:
		g.accepted = max(g.accepted, AcceptedReads)
	case isSuccess:
		g.accepted = AcceptedUpdates
	}
}

// reject notes the end of a delivery that was rejected.
func (g *gate) reject(rejection Result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rejections++
	g.rejection = rejection
	if g.rejections >= maxRejections && g.verdict != right {
		g.conclude(wrong)
	}
}

// leave gives a place back.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.verdict == untested {
		g.places <- struct{}{}
	}
}

// close ends all waits: another credential replaces this one.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conclude(wrong)
}

// pass is what a delivery has at the gate of the credential that it sends.
type pass struct {
	gate      *gate // nil before the first one
	hasPlace  bool
	rejection *Result // with this credential; nil: none
}

// enter waits until the delivery may send a credential. The error is errOutdated if nobody may.
func (p *pass) enter(ctx context.Context, g *gate) error {
	if p.gate != g {
		p.end()
		*p = pass{gate: g}
	}
	if !p.hasPlace {
		select {
		case <-g.places:
			p.hasPlace = true
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrTurnWait, ctx.Err())
		}
	}
	if verdict, _ := g.now(); verdict == wrong {
		return errOutdated
	}
	return nil
}

// learn notes an attempt that was not rejected. A failure shows nothing about the credential: another delivery may have the place.
func (p *pass) learn(a attempt, method string) {
	if p.gate.learn(a, method); p.rejection == nil {
		p.leave()
	}
}

// reject notes that the request was rejected. The delivery keeps its place: no other one may be rejected in its stead.
func (p *pass) reject(r Result) { p.rejection = &r }

// leave gives the place to another delivery.
func (p *pass) leave() {
	if p.hasPlace {
		p.gate.leave()
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
