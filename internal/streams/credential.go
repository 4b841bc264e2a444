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

// Causes of an [Error] of an operation that sent nothing because of other operations.
var (
	// ErrTokenWait means that the operation ended while it waited for the token request of another one.
	ErrTokenWait = errors.New("the operation waited for the token request of another operation")
	// ErrRefusedBefore means that the service has refused the credential of the operation for other streams.
	ErrRefusedBefore = errors.New("the service has refused the same credentials for other streams")
)

// refusalLimit is the number of streams after which a refused credential is not sent any more: services
// lock accounts.
const refusalLimit = 3

// credential is the Authorization header of all operations. No scheme is specified (INTERFACE.md, section 5).
// If the header has to be found, one operation does that, and the others wait for its result.
type credential struct {
	source source // nil: the header is fixed

	mu        sync.Mutex    // held for moments, never during a wait
	finding   chan struct{} // nil: no operation looks for a header; closed when the search has ended
	last      *found
	accepted  bool     // the service has accepted the header of last
	replaced  bool     // the header of last replaces a refused one
	exhausted bool     // after a refusal, no better header was found
	refusals  *verdict // of the header of last
	refusal   string   // the first refusal of the header, in one line
}

// source finds headers.
type source interface {
	// find returns another header than refused if there is one. It is never called by two operations at the same time.
	find(ctx context.Context, refused string) found
}

// found is a header, or an error.
type found struct {
	header string
	err    error
	holds  func() bool // reports whether this is still right
}

func always() bool { return true }

func newCredential(cfg Config, t *transport) *credential {
	c := &credential{refusals: new(verdict), last: &found{holds: func() bool { return false }}}
	switch {
	case cfg.OAuth2 != nil:
		c.source = newTokenSource(*cfg.OAuth2, t)
	case cfg.TokenFile != "":
		c.source = &tokenFile{file: secretFile{"token_file", cfg.TokenFile}, redactor: t.redactor}
	case cfg.BasicAuth != nil:
		c.last = &found{header: "Basic " + basicCredentials(cfg.BasicAuth.Username, cfg.BasicAuth.Password), holds: always}
	case cfg.Token != "":
		c.last = &found{header: bearer(cfg.Token), holds: always}
	default:
		c.last = &found{holds: always}
	}
	return c
}

func bearer(token string) string { return "Bearer " + token }

// basicCredentials encodes a user for HTTP Basic authentication (RFC 7617, section 2).
func basicCredentials(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// header returns the header for a request, or "" for none. refused is the header that the service has just
// refused with 401, or "": then header returns another one if it can get one.
func (c *credential) header(ctx context.Context, refused string) (string, error) {
	for {
		c.mu.Lock()
		last, finding := c.last, c.finding
		c.mu.Unlock()
		holds := last.holds() // may look at a file, so not under the lock

		c.mu.Lock()
		switch {
		case c.last != last || c.finding != finding: // another operation was faster
			c.mu.Unlock()
		case holds && refused == "" && c.accepted, // the header is right for other streams
			finding == nil && holds && last.err == nil && (refused != last.header || !c.worthReplacing()):
			err := c.refusedBefore(refused)
			c.mu.Unlock()
			return last.header, err
		case finding == nil && holds && last.err != nil:
			c.mu.Unlock()
			return "", repeated(last.err)
		case finding == nil:
			c.finding = make(chan struct{})
			c.mu.Unlock()
			return c.find(ctx, refused)
		default:
			c.mu.Unlock()
			select {
			case <-finding:
			case <-ctx.Done():
				return "", fmt.Errorf("%w: %w", ErrTokenWait, ctx.Err())
			}
		}
	}
}

// worthReplacing reports whether a refused header is worth another one. A service that refuses a fresh token
// would refuse the next one, too.
func (c *credential) worthReplacing() bool {
	return c.source != nil && !c.exhausted && (c.accepted || !c.replaced)
}

// refusedBefore returns an error if the header is not worth another request.
func (c *credential) refusedBefore(refused string) error {
	if refused != "" || !c.refusals.isBad(refusalLimit) {
		return nil
	}
	return &Error{
		Kind: KindAuthentication, Repeated: true, Err: ErrRefusedBefore,
		Reason: "nothing was sent, because the service has refused the same credentials for other streams: " + c.refusal,
	}
}

// find looks for a header, for all operations.
func (c *credential) find(ctx context.Context, refused string) (string, error) {
	f := c.source.find(ctx, refused)
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.finding)
	c.finding = nil
	if f.err != nil && ctx.Err() != nil {
		return "", f.err // an interrupted search says nothing to other operations
	}
	if f.err == nil && f.header == c.last.header {
		c.exhausted = c.exhausted || refused != ""
	} else {
		c.accepted, c.replaced, c.exhausted = false, refused != "", false
		c.refusals, c.refusal = new(verdict), ""
	}
	c.last = &f
	return f.header, f.err
}

// succeeded reports that the service has accepted a header.
func (c *credential) succeeded(header string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if header == c.last.header {
		c.accepted = true
		c.refusals.succeeded()
	}
}

// successes returns how often the service has accepted the current header.
func (c *credential) successes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refusals.count()
}

// refused reports that the service has refused an operation, with all headers that the operation could get.
// Before is the number of successes before the operation. A fixed header that the service has ever accepted
// counts as right.
func (c *credential) refused(header string, before int, again bool, e *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if header != c.last.header {
		return
	}
	c.exhausted = c.exhausted || again // another header would not help this operation either
	if c.source == nil {
		before = 0
	}
	if c.refusals.failed(before); c.refusal == "" {
		c.refusal = e.Error()
	}
}

// repeated returns the error of an operation that failed because another one has failed. It is short: the error
// of the other operation has the details.
func repeated(err error) error {
	e := (*Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	short := &Error{Kind: e.Kind, TokenRequest: e.TokenRequest, Repeated: true, Err: e.Err, Reason: e.Reason}
	if e.URL != "" {
		short.Reason = "nothing was sent, because another operation has failed: " + e.Error()
	}
	return short
}
