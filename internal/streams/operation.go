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
	settings Config // with the defaults
	base     http.RoundTripper
	slots    chan struct{} // holds an element for each attempt under way
	limiter  *rate.Limiter
	redactor *redactor
}

// operation is one update, read or token request: its attempts, and what is known after them. Its
// error describes all attempts, not only the last one.
type operation struct {
	*transport
	body            []byte
	endpoint        *verdict // whether the endpoint works
	successesBefore int      // the first attempt; see verdict

	known     Error         // what an error would say; Reason is why a due retry could not be made
	timeout   time.Duration // of the last attempt
	response  []byte        // body of the last response
	retryable bool          // the last attempt may succeed later
	retryDue  bool          // another attempt follows
	retryWait time.Duration
}

// httpClient returns a client that sends each request as an attempt of this operation.
func (o *operation) httpClient() *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: o},
		RetryMax:     o.settings.Retry.MaxAttempts - 1,
		CheckRetry:   func(context.Context, *http.Response, error) (bool, error) { return o.retryDue, nil },
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return o.retryWait },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// planRetry decides whether there is another attempt, and sets the wait before it.
func (o *operation) planRetry(ctx context.Context, resp *http.Response, err error) {
	retryAfter := ""
	if err == nil {
		o.retryable, retryAfter = isRetryableStatus(resp.StatusCode), resp.Header.Get("Retry-After")
	} else {
		o.retryable = isRetryableError(err)
	}
	if !o.retryable {
		return
	}
	wait, requested := parseRetryAfter(retryAfter, time.Now())
	if !requested {
		wait = o.settings.Retry.backoff(o.known.Attempts, rand.Float64())
	}
	o.retryWait = wait
	deadline, limited := ctx.Deadline()
	tooLong := limited && time.Until(deadline) < wait // to wait until the deadline would only delay the error
	last := o.known.Attempts >= o.settings.Retry.MaxAttempts
	if last || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		o.endpoint.failed(o.successesBefore)
	}
	switch {
	case last, ctx.Err() != nil && errors.Is(err, ctx.Err()): // the error says why
	case ctx.Err() != nil:
		o.known.Reason = "the request was not retried, because the operation was interrupted or its time limit had passed"
	case o.endpoint.isBad(1):
		o.known.Reason = "the request was not retried, because another operation has used up its attempts and nothing has worked since"
	case tooLong && requested:
		o.known.Reason = fmt.Sprintf("the %s asked to wait (Retry-After: %s), longer than the operation's time limit allows",
			o.receiver(), o.redactor.printable(retryAfter, maxText))
	case tooLong:
		o.known.Reason = "the operation's time limit leaves no time for another attempt"
		o.endpoint.failed(o.successesBefore)
	default:
		o.retryDue = true
	}
}

// fail returns what is known so far as an error of the given kind.
func (o *operation) fail(kind Kind, reason string) *Error {
	e := o.known
	e.Kind, e.Reason = kind, joinTexts("; ", truncate(reason, maxMessage), e.Reason)
	return &e
}

// noResponse is the error for an operation whose last attempt got no response.
func (o *operation) noResponse(err error) *Error {
	if known := (*Error)(nil); errors.As(err, &known) {
		e := *known // all operations share a failed token request, and it does not reach their streams
		e.Outcome = o.known.Outcome
		return &e
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // without method and URL, which the error shows already
	}
	kind, reason := KindTimeout, ""
	switch {
	case errors.Is(err, context.Canceled):
		kind, reason = KindInterrupted, "the operation was interrupted"
	case errors.Is(err, ErrRateLimit):
		reason = "the operation's time limit ends before the limit of requests per second allows another request"
	case errors.Is(err, ErrRequestTimeout):
		reason = fmt.Sprintf("the %s did not respond within %s", o.receiver(), o.timeout)
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*net.OpError)):
		reason = "the operation did not finish within its time limit"
	case errors.Is(err, ErrNotSent):
		kind, reason = KindConnection, o.redactor.printable(err.Error(), maxText)
	default:
		if n := net.Error(nil); !errors.As(err, &n) || !n.Timeout() { // the network has time limits of its own
			kind = KindConnection
		}
		reason = "the connection failed: " + o.redactor.printable(err.Error(), maxText)
	}
	if errors.Is(err, ErrTokenWait) {
		reason += " while it waited for the token request of another operation"
	}
	e := o.fail(kind, reason)
	e.Err = errors.Join(tlsFailure(err), err)
	return e
}

// receiver names what the operation sends its requests to.
func (o *operation) receiver() string {
	if o.known.TokenRequest {
		return "token endpoint"
	}
	return "service"
}
