package requests

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// credentials has the Authorization header of all requests to the service. No scheme is specified (INTERFACE.md, section 5).
// If a credential has to be found, one delivery does that, and the others wait for its result.
type credentials struct {
	// source returns another credential than the rejected one if there is one, for one delivery at a time; nil: it is fixed.
	source    func(ctx context.Context, rejected string) *credential
	issued    bool          // they are tokens, which an endpoint issues to one client
	searching chan struct{} // has an element while a delivery looks for a credential
	last      atomic.Pointer[credential]
}

// credential is a value of the Authorization header, or why there is none.
type credential struct {
	value string // "": requests have no such header; with an error, that of the last one
	note  string // for the result of a rejection; may be empty
	err   error
	holds func() bool // reports whether this is still right
	trial *trial
}

// newCredentials returns the credentials of a configuration, which may have none.
func newCredentials(c *client) *credentials {
	all, cfg := &credentials{searching: make(chan struct{}, 1)}, c.settings
	fixed := &credential{trial: newTrial(), holds: func() bool { return all.source == nil }}
	all.last.Store(fixed)
	switch {
	case cfg.OAuth2 != nil:
		all.source, all.issued = newTokenSource(*cfg.OAuth2, c).find, true
	case cfg.TokenFile != "":
		all.source = (&secretFile{setting: "token_file", path: cfg.TokenFile, redactor: c.redactor}).findToken
	case cfg.BasicAuth != nil:
		fixed.value = "Basic " + basicCredentials(cfg.BasicAuth.Username, cfg.BasicAuth.Password)
	case cfg.Token != "":
		fixed.value = "Bearer " + cfg.Token
	}
	return all
}

// get returns the credential for a request. rejected is the value that the service has just rejected with 401, or "": then get
// returns another one if there is one. A token request carries none.
func (c *credentials) get(ctx context.Context, rejected string) (*credential, error) {
	if c == nil {
		return &credential{trial: newTrial()}, nil
	}
	if last := c.last.Load(); rejected == "" && last.err == nil && last.holds() && !last.trial.isWrong() {
		return last, nil // also during a search for a better one
	}
	if ctx.Err() != nil { // an operation that has ended looks for nothing
		return nil, ctx.Err()
	}
	select {
	case c.searching <- struct{}{}:
		defer func() { <-c.searching }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrTokenWait, ctx.Err())
	}
	last, avoid := c.last.Load(), ""
	if last.value == rejected {
		avoid = last.value
	}
	if !c.maySearch(last, avoid) {
		return last.forOthers()
	}
	next := c.source(ctx, avoid)
	if next.err != nil && (ctx.Err() != nil || errors.Is(next.err, ErrRateLimit)) { // other deliveries may have more time
		return nil, next.err
	}
	if avoid != "" && next.value != avoid {
		last.trial.abort()
	}
	switch {
	case next.err != nil: // the next search may find the same credential
		next.value, next.trial = last.value, last.trial
	case next.value == last.value || c.issued && last.trial.isSecondTry():
		next.trial = last.trial
		if avoid != "" {
			next.trial.exhaust()
		}
	default:
		next.trial = newTrial()
		next.trial.replaces = avoid != "" || c.issued && last.trial.isWrong() // wrong: a search has failed since
	}
	c.last.Store(next)
	return next, next.err
}

// maySearch reports whether a search may find another credential than the last one, which the service has rejected if it is to avoid.
func (c *credentials) maySearch(last *credential, avoid string) bool {
	switch {
	case c.source == nil:
		return false
	case last.err != nil:
		return !last.holds()
	case avoid != "" && !last.trial.isLast():
		return true
	case c.issued && last.trial.isWrong(): // a client that is rejected gets no token for its age
		return false
	}
	return !last.holds()
}

// forOthers returns the credential, or why deliveries that have not found out themselves send nothing.
func (c *credential) forOthers() (*credential, error) {
	if search, failed := errors.AsType[*failedSearch](c.err); failed {
		return nil, &failedSearch{search.result.unsent("")}
	}
	if !c.trial.isWrong() {
		return c, nil
	}
	rejection := c.trial.now().rejection
	reason := "the service has rejected the same credentials for other streams"
	if rejection.Credentials == NoCredentials {
		reason = "the service has rejected requests without credentials for other streams"
	}
	return nil, fmt.Errorf("%w: %w", errRejected, &failedSearch{rejection.unsent(reason)})
}
