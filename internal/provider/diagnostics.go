package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
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

func diagnoseSet(id string, err error) diag.Diagnostic {
	return diagnose(fmt.Sprintf("the processors of stream %q could not be set", id), err)
}

func diagnoseUpdate(id string, err error) diag.Diagnostic {
	return diagnose(fmt.Sprintf("the processors of stream %q could not be updated", id), err)
}

func diagnose(what string, err error) diag.Diagnostic {
	if conflict := (*conflictError)(nil); errors.As(err, &conflict) {
		return diagnoseConflict(conflict)
	}
	if errors.Is(err, errNotConfigured) {
		return diag.NewErrorDiagnostic("Provider Configuration Not Known", paragraphs(
			sentence(what)+" "+sentence(err.Error()),
			"A value in the provider block comes from a resource that has not been applied. Apply that resource first "+
				"(terraform apply, or terraform apply -target=ADDRESS for that resource alone), then try again.",
			"Nothing was sent. "+outcome(streams.NotChanged),
		))
	}
	if errors.Is(err, errBlocked) {
		return diag.NewErrorDiagnostic("Stream Left Alone", paragraphs(
			sentence(what)+" "+sentence(err.Error()),
			"The other resource is still in the state, with the values from before the failed operation, and a change by this "+
				"resource could make those values untrue. Resolve the error of the other resource, then apply again.",
			"Nothing was sent for this resource. "+outcome(streams.NotChanged),
		))
	}
	e := asStreamError(err)
	return diagnoseOperation(what, e, hint(e))
}

// diagnoseDetach has a hint of its own: a resource whose stream cannot be emptied would otherwise stay
// in the state for ever.
func diagnoseDetach(id string, err error) diag.Diagnostic {
	what := fmt.Sprintf("the processors of stream %q could not be detached", id)
	e := asStreamError(err)
	refused := e.Kind == streams.KindBadRequest && e.Status != http.StatusTooManyRequests
	if !refused && e.Stream == nil {
		return diagnose(what, err)
	}
	return diagnoseOperation(what, e, hintCannotDetach)
}

// diagnoseRead has a hint of its own: a route that the deployment does not have is no fault of the stream.
func diagnoseRead(id string, err error) diag.Diagnostic {
	what := fmt.Sprintf("stream %q could not be read", id)
	e := asStreamError(err)
	switch {
	case e.Status == http.StatusNotFound && !e.Documented, e.Status == http.StatusMethodNotAllowed,
		e.Status == http.StatusNotImplemented, e.Status/100 == 2, e.Status/100 == 3:
		return diag.NewErrorDiagnostic(string(e.Kind), operationDetail(what, e, hintCannotRead))
	}
	return diagnose(what, err)
}

func diagnoseOperation(what string, e *streams.Error, advice string) diag.Diagnostic {
	summary, detail := string(e.Kind), operationDetail(what, e, advice)
	switch e.Kind {
	case streams.KindBadRequest:
		return diag.NewAttributeErrorDiagnostic(path.Root("processor_ids"), summary, detail)
	case streams.KindNotFound:
		return diag.NewAttributeErrorDiagnostic(path.Root("stream_id"), summary, detail)
	}
	return diag.NewErrorDiagnostic(summary, detail)
}

func operationDetail(what string, e *streams.Error, advice string) string {
	happened := sentence(what)
	if e.Reason != "" {
		happened += " " + sentence(e.Reason)
	}
	parts := []string{happened}
	if e.URL != "" {
		parts = append(parts, requestAndResponse(e))
	}
	return paragraphs(append(parts, advice, outcome(e.Outcome))...)
}

// asStreamError finds the client's error. An operation that ended before the client was called, such as
// an interrupted wait for another operation, gets an error of the same form.
func asStreamError(err error) *streams.Error {
	e := (*streams.Error)(nil)
	if errors.As(err, &e) {
		return e
	}
	e = &streams.Error{Kind: streams.KindGeneric, Reason: err.Error(), Err: err}
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
	if e.Status != 0 {
		fmt.Fprintf(&b, " → %s", streams.StatusText(e.Status))
	} else {
		b.WriteString(" → no response")
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	if e.Location != "" {
		fmt.Fprintf(&b, "\nLocation: %s", e.Location)
	}
	switch {
	case e.Status == 0, e.Status/100 == 2 && e.Message == "":
	case e.Message == "":
		b.WriteString("\nThe response has no message.")
	case e.Documented:
		fmt.Fprintf(&b, "\nThe service said: %s", e.Message)
	default:
		fmt.Fprintf(&b, "\nThe response does not have the documented form: %s", e.Message)
	}
	return b.String()
}

// outcome is the last sentence of a diagnostic: what is now true of the stream.
func outcome(o streams.Outcome) string {
	switch o {
	case streams.Unknown:
		return "The stream may or may not have been changed; apply again: sending the same set twice is safe."
	case streams.Changed:
		return "The stream was changed."
	}
	return "The stream was not changed."
}

// diagnoseConflict serves plan and apply: in neither case has anything been sent.
func diagnoseConflict(e *conflictError) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("processor_ids"), "Conflicting Processor Sets", paragraphs(
		sentence(e.Error())+" Each update replaces the whole set, so the resource that is applied last would win.",
		"Let one resource manage the stream, with all of its processor_ids, and remove the other resource.",
		"Nothing was sent for this resource. "+outcome(streams.NotChanged),
	))
}

