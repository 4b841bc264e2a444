package requests

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// credential is the Authorization header of all requests. No scheme is specified (INTERFACE.md, section 5).
// If the header has to be found, one request does that, and the others wait for its result.
type credential struct {
	// source returns another header than rejected if there is one, for one request at a time; nil: the header is fixed.
	source func(ctx context.Context, rejected string) *header
	issued bool          // the headers are tokens, which an endpoint issues to one client
	search chan struct{} // has an element while a request looks for a header
	last   atomic.Pointer[header]
}

// header is a value of the Authorization header, or why there is none.
type header struct {
	value string // "": requests have no such header
	note  string // for the result of a rejection; may be empty
	err   error
	holds func() bool // reports whether this is still right
	*trial
}

// get returns the header for a request. rejected is the value that the service has just rejected with 401, or "": then get
// returns another one if there is one.
func (c *credential) get(ctx context.Context, rejected string) (*header, error) {
	if last := c.last.Load(); rejected == "" && last.err == nil && last.holds() && !last.isWrong() {
		return last, nil // also during a search for a better one
	}
	if ctx.Err() != nil { // an operation that has ended looks for no header
		return nil, ctx.Err()
	}
	select {
	case c.search <- struct{}{}:
		defer func() { <-c.search }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrTokenWait, ctx.Err())
	}
	last, avoid := c.last.Load(), ""
	if last.value == rejected {
		avoid = last.value
	}
	stays := last.holds() || c.issued && last.isWrong() // a client that is rejected gets no token for its age
	if stays && (c.source == nil || avoid == "" || last.isLast()) {
		return last.forOthers()
	}
	next := c.source(ctx, avoid)
	switch {
	case next.err != nil && (ctx.Err() != nil || errors.Is(next.err, ErrRateLimit)): // other requests may have more time
		return nil, next.err
	case next.value == last.value || c.issued && last.isSecondTry():
		next.trial = last.trial
		if avoid != "" {
			next.exhaust()
		}
	default:
		next.trial = newTrial()
		if next.replaces = avoid != ""; next.replaces {
			last.replace()
		}
	}
	c.last.Store(next)
	return next, next.err
}

// forOthers returns the header, or why operations that have not found out themselves send nothing.
func (h *header) forOthers() (*header, error) {
	if search, failed := errors.AsType[*failedSearch](h.err); failed {
		return nil, &failedSearch{search.result.repeat("")}
	}
	if !h.isWrong() {
		return h, nil
	}
	rejection := h.lastRejection()
	reason := "the service has rejected the same credentials for other streams"
	if rejection.Credentials == NoCredentials {
		reason = "the service has rejected requests without credentials for other streams"
	}
	return nil, fmt.Errorf("%w: %w", errRejected, &failedSearch{rejection.repeat(reason)})
}
