package streams

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
)

// BasicAuth is a user of HTTP Basic authentication.
type BasicAuth struct {
	Username string
	Password string
}

// refusalLimit is the number of streams after which a refused credential is not sent any more: services
// lock accounts.
const refusalLimit = 3

// credential is the Authorization header of all requests. No scheme is specified (INTERFACE.md, section 5).
// If the header has to be found, one request does that, and the others wait for its result.
type credential struct {
	source source // nil: the header is fixed

	mu        sync.Mutex // held for moments, never during a search
	last      *found
	searching chan struct{} // nil: no request looks for a header; closed when the search has ended
}

// source finds headers.
type source interface {
	// find returns another header than refused if there is one. It is never called by two requests at the same time.
	find(ctx context.Context, refused string) *found
}

// found is a header, or an error. Its health is what the service says to the header.
type found struct {
	header string
	err    error
	holds  func() bool // reports whether this is still right

	health
	refusal   string // the last one, in one line
	replaces  bool   // a refused header
	exhausted bool   // another header would not help
}

func newCredential(cfg Config, client *Client) *credential {
	c := new(credential)
	c.last = &found{holds: func() bool { return c.source == nil }}
	switch {
	case cfg.OAuth2 != nil:
		c.source = newTokenSource(*cfg.OAuth2, client)
	case cfg.TokenFile != "":
		c.source = &tokenFile{secretFile: secretFile{"token_file", cfg.TokenFile, client.redactor}}
	case cfg.BasicAuth != nil:
		c.last.header = "Basic " + basicCredentials(cfg.BasicAuth.Username, cfg.BasicAuth.Password)
	case cfg.Token != "":
		c.last.header = "Bearer " + cfg.Token
	}
	return c
}

// basicCredentials encodes a user for HTTP Basic authentication (RFC 7617, section 2).
func basicCredentials(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// header returns the header for a request; it may be "" for none. refused is the header that the service has just
// refused with 401, or "": then header returns another one if it can get one.
func (c *credential) header(ctx context.Context, refused string) (*found, error) {
	for {
		c.mu.Lock()
		last, searching, holds := c.last, c.searching, c.last.holds()
		switch {
		case holds && refused == "", // other streams keep the header during a search for a better one
			holds && searching == nil && !c.isWorthReplacing(refused):
			defer c.mu.Unlock()
			return last, last.unusable(refused)
		case searching == nil:
			c.searching = make(chan struct{})
			c.mu.Unlock()
			return c.find(ctx, refused)
		}
		c.mu.Unlock()
		select {
		case <-searching:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrTokenWait, ctx.Err())
		}
	}
}

// isWorthReplacing reports whether the service has refused the last header, and may accept another one. A service that
// refuses a fresh token would refuse the next one, too.
func (c *credential) isWorthReplacing(refused string) bool {
	f := c.last
	return c.source != nil && refused == f.header && !f.exhausted && (f.count() > 0 || !f.replaces)
}

// unusable returns an error if there is no header, or if the header is not worth another request.
func (f *found) unusable(refused string) error {
	e := (*Error)(nil)
	switch {
	case errors.As(f.err, &e):
		reason := "nothing was sent, because another operation has failed: " + f.err.Error()
		return &Error{Kind: e.Kind, TokenRequest: e.TokenRequest, Repeated: true, Err: e.Err, Reason: reason}
	case refused == "" && f.isBad(refusalLimit):
		reason := "nothing was sent, because the service has refused the same credentials for other streams: " + f.refusal
		return &Error{Kind: KindAuthentication, Repeated: true, Reason: reason}
	}
	return f.err
}

// find looks for a header, for all requests.
func (c *credential) find(ctx context.Context, refused string) (*found, error) {
	f := c.source.find(ctx, refused)
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.searching)
	c.searching = nil
	switch {
	case f.err != nil && (ctx.Err() != nil || errors.Is(f.err, ErrRateLimit)): // other requests may have more time
	case f.err == nil && f.header == c.last.header:
		c.last.holds = f.holds
		c.last.exhausted = c.last.exhausted || refused != ""
		return c.last, nil
	default:
		f.replaces = refused != ""
		c.last = f
	}
	return f, f.err
}

// refused reports that the service has refused a request, with all headers that the request could get. f was the
// last, with before successes at that time. A fixed header that the service has ever accepted counts as right.
func (c *credential) refused(f *found, before int, e *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.exhausted = true
	if c.source == nil {
		before = 0
	}
	f.failed(before)
	f.refusal = e.Error()
}
