package requests

import (
	"github.com/stream-management/terraform-provider-stream/internal/masking"
)

// Result is what came of a request. Its texts from outside, except Body and that of Err, contain no known secret and no
// control character.
type Result struct {
	Method       string // of the request that this is about; empty if there was none to send
	URL          string // likewise
	TokenRequest bool   // it is one for a token, without which there was no other to send
	Credentials  string // what the request carried, as Config.Credentials says, or, for a token request, OAuth2.Credentials
	Unused       string // as Config.Unused says; "" for a token request
	Attempts     int    // how often the operation has sent it; 0 if only others have
	SentBefore   bool   // the operation has sent its own request, which is not the one that this is about

	MayHaveActed  bool // an attempt may have taken effect although its response does not say so, or it got none
	OthersSucceed bool // other requests have succeeded since this one began
	OutOfAttempts bool // there is no other attempt because of Retry.MaxAttempts

	// Of the last response, even if a later attempt got none.
	Status    int          // 0 without a response
	Body      []byte       // without a byte order mark, up to one byte more than MaxBody
	Message   string       // what a response but a 2xx says
	Form      masking.Form // of the body that Message came in
	RequestID string       // for the service's support; may be empty
	Challenge string       // WWW-Authenticate, which may say what is wrong with the credential
	Location  string       // such as the target of a redirect

	Failure Failure // why this response is not the result
	Reason  string  // what the sender adds to status and message; may be empty
	Err     error   // the cause of the failure, for errors.Is; its text may contain secrets
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

// unsent returns the result of a request that is not sent because of r.
func (r Result) unsent(reason string) Result {
	r.Attempts, r.SentBefore, r.MayHaveActed = 0, false, false
	return r.because(reason)
}

// NothingSent reports whether the operation has sent no request at all.
func (r Result) NothingSent() bool { return r.Attempts == 0 && !r.SentBefore }

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

// failedSearch is why there is no credential to send. All deliveries share it.
type failedSearch struct{ result Result }

// Error says what the client adds to the response.
func (f *failedSearch) Error() string { return "no credential: " + f.result.Reason }

// Unwrap returns the cause, or nil.
func (f *failedSearch) Unwrap() error { return f.result.Err }
