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

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// diagnose turns the error of an operation into a diagnostic: what happened, where, what the service
// said, what to check, and last what is now true of the stream.
func diagnose(what string, err error) diag.Diagnostic {
	if conflict := (*conflictError)(nil); errors.As(err, &conflict) {
		return conflict.diagnostic()
	}
	if errors.Is(err, errNotConfigured) {
		return diag.NewErrorDiagnostic("Provider Configuration Not Known", strings.Join([]string{
			sentence(what) + " " + sentence(err.Error()),
			"A value in the provider block comes from a resource that has not been applied. Apply that resource first " +
				"(terraform apply, or with -target only that one), then repeat this.",
			"Nothing was sent. " + outcome(streams.NotChanged),
		}, "\n\n"))
	}
	if errors.Is(err, errStuck) {
		return diag.NewErrorDiagnostic("Stream Left Alone", strings.Join([]string{
			sentence(what) + " " + sentence(err.Error()),
			"That one is still in the state as it was, which might not be true any more. Apply again when it can succeed.",
			"Nothing was sent for this resource. " + outcome(streams.NotChanged),
		}, "\n\n"))
	}
	e := asStreamError(err)
	return diagnoseWith(what, e, hint(e))
}

// diagnoseDetach is diagnose for a destroy: a service that does not let a stream be emptied would
// otherwise keep the resource in the state for ever.
func diagnoseDetach(id string, err error) diag.Diagnostic {
	what := fmt.Sprintf("the processors of stream %q could not be detached", id)
	e := asStreamError(err)
	refused := e.Kind == streams.KindBadRequest && e.Status != http.StatusTooManyRequests
	if !refused && e.Stream == nil {
		return diagnose(what, err)
	}
	return diagnoseWith(what, e, "The service may not let a stream be emptied. To leave its processors attached, set "+
		"on_destroy = \"keep\", apply that, and destroy then.")
}

func diagnoseWith(what string, e *streams.Error, advice string) diag.Diagnostic {
	paragraphs := []string{sentence(what) + because(e)}
	if e.URL != "" {
		paragraphs = append(paragraphs, exchanged(e))
	}
	paragraphs = append(paragraphs, advice, outcome(e.Outcome))
	return at(e.Kind, string(e.Kind), strings.Join(paragraphs, "\n\n"))
}

// at puts an error on the attribute that it is most likely about, if there is one.
func at(kind streams.Kind, summary, detail string) diag.Diagnostic {
	switch kind {
	case streams.KindBadRequest:
		return diag.NewAttributeErrorDiagnostic(path.Root("processor_ids"), summary, detail)
	case streams.KindNotFound:
		return diag.NewAttributeErrorDiagnostic(path.Root("stream_id"), summary, detail)
	}
	return diag.NewErrorDiagnostic(summary, detail)
}

// asStreamError finds the client's error. What never became an operation of the client, a wait for
// a turn that was interrupted, gets the form of one.
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

func because(e *streams.Error) string {
	if e.Reason == "" {
		return ""
	}
	return " " + sentence(e.Reason)
}

// exchanged shows the request and what came back.
func exchanged(e *streams.Error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Method, e.URL)
	if e.Status != 0 {
		fmt.Fprintf(&b, " → %s", streams.StatusText(e.Status))
	} else {
		b.WriteString(" → no answer")
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
		b.WriteString("\nThe answer gave no message.")
	case e.Documented:
		fmt.Fprintf(&b, "\nThe service said: %s", e.Message)
	default:
		fmt.Fprintf(&b, "\nThe answer was not of the documented form: %s", e.Message)
	}
	return b.String()
}

