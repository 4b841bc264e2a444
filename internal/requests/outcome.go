package requests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// history is what a delivery has done so far, and what its result needs beside that.
type history struct {
	subject  Result // what the result says about the request
	body     []byte // of each request; none if it is secret
	redactor *masking.Redactor
	attempts []attempt
}

// add appends an attempt. Only the body of the last response is kept.
func (h *history) add(a attempt) {
	for i := range h.attempts {
		if a.status != 0 {
			h.attempts[i].body = nil
		}
	}
	h.attempts = append(h.attempts, a)
}

// last returns the last attempt, or none.
func (h *history) last() (a attempt) {
	if len(h.attempts) > 0 {
		a = h.attempts[len(h.attempts)-1]
	}
	return a
}

// result returns what came of the attempts, of which end is the last decision. err is why no attempt followed, or nil if the last
// one is the result.
func (h *history) result(end step, err error) Result {
	r, last := h.subject, h.last()
	for _, a := range h.attempts {
		if !a.isUnsent() {
			r.Attempts++
		}
	}
	r.MayHaveActed = slices.ContainsFunc(h.attempts, attempt.mayHaveActed)
	if no, isUnsent := errors.AsType[*noCredential](err); isUnsent { // the result is that of another request
		other := no.result
		other.MayHaveActed = r.MayHaveActed
		return other
	}
	for _, a := range slices.Backward(h.attempts) {
		if a.status != 0 {
			h.quote(&r, a)
			break
		}
	}
	if err == nil && !last.isResponse() {
		err = last.err
	}
	var reasons []string
	if err != nil {
		var why string
		r.Failure, why = h.classify(err)
		reasons = append(reasons, why)
	}
	if r.Err = err; end.ending == noTime {
		r.Err = cmp.Or(err, ErrNoTime)
	}
	reasons = append(append(reasons, h.whyNotRetried(last, end)), h.reasonsOf(last)...)
	r.Reason = strings.Join(slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" }), "; ")
	return r
}

// requestIDs are the headers that identify a request for the service's support. The first one counts.
var requestIDs = []string{
	"X-Request-Id", "X-Correlation-Id", "Traceparent", "Request-Id", "X-Amzn-Requestid", "X-Amz-Request-Id", "X-Ms-Request-Id", "Cf-Ray",
}

// quote says what a response says.
func (h *history) quote(r *Result, a attempt) {
	short := func(text string) string { return h.redactor.Printable(text, masking.MaxText) }
	r.Status, r.Location = a.status, short(a.head.Get("Location"))
	requestID := ""
	for _, name := range requestIDs {
		requestID = cmp.Or(requestID, a.head.Get(name))
	}
	r.RequestID = short(requestID)
	r.Challenge = short(strings.Join(a.head.Values("WWW-Authenticate"), ", "))
	if a.status == http.StatusProxyAuthRequired {
		r.Challenge = short(transport.ProxySchemes(a.head))
	}
	if !a.isResponse() {
		return
	}
	if a.isRefusal() {
		_, r.Accepted = a.credential.gate.now()
	}
	r.Body = a.body
	if a.status/100 != 2 {
		r.Message, r.Form = h.redactor.Message(a.body)
	}
}

// reasonsOf returns what is known beside a response.
func (h *history) reasonsOf(a attempt) (reasons []string) {
	if !a.isResponse() {
		return nil
	}
	if a.isRefusal() {
		reasons = append(reasons, a.credential.note)
	}
	if a.err != nil {
		reasons = append(reasons, h.redactor.Printable(a.err.Error(), masking.MaxText))
	}
	return reasons
}

// whyNotRetried returns why no attempt follows one that failed for the moment, or "" if it goes without saying.
func (h *history) whyNotRetried(last attempt, end step) string {
	switch {
	case end.ending == interrupted && !last.isEnded(): // whose error says why
		return "the request was not retried, because the operation was interrupted or its time limit had passed"
	case end.ending == noTime && end.askedBy != "":
		return fmt.Sprintf("the %s asked to wait (%s), longer than the operation's time limit allows",
			h.subject.Receiver(), h.redactor.Printable(end.askedBy, masking.MaxText))
	case end.ending == noTime:
		return ErrNoTime.Error()
	}
	return ""
}

// classify returns what kind of failure an error is, and its text.
func (h *history) classify(err error) (Failure, string) {
	switch {
	case errors.Is(err, context.Canceled):
		return Interrupted, "the operation was interrupted"
	case errors.Is(err, ErrRateLimit), errors.Is(err, ErrRequestTimeout):
		return TimedOut, err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		const reason = "the operation did not finish within its time limit"
		for _, wait := range []error{ErrSlotWait, ErrTurnWait, ErrTokenWait} {
			if errors.Is(err, wait) {
				return TimedOut, reason + ": " + wait.Error()
			}
		}
		return TimedOut, reason
	}
	text := h.redactor.Printable(err.Error(), masking.MaxText)
	if errors.Is(err, transport.ErrNotSent) || errors.Is(err, ErrIncomplete) {
		return NoResponse, text
	}
	return NoResponse, "the connection failed: " + text
}
