package streams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// trial is what the service says to a header. Services lock accounts: until the service has accepted a request with the
// header, three requests are under way at a time, and the others wait for their responses. A service may not know a new
// token at once, so the first two rejected requests pass on their turns, one after another.
type trial struct {
	turns chan struct{} // has an element for each request under way with an untested header, and for its rejection
	open  chan struct{} // closed when there is a verdict

	waiting atomic.Int64 // operations that wait for their turn

	mu         sync.Mutex
	verdict    verdict
	successes  int       // requests that the service has accepted
	rejections int       // since the last success
	rejection  *Error    // the last one
	nextTurn   time.Time // of a rejected request
	exhausted  bool      // another header would not help

	replaces bool // a rejected header; does not change
}

// verdict is what a trial has shown.
type verdict int

const (
	untested verdict = iota
	accepted         // also while another header may help against rejections
	rejected         // and no other header helps
)

const (
	maxUntested    = 3                       // requests under way with an untested header
	maxRejections  = 5                       // they show that a header is wrong if it has not worked since
	rejectionDelay = 1200 * time.Millisecond // twice, for a header that becomes valid within two seconds
)

func newTrial() *trial {
	return &trial{turns: make(chan struct{}, maxUntested), open: make(chan struct{})}
}

// ErrTurnWait says that an operation ended while it waited for the responses to other requests with its credential.
var ErrTurnWait = errors.New("the operation waited for the first responses to requests with the same credentials")

var errRejected = errors.New("the service has rejected the credentials of other requests")

// wait returns when a request may be sent, and whether its turn has to be ended. Every now and then, it asks whether the
// wait makes sense.
func (t *trial) wait(ctx context.Context, interval time.Duration, ask func() error) (hasTurn bool, err error) {
	t.waiting.Add(1)
	defer t.waiting.Add(-1)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for err == nil && t.isUntested() {
		select {
		case <-t.open:
		case t.turns <- struct{}{}:
			return true, nil
		case <-ticker.C:
			err = ask()
		case <-ctx.Done():
			err = fmt.Errorf("%w: %w", ErrTurnWait, ctx.Err())
		}
	}
	if err == nil && t.isWrong() {
		err = errRejected
	}
	return false, err
}

// isWrong reports whether the service has rejected the header, and no other one helps.
func (t *trial) isWrong() bool {
	verdict, _ := t.state()
	return verdict == rejected
}

func (t *trial) isUntested() bool {
	verdict, _ := t.state()
	return verdict == untested
}

// isSecondTry reports whether the header replaces a rejected one, and has not worked either.
func (t *trial) isSecondTry() bool {
	_, successes := t.state()
	return t.replaces && successes == 0
}

// isLast reports whether another header would not help: a service that rejects a new one would reject the next one, too.
func (t *trial) isLast() bool {
	t.mu.Lock()
	exhausted := t.exhausted
	t.mu.Unlock()
	return exhausted || t.isSecondTry()
}

func (t *trial) lastRejection() *Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rejection
}

// state returns the verdict, and the number of requests that the service has accepted.
func (t *trial) state() (verdict, int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.verdict, t.successes
}

// endTurn passes on a turn, if turns still count.
func (t *trial) endTurn() {
	select {
	case <-t.turns:
	case <-t.open:
	}
}

// accept notes a response that shows that the service accepts the header.
func (t *trial) accept() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.successes++
	t.rejections = 0
	t.settle()
}

// reject counts the rejection of a request that began after so many successes, if there was none in the meantime.
func (t *trial) reject(successes int, e *Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rejection = e
	if t.successes != successes {
		return
	}
	if t.rejections++; t.verdict == untested && t.rejections <= maxRejections-maxUntested {
		t.nextTurn = time.Now().Add(max(0, time.Until(t.nextTurn)) + rejectionDelay)
		time.AfterFunc(time.Until(t.nextTurn), t.endTurn)
	}
	t.settle()
}

// awaitAcceptance reports whether the service accepts a request with the header after it has rejected one. It does not wait
// if no other operation is to send one.
func (t *trial) awaitAcceptance(ctx context.Context) bool {
	if t.waiting.Load() > 0 {
		select {
		case <-t.open:
		case <-time.After((maxRejections - maxUntested + 1) * rejectionDelay):
		case <-ctx.Done():
		}
	}
	verdict, _ := t.state()
	return verdict == accepted
}

// replace ends the trial, because another header is sent from now on.
func (t *trial) replace() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.verdict == untested {
		t.decide(rejected)
	}
}

// exhaust notes that another header would not help.
func (t *trial) exhaust() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exhausted = true
	t.settle()
}

// settle reaches a verdict. A header that the service has accepted counts as right as long as another one may help.
func (t *trial) settle() {
	switch {
	case t.rejections >= maxRejections && (t.successes == 0 || t.exhausted):
		t.decide(rejected)
	case t.successes > 0:
		t.decide(accepted)
	}
}

func (t *trial) decide(v verdict) {
	if t.verdict == untested {
		close(t.open)
	}
	t.verdict = v
}
