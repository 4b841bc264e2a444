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

// hint is what to check after a failure, as a possibility: only the service knows the cause. It does not depend on the number of
// attempts, so that a cause has one hint. A short error has only check, which refers to nothing before it. Beside the placeholders of a
// [text], there are those of placeholders.go.
type hint struct {
	applies          condition
	why, check, more string
}

// Sentences of several hints.
const (
	proxySettings = "the proxy settings (HTTPS_PROXY, NO_PROXY)"
	proxyForms    = "NO_PROXY has host names, domains, IP addresses and CIDR blocks, separated by commas."
	otherName     = "The certificate may belong to the {receiver} under another name."
	checkID       = "Check the {id of the stream|ids of the streams} and base_url."
	emptyRefused  = "The service may not accept an empty set."
	persists      = "If this error persists, check {address}"
	rejection     = "A request with {credentials} was rejected. {unused}"
)

// hints are tried in this order. The last one applies to every failure.
var hints = []hint{
	// No request was sent.
	{hasStatus(http.StatusRequestHeaderFieldsTooLarge),
		"The header of the request may be too long for the {receiver} or a proxy.",
		"Use a shorter credential, or fewer or shorter headers.", ""},
	{causedBy(context.Canceled),
		"", "Run the command again when you are ready.", ""},
	{causedBy(transport.ErrNotSent),
		"A setting or an environment variable of this machine may be invalid.",
		"Check headers, TF_APPEND_USER_AGENT and the variables that the error names.", ""},
	{causedBy(requests.ErrTokenWait),
		"The token endpoint may be slow.",
		"Check oauth2.token_url, or raise the timeouts of the resource.", ""},
	{either(causedBy(requests.ErrRateLimit), causedBy(requests.ErrSlotWait)),
		"Too many operations may wait for their turn.",
		"Raise requests_per_second, max_concurrent_requests or the timeouts of the resource.", ""},
	{causedBy(requests.ErrSecretFile),
		"The file may not be mounted or written yet, or may be the wrong one.",
		"Check the file.",
		"A relative path begins in the folder that -chdir names: write an absolute path, in Terraform \"${path.cwd}/…\"."},
	{neverBegan,
		"The time limit may be too short for all operations on the streams of the resource.",
		"Raise the timeouts.", ""},

	// The operation decides.
	{either(causedBy(streams.ErrOtherStream), redirectsToOtherID),
		"The service may write {this id|these ids} in another form, such as in lower case.",
		"Write the {id of the stream|ids of the streams} as the service does.",
		"If the response is about another stream, check base_url. {orReads}"},
	{all(isForeign, leavesStream),
		"Only a 404 with the error body of the service says that {the stream does|the streams do} not exist. This one may have come from " +
			"a proxy or a gateway that has no route to the service, so the processors may still be attached.",
		"Run the command again; if this error persists, check base_url.",
		"{toLeave} {orKeep}"},
	{causedBy(requests.ErrIncomplete),
		"The {receiver} or a proxy may have stopped in the middle of the response, or may send a wrong length.",
		"Run the command again.",
		persists + " and " + proxySettings + "."},
	{redirectsToItself,
		"Location has the same path, except perhaps for a slash at its end or its case. No setting of the provider changes that.",
		"The operators have to serve the documented path, /v2/streams/{id}, without a redirect.", ""},
	{causedBy(streams.ErrNearly),
		"The service may have another version of the interface, or a gateway may change its responses.",
		"Ask the operators for the fields that the error names, as version 2 of the interface has them.", "{toLeave} {orReads}"},
	{servesNoReads,
		"The deployment may not serve GET /v2/streams/{id}, which detect_drift needs and the interface does not specify.",
		checkID, "If both are right, {unserved}"},
	{all(refusesEmpty, leavesStream), emptyRefused,
		"{toLeave}", "{orKeep}"},
	{refusesEmpty, emptyRefused,
		"Detach the processors in the service.", ""},

	// The request did not get through.
	{either(causedBy(transport.ErrNotHTTP), causedBy(http.ErrSchemeMismatch), hasError[tls.RecordHeaderError]()),
		"This port may speak another protocol: with TLS or without, or HTTP/2 without TLS.",
		"Check http:// or https:// and the port in {address}.", ""},
	{all(hasOtherNames, either(isTokenRequest, throughProxy)), otherName,
		"Use a name of the certificate in {address}.", ""},
	{hasOtherNames, otherName,
		"Use a name of the certificate in base_url, or in tls.server_name.", ""},
	{isExpired,
		"", "The {receiver} may have to renew its certificate, or your clock may be wrong.",
		"The certificate that the error names may also be one of tls.ca_cert_pem."},
	{isUntrusted,
		"The certificate may come from a private authority, or the {receiver} may not send its intermediate certificate.",
		"Add the certificate of the issuer to tls.ca_cert_pem, or check {address}.",
		"If the error has another reason, the operators have to replace the certificate."},
	{causedBy(transport.ErrNoCertificate),
		"The {receiver} may require a client certificate.",
		"Set tls.client_cert_pem and tls.client_key_pem, or check {address}.", ""},
	{isTLSFailure,
		"The {receiver} may not serve this host, may have no version or cipher of TLS that the provider accepts, or may require another " +
			"client certificate.",
		"Check {address}, tls.server_name and tls.client_cert_pem.", ""},
	{hasNoProxy,
		"The proxy may be down, or may have another address.",
		"Check HTTPS_PROXY (HTTP_PROXY for http://), or list the host in NO_PROXY.", proxyForms},
	{offersNoBasic,
		"The provider authenticates at a proxy only with Basic, which this one does not offer.",
		"Set HTTPS_PROXY (HTTP_PROXY for http://) to a local helper proxy that authenticates at this one, or list the host in NO_PROXY.",
		proxyForms},
	{either(throughProxy, hasStatus(http.StatusProxyAuthRequired)),
		"The proxy may need other credentials, or may not reach the host.",
		"Check the address, user name and password in HTTPS_PROXY (HTTP_PROXY for http://), or list the host in NO_PROXY.", proxyForms},
	{all(hasStatus(http.StatusNotModified), not(isTokenRequest)),
		"The service may have {this set|these sets} already, or a cache may have responded in its place.",
		"Compare the set with the processors in the service, and check headers for If-None-Match and the like.", ""},
	{all(hasClass(3), hasLocation),
		"", "If Location is the {receiver}, change {address} to that address.",
		"If Location is a login page, check the credentials. {orReads}"},

	{hasStatus(499, 460), // of nginx, and of load balancers: the client or the proxy has closed the connection
		"A proxy may have stopped waiting for the {receiver}. Run the command again.",
		persists + " and " + proxySettings + ".", ""},

	// The token endpoint responded, or what is in its place.
	{rejectsClient,
		rejection + " The client, its credentials or its scopes may be unknown, expired or not allowed.",
		"Check oauth2.client_id, oauth2.scopes, oauth2.endpoint_params and oauth2.token_url.", "{otherwise}"},
	{all(isTokenRequest, either(isUnexpected, isRejection)),
		"The response may have come from {proxy}, or the token endpoint may not allow this grant.",
		"Check oauth2.token_url, oauth2.scopes and oauth2.endpoint_params.", ""},

	// The service responded, or what is in its place.
	{hasOtherSet,
		"The service may merge sets instead of replacing them, or may ignore ids that it does not know.",
		"Compare the set with the processors in the service.",
		"If the service attaches some itself, add them to {the set|the sets}. If ids differ only in case, write them as the service does. " +
			"If it may have responded with the former set, run the command again."},
	{either(isUnexpected, hasClass(3), all(hasStatus(400, 404, 422), not(hasForm(masking.FormDocumented, masking.FormJSON)))),
		"The response may not have come from the service, but from {proxy}.",
		"Check base_url, HTTPS_PROXY and NO_PROXY.",
		"base_url may need another path, or https://, and the {id of the stream|ids of the streams} may be wrong."},
	{all(hasStatus(http.StatusTooManyRequests), not(isTokenRequest)),
		"There may be too many requests at a time.",
		"Set requests_per_second or max_concurrent_requests{orRaise}.", ""},
	{all(hasStatus(401, 403), hasNoCredential), rejection,
		"Set token, token_file, basic_auth, oauth2 or headers.",
		"Each has an environment variable, too. {otherwise} {orReads}"},
	{hasStatus(http.StatusUnauthorized),
		rejection + " The credential may have expired, or be the wrong one.",
		"Check the provider block and the variables STREAM_….", "{otherwise}"},
	{hasStatus(http.StatusForbidden), rejection,
		"The credentials may not permit the operation on {this stream|these streams}.", "{otherwise} {orReads}"},
	{hasStatus(http.StatusNotFound, http.StatusGone),
		"{The stream|The streams} may not exist at this base_url, or the credentials may not permit access.",
		checkID, "{missing} {otherwise} {orReads}"},
	{hasStatus(http.StatusConflict, http.StatusLocked, http.StatusTooEarly),
		"The service may take one update at a time, also of different streams, or somebody else may be changing {the stream|the streams}.",
		"Set max_concurrent_requests = 1, or run the command again later.",
		"For single resources, -parallelism=1 does the same."},
	{hasStatus(http.StatusRequestEntityTooLarge),
		"", "The set may be too large for the service or a proxy.", ""},
	{all(hasStatus(400, 422), not(isRead)),
		"The service may not know one of the processor ids, or may not accept this set.",
		"Check the processor ids.", "{otherwise}"},
	{hasStatus(http.StatusMethodNotAllowed, http.StatusNotImplemented),
		"A proxy may not let {method} pass, or the {receiver} may not offer it at this address.",
		"Check {address} and " + proxySettings + ".", ""},
	{either(isRejection, hasStatus(http.StatusNetworkAuthenticationRequired)),
		"", "See the status and what the response says, and check {address}.", "{orReads}"},

	// Nothing more is known.
	{all(othersGetThrough, either(isTimeout, hasStatus(408, 503, 504)), not(isTokenRequest)),
		"Other requests have got through meanwhile, so there may be too many at a time.",
		"Set max_concurrent_requests to a smaller number, or run the command again later.",
		persists + ", or raise request_timeout or the timeouts of the resource."},
	{causedBy(transport.ErrNoConnection),
		"A firewall may not let connections to the {receiver} pass.",
		"Check {address}, the network and " + proxySettings + ".", ""},
	{isTimeout,
		"The {receiver} may be slow or down.",
		"Check {address}{orRaise}.", ""},
	{hasFault,
		"The {receiver} may be overloaded or have a fault. Run the command again later.",
		persists + ".", ""},
	{all(isPlain, isUnknown),
		"The {receiver} may have a fault, or may use TLS at this port.",
		"Check {address} (http:// or https://), the network and the proxy settings (HTTP_PROXY, NO_PROXY).", ""},
	{always,
		"The {receiver} may be down, or may have another address.",
		"Check {address}, the network and " + proxySettings + ".", ""},
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
