package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"
)

// maxBody is the longest response body that is accepted, in bytes. A stream has a few hundred bytes.
const maxBody = 1 << 20

// Attempt describes one HTTP request and its result, for a log. Known secrets are masked in the texts from
// outside.
type Attempt struct {
	Number       int // 1 is the first
	Method       string
	URL          string
	Status       int // 0 without a response
	Duration     time.Duration
	Err          string // why there was no response
	Retry        bool   // another attempt follows, after RetryWait
	RetryWait    time.Duration
	Header       LogText // of the response
	RequestBody  LogText // empty for a token request, because it is secret
	ResponseBody LogText // likewise
}

// LogText is a text for a log. Only if the log wants it, secrets are masked in a text from outside.
type LogText struct {
	text    []byte
	secrets *redactor // nil: the text is the provider's own
}

// String returns the text.
func (t LogText) String() string {
	if t.secrets == nil {
		return string(t.text)
	}
	return t.secrets.mask(string(t.text))
}

// MarshalText returns the text, for a log in JSON.
func (t LogText) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// RoundTrip makes one attempt: it waits for a slot and for the rate limit, sends the request and reads the
// whole response. So the request timeout covers the body, and an incomplete response is a failed connection.
// Operations hold no slot while they wait for a retry. An interrupt ends the waits at once, and the attempt
// after a grace period.
func (o *operation) RoundTrip(req *http.Request) (*http.Response, error) {
	operationCtx := req.Context()
	freeSlot, err := o.waitForTurn(operationCtx)
	if err != nil {
		return nil, err
	}
	defer freeSlot()
	if o.attempts++; o.attempts == 1 {
		o.successesBefore = o.endpoint.count()
	}
	if o.timeout = o.requestTimeout; o.endpoint.isBad(1) {
		o.timeout /= shorterTimeout
	}
	ctx, cancel := attemptContext(operationCtx, o.timeout)
	defer cancel()
	asked, connected, newConnection := false, false, false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked = true },
		GotConn: func(c httptrace.GotConnInfo) { asked, connected, newConnection = true, true, !c.Reused },
	})
	req = req.Clone(ctx)
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", o.userAgent)
	}

	start := time.Now()
	resp, body, err := o.sendAndReadBody(req)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // the transport reports it in several ways
	}
	if o.observe != nil {
		o.attempt = o.describeAttempt(resp, body, err, time.Since(start))
	}
	switch {
	case err == nil:
		return o.noteResponse(resp, body)
	case !asked && ctx.Err() == nil:
		o.attempts--
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	// On a new connection, a client may send its request before it learns that the service refuses its
	// certificate. The service has not read that request.
	if notRead := newConnection && tlsFailure(err) != nil; connected && !notRead {
		o.outcome = Unknown
	}
	return nil, err
}

// shorterTimeout divides the request timeout while the endpoint does not work: the first operation has waited
// for the whole timeout several times.
const shorterTimeout = 5

// waitForTurn waits for a slot and for the rate limit. The slot comes first: after a wait for a slot, requests
// that the rate limit has let through would burst.
func (o *operation) waitForTurn(ctx context.Context) (freeSlot func(), err error) {
	select {
	case o.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, o.noResponse(ctx.Err())
	}
	freeSlot = func() { <-o.slots }
	if ctx.Err() != nil || o.limiter != nil && o.limiter.Wait(ctx) != nil {
		freeSlot()
		return nil, o.noTurn(ctx)
	}
	return freeSlot, nil
}

// noteResponse notes what a response says, and refuses a redirect.
func (o *operation) noteResponse(resp *http.Response, body []byte) (*http.Response, error) {
	if !isOutage(resp.StatusCode) {
		o.endpoint.succeeded()
	}
	o.status, o.requestID = resp.StatusCode, o.redactor.printable(requestID(resp.Header), maxText)
	if o.status/100 == 2 {
		o.message, o.documented = "", false
		return resp, nil
	}
	o.message, o.documented = readMessage(body, o.redactor)
	o.outcome = max(o.outcome, outcomeOf(o.status))
	if o.status/100 == 3 {
		return nil, o.redirectRefused(resp)
	}
	return resp, nil
}

// sendAndReadBody returns the response and its body, up to one byte more than maxBody.
func (o *operation) sendAndReadBody(req *http.Request) (*http.Response, []byte, error) {
	resp, err := o.base.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// This body is the connection itself, and the request timeout would not end it.
		return resp, nil, resp.Body.Close()
	}
	var body bytes.Buffer
	_, err = body.ReadFrom(io.LimitReader(resp.Body, maxBody+1))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, nil, fmt.Errorf("the response is incomplete: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body.Bytes()))
	return resp, body.Bytes(), nil
}

func (o *operation) describeAttempt(resp *http.Response, body []byte, err error, d time.Duration) *Attempt {
	a := &Attempt{Number: o.attempts, Method: o.method, URL: o.url, Duration: d}
	if err != nil {
		a.Err = o.redactor.printable(err.Error(), maxMessage)
	} else {
		a.Status = resp.StatusCode
		a.Header = headerText(resp.Header, o.redactor)
	}
	if !o.tokenRequest {
		a.RequestBody = LogText{text: o.body}
		a.ResponseBody = LogText{body, o.redactor}
	}
	return a
}

// reportAttempt passes the last attempt on, if there was one since the last report, when it is known
// whether a retry follows.
func (o *operation) reportAttempt(ctx context.Context, retry bool) {
	if o.attempt == nil {
		return
	}
	if o.attempt.Retry = retry; retry {
		o.attempt.RetryWait = o.retryWait
	}
	o.observe(ctx, *o.attempt)
	o.attempt = nil
}
