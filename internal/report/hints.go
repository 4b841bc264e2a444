package report

import (
	"context"
	"crypto/tls"
	"net/http"
	"slices"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// hint is what to check after a failure, as a possibility: only the service knows the cause. Each sentence is true of all failures that
// have the hint, and none depends on the number of attempts, so that a cause has one hint. A short error has only check, which refers to
// nothing before it. Beside the placeholders of a [text], there are those of placeholders.go.
type hint struct {
	applies          condition
	why, check, more string
}

// Sentences of several hints.
const (
	rejection = "A request with {credentials} was rejected."
	checkID   = "Check the {id of the stream|ids of the streams} and base_url."
)

// hints are tried in this order. The last one applies to every failure.
var hints = []hint{
	{causedBy(context.Canceled),
		"", "Run the command again when you are ready.", ""},
	{causedBy(transport.ErrNotSent),
		"A setting or an environment variable of this machine may be invalid.",
		"Check headers, TF_APPEND_USER_AGENT and the variables that the error names.", ""},
	{causedBy(requests.ErrSecretFile),
		"The file may not be mounted or written yet, or may be the wrong one.",
		"Check the file.",
		"A relative path begins in the folder that -chdir names: write an absolute path, in Terraform \"${path.cwd}/…\"."},

	// A response that depends on the operation.
	{all(isForeign, leavesStream),
		"Only a 404 with the error body of the service says that {the stream does|the streams do} not exist. This one may have come from " +
			"a proxy or a gateway that has no route to the service, so the processors may still be attached.",
		"Run the command again; if this error persists, check base_url.", "{toLeave}"},
	{all(isUnexpected, hasStatus(202, 204), not(either(isTokenRequest, isRead))),
		"The response has to be the stream: only that shows what is attached now.",
		"Set headers = { Prefer = \"return=representation\" }, with which some services send the stream.",
		"Otherwise, the operators have to serve the documented response. {toLeave}"},
	{either(causedBy(streams.ErrInvalidStream), causedBy(streams.ErrOtherStream)),
		"The service may have another version of the interface, or a gateway may have responded in its place or changed the response.",
		"Check base_url. If the error names fields, ask the operators for them, as version 2 of the interface has them; if it names another " +
			"id, such as in lower case, write the id as the service does.",
		"{toLeave} {orReads}"},
	{all(sentEmptySet, not(isTokenRequest), either(hasStatus(400, 422), hasOtherSet)),
		"The service may not accept an empty set.",
		"Detach the processors in the service.", "{toLeave}"},

	// The request did not get through.
	{either(causedBy(transport.ErrNotHTTP), hasError[tls.RecordHeaderError]()),
		"This port may speak another protocol: with TLS or without, or HTTP/2 without TLS.",
		"Check http:// or https:// and the port in {address}.", ""},
	{hasOtherNames,
		"The certificate may belong to the {receiver} under another name.",
		"Use a name of the certificate in {address}, or, for the host of base_url, in tls.server_name.", ""},
	{hasError[*tls.CertificateVerificationError](),
		"The certificate may come from a private authority or may have expired, or the {receiver} may not send its intermediate certificate.",
		"Add the certificate of an unknown issuer to tls.ca_cert_pem, or check {address} and your clock.",
		"If the error has another reason, the operators have to replace the certificate."},
	{isTLSFailure,
		"The {receiver} may require a client certificate or another one, may not serve this host, or may have no version or cipher of TLS " +
			"that the provider accepts.",
		"Set or check tls.client_cert_pem and tls.client_key_pem, {address} and tls.server_name.", ""},
	{either(throughProxy, hasStatus(http.StatusProxyAuthRequired)),
		"The proxy may be down, may need other credentials, or may not let the host pass. The provider authenticates at a proxy only with " +
			"Basic.",
		"Check the address, user name and password in HTTPS_PROXY (HTTP_PROXY for http://), or list the host in NO_PROXY.",
		"For a proxy with NTLM or Negotiate, use a local helper proxy that authenticates at it."},

	// The token endpoint responded, or what is in its place.
	{rejectsClient,
		rejection + " The client, its credentials or its scopes may be unknown, expired or not allowed.",
		"Check {place}, oauth2.client_id, oauth2.scopes, oauth2.endpoint_params and oauth2.token_url.", "{otherwise}"},
	{all(isTokenRequest, either(isUnexpected, hasClass(3), isRejection, hasStatus(http.StatusNotImplemented))),
		"The response may have come from a proxy or a login page, or the token endpoint may not allow this grant.",
		"Check oauth2.token_url, oauth2.scopes and oauth2.endpoint_params.", "If there is a Location, that may be the right address."},

	// The service responded, or what is in its place.
	{all(hasClass(3), hasLocation),
		"",
		"If Location is the service, change base_url to that address; if only a slash or the case differs, no setting helps: the operators " +
			"have to serve the documented path.",
		"If only the case of the id differs, write the {id of the stream|ids of the streams} as Location does. If Location is a login page, " +
			"check " +
			"the credentials. {orReads}"},
	{hasOtherSet,
		"The service may merge sets instead of replacing them, or may ignore ids that it does not know.",
		"Compare the set with the processors in the service.",
		"If the service attaches some itself, add them to {the set|the sets}. If ids differ only in case, write them as the service does. " +
			"If it may have responded with the former set, run the command again."},
	{either(hasStatus(http.StatusMethodNotAllowed, http.StatusNotImplemented), servesNoReads),
		"The service may not serve {method} at this address, or a proxy may not let it pass.",
		checkID, "{otherwise} {orReads}"},
	{either(isUnexpected, hasClass(3), all(hasStatus(400, 404, 422), not(hasForm(masking.FormDocumented, masking.FormJSON)))),
		"The response may not have come from the service, but from a proxy or a login page.",
		"Check base_url, HTTPS_PROXY and NO_PROXY.",
		"base_url may need another path, or https://, and the {id of the stream|ids of the streams} may be wrong."},
	{all(hasStatus(http.StatusTooManyRequests), not(isTokenRequest)),
		"There may be too many requests at a time.",
		"Set requests_per_second or a smaller max_concurrent_requests.",
		"If the service asks to wait longer than the operation may take, raise the timeouts of the resource, and retry.max_attempts if it " +
			"is set."},
	{hasStatus(401, 403),
		rejection + " {standing}",
		"Check {place}.", "{otherwise} {orReads}"},
	{hasStatus(http.StatusNotFound, http.StatusGone),
		"{The stream|The streams} may not exist at this base_url, or the credentials may not permit access.",
		checkID, "{missing} {otherwise} {orReads}"},
	{hasStatus(http.StatusConflict, http.StatusLocked, http.StatusTooEarly),
		"The service may take one update at a time, also of different streams, or somebody else may be changing {the stream|the streams}.",
		"Set max_concurrent_requests = 1, or run the command again later.",
		"For single resources, -parallelism=1 does the same."},
	{all(hasStatus(400, 422), not(isRead)),
		"The service may not know one of the processor ids, or may not accept this set.",
		"Check the processor ids.", "{otherwise}"},
	{either(isRejection, hasStatus(505, 507, 511)),
		"", "See the status and what the response says, and check {address}.", "{orReads}"},

	// Nothing more is known.
	{either(causedBy(requests.ErrRateLimit), causedBy(context.DeadlineExceeded)), // the time limit of the operation
		"The time limit may be too short for all streams, or the {receiver} may be slow or down.",
		"Raise timeouts, or check {address}.",
		"If requests wait for each other, raise max_concurrent_requests, or requests_per_second if it is set. {toLeave}"},
	{all(causedBy(requests.ErrRequestTimeout), not(causedBy(transport.ErrNoConnection))),
		"The {receiver} may be slow or down.",
		"Check {address}, or raise request_timeout.", "{ifSome} {toLeave}"},
	{hasResponse,
		"The {receiver} may be overloaded or have a fault. Run the command again later.",
		"If this error persists, check {address}.", "{ifSome}"},
	{always,
		"The {receiver} may be down or may have another address, or a firewall may not let connections pass.",
		"Check {address} (http:// or https://, host and port), the network and the proxy settings (HTTPS_PROXY, NO_PROXY).",
		"{toLeave}"},
}

// whole is the whole hint.
func (h hint) whole() string { return join(" ", h.why, h.check, h.more) }

// hintFor returns the hint for a failure, with its placeholders but those of a [text].
func hintFor(f failure) hint {
	h := hints[slices.IndexFunc(hints, func(h hint) bool { return h.applies(f) })]
	words := placeholders(f)
	fill := func(text string) string {
		return strings.Join(strings.Fields(words.Replace(text)), " ") // some are empty
	}
	return hint{h.applies, fill(h.why), fill(h.check), fill(h.more)}
}
