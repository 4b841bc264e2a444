package provider

import (
	"context"
	"errors"
	"net/http"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// hint says what to check after a failed operation: the text of the first row that fits. A hint is
// always a possibility, because only the service knows the cause.
func hint(e *streams.Error) string {
	for _, row := range hints {
		if row.fits(e) {
			return row.text
		}
	}
	return "The service may be down, or may have another address. Check base_url, the network and the proxy settings " +
		"(HTTPS_PROXY, NO_PROXY)."
}

// The hints of single operations.
const (
	hintCannotDetach = "The service may not accept an empty set. To leave the processors attached, set on_destroy = \"keep\", " +
		"apply, and then destroy."
	hintCannotRead = "This deployment may not offer GET /v2/streams/{id}, which the service's interface document does not " +
		"specify, or may respond in a form of its own. Set detect_drift = false (or unset STREAM_DETECT_DRIFT). If reads have " +
		"worked before, check base_url."
)

// hints is ordered: the first row that fits an error gives its hint.
var hints = []struct {
	fits func(*streams.Error) bool
	text string
}{
	{statusClass(3), "base_url may be an old address of the service, may lack a path, or may need https. If Location is the " +
		"service, set base_url to that address. If Location is a login page, check the credentials."},
	{causedBy(context.Canceled), "Apply again when you are ready."},
	{reportsAnotherSet, "The service may merge sets instead of replacing them, may add processors of its own, or may ignore ids " +
		"that it does not know. Compare processor_ids with the processors in the service."},
	{statusClass(2), "The response may not have come from the service, but from a proxy, a login page or another version of the " +
		"service. Check base_url."},
	{causedBy(streams.ErrSecretFile), "The file may not be mounted or written yet, or may be another one. A relative path is relative to the " +
		"folder where Terraform runs."},
	{tokenRequest, "The token endpoint may not know the client, or may have another address. Check oauth2, or the environment " +
		"variables STREAM_OAUTH2_…."},
	{causedBy(streams.ErrTLS), "The service's certificate may come from a private authority (tls.ca_cert_pem) or be for another " +
		"name (tls.server_name), or the service may require a client certificate (tls.client_cert_pem and client_key_pem). " +
		"This address may also not use TLS at all: check base_url."},
	{status(http.StatusTooManyRequests), "There may be too many requests at a time. Limit them with requests_per_second or " +
		"Terraform's -parallelism."},
	{kind(streams.KindBadRequest), "The service may not know one of the processor_ids, or may not accept this set."},
	{kind(streams.KindAuthentication), "The credentials may be missing, wrong or expired, or the service may expect another " +
		"form. Check token, basic_auth, oauth2 or headers in the provider block, or their environment variables."},
	{kind(streams.KindUnauthorized), "The credentials may not permit changes to this stream."},
	{undocumented(http.StatusNotFound), "The response may not have come from the service, whose errors have another form. Check " +
		"base_url and stream_id."},
	{status(http.StatusNotFound), "The stream may not exist at this base_url, or the credentials may not permit access to it. " +
		"Check stream_id."},
	{reportedTimeout, "The service may be slow or overloaded. Apply again later."},
	{kind(streams.KindTimeout), "The service may be slow or overloaded, or nothing may listen at this address. Check base_url. " +
		"request_timeout limits one attempt; the timeouts of the resource limit all attempts together."},
	{kind(streams.KindBadGateway), "A proxy may not reach the service. Apply again later."},
	{status(http.StatusNotImplemented), "The service may not offer updates at this address, or may be another version. Check base_url."},
	{serviceFailed, "The service may have a temporary fault. Apply again later."},
}

func statusClass(class int) func(*streams.Error) bool {
	return func(e *streams.Error) bool { return e.Status/100 == class }
}

func status(code int) func(*streams.Error) bool {
	return func(e *streams.Error) bool { return e.Status == code }
}

func undocumented(code int) func(*streams.Error) bool {
	return func(e *streams.Error) bool { return e.Status == code && !e.Documented }
}

func kind(k streams.Kind) func(*streams.Error) bool {
	return func(e *streams.Error) bool { return e.Kind == k }
}

func causedBy(cause error) func(*streams.Error) bool {
	return func(e *streams.Error) bool { return errors.Is(e.Err, cause) }
}

func reportsAnotherSet(e *streams.Error) bool { return e.Stream != nil }

func tokenRequest(e *streams.Error) bool { return e.Method == http.MethodPost }

// reportedTimeout fits a timeout that the service or a gateway reported, not one of the client.
func reportedTimeout(e *streams.Error) bool { return e.Kind == streams.KindTimeout && e.Err == nil }

// serviceFailed fits a response that is an error of the service, not of the connection.
func serviceFailed(e *streams.Error) bool {
	return e.Status != 0 && (e.Err == nil || e.Outcome != streams.NotChanged)
}
