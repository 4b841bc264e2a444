package requests

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// attempt is one attempt of an operation.
type attempt struct {
	*operation
	number  int
	timeout time.Duration
	body    []byte // of the response, perhaps incomplete
	cut     error  // why it is
	sent    transport.Exchange
}

// send sends the request, and notes what came of it.
func (a *attempt) send(req *http.Request) (*http.Response, error) {
	a.result.Reason, a.result.Header = "", HeaderSize{} // of an earlier attempt
	_, successes := a.header.state()
	ctx, cancel := attemptContext(req.Context(), a.timeout, a.noResponse())
	defer cancel()
	req = req.Clone(ctx)
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", a.settings.UserAgent)
	}
	resp, err := a.roundTrip(req)
	if a.sent.Connected {
		a.result.Header = sizeOf(req.Header)
	}
	if err == nil {
		a.noteResponse(resp)
		a.learnFromResponse(successes)
		return resp, nil
	}
	switch {
	case errors.Is(err, ErrIncomplete):
		a.noteHead(resp)
	case ctx.Err() != nil:
		err = context.Cause(ctx) // the transport reports it in several ways
		if !a.sent.Connected && errors.Is(err, ErrRequestTimeout) {
			err = fmt.Errorf("%w: %w", err, transport.ErrNoConnection)
		}
	case errors.Is(err, transport.ErrNotSent):
		a.result.Attempts--
	}
	a.learnFromFailure(err)
	a.noteEffect(err)
	return nil, err
}

// noResponse is the error of an attempt that takes longer than it may.
func (a *attempt) noResponse() error {
	short := ""
	if full := a.settings.RequestTimeout; a.timeout < full {
		short = fmt.Sprintf(" (shortened from %s after other failures)", full)
	}
	return fmt.Errorf("the %s %w %s%s", a.result.Receiver(), ErrRequestTimeout, a.timeout, short)
}

// noteResponse notes what a response says about the request.
func (a *attempt) noteResponse(resp *http.Response) {
	a.noteHead(resp)
	r := &a.result
	r.Body = a.body
	if r.Status/100 != 2 {
		r.Message, r.Form = a.Message(r.Body)
		if !rulesOut(r.Status) {
			r.MayHaveActed, a.brokeEarly = true, false
		}
	}
	if a.cut != nil {
		r.Reason = a.Printable(a.cut.Error(), masking.MaxText)
		if r.Form == masking.FormText {
			r.Form = masking.FormPart
		}
	}
	if mayWantCertificate(*r) && a.network.WantsCertificate(resp.Request.URL) {
		r.Err = transport.ErrNoCertificate
		*r = r.because(r.Err.Error())
	}
}

// learnFromResponse notes what a response says about the endpoint and the header. successes is how many the header had before. A
// service that rejects a request works. A failure of the service or of a proxy says nothing about the header.
func (a *attempt) learnFromResponse(successes int) {
	switch r := &a.result; {
	case r.Status == http.StatusUnauthorized: // this try is used up, and the operation may make another one in its turn
		a.endpoint.worked()
		*r = r.because(a.header.note)
		a.header.reject(successes, a.waited, *r)
		return
	case isRetryableStatus(r.Status) && !slices.Contains(conflicts, r.Status):
		a.endpoint.heard()
	default:
		a.endpoint.worked()
		a.header.accept()
	}
	a.endTurn()
	a.header.release(a.header.tries)
}

// noteHead notes the status and the header of a response.
func (a *attempt) noteHead(resp *http.Response) {
	r := &a.result
	r.Status, r.Body, r.Message, r.Form, r.Err = resp.StatusCode, nil, "", masking.FormText, nil
	r.RequestID = a.Printable(requestID(resp.Header), masking.MaxText)
	// With a Location, [http.Client] would send a GET instead of the PATCH, or fail if it is not a URL.
	r.Location = a.Printable(resp.Header.Get("Location"), masking.MaxText)
	r.Challenge = a.Printable(strings.Join(resp.Header.Values("WWW-Authenticate"), ", "), masking.MaxText)
	r.Proxied = resp.Header.Get("Via") != ""
	r.Accepts = a.Printable(resp.Header.Get("Accept-Patch"), masking.MaxText)
	resp.Header.Del("Location")
}

