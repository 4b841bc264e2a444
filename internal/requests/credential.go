package requests

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// credentials has the Authorization header of all requests to the service. No scheme is specified (INTERFACE.md, section 5).
type credentials struct {
	find    func(context.Context) (*credential, *noCredential) // looks for one; nil: it is fixed
	issued  bool                                               // to one client, by a token endpoint; or they are in a file
	finding chan struct{}                                      // has an element while find is called

	mu      sync.Mutex
	current *credential   // the last one that was found: no search that fails replaces it
	failed  *noCredential // the last search; nil if it has found the current one
	search  *search       // that is under way; nil: none
}

// credential is a value of the Authorization header.
type credential struct {
	value  string    // "": requests have no such header
	note   string    // for the result of a rejection; may be empty
	end    time.Time // when it is no longer current; zero: never
	gate   *gate
	isLast bool // it replaces a rejected one, and has not helped: another one would not help either
}

// noAuthorization returns the credential of requests without any, such as those for a token, which have theirs already.
func noAuthorization() *credential { return &credential{gate: newGate(NotAccepted)} }

// isOver reports whether the credential is no longer current.
func (c *credential) isOver() bool { return !c.end.IsZero() && !time.Now().Before(c.end) }

// newCredentials returns the credentials of a configuration, which may have none.
func newCredentials(s *Sender) *credentials {
	all, cfg := &credentials{finding: make(chan struct{}, 1), current: noAuthorization()}, s.settings
	switch none := all.current; {
	case cfg.OAuth2 != nil:
		all.find, all.issued, none.end = newTokenSource(*cfg.OAuth2, s).find, true, time.Now()
	case cfg.TokenFile != "":
		all.find = (&secretFile{setting: "token_file", path: cfg.TokenFile, redactor: s.redactor}).findToken
		none.end = time.Now()
	case cfg.BasicAuth != nil:
		none.value = "Basic " + basicCredentials(cfg.BasicAuth.Username, cfg.BasicAuth.Password)
	case cfg.Token != "":
		none.value = "Bearer " + cfg.Token
	}
	return all
}

// get returns the credential for a request: the current one, after a search if one is due. rejected may be nil.
func (c *credentials) get(ctx context.Context, rejected *credential) (*credential, error) {
	if ctx.Err() != nil { // an operation that has ended looks for nothing
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isDue(timeLimitOf(ctx), rejected) {
		if err := c.awaitSearch(ctx, rejected != nil); err != nil {
			return nil, err
		}
	}
	if refusal := c.current.gate.refusal(); refusal != nil {
		return nil, refusal
	}
	if c.failed != nil && c.current.isOver() {
		return nil, c.failed
	}
	return c.current, nil
}

// isDue reports whether an operation should wait for a search.
func (c *credentials) isDue(limit timeLimit, rejected *credential) bool {
	switch verdict, _ := c.current.gate.now(); {
	case c.find == nil, c.issued && verdict == wrong: // a client that is rejected gets no token for its age
		return false
	case c.failed != nil && c.failed.holds(limit):
		return false
	case !c.issued, c.current.isOver(): // a file may change at any time
		return true
	}
	return rejected != nil && rejected.value == c.current.value && !c.current.isLast
}

// awaitSearch waits for a search, and begins it if none is under way. The mutex is free meanwhile.
func (c *credentials) awaitSearch(ctx context.Context, rejected bool) (err error) {
	s := c.search
	if s == nil {
		s = newSearch(ctx, rejected)
		c.search = s
		go c.run(s, c.failed)
	} else {
		s.join(ctx)
	}
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
	return err
}

// run makes a search. If the last one failed in a hurry, it begins when another attempt may succeed.
func (c *credentials) run(s *search, last *noCredential) {
	defer s.close()
	if last != nil && last.hurried {
		<-time.After(time.Until(last.until))
	}
	c.finding <- struct{}{} // a search that nobody waits for may not have ended yet
	defer func() { <-c.finding }()
	found, failed := c.find(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.search == s {
		c.note(found, failed, s.rejected)
	}
}

// note notes what a search has come to.
func (c *credentials) note(next *credential, failed *noCredential, rejected bool) {
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

// helped notes that a request was taken with the credential after it had been rejected.
func (c *credentials) helped(taken *credential) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.value == taken.value {
		c.current.isLast = false
	}
}