// diagnoseMoved reports, once, that the service moved a stream to another terminal or fragment type:
// the plan promised the old value to the resources that depend on it.
func diagnoseMoved(before, after *processorsModel) diag.Diagnostics {
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
					after.StreamID.ValueString(), field.name, field.old, field.now),
				"The state has the new value. Apply again, to update the resources that depend on it.",
				outcome(streams.Changed),
			))
		}
	}
	return diags
}

func unconfirmedWarning(id string) diag.Diagnostic {
	return diag.NewWarningDiagnostic("Outcome of an Earlier Operation Unknown", fmt.Sprintf(
		"An earlier update or destroy of stream %q failed, and may or may not have taken effect. The processors of the stream "+
			"may differ from the state, so this plan sends the set again.", id))
}

func detachedByCreateWarning(id string, detached streams.ProcessorSet) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(path.Root("processor_ids"), "Processors Will Be Detached", fmt.Sprintf(
		"Stream %q has processors that are not in processor_ids, and the create detaches them: %s. To keep them, add them to "+
			"processor_ids. If another configuration manages them, let only one configuration manage the stream.", id, detached))
}

func streamGoneWarning(id string) diag.Diagnostic {
	return diag.NewWarningDiagnostic("Stream Is Gone", fmt.Sprintf(
		"The service does not know stream %q any more. The resource was removed from the state.", id))
}

func notFoundOnDestroyWarning(id string, err error) diag.Diagnostic {
	return diag.NewWarningDiagnostic("Stream Not Found", paragraphs(
		fmt.Sprintf("The response to the destroy of stream %q was 404 Not Found, so the resource was removed from the state. "+
			"The response does not have the form of the service's own errors. If the stream should still exist, check base_url.", id),
		requestAndResponse(asStreamError(err)),
	))
}

func invalidImportID(id string, err error) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("stream_id"), "Invalid Stream ID",
		fmt.Sprintf("%q cannot be imported: a stream id %s.", id, err))
}

func invalidValue(at path.Path, value, what string, err error) diag.Diagnostic {
	name, _, _ := strings.Cut(at.String(), "[") // the path of a set's element repeats the value
	return diag.NewAttributeErrorDiagnostic(at, "Invalid Attribute Value",
		fmt.Sprintf("%s: %q is not %s: it %s.", name, value, what, err))
}

func missingValue(name string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root(name), "Missing Attribute Value", name+" must not be null.")
}

// cannotMove shows how to take a stream over without a moved block.
func cannotMove(from, id string, err error) diag.Diagnostic {
	quoted := strconv.Quote(cmp.Or(id, "STREAM_ID"))
	quoted = strings.NewReplacer("${", "$${", "%{", "%%{").Replace(quoted)
	return diag.NewErrorDiagnostic("Resource Cannot Be Moved", fmt.Sprintf(`A %[1]s can be moved if its request is a PATCH of /v2/streams/{id} with processor_ids. This resource cannot be moved: %[3]s.

Import the stream instead. Replace the moved block with these two, with your own resource names, and keep the old provider configured until they are applied:

  removed {
    from = %[1]s.example
    lifecycle {
      destroy = false
    }
  }

  import {
    to = stream_processors.example
    id = %[2]s
  }

Nothing was sent, and nothing was changed in the state.`, from, quoted, err))
}

const invalidConfiguration = "Invalid Provider Configuration"

// invalidSetting names the attribute, because Terraform shows no line of a nested attribute.
func invalidSetting(at path.Path, problem string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, invalidConfiguration, at.String()+" "+problem)
}

func missingBaseURL() diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("base_url"), invalidConfiguration,
		"The address of the service is missing. Set base_url in the provider block, or the environment variable "+
			`STREAM_BASE_URL, to an address such as "https://streams.example.com".`)
}

// invalidClient reports what the client refused although every single value was accepted.
func invalidClient(err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic(invalidConfiguration, sentence(err.Error()))
}

func twoSchemesInEnvironment(first string, firstVariables []string, second string, secondVariables []string) diag.Diagnostic {
	return diag.NewErrorDiagnostic(invalidConfiguration, fmt.Sprintf(
		"The environment has two ways to authenticate, %s (%s) and %s (%s). A request carries one. Unset the variables of one, "+
			"or set the other in the provider block.",
		first, strings.Join(firstVariables, ", "), second, strings.Join(secondVariables, ", ")))
}

func sentInClearWarning(at path.Path) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(at, "Credentials Travel in Clear", fmt.Sprintf(
		"%s is an http:// address of another machine. Anyone between Terraform and that machine can read the credentials and "+
			"change the requests. Use https:// if the service offers it.", at))
}

func notVerifiedWarning(at path.Path) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(at, "Certificates Are Not Verified",
		"Anyone between Terraform and the service can read the credentials and change the requests. To trust a private "+
			"authority, set ca_cert_pem instead.")
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
