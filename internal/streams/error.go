package streams

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
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

// Error is the error of every request of a [Client]; find it with [errors.As]. Its texts from
// outside, except that of Err, contain no known secret and no control character.
type Error struct {
	Kind         Kind
	Method       string              // of the last request; empty if there was none to send
	URL          string              // likewise: the stream's or the token endpoint's
	TokenRequest bool                // the failed request is the token request; Attempts counts its attempts
	Credentials  string              // what the request carried, as Config.Credentials says, or, for a token request, OAuth2.Credentials
	Header       requests.HeaderSize // of the last request; zero unless it was sent, or is too long to be sent
	Status       int                 // of the last response, even if a later attempt got none; 0 without one
	Message      string              // from the last response, even if a later attempt got none
	Documented   bool                // Message came in the documented error body (INTERFACE.md, section 2); of a token request: in JSON
	Form         requests.Form       // of the body of Message, if it is not the documented one
	RequestID    string              // of the last response, for the service's support; may be empty
	Reason       string              // what the client adds to status and message; may be empty
	Challenge    string              // of the last response: WWW-Authenticate
	Location     string              // of the last response, such as the target of a redirect
	Proxied      bool                // of the last response: a proxy says that it passed it on (Via)
	Accepts      string              // of the last response: the media types of an update, if it names them
	Attempts     int                 // requests sent; 0 if nothing was sent
	Repeated     bool                // another operation has failed for the same reason; if nothing was sent, this is its error
	Outcome      Outcome             // what is known about the stream
	Stream       *Stream             // the stream as the service reported it; nil unless Outcome is Changed
	Err          error               // the cause, for errors.Is; its text may contain secrets
}

// newError returns the error of a request with this result.
func newError(r requests.Result) *Error {
	e := &Error{
		Kind: failureKinds[r.Failure], Method: r.Method, URL: r.URL, TokenRequest: r.TokenRequest, Credentials: r.Credentials, Header: r.Header,
		Status: r.Status, Message: r.Message, Documented: r.Documented, RequestID: r.RequestID, Reason: r.Reason,
		Challenge: r.Challenge, Location: r.Location, Proxied: r.Proxied, Accepts: r.Accepts, Attempts: r.Attempts, Repeated: r.Repeated, Err: r.Err,
	}
	if r.Failure == requests.None {
		e.Kind = kindOf(r.Status)
	}
	if r.Message != "" && !r.Documented {
		e.Form = requests.FormOf(r.Body)
	}
	if r.Status == http.StatusNotModified {
		e.Reason = joinTexts("; ", "the response says that nothing changes, and does not show the stream", e.Reason)
	}
	if r.MayHaveActed {
		e.Outcome = Unknown
	}
	return e
}

// Error returns the error in one line.
func (e *Error) Error() string {
	status := ""
	if e.Status != 0 {
		status = requests.StatusText(e.Status)
	}
	return joinTexts(": ", string(e.Kind), joinTexts(" ", e.Method, e.URL), status, e.Message, e.Reason)
}

// Receiver names what the request was sent to.
func (e *Error) Receiver() string {
	if e.TokenRequest {
		return "token endpoint"
	}
	return "service"
}

// joinTexts joins the texts that are not empty.
func joinTexts(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }
