package requests

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// credentials has the Authorization header of all requests to the service. No scheme is specified (INTERFACE.md, section 5).
type credentials struct {
	// find looks for a credential, and for another one than the current one if that was rejected; nil: it is fixed.
	find    func(ctx context.Context, rejected bool) (*credential, *failedSearch)
	issued  bool          // they are tokens, which an endpoint issues to one client
	rereads bool          // they are in a file, which may change at any time
	finding chan struct{} // has an element while find is called

	mu      sync.Mutex
	current *credential   // the last one that was found: no search that fails replaces it
	failed  *failedSearch // the last search; nil if it has found the current one
	search  *search       // that is under way; nil: none
}

// credential is a value of the Authorization header.
type credential struct {
	value  string    // "": requests have no such header
	note   string    // for the result of a rejection; may be empty
	end    time.Time // when it is no longer current; zero: never
	gate   *gate     // nil for a token request
	isLast bool      // it replaces a rejected one, and has not helped: another one would not help either
}

// isOver reports whether the credential is no longer current.
func (c *credential) isOver() bool { return !c.end.IsZero() && !time.Now().Before(c.end) }

// newCredentials returns the credentials of a configuration, which may have none.
func newCredentials(c *client) *credentials {
	none := &credential{gate: newGate(NotAccepted)}
	all, cfg := &credentials{finding: make(chan struct{}, 1), current: none}, c.settings
	switch {
	case cfg.OAuth2 != nil:
		all.find, all.issued, none.end = newTokenSource(*cfg.OAuth2, c).find, true, time.Now()
	case cfg.TokenFile != "":
		all.find = (&secretFile{setting: "token_file", path: cfg.TokenFile, redactor: c.redactor}).findToken
		all.rereads, none.end = true, time.Now()
	case cfg.BasicAuth != nil:
		none.value = "Basic " + basicCredentials(cfg.BasicAuth.Username, cfg.BasicAuth.Password)
	case cfg.Token != "":
		none.value = "Bearer " + cfg.Token
	}
	return all
}

// get returns the credential for a request: the current one. A token request carries none.
func (c *credentials) get(ctx context.Context) (*credential, error) {
	if c == nil {
		return new(credential), nil
	}
	own, err := c.update(ctx, nil)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch refusal := c.current.gate.refusal(); {
	case refusal != nil:
		return nil, refusal
	case c.failed == nil, !c.current.isOver():
		return c.current, nil
	case own:
		return nil, c.failed
	}
	return nil, &failedSearch{result: c.failed.result.unsent("")}
}

// helped notes that a request was taken with the credential after it had been rejected.
func (c *credentials) helped(taken *credential) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.value == taken.value {
		c.current.isLast = false
	}
}

// update waits for a search if one is due, and reports whether this operation has begun it. rejected may be nil.
func (c *credentials) update(ctx context.Context, rejected *credential) (own bool, err error) {
	if ctx.Err() != nil { // an operation that has ended looks for nothing
		return false, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isDue(timeLimitOf(ctx), rejected) {
		return false, nil
	}
	if own = c.search == nil; own {
		c.search = c.begin(ctx, rejected != nil)
	}
	s := c.search
	s.join(ctx)
	c.mu.Unlock()
	select {
	case <-s.done:
	case <-ctx.Done():
		err = fmt.Errorf("%w: %w", ErrTokenWait, ctx.Err())
	}
	c.mu.Lock()
	if s.leave() && c.search == s {
		c.search = nil
	}
	if s.bug != nil {
		panic(s.bug)
	}
	return own, err
}

// isDue reports whether an operation should wait for a search.
func (c *credentials) isDue(limit timeLimit, rejected *credential) bool {
	switch verdict, _ := c.current.gate.now(); {
	case c.find == nil, c.issued && verdict == wrong: // a client that is rejected gets no token for its age
		return false
	case c.failed != nil && c.failed.holds(limit):
		return false
	case c.current.isOver(), verdict == wrong:
		return true
	case rejected != nil && rejected.value == c.current.value:
		return !c.current.isLast
	}
	return c.rereads && (c.search == nil || !c.search.rejected) // which may wait for the file to change
}

// note notes what a search has come to.
func (c *credentials) note(next *credential, failed *failedSearch, rejected bool) {
	if c.failed = failed; failed != nil {
		return
	}
	last := c.current
	verdict, accepted := last.gate.now()
	c.current = next
	switch next.isLast = rejected; {
	case next.value == last.value: // it may be current for longer
		next.gate, next.isLast = last.gate, last.isLast || rejected
	case c.issued && verdict != right: // it is the client that is untested
		next.gate = last.gate
	case c.issued:
		next.gate = newGate(accepted)
	default:
		next.gate = newGate(NotAccepted)
		last.gate.close() // for deliveries that wait for their turn with it
	}
}
