package requests

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Result is what came of an operation. Its texts from outside, except Body and that of Err, contain no known secret and no
// control character.
type Result struct {
	Method       string // of the last request; empty if there was none to send
	URL          string // likewise: the request's or the token endpoint's
	TokenRequest bool   // the token request failed; Attempts counts its attempts
	Credentials  string // what the request carried, as Config.Credentials says, or, for a token request, OAuth2.Credentials
	Unused       string // as Config.Unused says; "" for a token request
	Attempts     int    // requests sent; 0 if nothing was sent
	Repeated     bool   // another operation has failed for the same reason; if nothing was sent, this is its result
	MayHaveActed bool   // an attempt may have taken effect although its response does not say so, or it got none

	Header HeaderSize // of the last request; zero unless it was sent, or is too long to be sent

	// Of the last response, even if a later attempt got none.
	Status    int          // 0 without a response
	Body      []byte       // without a byte order mark, up to one byte more than transport.MaxBody
	Message   string       // what a response but a 2xx says
	Form      masking.Form // of the body that Message came in
	RequestID string       // for the service's support; may be empty
	Challenge string       // WWW-Authenticate, which may say what is wrong with the credential
	Location  string       // such as the target of a redirect
	Proxied   bool         // a proxy says that it passed it on (Via)
	Accepts   string       // the media types of an update, if the response names them (Accept-Patch)

	Failure Failure // why this response is not the result
	Reason  string  // what the sender adds to status and message; may be empty
	Err     error   // the cause of the failure, for errors.Is; its text may contain secrets
}

// HeaderSize is how long the header of a request is.
type HeaderSize struct {
	Bytes        int    // names and values
	Longest      string // the name of the longest field
	LongestBytes int
}

func sizeOf(h http.Header) (size HeaderSize) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			n := len(name) + len(value)
			if size.Bytes += n; n > size.LongestBytes {
				size.Longest, size.LongestBytes = name, n
			}
		}
	}
	return size
}

// Failure is why a request has no response that is its result.
type Failure int

// The failures.
const (
	None            Failure = iota // it has one, whatever its status
	Unauthenticated                // a credential cannot be read, or the token endpoint has rejected the client
	NoToken                        // the token endpoint's response has no usable token
	TimedOut                       // a time limit of the sender or the caller
	Interrupted                    // the caller cancelled the operation
	NoResponse                     // no response, or an incomplete one
)

// repeat returns the result of an operation that sends nothing because of r.
func (r Result) repeat(reason string) Result {
	r.Repeated, r.Attempts, r.MayHaveActed = true, 0, false
	return r.because(reason)
}

// because adds a reason before the others.
func (r Result) because(reason string) Result {
	if r.Reason != "" && reason != "" {
		reason += "; "
	}
	r.Reason = reason + r.Reason
	return r
}

// Documented reports whether the message came in the documented form.
func (r Result) Documented() bool { return r.Form == masking.FormDocumented }

// Receiver names what the request was sent to.
func (r Result) Receiver() string {
	if r.TokenRequest {
		return "token endpoint"
	}
	return "service"
}

// rulesOut reports whether a response shows that its request had no effect. It says so with 304, or with a rejection: a
// registered 4xx, but not 408. Proxies send others, such as 499, when they stop waiting for the service.
func rulesOut(status int) bool {
	rejected := status/100 == 4 && status != http.StatusRequestTimeout && http.StatusText(status) != ""
	return rejected || slices.Contains([]int{301, 302, 304, 307, 308, 501}, status)
}

// mayWantCertificate reports whether a response may reject a client without a certificate. Some servers do so after the
// handshake: nginx with 400, 495 or 496, in a page.
func mayWantCertificate(r Result) bool {
	return slices.Contains([]int{401, 403, 495, 496}, r.Status) || r.Status == http.StatusBadRequest && !r.Documented()
}

// failedSearch is why there is no header to send. All operations share it.
type failedSearch struct{ result Result }

// Error says what the client adds to the response.
func (f *failedSearch) Error() string { return "no credential: " + f.result.Reason }

// Unwrap returns the cause, or nil.
func (f *failedSearch) Unwrap() error { return f.result.Err }

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

// Text is a text from outside. Masking takes time, so only a log that shows the text does it.
type Text struct {
	redactor *masking.Redactor
	text     []byte
}

// String returns the beginning of the text.
func (t Text) String() string { return t.redactor.Mask(string(t.text), transport.MaxBody/8) }

// MarshalText is like String. Loggers call it for the lines that they write.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