// hint names what to check. It is always a possibility: only the service knows.
func hint(e *streams.Error) string {
	switch {
	case e.Status/100 == 3:
		return "base_url may be the old address of the service, or lack a path or the s of https. If Location is the " +
			"service, set base_url to its address; if it is a login page, check the credentials."
	case errors.Is(e.Err, context.Canceled):
		return "Apply again when you are ready."
	case e.Stream != nil:
		return "The service may merge sets instead of replacing them, add processors of its own, or leave out ids that " +
			"it does not know. Compare processor_ids with what the service has."
	case e.Status/100 == 2:
		return "Something else than the service may have answered: a proxy, a login page or another version. Check base_url."
	case e.Method == http.MethodPost:
		return "The token endpoint may not know the client, or not be where it is looked for. Check oauth2 and the " +
			"environment variables STREAM_OAUTH2_…."
	}
	if errors.Is(e.Err, streams.ErrTLS) {
		return "The service's certificate may come from a private authority (tls.ca_cert_pem) or be for another name " +
			"(tls.server_name), or the service may want a client certificate (tls.client_cert_pem and client_key_pem). It may " +
			"also not speak TLS at this address at all: check base_url."
	}
	switch e.Kind {
	case streams.KindBadRequest:
		if e.Status == http.StatusTooManyRequests {
			return "There may be too many requests at a time. requests_per_second and Terraform's -parallelism limit them."
		}
		return "The service may not know one of the processor_ids, or not accept the set as it is."
	case streams.KindAuthentication:
		return "The credentials may be missing, wrong or expired, or be expected in another form. Check token, basic_auth, " +
			"oauth2 or headers of the provider, or their environment variables."
	case streams.KindUnauthorized:
		return "The credentials may not give the right to change this stream."
	case streams.KindNotFound:
		if !e.Documented {
			return "This may not be the service at all, because its errors have another form. Check base_url and stream_id."
		}
		return "There may be no such stream at this base_url, or the credentials may not show it. Check stream_id."
	case streams.KindTimeout:
		if e.Err == nil { // it is the service that says so
			return "The service may be slow or overloaded: apply again later."
		}
		return "The service may be slow or overloaded, or nothing may listen there. Check base_url; request_timeout limits " +
			"one attempt, timeouts of the resource all of them."
	case streams.KindBadGateway:
		return "A proxy may not reach the service. This may pass: apply again later."
	}
	if e.Status == http.StatusNotImplemented {
		return "The service may not offer updates at this address, or be another version. Check base_url."
	}
	if e.Status != 0 && (e.Err == nil || e.Outcome != streams.NotChanged) {
		return "The service may have a passing fault: apply again later."
	}
	return "The service may be down or somewhere else. Check base_url, the network, the proxy settings (HTTPS_PROXY, " +
		"NO_PROXY)."
}

func outcome(o streams.Outcome) string {
	switch o {
	case streams.Unknown:
		return "The stream may or may not have been changed; apply again: sending the same set twice is safe."
	case streams.Changed:
		return "The stream was changed."
	}
	return "The stream was not changed."
}

// diagnostic says it at plan and at apply alike: in neither case has anything been sent.
func (e *conflictError) diagnostic() diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("processor_ids"), "Conflicting Processor Sets", sentence(e.Error())+
		" Each update replaces the whole set, so the one that happens to run last would win.\n\n"+
		"Let one resource manage the stream, with all of its processor_ids, and remove the other one.\n\n"+
		"Nothing was sent for this resource. "+outcome(streams.NotChanged))
}

// diagnoseRead is diagnose for detect_drift: a route that is not there, or is something else, is no
// fault of the stream.
func diagnoseRead(id string, err error) diag.Diagnostic {
	e := asStreamError(err)
	what := fmt.Sprintf("stream %q could not be read", id)
	switch {
	case e.Status == http.StatusNotFound && !e.Documented, e.Status == http.StatusMethodNotAllowed,
		e.Status == http.StatusNotImplemented, e.Status/100 == 2, e.Status/100 == 3:
	default:
		return diagnose(what, err)
	}
	return diag.NewErrorDiagnostic(string(e.Kind), strings.Join([]string{
		sentence(what) + because(e),
		exchanged(e),
		"This deployment may not offer GET /v2/streams/{id}, which the service's interface document does not specify, or " +
			"answer it in a form of its own. Set detect_drift = false (or unset STREAM_DETECT_DRIFT), or check base_url if " +
			"reads have worked before.",
		outcome(streams.NotChanged),
	}, "\n\n"))
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
