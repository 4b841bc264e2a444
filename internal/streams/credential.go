package streams

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// credential is the Authorization header of all requests. No scheme is specified (INTERFACE.md, section 5).
// If the header has to be found, one request does that, and the others wait for its result.
type credential struct {
	source source // nil: the header is fixed

	mu        sync.Mutex // held for moments, never during a search
	last      *found
	searching chan struct{} // nil: no request looks for a header; closed when the search has ended
}

// source returns another header than rejected if there is one. It is never called by two requests at the same time.
type source func(ctx context.Context, rejected string) *found

// found is a header, or an error. Its health is what the service says to the header.
type found struct {
	header string
	err    error
	holds  func() bool // reports whether this is still right

	health
	rejection *Error // the last one
	replaces  bool   // a rejected header
	exhausted bool   // another header would not help
}

// header returns the header for a request; it may be "" for none. rejected is the header that the service has just
// rejected with 401, or "": then header returns another one if it can get one.
func (c *credential) header(ctx context.Context, rejected string) (*found, error) {
	for {
		c.mu.Lock()
		last, searching, holds := c.last, c.searching, c.last.holds()
		switch {
		case holds && rejected == "", // other streams keep the header during a search for a better one
			holds && searching == nil && !c.isWorthReplacing(rejected):
			defer c.mu.Unlock()
			return last, last.unusable(rejected)
		case searching == nil:
			c.searching = make(chan struct{})
			c.mu.Unlock()
			return c.find(ctx, rejected)
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
	return c.source != nil && rejected == f.header && !f.exhausted && (f.count() > 0 || !f.replaces)
}

// unusable returns an error if there is no header, or if the header is not worth another request.
func (f *found) unusable(rejected string) error {
	e := (*Error)(nil)
	switch {
	case errors.As(f.err, &e):
		return e.repeat("")
	case rejected == "" && f.isBad(3): // services lock accounts
		return f.rejection.repeat("the service has rejected the same credentials for other streams")
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
		c.last.exhausted = c.last.exhausted || rejected != ""
		return c.last, nil
	default:
		f.replaces = rejected != ""
		c.last = f
	}
	return f, f.err
}

// rejected reports that the service has rejected a request, with all headers that the request could get. f was the
// last, with before successes at that time. A fixed header that the service has ever accepted counts as right.
func (c *credential) rejected(f *found, before int, e *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.exhausted = true
	if c.source == nil {
		before = 0
	}
	f.failed(before)
	f.rejection = e
}
