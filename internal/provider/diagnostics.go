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

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// This file makes every diagnostic of the provider. A failed operation says what happened, where, what
// the service said, what to check, and last what is now true of the stream.

func diagnoseSet(id string, err error, known knowledge) diag.Diagnostic {
	return diagnose(fmt.Sprintf("the processors of stream %q could not be set", id), err, known)
}

func diagnoseUpdate(id string, err error, known knowledge) diag.Diagnostic {
	return diagnose(fmt.Sprintf("the processors of stream %q could not be updated", id), err, known)
}

func diagnose(what string, err error, known knowledge) diag.Diagnostic {
	if conflict := (*conflictError)(nil); errors.As(err, &conflict) {
		return diag.NewAttributeErrorDiagnostic(path.Root("processor_ids"), "Conflicting Processor Sets", paragraphs(
			sentence(err.Error())+" Each update replaces the whole set, so the resource that is applied last would win.",
			"Let one resource manage the stream, with all of its processor_ids, and remove the other resource.",
			"Nothing was sent for this resource. "+conflict.nowTrue(),
		))
	}
	if errors.Is(err, errNotConfigured) {
		return diag.NewErrorDiagnostic("Provider Configuration Not Known", paragraphs(
			sentence(what)+" "+sentence(err.Error()),
			"A value in the provider block comes from a resource that has not been applied. Apply that resource first "+
				"(terraform apply, or terraform apply -target=ADDRESS for that resource alone), then try again.",
			"Nothing was sent. "+nowTrue(streams.NotChanged, nil),
		))
	}
	if blocked := (*blockedError)(nil); errors.As(err, &blocked) {
		return diag.NewErrorDiagnostic("Stream Left Alone", paragraphs(
			sentence(what)+" "+sentence(err.Error()),
			"The other resource is still in the state, with the values from before the failed operation, and a change by this "+
				"resource could make those values untrue. Resolve the error of the other resource, then apply again.",
			"Nothing was sent for this resource. "+blocked.nowTrue(),
		))
	}
	return diagnoseFailure(what, failure{Error: asStreamError(err)}, known)
}

// diagnoseDetach is for a destroy. Its hint differs, because a resource whose stream cannot be emptied would
// otherwise stay in the state for ever.
func diagnoseDetach(id string, err error) diag.Diagnostic {
	what := fmt.Sprintf("the processors of stream %q could not be detached", id)
	if operationError := (*streams.Error)(nil); !errors.As(err, &operationError) {
		return diagnose(what, err, knowledge{})
	}
	return diagnoseFailure(what, failure{Error: asStreamError(err), destroy: true}, knowledge{})
}

func diagnoseRead(id string, err error) diag.Diagnostic {
	return diagnose(fmt.Sprintf("stream %q could not be read", id), err, knowledge{})
}

func diagnoseFailure(what string, f failure, known knowledge) diag.Diagnostic {
	advice := hint(f)
	if known.abandoned != nil {
		advice += fmt.Sprintf(" A resource that was destroyed in this run had set %s, and left the stream to this resource.", known.abandoned)
	}
	e := *f.Error
	if e.Attempts == 0 { // what other operations of the run did counts
		e.Stream = known.reported
		if known.unconfirmed {
			e.Outcome = streams.Unknown
		}
	}
	summary, detail := string(f.Kind), operationDetail(what, &e, advice)
	switch {
	case f.TokenRequest, cannotRead(f):
	case f.Kind == streams.KindBadRequest:
		return diag.NewAttributeErrorDiagnostic(path.Root("processor_ids"), summary, detail)
	case f.Kind == streams.KindNotFound:
		return diag.NewAttributeErrorDiagnostic(path.Root("stream_id"), summary, detail)
	}
	return diag.NewErrorDiagnostic(summary, detail)
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

// nowTrue is for an operation that sent nothing: what other operations of the run did counts.
func (k knowledge) nowTrue() string {
	if k.unconfirmed {
		return nowTrue(streams.Unknown, nil)
	}
	return nowTrue(streams.NotChanged, k.reported)
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
