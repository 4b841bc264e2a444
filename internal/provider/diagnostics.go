package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Diagnostics about streams are made here, in warnings.go and in deployment.go. A failed operation says what happened,
// where, what the service said, what to check, and last what is now true of the stream.

// diagnoseRead makes the error of a failed read. otherwise is what to do where the deployment serves no reads.
func diagnoseRead(id string, err error, otherwise string) diag.Diagnostic {
	e := asStreamError(err)
	return failure(e, fmt.Sprintf("stream %q could not be read", id), firstHint(hintsOf(e, false, otherwise)).text,
		"Nothing was changed by this read.")
}

// diagnose makes the error of a failed operation. happened is a clause such as `stream "cam-1" could not be read`.
// next is what else to know before the next apply.
func diagnose(id, happened, next string, o operation) diag.Diagnostic {
	switch o.decision.Refusal {
	case claims.ConflictingSets:
		return conflictError(id, o.decision.Set, o.decision.Other)
	case claims.Blocked:
		return nothingSent("Stream Left Alone", sentence(happened)+" An operation of another resource on this stream has failed.",
			"The other resource is still in the state, with the values from before the failed operation, and a change by this "+
				"resource could make those values untrue. Resolve the error of the other resource, then apply again.",
			nowTrue(o.now()))
	}

	e := asStreamError(o.err)
	advice := firstHint(hintsOf(e, o.decision.Send && o.decision.Set.Len() == 0, "")).text
	if o.leftAttached() {
		advice += fmt.Sprintf(" In this run, an object that had set %s left the stream and sent nothing, so the processors may still "+
			"be attached.", o.facts.Left)
	}
	return failure(e, happened, join(" ", advice, next), nowTrue(o.now()))
}

// failure makes the error of a request that failed, or that was not sent.
func failure(e *streams.Error, happened, advice, now string) diag.Diagnostic {
	happened = sentence(happened)
	if e.TokenRequest {
		happened += " The token request to oauth2.token_url failed."
	}
	detail := repeated(e, happened, advice, now)
	if !e.Repeated {
		if e.Reason != "" {
			happened += " " + sentence(e.Reason)
		}
		detail = paragraphs(happened, requestAndResponse(e), advice, now)
	}
	d := diag.NewErrorDiagnostic(string(e.Kind), detail)
	shown := map[streams.Kind]string{streams.KindBadRequest: "processor_ids", streams.KindNotFound: "stream_id"}[e.Kind]
	if shown == "" || e.TokenRequest || cannotRead(e) {
		return d
	}
	return diag.WithPath(path.Root(shown), d)
}

// repeated is the detail of an error that has the cause of another one. There may be hundreds, so it has at most six lines
// of 78 characters, of which about 74 are used. Another error has the whole cause.
func repeated(e *streams.Error, happened, advice, now string) string {
	if e.Attempts == 0 {
		now = "Nothing was sent by this operation. " + now
	}
	cause, response := []rune(e.Reason), []rune(nil)
	if e.Responded() {
		response = []rune(join(": ", e.Reason, streams.StatusText(e.Status), e.Message))
	}
	room := max(20, (6-(len(now)+77)/78)*74-len(happened)-len(advice)-3)
	if response != nil && (e.Reason == "" || len(response) <= room) {
		cause = response
	}
	if len(cause) > room {
		cause = append(cause[:room-1], '…')
	}
	return happened + " " + sentence(string(cause)) + " " + advice + "\n" + now
}

// conflictError is for two resources that give a stream different sets. Nobody knows in the plan of the second one
// whether the first one has been applied, so the last sentence says nothing of it.
func conflictError(id string, set, other streams.ProcessorSet) diag.Diagnostic {
	return diag.WithPath(path.Root("processor_ids"), nothingSent("Conflicting Processor Sets",
		fmt.Sprintf("Two resources set the processors of stream %q: one to %s, another one to %s. Each update replaces the whole "+
			"set, so the resource that is applied last would win.", id, other, set),
		"Let one resource manage the stream, with all of its processors, and remove the stream from the other one.",
		notChangedHere))
}

func notConfiguredError(happened string) diag.Diagnostic {
	return nothingSent("Provider Configuration Not Known", sentence(happened)+" The provider's configuration is not known yet.",
		"A value in the provider block comes from a resource that has not been applied. Apply that resource first "+
			"(terraform apply, or terraform apply -target=ADDRESS for that resource alone), then try again.", notChanged)
}

