package streams

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/time/rate"
)

// Causes of an [Error], beside those of package context.
var (
	// ErrRequestTimeout means that the last attempt got no response within the request timeout.
	ErrRequestTimeout = errors.New("no response within the request timeout")
	// ErrNotSent means that a setting or an environment variable makes a request that Go's HTTP library does not send.
	ErrNotSent = errors.New("the request cannot be sent")
	// ErrRateLimit means that the limit of requests per second left no time for a request.
	ErrRateLimit = errors.New("the limit of requests per second allows no request in time")
)

// transport is what all operations of a client share.
type transport struct {
	base           http.RoundTripper
	slots          chan struct{} // holds an element for each attempt under way
	limiter        *rate.Limiter // nil: no limit
	requestTimeout time.Duration // of one attempt
	retry          Retry
	userAgent      string
	redactor       *redactor
	observe        func(context.Context, Attempt) // may be nil
}

// operation is one update, read or token request: its attempts, and what is known after them. Its
// error describes all attempts, not only the last one.
type operation struct {
	*transport
	method          string
	url             string
	body            []byte
	tokenRequest    bool     // its bodies are secret, and omitted from an Attempt
	credentials     string   // see Config.Credentials
	endpoint        *verdict // whether the endpoint works
	successesBefore int      // the first attempt; see verdict

	attempts      int
	timeout       time.Duration // of the last attempt
	outcome       Outcome
	status        int    // of the last response; 0 if there was none
	message       string // from the last response, unless that was a success
	documented    bool   // the message came in the documented error body
	requestID     string // from the last response
	retryable     bool   // the last attempt may succeed later
	noRetryReason string // set if a retry was due but could not be made
	retryWait     time.Duration
	attempt       *Attempt // the last one, until it is reported
}

// httpClient returns a client that sends each request as an attempt of this operation.
func (o *operation) httpClient() *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient: &http.Client{Transport: o},
		RetryMax:   o.retry.MaxAttempts - 1,
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			retry := o.planRetry(ctx, resp, err)
			o.reportAttempt(ctx, retry)
			return retry, nil
		},
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return o.retryWait },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// planRetry reports whether there is another attempt, and sets the wait before it.
func (o *operation) planRetry(ctx context.Context, resp *http.Response, err error) bool {
	o.retryable = err == nil && isRetryableStatus(resp.StatusCode) || err != nil && isRetryableError(err)
	if !o.retryable {
		return false
	}
	outage := err != nil || isOutage(resp.StatusCode)
	o.retryWait = o.retry.backoff(o.attempts, rand.Float64())
	requested := false // by the service
	if err == nil {
		var wait time.Duration
		if wait, requested = parseRetryAfter(resp.Header.Get("Retry-After"), time.Now()); requested {
			o.retryWait = wait
		}
	}
	deadline, limited := ctx.Deadline()
	if outage && (o.attempts >= o.retry.MaxAttempts || errors.Is(ctx.Err(), context.DeadlineExceeded)) {
		o.endpoint.failed(o.successesBefore)
	}
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()): // the error says why
	case o.attempts >= o.retry.MaxAttempts:
	case ctx.Err() != nil:
		o.noRetryReason = "the request was not retried, because the operation was interrupted or its time limit had passed"
	case outage && o.endpoint.isBad(1):
		o.noRetryReason = "the request was not retried, because another operation has used up its attempts and nothing has worked since"
	case limited && time.Until(deadline) < o.retryWait && requested: // a wait beyond the deadline would only delay the error
		o.noRetryReason = fmt.Sprintf("the %s asked to wait %s, which is longer than the operation's time limit allows", o.receiver(), describeWait(o.retryWait))
	case limited && time.Until(deadline) < o.retryWait:
		o.noRetryReason = "the operation's time limit leaves no time for another attempt"
		o.endpoint.failed(o.successesBefore)
	default:
		return true
	}
	return false
}

// newError returns what is known so far as an error of the given kind.
func (o *operation) newError(kind Kind) *Error {
	return &Error{
		Kind: kind, Method: o.method, URL: o.url, TokenRequest: o.tokenRequest,
		Credentials: o.credentials,
		Status:      o.status, Message: o.message, Documented: o.documented, RequestID: o.requestID, Reason: o.noRetryReason,
		Attempts: o.attempts, Outcome: o.outcome,
	}
}

// invalidResponse is the error for a 2xx response that is not the expected stream.
func (o *operation) invalidResponse(reason string) *Error {
	e := o.newError(KindUnexpected)
	e.Reason = truncate(escapeInvisible(reason), maxMessage)
	return e
}

// redirectRefused is the error for a redirect. It must be returned before [http.Client] sees the
// response: that would send a GET instead of the PATCH, or fail if Location is not a URL.
func (o *operation) redirectRefused(resp *http.Response) *Error {
	e := o.newError(KindRedirect)
	e.Location = o.redactor.printable(resp.Header.Get("Location"), maxText)
	e.Reason = "the response is a redirect, and redirects are never followed"
	return e
}

// noTurn is the error if the rate limit did not allow a request. The limiter returns an error of its
// own at once if the wait would outlast the context's deadline.
func (o *operation) noTurn(ctx context.Context) *Error {
	if ctx.Err() != nil {
		return o.noResponse(ctx.Err())
	}
	e := o.newError(KindTimeout)
	e.Reason = "the operation's time limit ends before the limit of requests per second allows another request"
	e.Err = ErrRateLimit
	return e
}

// noResponse is the error for an operation whose last attempt got no response.
func (o *operation) noResponse(err error) *Error {
	if known := (*Error)(nil); errors.As(err, &known) {
		return known
	}
	e := o.newError(KindConnection)
	e.Err = err
	switch {
	case errors.Is(err, context.Canceled):
		e.Kind = KindInterrupted
		e.Reason = "the operation was interrupted"
	case errors.Is(err, ErrRequestTimeout):
		e.Kind = KindTimeout
		e.Reason = fmt.Sprintf("the %s did not respond within %s", o.receiver(), o.timeout)
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*net.OpError)):
		e.Kind = KindTimeout
		e.Reason = "the operation did not finish within its time limit"
	case errors.Is(err, ErrNotSent):
		e.Reason = o.redactor.printable(err.Error(), maxText)
	default:
		// The error shows method and URL already.
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err
		}
		e.Err = errors.Join(tlsFailure(err), err)
		// The network has time limits of its own.
		if n := net.Error(nil); errors.As(err, &n) && n.Timeout() {
			e.Kind = KindTimeout
		}
		e.Reason = "the connection failed: " + o.redactor.printable(err.Error(), maxText)
	}
	if errors.Is(err, ErrTokenWait) {
		e.Reason += " while it waited for the token request of another operation"
	}
	if o.noRetryReason != "" {
		e.Reason += "; " + o.noRetryReason
	}
	return e
}

// receiver names what the operation sends its requests to.
func (o *operation) receiver() string {
	if o.tokenRequest {
		return "token endpoint"
	}
	return "service"
}
