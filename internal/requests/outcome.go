package requests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// result returns what came of the attempts, of which end is the last decision. err is why no attempt followed, or nil if the last
// one is the result.
func (d *delivery) result(end step, err error) Result {
	var last attempt
	sent, rejections, response := 0, 0, -1
	for i, a := range d.attempts {
		if last = a; !a.isUnsent() {
			sent++
		}
		if a.isRejection() {
			rejections++
		}
		if a.status != 0 {
			response = i
		}
	}
	mayHaveActed := slices.ContainsFunc(d.attempts, attempt.mayHaveActed)
	if search, isSearch := errors.AsType[*failedSearch](err); isSearch {
		r := search.result // of another request, which did not reach the stream
		r.MayHaveActed, r.Attempts = mayHaveActed, cmp.Or(r.Attempts, sent)
		return r
	}
	r := d.subject
	if response >= 0 {
		d.describe(&r, d.attempts[response])
	}
	r.Attempts, r.MayHaveActed = sent, mayHaveActed
	r.OthersSucceed = last.endpoint.successes-rejections > d.successes
	r.OutOfAttempts = end.ending == usedUp && d.client.settings.Retry.MaxAttempts > 0
	var reasons []string
	switch {
	case last.isResponse():
		reasons = d.reasonsOf(&r, last)
	case err == nil:
		err = last.err
	}
	if why, cause := d.whyNotRetried(last, end); why != "" {
		reasons, r.Err = append([]string{why}, reasons...), cmp.Or(cause, r.Err)
	}
	if err != nil {
		var why string
		r.Failure, why = d.classify(err)
		reasons, r.Err = append([]string{why}, reasons...), err
	}
	r.Reason = strings.Join(slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" }), "; ")
	return r
}

// describe says what a response says.
func (d *delivery) describe(r *Result, a attempt) {
	redactor := d.client.redactor
	r.Status = a.status
	r.RequestID = redactor.Printable(requestID(a.head), masking.MaxText)
	r.Location = redactor.Printable(a.head.Get("Location"), masking.MaxText)
	r.Challenge = redactor.Printable(strings.Join(a.head.Values("WWW-Authenticate"), ", "), masking.MaxText)
	if a.status == http.StatusProxyAuthRequired {
		r.Challenge = redactor.Printable(transport.ProxySchemes(a.head), masking.MaxText)
	}
	if !a.isResponse() {
		return
	}
	r.Body = a.body
	if a.status/100 != 2 {
		r.Message, r.Form = redactor.Message(a.body)
	}
	if a.err != nil && r.Form == masking.FormText {
		r.Form = masking.FormPart
	}
}

// reasonsOf returns what is known beside a response.
func (d *delivery) reasonsOf(r *Result, a attempt) (reasons []string) {
	if !a.forToken && (a.status == http.StatusUnauthorized || a.status == http.StatusForbidden) {
		reasons = append(reasons, a.credential.note)
	}
	if a.wantsCertificate && mayWantCertificate(*r) {
		r.Err = transport.ErrNoCertificate
		reasons = append(reasons, r.Err.Error())
	}
	if a.err != nil {
		reasons = append(reasons, d.client.redactor.Printable(a.err.Error(), masking.MaxText))
	}
	return reasons
}

// mayWantCertificate reports whether a response may reject a client without a certificate. Some servers do so after the
// handshake: nginx with 400, 495 or 496, in a page.
func mayWantCertificate(r Result) bool {
	return slices.Contains([]int{401, 403, 495, 496}, r.Status) || r.Status == http.StatusBadRequest && !r.Documented()
}

// requestID returns what identifies the request for the service's support, or "".
func requestID(h http.Header) string {
	return cmp.Or(h.Get("X-Request-Id"), h.Get("X-Correlation-Id"), h.Get("Traceparent"))
}

// whyNotRetried returns why no attempt follows one that failed for the moment, or "" if it goes without saying.
func (d *delivery) whyNotRetried(last attempt, end step) (reason string, cause error) {
	switch {
	case end.ending == interrupted && !last.isEnded(): // whose error says why
		return "the request was not retried, because the operation was interrupted or its time limit had passed", nil
	case end.ending == noTime && end.asked != "":
		return fmt.Sprintf("the %s asked to wait (%s), longer than the operation's time limit allows",
			d.subject.Receiver(), d.client.redactor.Printable(end.asked, masking.MaxText)), ErrNoTime
	case end.ending == noTime:
		return ErrNoTime.Error(), ErrNoTime
	}
	return "", nil
}

// classify returns what kind of failure an error is, and its text.
func (d *delivery) classify(err error) (Failure, string) {
	switch {
	case errors.Is(err, context.Canceled):
		return Interrupted, "the operation was interrupted"
	case errors.Is(err, ErrRateLimit), errors.Is(err, ErrRequestTimeout):
		return TimedOut, err.Error()
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*net.OpError)):
		const reason = "the operation did not finish within its time limit"
		for _, wait := range []error{ErrSlotWait, ErrTurnWait, ErrTokenWait} {
			if errors.Is(err, wait) {
				return TimedOut, reason + ": " + wait.Error()
			}
		}
		return TimedOut, reason
	}
	text := d.client.redactor.Printable(err.Error(), masking.MaxText)
	if errors.Is(err, transport.ErrNotSent) || errors.Is(err, ErrIncomplete) {
		return NoResponse, text
	}
	return NoResponse, "the connection failed: " + text
}
