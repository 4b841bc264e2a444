package streams

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Kind is the title of an error.
type Kind string

// The service's error kinds (INTERFACE.md, section 7), and those of failures without an error of the service.
const (
	KindBadRequest     Kind = "Bad Request Error"        // 400, 422 and every 4xx not listed below
	KindAuthentication Kind = "Authentication Error"     // 401, or a token request rejected with 4xx
	KindUnauthorized   Kind = "Unauthorized Error"       // 403
	KindNotFound       Kind = "Resource Not Found Error" // 404
	KindTimeout        Kind = "Timeout Error"            // 408, 504, or a time limit of the client
	KindBadGateway     Kind = "Bad Gateway Error"        // 502
	KindGeneric        Kind = "Generic Error"            // every other error status: 500, 503 and so on

	KindConnection  Kind = "Connection Failed"     // no response, or an incomplete one
	KindRedirect    Kind = "Redirect Refused"      // 3xx
	KindUnexpected  Kind = "Unexpected Answer"     // a 2xx that is no success, a 304, or a 1xx
	KindInterrupted Kind = "Operation Interrupted" // the caller cancelled the request
)

// kinds has the kinds of single statuses and, by the first digit, of all others.
var kinds = map[int]Kind{
	401: KindAuthentication, 403: KindUnauthorized, 404: KindNotFound,
	408: KindTimeout, 504: KindTimeout, 502: KindBadGateway,
	304: KindUnexpected, // not a redirect
	1:   KindUnexpected, 2: KindUnexpected, 3: KindRedirect, 4: KindBadRequest,
}

func kindOf(status int) Kind { return cmp.Or(kinds[status], kinds[status/100], KindGeneric) }

// failureKinds has the kinds of failures without a response that counts.
var failureKinds = map[requests.Failure]Kind{
	requests.Unauthenticated: KindAuthentication, requests.NoToken: KindUnexpected, requests.TimedOut: KindTimeout,
	requests.Interrupted: KindInterrupted, requests.NoResponse: KindConnection,
}

// Outcome is what is known about the effect of a failed request on the stream.
type Outcome int

// A later attempt can only raise the outcome of a request.
const (
	NotChanged Outcome = iota // the service did not apply the update
	Unknown                   // the service may or may not have applied the update
	Changed                   // the service applied an update, but the stream has another set
)

// Error is the error of every request of a [Client]; find it with [errors.As].
type Error struct {
	requests.Result // without its Body
	Kind            Kind
	Outcome         Outcome // what is known about the stream
	Stream          *Stream // as the service reported it; nil unless Outcome is Changed
}

// newError returns the error of a request with this result.
func newError(r requests.Result) *Error {
	r.Body = nil // the error may be kept for long
	e := &Error{Result: r, Kind: failureKinds[r.Failure]}
	if r.Failure == requests.Responded {
		e.Kind = kindOf(r.Status)
	}
	if r.Status == http.StatusNotModified {
		e.Reason = cmp.Or(e.Reason, "the response says that nothing changes, and does not show the stream")
	}
	if r.MayHaveActed {
		e.Outcome = Unknown
	}
	return e
}

// Error returns the error in one line. Package report words it for a person.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s %s: %s: %s: %s", e.Kind, e.Method, e.URL, transport.StatusText(e.Status), e.Message, e.Reason)
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }
