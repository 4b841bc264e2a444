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
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// This file and diagnostics_*.go make every diagnostic of the provider. A failed operation says what happened,
// where, what the service said, what to check, and last what is now true of the stream.

// operation is what a diagnostic is about.
type operation struct {
	what   string // such as `the processors of stream "cam-1" could not be set`
	create bool   // a failure saves nothing in the state
}

// operationOf returns the operation of a change on a stream.
func operationOf(id string, c change) operation {
	_, stays := c.want[id]
	done := "updated"
	switch {
	case !stays:
		done = "detached"
	case c.create:
		done = "set"
	}
	return operation{fmt.Sprintf("the processors of stream %q could not be %s", id, done), c.create}
}

func diagnoseRead(id string, err error) diag.Diagnostic {
	return diagnose(id, operation{what: fmt.Sprintf("stream %q could not be read", id)}, outcome{err: err})
}

func diagnose(id string, op operation, o outcome) diag.Diagnostic {
	happened := sentence(op.what)
	switch {
	case errors.Is(o.err, errConflict):
		return diag.WithPath(path.Root("processor_ids"), nothingSent("Conflicting Processor Sets", o,
			fmt.Sprintf("Two resources set the processors of stream %q: one to %s, another one to %s. Each update replaces the whole "+
				"set, so the resource that is applied last would win.", id, o.decision.Other, o.decision.Set),
			"Let one resource manage the stream, with all of its processors, and remove the stream from the other one."))
	case errors.Is(o.err, errNotConfigured):
		return nothingSent("Provider Configuration Not Known", o, happened+" "+sentence(o.err.Error()),
			"A value in the provider block comes from a resource that has not been applied. Apply that resource first "+
				"(terraform apply, or terraform apply -target=ADDRESS for that resource alone), then try again.")
	case errors.Is(o.err, errLeftAlone):
		return nothingSent("Stream Left Alone", o, happened+" "+sentence(o.err.Error()),
			"The other resource is still in the state, with the values from before the failed operation, and a change by this "+
				"resource could make those values untrue. Resolve the error of the other resource, then apply again.")
	}

	e := asStreamError(o.err)
	if e.TokenRequest {
		happened += " The token request to oauth2.token_url failed."
	}
	if e.Reason != "" {
		happened += " " + sentence(e.Reason)
	}
	hints := hintsOf(e, o.decision.Send && o.decision.Set.Len() == 0)
	advice := hints[firstHint(hints)].text
	if o.known.Left != nil {
		advice += fmt.Sprintf(" Another resource that had set %s left the stream in this run.", o.known.Left)
	}
	if op.create && e.Outcome != streams.NotChanged {
		advice += " The resource is not in the state: until an apply succeeds, a destroy does not detach the processors."
	}
	d := diag.NewErrorDiagnostic(string(e.Kind), paragraphs(happened, requestAndResponse(e), advice, nowTrue(o.now())))
	switch {
	case e.TokenRequest, cannotRead(e):
	case e.Kind == streams.KindBadRequest:
		return diag.WithPath(path.Root("processor_ids"), d)
	case e.Kind == streams.KindNotFound:
		return diag.WithPath(path.Root("stream_id"), d)
	}
	return d
}

// nothingSent is the error of an operation that was not begun.
func nothingSent(summary string, o outcome, happened, advice string) diag.Diagnostic {
	return diag.NewErrorDiagnostic(summary, paragraphs(happened, advice, "Nothing was sent by this operation. "+nowTrue(o.now())))
}

// asStreamError finds the client's error. An operation that ended before the client was called, such as
// an interrupted wait for another operation, gets an error of the same form.
func asStreamError(err error) *streams.Error {
	e := (*streams.Error)(nil)
	if errors.As(err, &e) {
		return e
	}
	e = &streams.Error{Kind: streams.KindInterrupted, Reason: err.Error(), Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Kind = streams.KindTimeout
	}
	return e
}

// streamNotFound reports whether the service itself said that there is no such stream. A 404 in another
// form may come from a proxy, and be about the route.
func streamNotFound(err error) bool {
	e := (*streams.Error)(nil)
	return errors.As(err, &e) && e.Status == http.StatusNotFound && e.Documented
}

// requestAndResponse returns "" if there was no request to send.
func requestAndResponse(e *streams.Error) string {
	if e.URL == "" {
		return ""
	}
	response := "no response"
	switch {
	case e.Status != 0:
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
	said := "The service said: "
	if e.TokenRequest {
		said = "The token endpoint said: "
	}
	switch {
	case e.Status == 0, e.Status/100 == 2 && e.Message == "":
	case e.Message == "":
		text += "\nThe response has no message."
	case e.Documented:
		text += "\n" + said + e.Message
	default:
		text += "\nThe response does not have the documented form: " + e.Message
	}
	return text
}

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
	return "The stream was not changed."
}

// now returns the arguments of nowTrue. If the operation sent nothing, what other operations of the run did counts.
func (o outcome) now() (streams.Outcome, *streams.Stream) {
	e := (*streams.Error)(nil)
	switch {
	case errors.As(o.err, &e) && e.Attempts > 0:
		return e.Outcome, e.Stream
	case o.known.InDoubt, o.known.Pending:
		return streams.Unknown, nil
	}
	return streams.NotChanged, o.known.Reported
}

// moved reports, once, that the service moved a stream to another terminal or fragment type: the plan promised the old value
// to the resources that depend on it. mask hides secrets in what the service reported.
func (m *processorsModel) moved(before *processorsModel, mask func(string) string) (diags diag.Diagnostics) {
	compare := func(name string, old, now types.String) {
		if old.IsNull() || old.Equal(now) {
			return
		}
		diags.AddAttributeError(path.Root(name), "Unexpected Change of the Stream", paragraphs(
			fmt.Sprintf("The processors of stream %q were set, but its %s changed from %s to %s outside of Terraform.",
				m.StreamID.ValueString(), name, mask(old.String()), mask(now.String())),
			"The state has the new value. Apply again, to update the resources that depend on it.",
			nowTrue(streams.Changed, nil)))
	}
	compare("terminal_id", before.TerminalID, m.TerminalID)
	compare("fragment_type_id", before.FragmentTypeID, m.FragmentTypeID)
	return diags
}

// paragraphs leaves out the parts that are empty.
func paragraphs(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n\n")
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
