package streams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// credential is the Authorization header of all requests. No scheme is specified (INTERFACE.md, section 5).
// If the header has to be found, one request does that, and the others wait for its result.
type credential struct {
	// source returns another header than rejected if there is one, for one request at a time; nil: the header is fixed.
	source func(ctx context.Context, rejected string) *found

	mu        sync.Mutex // held for moments, never during a search
	last      *found
	searching chan struct{} // nil: no request looks for a header; closed when the search has ended
}

// found is a header, or an error. Its health is what the service says to the header.
type found struct {
	header string
	err    error
	holds  func() bool // reports whether this is still right

	health
	turns     chan struct{}         // has an element for each request under way, see waitForTurn
	slow      atomic.Bool           // the service fails slowly, so that others do not wait in line
	rejection atomic.Pointer[Error] // the last one
	replaces  bool                  // a rejected header
	exhausted atomic.Bool           // another header would not help
}

// header returns the header for a request; it may be "" for none. rejected is the header that the service has just
// rejected with 401, or "": then header returns another one if it can get one.
func (c *credential) header(ctx context.Context, rejected string) (*found, error) {
	for {
		c.mu.Lock()
		last, searching, holds := c.last, c.searching, c.last.holds()
		avoid := rejected
		if last.isWrong() {
			avoid = last.header
		}
		switch {
		case holds && avoid == "", // other streams keep the header during a search for a better one
			holds && searching == nil && !c.isWorthReplacing(avoid):
			defer c.mu.Unlock()
			return last, last.unusable(rejected)
		case searching == nil:
			c.searching = make(chan struct{})
			c.mu.Unlock()
			return c.find(ctx, avoid)
		}
		c.mu.Unlock()
		select {
		case <-searching:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrTokenWait, ctx.Err())
		}
	}
}

// isWorthReplacing reports whether the service has rejected the last header, and may accept another one. A service that
// rejects a fresh token would reject the next one, too.
func (c *credential) isWorthReplacing(rejected string) bool {
	f := c.last
	return c.source != nil && rejected == f.header && !f.exhausted.Load() && (f.count() > 0 || !f.replaces)
}

// unusable returns an error if there is no header, or if the header is not worth another request.
func (f *found) unusable(rejected string) error {
	e := (*Error)(nil)
	switch {
	case errors.As(f.err, &e):
		return e.repeat("")
	case rejected == "" && f.isWrong():
		return f.rejection.Load().repeat("the service has rejected the same credentials for other streams")
	}
	return f.err
}

// find looks for a header, for all requests.
func (c *credential) find(ctx context.Context, rejected string) (*found, error) {
	f := c.source(ctx, rejected)
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.searching)
	c.searching = nil
	switch {
	case f.err != nil && (ctx.Err() != nil || errors.Is(f.err, ErrRateLimit)): // other requests may have more time
	case f.err == nil && f.header == c.last.header:
		c.last.holds = f.holds
		c.last.exhausted.CompareAndSwap(false, rejected != "")
		return c.last, nil
	default:
		f.replaces, f.turns = rejected != "", make(chan struct{}, maxRejections)
		c.last = f
	}
	return f, f.err
}

// maxRejections is how many rejections show that a header is wrong if it has not worked since.
const maxRejections = 3

// isWrong reports whether the service has rejected the header, and no other one helps. A fixed header that the service
// has ever accepted counts as right.
func (f *found) isWrong() bool {
	return f.isBad(maxRejections) && (f.count() == 0 || f.exhausted.Load())
}

var errRejected = errors.New("the service has rejected the credentials of other requests")

// waitForTurn waits until a request may be sent. Services lock accounts: until one accepts a request with the header,
// three are under way at a time, rejected ones included.
func (f *found) waitForTurn(ctx context.Context) error {
	select {
	case f.turns <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	switch untested := f.count() == 0; {
	case untested && f.isBad(maxRejections):
		f.endTurn()
		return errRejected
	case !untested, f.slow.Load():
		f.endTurn()
	}
	return nil
}

func (f *found) endTurn() {
	select {
	case <-f.turns:
	default: // it has ended already
	}
}

// health is what all requests learn together about an endpoint or a credential, so that a fleet does not find out
// the same for each stream. Failures count only if there was no success in the meantime.
type health struct {
	mu        sync.Mutex   // for changes of both
	successes atomic.Int64 // so far
	failures  atomic.Int64 // since the last success
}

func (h *health) count() int { return int(h.successes.Load()) }

// isBad reports whether there were that many failures.
func (h *health) isBad(failures int) bool { return int(h.failures.Load()) >= failures }

func (h *health) succeeded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.successes.Add(1)
	h.failures.Store(0)
}

// failed reports a failure of a request that began after the given number of successes.
func (h *health) failed(successes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count() == successes {
		h.failures.Add(1)
	}
}
