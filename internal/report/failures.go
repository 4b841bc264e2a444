package report

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// What to do where the deployment serves no reads.
const (
	WithoutReads       = "set detect_drift = false, or unset STREAM_DETECT_DRIFT."
	WithoutDataSource  = "remove the data source: the state of a resource has the set that was sent last."
	WithoutQuery       = "write the resources by hand."
	WithoutGroupImport = "remove the import, and apply the group: a create sends each set once."
)

const (
	notChanged     = "The stream was not changed."
	notChangedHere = "The stream was not changed by this resource." // always true of an operation that was not begun
	nothingSent    = "Nothing was sent by this operation. "
)

// nowTrue is the last sentence of every diagnostic about an operation: what is now true of the stream.
// reported is what the service reported instead of the set that was sent, or nil.
func nowTrue(o streams.Outcome, reported *streams.Stream) string {
	switch {
	case o == streams.Unknown:
		return "The stream may or may not have been changed; apply again: sending the same set twice is safe."
	case reported != nil:
		return fmt.Sprintf("The service reports that the stream now has %s.", reported.ShownProcessors())
	case o == streams.Changed:
		return "The stream was changed."
	}
	return notChanged
}

// changeTriggers helps where create_before_destroy puts the old object back into the state.
const changeTriggers = "If the next plan shows no changes, change a value in triggers."

// notSaved is true of every failed create. With create_before_destroy, Terraform keeps the old object.
const notSaved = "Nothing of this create is in the state: if you remove the resource now, its processors may stay " +
	"attached. Resolve the errors, then apply again. " + changeTriggers

// attempted is what a read or an operation was to do, and what a person should know if it failed.
type attempted struct {
	failed    string // a clause: what could not be done
	empty     bool   // it sent the empty set
	leaves    bool   // a resource leaves the stream
	otherwise string // of a read: what to do where the deployment serves none
	next      string // what to know before the next apply
}

func reading(otherwise string) attempted {
	return attempted{failed: "{streams} could not be read", otherwise: otherwise}
}

// changing is what an operation in the apply of a change was to do. Without an operation, streams were read.
func changing(of Subject, c session.Change, f session.Finding) attempted {
	if f.Facts == nil {
		return reading(WithoutReads)
	}
	_, stays := c.Want[f.Stream]
	did := attempted{
		failed: "the processors of {streams} could not be updated",
		empty:  f.Decision.Send && f.Decision.Set.Len() == 0, leaves: !stays,
	}
	switch {
	case !stays:
		did.failed = "the processors of {streams} could not be detached"
	case c.Kind == session.Create:
		did.failed = "the processors of {streams} could not be set"
	}
	e := asStreamError(f.Err)
	switch {
	case c.Kind != session.Create, of == Group: // a group says it once
	case e.Outcome == streams.NotChanged && f.Facts.Remainder.Len() == 0:
	case e.Repeated:
		did.next = changeTriggers
	default:
		did.next = notSaved
	}
	return did
}

func failure(f session.Finding, did attempted) message {
	e := asStreamError(f.Err)
	m := message{
		text: text{summary: string(e.Kind), head: did.failed + ".", advice: hint(e, did)}, stream: f.Stream,
		severity: diag.SeverityError, cause: causeOf(e, f.Stream), said: requestAndResponse(e),
		now: "Nothing was changed by this read.",
	}
	if f.Facts != nil {
		m.now = nowTrue(f.Now())
		if left := f.Facts.Remainder; left.Len() > 0 {
			m.advice += fmt.Sprintf(" In this run, an object that had set %s left the stream and sent nothing, so the "+
				"processors may still be attached.", left)
		}
	}
	m.advice = join(" ", m.advice, did.next)
	switch {
	case e.TokenRequest:
		m.head += " The token request to oauth2.token_url failed."
	case cannotRead(e): // the attributes are not the cause
	case e.Kind == streams.KindBadRequest:
		m.attribute = "processor_ids"
	case e.Kind == streams.KindNotFound:
		m.attribute = "stream_id"
	}
	if e.Repeated {
		m.short = repeated(e, m.about(fmt.Sprintf("stream %q", f.Stream), "", ""), m.advice, m.now)
	}
	if e.Reason != "" {
		m.head += " " + Sentence(e.Reason)
	}
	return m
}

// causeOf is the same for streams that got the same answer. Many services name the stream in their messages.
func causeOf(e *streams.Error, id string) string {
	name := regexp.MustCompile(`(^|[^\pL\pN])` + regexp.QuoteMeta(id) + `($|[^\pL\pN])`) // no part of another word
	return fmt.Sprint(e.Kind, e.TokenRequest, e.Status, name.ReplaceAllString(e.Message, "${1}…${2}"))
}

// shortDetail is the length that has room in six lines of 78 characters: words and paragraphs do not fill their lines.
const shortDetail = 370

// repeated is the detail of an error that has the cause of another one, which has all of it. There may be hundreds.
func repeated(e *streams.Error, happened, advice, now string) string {
	response := ""
	if e.Status != 0 {
		response = streams.StatusText(e.Status)
	}
	if e.Attempts == 0 {
		now = nothingSent + now
	}
	cause := []rune(join(": ", e.Reason, response, e.Message))
	if room := max(20, shortDetail-len(happened)-len(advice)-len(now)); len(cause) > room {
		cause = append(cause[:room-1], '…')
	}
	return happened + " " + Sentence(string(cause)) + " " + advice + "\n" + now
}

// requestAndResponse returns "" if there was no request to send.
func requestAndResponse(e *streams.Error) string {
	if e.URL == "" {
		return ""
	}
	response, attempts := "no valid response", ""
	switch {
	case e.Status != 0:
		response = streams.StatusText(e.Status)
	case e.Attempts == 0:
		response = "no request was sent"
	}
	if e.Attempts > 1 {
		attempts = fmt.Sprintf(" (%d attempts)", e.Attempts)
	}
	said := "The response does not have the documented form: "
	if e.Documented {
		said = "The " + e.Receiver() + " said: "
	}
	return join("\n", fmt.Sprintf("%s %s → %s%s", e.Method, e.URL, response, attempts),
		labelled("Request id: ", e.RequestID), labelled("Location: ", e.Location), labelled(said, e.Message))
}

func labelled(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}

// asStreamError finds the client's error. An operation that ended before the client was called gets one like it.
func asStreamError(err error) *streams.Error {
	if e, ok := errors.AsType[*streams.Error](err); ok {
		return e
	}
	e := &streams.Error{Kind: streams.KindInterrupted, Err: err, Reason: "the operation was interrupted"}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Kind, e.Reason = streams.KindTimeout, "the operation reached its time limit"
	}
	if errors.Is(err, session.ErrWaitedForOther) {
		e.Reason += " while it waited for another operation on the same stream"
	} else {
		e.Reason += " before anything was sent"
	}
	return e
}
