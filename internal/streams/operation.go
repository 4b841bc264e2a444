package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/time/rate"
)

// maxBody is the longest answer that is read: some thousand times a large stream.
const maxBody = 16 << 20

// Causes of an [Error], beside those of package context.
var (
	// ErrRequestTimeout says that the last attempt got no answer in time.
	ErrRequestTimeout = errors.New("no answer within the request timeout")
	// ErrTLS says that client and service do not accept each other's certificate or protocol.
	ErrTLS = errors.New("no agreement on TLS")
)

// Attempt describes one HTTP request and what came of it, for a log. Known secrets are hidden in
// all of its texts.
type Attempt struct {
	Number       int // 1 is the first
	Method       string
	URL          string
	Status       int // 0 without an answer
	Duration     time.Duration
	Err          string // why there was no answer
	RequestBody  string // empty for a token request: all of it is secret
	ResponseBody string // likewise
}

// transport is what all operations of a client share.
type transport struct {
	base      http.RoundTripper
	limiter   *rate.Limiter // nil: no limit
	timeout   time.Duration // of one attempt
	retry     Retry
	userAgent string
	secrets   *mask
	observe   func(context.Context, Attempt) // nil: nobody listens
}

// operation is one update, read or token request: its attempts, and what is known after them. The
// error that a user sees draws on all of them, not only on the last.
type operation struct {
	*transport
	method string
	url    string
	body   []byte
	secret bool       // nothing of its bodies may be logged
	dial   *firstDial // nil: it need not wait to connect

	attempts   int
	outcome    Outcome
	status     int    // of the last answer, 0 while there is none
	message    string // what it said, when it was no success
	documented bool
	note       string        // why there is no further attempt, where it would surprise
	wait       time.Duration // before the next attempt
}

// client returns an HTTP client whose every request is an attempt of this operation.
func (o *operation) client() *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient: &http.Client{Transport: o},
		RetryMax:   o.retry.MaxAttempts - 1,
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			return o.again(ctx, resp, err), nil
		},
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return o.wait },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// RoundTrip makes one attempt, all of it: the wait for the rate limit, the request, the whole
// answer. So the request timeout covers the body, and an answer cut off is a failed connection.
func (o *operation) RoundTrip(req *http.Request) (*http.Response, error) {
	parent := req.Context()
	if o.limiter != nil {
		if err := o.limiter.Wait(parent); err != nil {
			return nil, o.limited(parent)
		}
	}
	ctx, cancel := context.WithTimeoutCause(parent, o.timeout, ErrRequestTimeout)
	defer cancel()
	connected := o.dial.begin(ctx)
	sent, fresh := false, false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:      func(c httptrace.GotConnInfo) { sent, fresh = true, !c.Reused },
		WroteHeaders: connected,
	})
	req = req.Clone(ctx)
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", o.userAgent)
	}

	o.attempts++
	start := time.Now()
	resp, body, err := o.exchange(req)
	connected()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // the transport's own words for it vary
	}
	if o.observe != nil {
		o.observe(parent, o.describe(resp, body, err, time.Since(start)))
	}
	if err != nil {
		// Of a new connection, a service may refuse the client's certificate only after the client has
		// sent its request; then it has not read that.
		if sent && (!fresh || !disagreement(err)) {
			o.outcome = Unknown
		}
		return nil, err
	}
	o.status = resp.StatusCode
	if o.status/100 == 2 {
		o.message, o.documented = "", false
		return resp, nil
	}
	o.message, o.documented = readMessage(body, o.secrets)
	o.outcome = max(o.outcome, outcomeOf(o.status))
	if o.status/100 == 3 {
		return nil, o.redirected(resp)
	}
	return resp, nil
}

