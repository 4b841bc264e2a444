package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// This file and diagnostics_*.go make every diagnostic of the provider. A failed operation says what happened,
// where, what the service said, what to check, and last what is now true of the stream.

// operation is what a diagnostic is about.
type operation struct {
	what    string // such as `the processors of stream "cam-1" could not be set`
	create  bool   // a failure saves nothing in the state
	destroy bool   // the processors are detached for a destroy
}

// operationOf returns the operation of a change on a stream.
func operationOf(id string, c change) operation {
	o, done := operation{create: c.create}, "updated"
	if _, stays := c.want[id]; !stays {
		o.destroy, done = true, "detached"
	} else if c.create {
		done = "set"
	}
	o.what = fmt.Sprintf("the processors of stream %q could not be %s", id, done)
	return o
}

func diagnoseRead(s subject, id string, err error) diag.Diagnostic {
	return diagnose(s, id, operation{what: fmt.Sprintf("stream %q could not be read", id)}, outcome{err: err})
}

func diagnose(s subject, id string, op operation, o outcome) diag.Diagnostic {
	switch {
	case errors.Is(o.err, errConflict):
		return diagnoseConflict(s, id, o.decision.Other, o.decision.Set, o.known)
	case errors.Is(o.err, errNotConfigured):
		return diag.NewErrorDiagnostic("Provider Configuration Not Known", paragraphs(
			sentence(op.what)+" "+sentence(o.err.Error()),
			"A value in the provider block comes from a resource that has not been applied. Apply that resource first "+
				"(terraform apply, or terraform apply -target=ADDRESS for that resource alone), then try again.",
			"Nothing was sent. "+nowTrue(streams.NotChanged, nil),
		))
	case errors.Is(o.err, errLeftAlone):
		return diag.NewErrorDiagnostic("Stream Left Alone", paragraphs(
			sentence(op.what)+" "+sentence(o.err.Error()),
			"The other resource is still in the state, with the values from before the failed operation, and a change by this "+
				"resource could make those values untrue. Resolve the error of the other resource, then apply again.",
			s.words.Replace("Nothing was sent for this resource. ")+knownNow(o.known),
		))
	}
	return diagnoseFailure(s, id, op, o)
}

func diagnoseConflict(s subject, id string, first, second streams.ProcessorSet, known claims.Known) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(s.set(id), "Conflicting Processor Sets", paragraphs(
		fmt.Sprintf("Two resources set the processors of stream %q: one to %s, another one to %s. Each update replaces the whole set, "+
			"so the resource that is applied last would win.", id, first, second),
		"Let one resource manage the stream, with all of its processors, and remove the stream from the other one.",
		s.words.Replace("Nothing was sent for this resource. ")+knownNow(known),
	))
}

func diagnoseFailure(s subject, id string, op operation, o outcome) diag.Diagnostic {
	f := failure{Error: asStreamError(o.err), destroy: op.destroy}
	advice := s.words.Replace(hint(f))
	if o.known.Left != nil {
		advice += fmt.Sprintf(" Another resource that had set %s left the stream in this run.", o.known.Left)
	}
	if op.create && f.Outcome != streams.NotChanged && !s.group { // a group says it once
		advice += " The resource is not in the state: until an apply succeeds, a destroy does not detach the processors."
	}
	summary, detail := string(f.Kind), operationDetail(op.what, o.now(), advice)
	switch {
	case f.TokenRequest, cannotRead(f):
	case f.Kind == streams.KindBadRequest:
		return diag.NewAttributeErrorDiagnostic(s.set(id), summary, detail)
	case f.Kind == streams.KindNotFound:
		return diag.NewAttributeErrorDiagnostic(s.stream(id), summary, detail)
	}
	return diag.NewErrorDiagnostic(summary, detail)
}

// now returns the error of a failed operation with what is now true of the stream: if the operation sent nothing, what
// other operations of the run did counts.
func (o outcome) now() *streams.Error {
	e := *asStreamError(o.err)
	if e.Attempts == 0 {
		e.Stream = o.known.Reported
		if o.known.InDoubt || o.known.Pending {
			e.Outcome = streams.Unknown
		}
	}
	return &e
}

func operationDetail(what string, e *streams.Error, advice string) string {
	happened := sentence(what)
	if e.TokenRequest {
		happened += " The token request to oauth2.token_url failed."
	}
	if e.Reason != "" {
		happened += " " + sentence(e.Reason)
	}
	parts := []string{happened}
	if e.URL != "" {
		parts = append(parts, requestAndResponse(e))
	}
	return paragraphs(append(parts, advice, nowTrue(e.Outcome, e.Stream))...)
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

func requestAndResponse(e *streams.Error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Method, e.URL)
	switch {
	case e.Status != 0:
		fmt.Fprintf(&b, " → %s", streams.StatusText(e.Status))
	case e.Attempts == 0:
		b.WriteString(" → no request was sent")
	default:
		b.WriteString(" → no response")
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, "\nRequest id: %s", e.RequestID)
	}
	if e.Location != "" {
		fmt.Fprintf(&b, "\nLocation: %s", e.Location)
	}
	switch {
	case e.Status == 0, e.Status/100 == 2 && e.Message == "":
	case e.Message == "":
		b.WriteString("\nThe response has no message.")
	case e.Documented && e.TokenRequest:
		fmt.Fprintf(&b, "\nThe token endpoint said: %s", e.Message)
	case e.Documented:
		fmt.Fprintf(&b, "\nThe service said: %s", e.Message)
	case e.TokenRequest:
		fmt.Fprintf(&b, "\nThe response does not have the form of a token endpoint: %s", e.Message)
	default:
		fmt.Fprintf(&b, "\nThe response does not have the documented form: %s", e.Message)
	}
	return b.String()
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

// knownNow is nowTrue for an operation that sent nothing: what other operations of the run did counts.
func knownNow(k claims.Known) string {
	if k.InDoubt || k.Pending {
		return nowTrue(streams.Unknown, nil)
	}
	return nowTrue(streams.NotChanged, k.Reported)
}

// diagnoseMoved reports, once, that the service moved a stream to another terminal or fragment type:
// the plan promised the old value to the resources that depend on it. mask hides secrets in what the service
// reported.
func diagnoseMoved(before, after *processorsModel, mask func(string) string) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, field := range []struct {
		name     string
		old, now types.String
	}{
		{"terminal_id", before.TerminalID, after.TerminalID},
		{"fragment_type_id", before.FragmentTypeID, after.FragmentTypeID},
	} {
		if !field.old.IsNull() && !field.old.Equal(field.now) {
			diags.AddAttributeError(path.Root(field.name), "Unexpected Change of the Stream", paragraphs(
				fmt.Sprintf("The processors of stream %q were set, but its %s changed from %s to %s outside of Terraform.",
					after.StreamID.ValueString(), field.name, mask(field.old.String()), mask(field.now.String())),
				"The state has the new value. Apply again, to update the resources that depend on it.",
				nowTrue(streams.Changed, nil),
			))
		}
	}
	return diags
}

func paragraphs(parts ...string) string { return strings.Join(parts, "\n\n") }

// sentence makes a clause a sentence.
func sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(first)) + s[size:]
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}