// learnFromFailure notes what an attempt without a response says about the endpoint.
func (a *attempt) learnFromFailure(err error) {
	switch {
	case errors.Is(err, ErrRequestTimeout), errors.Is(err, transport.ErrNoPong):
		a.endpoint.heardNothing(a.began, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	default:
		a.endpoint.heard()
		a.endTurn()
	}
	a.header.release(a.header.tries)
}

// noteEffect notes whether an attempt without a response may have taken effect. On a new connection, a client may send its
// request before it learns that the service rejects its certificate, or speaks another protocol. The service has not read that
// request, nor those on earlier new connections, which may have broken before the service could say why.
func (a *attempt) noteEffect(err error) {
	waited := errors.Is(err, ErrRequestTimeout) || errors.Is(err, transport.ErrNoPong) || errors.Is(err, ErrIncomplete) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	fresh := !a.sent.Answered
	switch {
	case errors.Is(err, transport.ErrNotSent), errors.Is(err, transport.ErrNeedsHTTP1), fresh && transport.RejectsClient(err):
		a.result.MayHaveActed = a.result.MayHaveActed && !a.brokeEarly
	case !a.sent.Connected, !a.sent.Written && !waited: // it was not sent
	default:
		a.brokeEarly = fresh && !waited && (a.brokeEarly || !a.result.MayHaveActed)
		a.result.MayHaveActed = true
	}
}

// log describes the attempt for a log.
func (a *attempt) log(resp *http.Response, err error, duration time.Duration) Attempt {
	l := Attempt{
		Number: a.number, Method: a.request.Method, URL: a.request.URL, RequestBody: string(a.request.Body),
		Duration: duration, ResponseBody: Text{redactor: a.Redactor},
	}
	if resp != nil {
		l.Status = resp.StatusCode
	} else {
		l.Err = a.Printable(err.Error(), masking.MaxMessage)
	}
	if !a.result.TokenRequest {
		l.ResponseBody.text = a.body
	}
	if l.Retry = a.next.ending == goesOn; l.Retry {
		l.RetryWait = time.Until(a.next.due)
	}
	return l
}

// requestID returns what identifies the request for the service's support, or "".
func requestID(h http.Header) string {
	return cmp.Or(h.Get("X-Request-Id"), h.Get("Request-Id"), h.Get("X-Correlation-Id"), h.Get("X-Amzn-Requestid"),
		h.Get("X-Amz-Request-Id"), h.Get("X-Ms-Request-Id"), h.Get("X-Amzn-Trace-Id"), h.Get("X-Trace-Id"), h.Get("Cf-Ray"))
}

// roundTrip sends the request, and reads the response. The request timeout covers the body. The status alone says what became
// of the request, unless it is a success: then the error is ErrIncomplete if the body is.
func (a *attempt) roundTrip(req *http.Request) (_ *http.Response, err error) {
	resp, sent, err := a.network.Send(req)
	a.sent = sent
	defer func() {
		if (err != nil || a.cut != nil) && !errors.Is(err, transport.ErrLongHeader) { // which the connection knows
			sent.Abandon()
		}
	}()
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// This body is the connection itself, and the request timeout would not end it.
		return resp, resp.Body.Close()
	}
	a.body, err = transport.ReadBody(resp)
	if ended := req.Context(); err != nil && ended.Err() != nil {
		err = context.Cause(ended)
	}
	if errors.Is(err, ErrRequestTimeout) {
		err = fmt.Errorf("its end did not arrive within %s", a.timeout)
	}
	if err != nil {
		a.cut = fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	if resp.StatusCode/100 == 2 && a.cut != nil {
		return resp, a.cut
	}
	resp.Body = io.NopCloser(bytes.NewReader(a.body))
	return resp, nil
}

// attemptContext returns the context of one attempt. An interrupt ends it after five seconds: only the response tells
// whether the stream was changed.
func attemptContext(operation context.Context, timeout time.Duration, late error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(operation))
	unregister := context.AfterFunc(operation, func() {
		grace := 5 * time.Second
		if deadline, hasDeadline := operation.Deadline(); hasDeadline {
			grace = min(grace, time.Until(deadline))
		}
		time.AfterFunc(grace, func() { cancel(operation.Err()) })
	})
	ctx, stop := context.WithTimeoutCause(ctx, timeout, late)
	return ctx, func() {
		unregister()
		stop()
	}
}
