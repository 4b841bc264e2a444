package streams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/time/rate"
)

// sender is what all requests of a [Client] share.
type sender struct {
	settings Config // with the defaults
	network  http.RoundTripper
	slots    chan struct{} // holds an element for each attempt under way
	limiter  *rate.Limiter
	redactor *redactor
}

// request is one update, read or token request with all its attempts. Its error describes all attempts, not only
// the last one.
type request struct {
	*sender
	endpoint *health // of the service or the token endpoint
	body     []byte

	sent            *found    // the credential; nil for a token request
	draft           Error     // the error so far; Reason is why a due retry could not be made
	began           time.Time // the first attempt
	successesBefore int       // of the endpoint, at that time
	attempt         *Attempt  // the last one, for the log; nil if it did not get its turn
	response        []byte    // body of the last response
	due             time.Time // when another attempt may succeed; zero if none will
}

// fail returns the draft as an error of the given kind.
func (r *request) fail(kind Kind, reason string) *Error {
	e := r.draft
	e.Kind, e.Reason = kind, joinTexts("; ", truncate(reason, maxMessage), e.Reason)
	return &e
}

// noResponse is the error for a request whose last attempt got no response.
func (r *request) noResponse(err error) *Error {
	if shared := (*Error)(nil); errors.As(err, &shared) {
		e := *shared // all requests share a failed token request, and it does not reach their streams
		e.Outcome, e.Attempts = r.draft.Outcome, cmp.Or(e.Attempts, r.draft.Attempts)
		return &e
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // without method and URL, which the error shows already
	}
	kind, reason := KindTimeout, ""
	limit := requestTimeout(0)
	switch {
	case errors.Is(err, context.Canceled):
		kind, reason = KindInterrupted, "the operation was interrupted"
	case errors.Is(err, ErrRateLimit):
		reason = "the operation's time limit ends before the limit of requests per second allows another request"
	case errors.As(err, &limit):
		reason = fmt.Sprintf("the %s did not respond within %s", r.draft.Receiver(), time.Duration(limit))
		if full := r.settings.RequestTimeout; time.Duration(limit) < full {
			reason += fmt.Sprintf(" (shortened from %s after other failures)", full)
		}
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*net.OpError)):
		reason = "the operation did not finish within its time limit"
	case errors.Is(err, ErrNotSent):
		kind, reason = KindConnection, r.redactor.printable(err.Error(), maxText)
	default:
		if n := net.Error(nil); !errors.As(err, &n) || !n.Timeout() { // the network has time limits of its own
			kind = KindConnection
		}
		reason = "the connection failed: " + r.redactor.printable(err.Error(), maxText)
	}
	if errors.Is(err, ErrTokenWait) {
		reason += " while it waited for the token request of another operation"
	}
	e := r.fail(kind, reason)
	e.Err = errors.Join(tlsFailure(err), err)
	return e
}

// requestTimeout is why an attempt ended that got no response within that time.
type requestTimeout time.Duration

func (requestTimeout) Error() string { return ErrRequestTimeout.Error() }
func (requestTimeout) Unwrap() error { return ErrRequestTimeout }
