package report

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// messageOfFailure is the message of a failed read or operation.
func messageOfFailure(f session.Finding, t task) message {
	e := asStreamError(f.Err)
	t.empty = f.Decision.Send && f.Decision.Set.Len() == 0
	check := hintFor(failure{e, t})
	m := messageOfError(f.Stream, e)
	m.text = text{summary: string(e.Kind), head: t.failed + ".", advice: join(" ", check.whole(), t.next)}
	m.severity, m.now = diag.SeverityError, notChangedByRead
	if e.Reason != "" {
		m.reason = Sentence(e.Reason)
	}
	if f.Facts != nil {
		m.now = nowTrue(f.Now())
		switch set := f.Facts.Remainder; {
		case f.Facts.Detached:
			m.reason = join(" ", m.reason, "The stream's processors were detached before, in this run.")
		case set.Len() > 0:
			m.reason = join(" ", m.reason, fmt.Sprintf("In this run, an object that had set %s left the stream and sent nothing, so the "+
				"processors may still be attached.", set))
		}
	}
	switch {
	case e.TokenRequest:
		m.head += " The token request to oauth2.token_url failed."
	case e.Kind == streams.KindNotFound, e.Kind == streams.KindBadRequest && e.Method == http.MethodGet:
		m.attribute = "stream_id"
	case e.Kind == streams.KindBadRequest:
		m.attribute = "processor_ids"
	}
	m.short = m.shortened(e, check.check)
	return m
}

// messageOfError begins a message about a stream with what the request and the response were.
func messageOfError(stream string, e *streams.Error) message {
	m := message{cause: cause{status: e.Status}, stream: stream, request: request(e)}
	if e.URL != "" && e.Message != "" {
		label := "The response does not have the documented form: "
		if e.Documented() {
			label = "The " + e.Receiver() + " said: "
		}
		m.response = label + e.Message
	}
	return m
}

// shortened says what failed, and what to check first.
func (m message) shortened(e *streams.Error, check string) string {
	happened := m.happened(1)
	if e.Status != 0 {
		happened = Sentence(join(": ", strings.TrimSuffix(happened, "."), transport.StatusText(e.Status), cut(e.Message)))
	}
	return join(" ", happened, m.reason, m.fill(check, 1))
}

// request returns "" if there was no request to send.
func request(e *streams.Error) string {
	if e.URL == "" {
		return ""
	}
	response, attempts := "no valid response", ""
	switch {
	case e.Status != 0:
		response = transport.StatusText(e.Status)
	case e.Attempts == 0:
		response = "no request was sent"
	}
	if e.Attempts > 1 {
		attempts = fmt.Sprintf(" (%d attempts)", e.Attempts)
	}
	challenge := "WWW-Authenticate: "
	if e.Status == http.StatusProxyAuthRequired {
		challenge = "Proxy-Authenticate: "
	}
	return join("\n", fmt.Sprintf("%s %s → %s%s", e.Method, e.URL, response, attempts),
		labelled("Request id: ", e.RequestID), labelled("Location: ", e.Location),
		labelled(challenge, e.Challenge))
}

// asStreamError finds the client's error. An operation that ended before the client was called gets one like it.
func asStreamError(err error) *streams.Error {
	if e, ok := errors.AsType[*streams.Error](err); ok {
		return e
	}
	e := &streams.Error{Kind: streams.KindInterrupted}
	e.Err, e.Reason = err, "the operation was interrupted"
	if errors.Is(err, context.DeadlineExceeded) {
		e.Kind, e.Reason = streams.KindTimeout, "the operation reached its time limit"
	}
	if errors.Is(err, session.ErrWaitedForOther) {
		e.Reason += " while it waited for another operation on the same stream"
	}
	return e
}