// droppedStreamError is for a stream that a group drops while another resource keeps it and sends nothing.
// Terraform calls only the group in the apply, and passes it nothing from its plan.
func droppedStreamError(id string, left streams.ProcessorSet) diag.Diagnostic {
	return nothingSent("Another Resource Keeps the Stream",
		fmt.Sprintf("A group of this plan drops stream %q, which would leave the stream with %s. Another resource of this plan has "+
			"the stream too, with another set, and would send nothing: its state would become untrue.", id, left),
		"Change a value in triggers of the other resource in the same apply, so that the other resource sends its set. If both "+
			"resources have the same set, on_destroy = \"keep\" in the group is enough.", notChanged)
}

// nothingSent is the error of an operation that was not begun.
func nothingSent(summary, happened, advice, now string) diag.Diagnostic {
	return diag.NewErrorDiagnostic(summary, paragraphs(happened, advice, "Nothing was sent by this operation. "+now))
}

// asStreamError finds the client's error. An operation that ended before the client was called, such as
// an interrupted wait for another operation, gets an error of the same form.
func asStreamError(err error) *streams.Error {
	if e, ok := errors.AsType[*streams.Error](err); ok {
		return e
	}
	e := &streams.Error{Kind: streams.KindInterrupted, Reason: err.Error(), Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Kind = streams.KindTimeout
	}
	return e
}

// streamNotFound reports whether the service itself said that there is no such stream. A 404 in another
// form may come from a proxy, and be about the route.
func streamNotFound(err error) bool {
	e, ok := errors.AsType[*streams.Error](err)
	return ok && e.Status == http.StatusNotFound && e.Documented
}

// requestAndResponse returns "" if there was no request to send.
func requestAndResponse(e *streams.Error) string {
	if e.URL == "" {
		return ""
	}
	response := "no valid response"
	switch {
	case e.Responded():
		response = streams.StatusText(e.Status)
	case e.Attempts == 0:
		response = "no request was sent"
	}
	text := fmt.Sprintf("%s %s → %s", e.Method, e.URL, response)
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (%d attempts)", e.Attempts)
	}
	if e.RequestID != "" {
		text += "\nRequest id: " + e.RequestID
	}
	if e.Location != "" {
		text += "\nLocation: " + e.Location
	}
	switch {
	case !e.Responded(), e.Status/100 == 2 && e.Message == "":
	case e.Message == "":
		text += "\nThe response has no message."
	case e.Documented:
		text += "\nThe " + e.Receiver() + " said: " + e.Message
	default:
		text += "\nThe response does not have the documented form: " + e.Message
	}
	return text
}

const (
	notChanged     = "The stream was not changed."
	notChangedHere = "The stream was not changed by this resource." // always true of an operation that was not begun
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

// now returns the arguments of nowTrue. If the operation sent nothing, what other operations of the session did counts.
func (o operation) now() (streams.Outcome, *streams.Stream) {
	if e, ok := errors.AsType[*streams.Error](o.err); ok && e.Attempts > 0 {
		return e.Outcome, e.Stream
	}
	if o.facts.Unknown {
		return streams.Unknown, nil
	}
	return streams.NotChanged, o.facts.Reported
}

// paragraphs leaves out the parts that are empty.
func paragraphs(parts ...string) string { return join("\n\n", parts...) }

func join(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// sentence makes a clause a sentence.
func sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(first)) + s[size:]
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

const nothingDone = "Nothing was sent by this operation, and it changed nothing in the state."

// What to do where the deployment serves no reads.
const (
	withoutReads      = "set detect_drift = false, or unset STREAM_DETECT_DRIFT."
	withoutDataSource = "remove the data source: the operators of the service know what is attached, and the state of a resource has " +
		"the set that was sent last."
	withoutQuery       = "write the resources by hand."
	withoutGroupImport = "remove the import, and apply the group: a create sends each set once, and detaches what is not in the sets."
)

// needsReads is the error of what cannot be done without detect_drift.
func needsReads(summary, otherwise string) diag.Diagnostic {
	return diag.NewErrorDiagnostic(summary, paragraphs(
		"The interface specifies no read, so the provider reads streams only with detect_drift.",
		"If the deployment serves GET /v2/streams/{id}, set detect_drift = true in the provider block, or STREAM_DETECT_DRIFT=true. "+
			"Otherwise "+otherwise,
		"Nothing was sent by this operation."))
}

func invalidValue(at path.Path, value, what string, err error) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Invalid Attribute Value", fmt.Sprintf("%s: %q is not %s: it %s.", at, value, what, err))
}

func missingValue(at path.Path, what string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Missing Attribute Value", fmt.Sprintf("%s: %s must not be null.", at, what))
}
