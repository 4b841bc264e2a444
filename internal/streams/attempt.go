package streams

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"
)

// try sends the request, and notes what came of it.
func (r *request) try(req *http.Request) (*http.Response, error) {
	full, suffix := r.settings.RequestTimeout, ""
	timeout := full
	if r.endpoint.now().condition == mute {
		timeout = shortened(full)
	}
	if timeout < full {
		suffix = fmt.Sprintf(" (shortened from %s after other failures)", full)
	}
	late := fmt.Errorf("the %s %w %s%s", r.draft.Receiver(), ErrRequestTimeout, timeout, suffix)
	ctx, cancel := attemptContext(req.Context(), timeout, late)
	defer cancel()
	asked := false
	var conn *httptrace.GotConnInfo
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked = true },
		GotConn: func(c httptrace.GotConnInfo) { asked, conn = true, &c },
	})
	req = req.Clone(ctx)
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", r.settings.UserAgent)
	}
	resp, err := r.sendAndReadBody(req)
	switch {
	case err == nil:
		r.noteResponse(resp)
		return resp, nil
	case ctx.Err() != nil:
		err = context.Cause(ctx) // the transport reports it in several ways
		if timeout == full && errors.Is(err, ErrRequestTimeout) {
			r.endpoint.heardNothing(r.began)
		}
	case !asked:
		err = fmt.Errorf("%w: %w", ErrNotSent, err)
		r.draft.Attempts--
	}
	// On a new connection, a client may send its request before it learns that the service rejects its
	// certificate, or speaks another protocol. The service has not read that request.
	if conn != nil && (conn.Reused || !sentAlert(err, byService) && !errors.As(err, new(*ProtocolError))) {
		r.draft.Outcome = Unknown
	}
	return nil, err
}

func (r *request) noteResponse(resp *http.Response) {
	r.draft.Status, r.draft.RequestID = resp.StatusCode, r.redactor.printable(requestID(resp.Header), maxText)
	r.draft.Message, r.draft.Documented = "", false
	if resp.StatusCode/100 != 2 {
		r.draft.Message, r.draft.Documented = readMessage(r.response, r.redactor)
		r.draft.Outcome = max(r.draft.Outcome, outcomeOf(resp.StatusCode))
	}
	// With a Location, [http.Client] would send a GET instead of the PATCH, or fail if it is not a URL.
	r.draft.Location = r.redactor.printable(resp.Header.Get("Location"), maxText)
	resp.Header.Del("Location")
}

// requestID returns what identifies the request for the service's support, or "".
func requestID(h http.Header) string {
	return cmp.Or(h.Get("X-Request-Id"), h.Get("Request-Id"), h.Get("X-Correlation-Id"), h.Get("X-Amzn-Requestid"),
		h.Get("X-Amz-Request-Id"), h.Get("X-Ms-Request-Id"), h.Get("X-Amzn-Trace-Id"), h.Get("X-Trace-Id"), h.Get("Cf-Ray"))
}

// judge notes what an attempt says about the endpoint and the credential, which had so many successes before. A service
// that rejects a request works. A failure of the service or of a proxy says nothing about the credential.
func (r *request) judge(status int, err error, successes int) {
	timedOut := errors.Is(err, ErrRequestTimeout) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	switch {
	case status == http.StatusUnauthorized: // this try is used up, and the operation may make another one in its turn
		r.endpoint.worked()
		r.sent.reject(successes, r.waited, r.fail(KindAuthentication, ""))
		return
	case status != 0 && !isRetryableStatus(status):
		r.endpoint.worked()
		r.sent.accept()
		r.endTurn()
	case !timedOut:
		r.endpoint.answered()
		r.endTurn()
	}
	r.sent.release(r.sent.tries)
}

// sendAndReadBody sets r.response to the body, up to one byte more than maxBody. The request timeout covers it.
func (r *request) sendAndReadBody(req *http.Request) (*http.Response, error) {
	resp, err := r.network.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// This body is the connection itself, and the request timeout would not end it.
		return resp, resp.Body.Close()
	}
	r.response, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err == nil && isCut(resp, r.response) {
		err = io.ErrUnexpectedEOF
	}
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, fmt.Errorf("the response is incomplete: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(r.response))
	return resp, nil
}

// isCut reports whether a body ended too early. Without a length, HTTP/1 ends a body with the connection (RFC 9112, section
// 6.3), so only JSON shows it.
func isCut(resp *http.Response, body []byte) bool {
	hasEnd := resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0 || resp.ProtoMajor > 1 || resp.Uncompressed
	if hasEnd || len(body) > maxBody {
		return false
	}
	err := json.NewDecoder(bytes.NewReader(body)).Decode(new(json.RawMessage))
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// attemptContext returns the context of one attempt. An interrupt ends it after five seconds: only the response tells
// whether the stream was changed.
func attemptContext(operation context.Context, timeout time.Duration, late error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(operation))
	unregister := context.AfterFunc(operation, func() {
		grace := 5 * time.Second
		if deadline, limited := operation.Deadline(); limited {
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
