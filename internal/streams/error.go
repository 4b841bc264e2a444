package streams

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
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

// Outcome is what is known about the effect of a failed request on the stream.
type Outcome int

// A later attempt can only raise the outcome of a request.
const (
	NotChanged Outcome = iota // the service did not apply the update
	Unknown                   // the service may or may not have applied the update
	Changed                   // the service applied an update, but the stream has another set
)

// outcomeOf returns the outcome of an attempt with an error status. Nothing was applied if the service says so with 304, or
// rejects the update: with a registered 4xx, but not 408. Proxies send others, such as 499, when they stop to wait for the service.
func outcomeOf(status int) Outcome {
	rejected := status/100 == 4 && status != http.StatusRequestTimeout && http.StatusText(status) != ""
	if rejected || slices.Contains([]int{301, 302, 304, 307, 308, 501}, status) {
		return NotChanged
	}
	return Unknown
}

// Error is the error of every request of a [Client]; find it with [errors.As]. Its texts from
// outside, except that of Err, contain no known secret and no control character.
type Error struct {
	Kind         Kind
	Method       string  // of the last request; empty if there was none to send
	URL          string  // likewise: the stream's or the token endpoint's
	TokenRequest bool    // the failed request is the token request; Attempts counts its attempts
	Credentials  string  // what the request carried, as Config.Credentials says, or, for a token request, OAuth2.Credentials
	Status       int     // of the last response, even if a later attempt got none; 0 without one
	Message      string  // from the last response, even if a later attempt got none
	Documented   bool    // Message came in the documented error body (INTERFACE.md, section 2); of a token request: in JSON
	RequestID    string  // of the last response, for the service's support; may be empty
	Reason       string  // what the client adds to status and message; may be empty
	Location     string  // of the last response, such as the target of a redirect
	Attempts     int     // requests sent; 0 if nothing was sent
	Repeated     bool    // another operation has failed for the same reason; if nothing was sent, this is its error
	Outcome      Outcome // what is known about the stream
	Stream       *Stream // the stream as the service reported it; nil unless Outcome is Changed
	Err          error   // the cause, for errors.Is; its text may contain secrets
}

// Error returns the error in one line.
func (e *Error) Error() string {
	status := ""
	if e.Status != 0 {
		status = StatusText(e.Status)
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

// StatusText returns a status code with its name, such as "404 Not Found".
func StatusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// Causes of an [Error], beside those of package context.
var (
	ErrNotSent        = errors.New("the request cannot be sent") // by Go's library, because of a setting or a variable
	ErrRateLimit      = errors.New("the operation's time limit ends before the limit of requests per second allows another request")
	ErrSlotWait       = errors.New("the operation waited until fewer requests were under way")
	ErrRequestTimeout = errors.New("did not respond within") // the request timeout, in the last attempt
	ErrTokenWait      = errors.New("the operation waited for the token request of another operation")
	ErrSecretFile     = errors.New("the file with the credential cannot be used")
)

// ProxyError is why a proxy does not connect to the service: its response, perhaps because of its credentials, or the
// failure of TLS with the proxy itself.
type ProxyError struct {
	proxy  string // its address, without credentials
	status int    // 0 if TLS failed
	err    error
}

// Error returns the address of the proxy, and its response or what package tls says.
func (e *ProxyError) Error() string {
	if e.err != nil {
		return fmt.Sprintf("TLS with the proxy %s failed: %s", e.proxy, e.err)
	}
	return fmt.Sprintf("the proxy %s responded to CONNECT with %s", e.proxy, StatusText(e.status))
}

// Unwrap returns the error of package tls, or nil.
func (e *ProxyError) Unwrap() error { return e.err }

// IsTLSFailure reports whether client and service do not accept each other's certificate or protocol.
func IsTLSFailure(err error) bool {
	return errors.As(err, new(*HandshakeError)) || errors.As(err, new(*tls.CertificateVerificationError)) ||
		sentAlert(err, byService) || sentAlert(err, byClient) ||
		errors.As(err, new(*ProtocolError)) || errors.As(err, new(tls.RecordHeaderError)) || errors.Is(err, http.ErrSchemeMismatch) // the response is not TLS
}

// Who sent a TLS alert, as package tls calls them.
const (
	byService = "remote error" // such as for a missing client certificate
	byClient  = "local error"  // such as for a service that asks for one after the request
)

func sentAlert(err error, sender string) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && (failed.Op == sender || sentAlert(failed.Err, sender)) // that of a proxy is the cause of another one
}

// repeat returns the error for an operation that sends nothing because of it.
func (e *Error) repeat(reason string) *Error {
	again := *e
	again.Repeated, again.Attempts, again.Outcome = true, 0, NotChanged
	again.Reason = joinTexts(": ", reason, e.Reason)
	return &again
}

// Attempt describes one HTTP request and its result, for a log. Known secrets are masked in the texts from outside.
type Attempt struct {
	Number       int // 1 is the first
	Method       string
	URL          string
	Status       int // 0 without a response
	Duration     time.Duration
	Err          string // why there was no response
	Retry        bool   // another attempt follows, after RetryWait
	RetryWait    time.Duration
	RequestBody  string // empty for a token request, because it is secret
	ResponseBody Text   // likewise
}

// Text is a text from outside. To mask the secrets takes a while, so only a log that shows the text does it.
type Text struct {
	redactor *redactor
	text     []byte
}

// String returns the beginning of the text.
func (t Text) String() string { return t.redactor.mask(string(t.text), maxBody/8) }

// MarshalText is like String. Loggers call it for the lines that they write.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