// exchange sends req and reads the whole answer, up to one byte more than is allowed.
func (o *operation) exchange(req *http.Request) (*http.Response, []byte, error) {
	resp, err := o.base.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// The body would be the bare connection, which ends with no time limit.
		return resp, nil, resp.Body.Close()
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, nil, fmt.Errorf("the answer was cut off: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, body, nil
}

func (o *operation) describe(resp *http.Response, body []byte, err error, d time.Duration) Attempt {
	a := Attempt{Number: o.attempts, Method: o.method, URL: o.secrets.hide(o.url), Duration: d}
	if err != nil {
		a.Err = visible(o.secrets.hide(err.Error()))
	} else {
		a.Status = resp.StatusCode
	}
	if !o.secret {
		a.RequestBody = o.secrets.hide(string(o.body))
		a.ResponseBody = o.secrets.hide(string(body))
	}
	return a
}

// limited is the error for a wait that was interrupted, or would have outlasted the operation: the
// limiter sees that beforehand and has an error of its own for it.
func (o *operation) limited(ctx context.Context) *Error {
	if ctx.Err() != nil {
		return o.failure(ctx.Err())
	}
	e := o.error(KindTimeout)
	e.Reason = "the limit of requests per second left no turn within the operation's time limit"
	return e
}

// redirected makes an answer an error before http.Client sees it: that would turn the PATCH into a
// GET, or stumble over a Location that is no URL.
func (o *operation) redirected(resp *http.Response) *Error {
	e := o.error(KindGeneric)
	e.Location = cut(visible(o.secrets.hide(resp.Header.Get("Location"))), maxText)
	e.Reason = "the service answered with a redirect, which is never followed"
	return e
}

// again decides whether there is another attempt, and after what wait.
func (o *operation) again(ctx context.Context, resp *http.Response, err error) bool {
	if err != nil && !retryableFailure(err) || err == nil && !retryableStatus(resp.StatusCode) {
		return false
	}
	if o.attempts >= o.retry.MaxAttempts || err != nil && ctx.Err() != nil {
		return false
	}
	if ctx.Err() != nil {
		o.note = "there was no other attempt, because the operation was interrupted or out of time"
		return false
	}
	o.wait = o.retry.backoff(o.attempts, rand.Float64())
	asked := false
	if err == nil {
		var after time.Duration
		if after, asked = retryAfter(resp.Header.Get("Retry-After"), time.Now()); asked {
			o.wait = after
		}
	}
	// To sit out a deadline that comes first would only hold the bad news back.
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < o.wait {
		o.note = "the time limit of the operation leaves no room for another attempt"
		if asked {
			o.note = fmt.Sprintf("the service asked to wait %s, longer than the operation may take", o.wait)
		}
		return false
	}
	return true
}

// error returns what is known so far as an error of the given kind.
func (o *operation) error(kind Kind) *Error {
	return &Error{
		Kind: kind, Method: o.method, URL: o.secrets.hide(o.url), Status: o.status,
		Message: o.message, Documented: o.documented, Reason: o.note,
		Attempts: o.attempts, Outcome: o.outcome,
	}
}

// failure is the error for a request that ended without an answer.
func (o *operation) failure(err error) *Error {
	if known := (*Error)(nil); errors.As(err, &known) {
		return known
	}
	e := o.error(KindGeneric)
	e.Err = err
	switch {
	case errors.Is(err, context.Canceled):
		e.Reason = "the operation was interrupted"
	case errors.Is(err, ErrRequestTimeout):
		e.Kind = KindTimeout
		e.Reason = fmt.Sprintf("the service did not answer within %s", o.timeout)
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*net.OpError)):
		e.Kind = KindTimeout
		e.Reason = "the operation did not end within its time limit"
	default:
		// Method and URL are shown anyway; the cause below them is what helps.
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err
		}
		if disagreement(err) {
			e.Err = errors.Join(ErrTLS, err)
		}
		// The network has time limits of its own.
		if n := net.Error(nil); errors.As(err, &n) && n.Timeout() {
			e.Kind = KindTimeout
		}
		e.Reason = "the connection failed: " + cut(visible(o.secrets.hide(err.Error())), maxText)
	}
	if o.note != "" {
		e.Reason += "; " + o.note
	}
	return e
}
