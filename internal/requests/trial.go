package requests

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// trial is what the service says to a credential. Services lock accounts: until the service has accepted a request with the
// credential, three deliveries send it, and no more than five of their requests are rejected.
type trial struct {
	turns chan struct{} // has an element for each delivery that sends an untested credential
	tries chan struct{} // has an element for each request under way with it, and for each rejected one
	ended chan struct{} // closed when there is a verdict

	replaces bool // a rejected credential; does not change

	mu sync.Mutex
	evidence
}

// evidence is what the responses to requests with a credential have shown.
type evidence struct {
	verdict    verdict
	accepted   int    // requests, by the service
	rejections int    // since the last one that was accepted
	rejection  Result // the last one
	exhausted  bool   // another credential would not help
}

// verdict is what a trial has shown.
type verdict int

const (
	untested verdict = iota
	proven           // also while another credential may help against rejections, or while nothing responds
	wrong            // and no other credential helps
)

const (
	maxUntested    = 3           // deliveries that send an untested credential
	maxRejections  = 5           // they show that a credential is wrong if it has not worked since
	rejectionDelay = time.Second // until a rejected credential is sent again: one node may not know it yet
)

// newTrial begins the trial of a credential.
func newTrial() *trial {
	return &trial{
		turns: make(chan struct{}, maxUntested), tries: make(chan struct{}, maxRejections), ended: make(chan struct{}),
	}
}

var errRejected = errors.New("the service has rejected the credentials of other requests")

// acquire waits for a turn or a try, as long as the credential is untested.
func (t *trial) acquire(ctx context.Context, semaphore chan struct{}) error {
	if t.now().verdict == untested {
		select {
		case <-t.ended:
		case semaphore <- struct{}{}:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrTurnWait, ctx.Err())
		}
	}
	if t.isWrong() {
		return errRejected
	}
	return nil
}

// release ends a turn or a try, if they still count.
func (t *trial) release(semaphore chan struct{}) {
	select {
	case <-semaphore:
	case <-t.ended:
	}
}

// turn is that of a delivery, with the credential that it sent last.
type turn struct {
	trial  *trial // nil without one
	hasTry bool   // for a request that is about to be sent, or under way
}

// beginTry waits until the credential may be sent.
func (t *turn) beginTry(ctx context.Context, c *credential) error {
	if ctx.Err() != nil { // an operation that has ended has not waited
		return ctx.Err()
	}
	if t.trial != c.trial {
		t.end()
	}
	if t.trial == nil {
		if err := c.trial.acquire(ctx, c.trial.turns); err != nil {
			return err
		}
		t.trial = c.trial
	}
	err := t.trial.acquire(ctx, t.trial.tries)
	t.hasTry = err == nil
	return err
}

// useUpTry notes that the request was rejected: no other one takes its place.
func (t *turn) useUpTry() { t.hasTry = false }

// endTry lets another request with the credential be sent.
func (t *turn) endTry() {
	if t.hasTry {
		t.trial.release(t.trial.tries)
	}
	t.hasTry = false
}

// end lets another delivery send the credential.
func (t *turn) end() {
	t.endTry()
	if t.trial != nil {
		t.trial.release(t.trial.turns)
	}
	t.trial = nil
}

// isWrong reports whether the service has rejected the credential, and no other one helps.
func (t *trial) isWrong() bool { return t.now().verdict == wrong }

// isSecondTry reports whether the credential replaces a rejected one, and has not worked either.
func (t *trial) isSecondTry() bool { return t.replaces && t.now().accepted == 0 }

// isLast reports whether another credential would not help: a service that rejects a new one would reject the next one, too.
func (t *trial) isLast() bool { return t.now().exhausted || t.isSecondTry() }

// now returns the evidence at this moment.
func (t *trial) now() evidence {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.evidence
}

// accept notes a response that shows that the service accepts the credential.
func (t *trial) accept() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.accepted++
	t.rejections = 0
	t.settle()
}

// open lets all deliveries send the credential: nothing responds, and many deliveries must not wait for that one after the other.
func (t *trial) open() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.verdict == untested {
		t.conclude(proven)
	}
}

// reject counts the rejection of a request, unless the service has accepted another one since it began: accepted is how many there
// were then. Once the service has accepted the credential, the second rejection of a delivery shows nothing new.
func (t *trial) reject(accepted int, second bool, r Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rejection = r
	if t.accepted != accepted || second && t.accepted > 0 {
		return
	}
	t.rejections++
	t.settle()
}

// abort ends the trial of a rejected credential, which is not sent from now on.
func (t *trial) abort() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.verdict == untested {
		t.conclude(wrong)
	}
}

// exhaust notes that another credential would not help. What the service has accepted before, it may accept again: only
// another rejection shows that the credential is wrong.
func (t *trial) exhaust() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exhausted = true
}

// settle reaches a verdict. A credential that the service has accepted counts as right as long as another one may help.
func (t *trial) settle() {
	switch {
	case t.rejections >= maxRejections && (t.accepted == 0 || t.exhausted):
		t.conclude(wrong)
	case t.accepted > 0:
		t.conclude(proven)
	}
}

// conclude ends the trial with a verdict. A later one replaces it.
func (t *trial) conclude(v verdict) {
	if t.verdict == untested {
		close(t.ended)
	}
	t.verdict = v
}
