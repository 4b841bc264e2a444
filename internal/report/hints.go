package report

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// attempted is what a read or an operation was to do, and what a person should know if it failed.
type attempted struct {
	failed   string // a clause: what could not be done
	empty    bool   // it sent the empty set
	leaves   bool   // a resource leaves the stream
	drops    bool   // likewise, and it is a group that stays
	unserved string // of a read: what to do where the deployment serves none
	missing  string // of a read: what to do if the stream does not exist
	next     string // what to know before the next apply
}

// advice is a row of the hints. A short error has only what to check, so this refers to nothing before it.
type advice struct {
	fits             bool
	why, check, more string
}

// whole is the whole hint.
func (a advice) whole() string { return join(" ", a.why, a.check, a.more) }

// hint says what to check after a failed operation: always a possibility, because only the service knows the cause. It does not
// depend on the number of attempts, so that a cause has one hint. Its placeholders are those of a [text].
func hint(e *streams.Error, did attempted) advice {
	all := hints(e, did)
	return all[slices.IndexFunc(all, func(a advice) bool { return a.fits })]
}

// hints returns all hints, in the order in which they are tried. The last one fits every failure.
func hints(e *streams.Error, did attempted) []advice {
	causedBy := func(cause error) bool { return errors.Is(e.Err, cause) }
	status := func(codes ...int) bool { return slices.Contains(codes, e.Status) }
	class := e.Status / 100
	registered := http.StatusText(e.Status) != "" // proxies have statuses of their own
	rejected := class == 4 && registered && !status(http.StatusRequestTimeout, http.StatusTooManyRequests)
	anotherSet := e.Stream != nil
	refusedEmpty := did.empty && !e.TokenRequest && (status(400, 422) || anotherSet)
	foreign := status(http.StatusNotFound) && !e.TokenRequest && !e.Documented() // a destroy does not take it as done
	read := e.Method == http.MethodGet
	unexpected := e.Kind == streams.KindUnexpected
	hasFault := e.Status != 0 && (e.Err == nil || e.Outcome != streams.NotChanged)
	certificate, _ := errors.AsType[x509.CertificateInvalidError](e.Err)
	untrusted, _ := errors.AsType[*requests.CertificateError](e.Err)
	fault := func(f requests.CertificateFault) bool { return untrusted != nil && untrusted.Fault == f }
	name, wrongName := errors.AsType[x509.HostnameError](e.Err)
	spoken, otherProtocol := errors.AsType[*requests.ProtocolError](e.Err)
	refused, throughProxy := errors.AsType[*requests.ProxyError](e.Err)
	other, orGateway := "a proxy", ""
	if e.Form == requests.FormPage {
		other = "a proxy or a login page"
	}
	orOther := "Otherwise, " + other + " may have responded: check {address}, HTTPS_PROXY and NO_PROXY." // beside a credential
	switch e.Form {
	case requests.FormDocumented:
		orOther = ""
	case requests.FormJSON:
		orGateway = "Otherwise, a gateway may have responded: check base_url."
		orOther = orGateway
	}
	isPart := e.Form == requests.FormPart
	orUnserved := ""
	if read {
		orUnserved = "If updates work, the deployment may not serve GET /v2/streams/{id}, which detect_drift needs. Then " + did.unserved
	}
	if status(http.StatusForbidden) { // so do gateways answer unknown routes
		orOther = join(" ", orOther, orUnserved)
	}
	isRejection := e.Form != requests.FormPage && (status(http.StatusUnauthorized) || !e.Documented() && status(400, 403))
	hasNames := wrongName && len(name.Certificate.DNSNames)+len(name.Certificate.IPAddresses) > 0

	return []advice{
		// No request was sent.
		{causedBy(requests.ErrLongHeader) || status(http.StatusRequestHeaderFieldsTooLarge, nginxLongHeader), longHeader(e.Header), shorterHeader, ""},
		{causedBy(context.Canceled), "", "Run the command again when you are ready.", ""},
		{causedBy(requests.ErrNotSent), "A setting or an environment variable of this machine may be invalid.",
			"Check headers, TF_APPEND_USER_AGENT and the variables that the error names.", ""},
		{causedBy(requests.ErrTokenWait), "The token endpoint may be slow.",
			"Check oauth2.token_url, or raise the timeouts of the resource.", ""},
		{causedBy(requests.ErrRateLimit) || causedBy(requests.ErrSlotWait), "Too many operations may wait for their turn.",
			"Raise requests_per_second, max_concurrent_requests or the timeouts of the resource.", ""},
		{causedBy(requests.ErrSecretFile), "The file may not be mounted or written yet, or may be the wrong one.", "Check the file.",
			"A relative path is relative to the folder where Terraform runs."},
		{causedBy(session.ErrWaitedForOther), "Another operation on the same stream may be slow.", "Raise the timeouts.", ""},
		{e.URL == "" && e.Err != nil, "The time limit may be too short for all streams of the resource.", "Raise the timeouts.", ""},

		// The operation decides.
		{causedBy(streams.ErrCase), "The service may not tell ids apart that differ only in case.",
			"Write the {id of the stream|ids of the streams} as the service does.", ""},
		{foreign && did.drops, isForeign, checkForeign, ifGone + "set on_destroy = \"keep\" in the group, and run the command again."},
		{foreign && did.leaves, isForeign, checkForeign, ifGone + "remove the resource from the state with terraform state rm; the next apply " +
			"creates it again if the configuration still has it. Or, before terraform destroy or a new stream_id, apply on_destroy = \"keep\"."},
		{causedBy(requests.ErrIncomplete) || isPart && status(400, 404, 422), "The {receiver} or a proxy may have stopped in the middle of the response, or may send a wrong " +
			"length.", "Run the command again.", "If this error persists, check {address} and the proxy settings (HTTPS_PROXY, NO_PROXY)."},
		{servesNoReads(e), "This deployment may not offer GET /v2/streams/{id}, which the interface does not specify.",
			"If reads have worked before, check base_url. Otherwise " + did.unserved, ""},
		{refusedEmpty && did.drops, refusesEmpty,
			"To leave {the stream|the streams} without a request, set on_destroy = \"keep\" in the group, and run the command again.", ""},
		{refusedEmpty && did.leaves, refusesEmpty,
			"To leave {the stream|the streams} without a request, remove the resource from the state with terraform state rm.",
			"Where on_destroy = \"keep\" is applied before a destroy, the destroy does the same."},
		{refusedEmpty, refusesEmpty, "Detach the processors in the service.", ""},

		// The request did not get through.
		{otherProtocol && spoken.Protocol == "HTTP/2", "This port may be one for HTTP/2 without TLS, such as that of gRPC.",
			"Use another port in {address}.", ""},
		{otherProtocol, "This port may be one for TLS.",
			"Write https:// in {address}, or use another port.", ""},
		{errors.As(e.Err, new(tls.RecordHeaderError)) || causedBy(http.ErrSchemeMismatch), "This port may not use TLS.",
			"Check http:// or https:// and the port in {address}.", ""},
		{throughProxy && errors.As(e.Err, new(x509.UnknownAuthorityError)), "The certificate of the proxy may come from a private " +
			"authority.", "Add the certificate of the authority to tls.ca_cert_pem, which counts for the proxy, too, or check {address}.", ""},
		{fault(requests.NoAuthorities), "This machine may have no certificates of public authorities.",
			"Install the package ca-certificates or the like, or set tls.ca_cert_pem.", ""},
		{fault(requests.WeakSignature), "A certificate of the {receiver} may be signed with SHA-1, which is no longer accepted.",
			"The operators have to replace the certificate.", ""},
		{fault(requests.NotInCACert), "The {receiver} may not send its intermediate certificate, or tls.ca_cert_pem may have another authority.",
			"Add the certificate of the issuer that the error names to tls.ca_cert_pem, or check {address}.", ""},
		{fault(requests.ExpiredAuthority), "The certificate of an authority may have expired, perhaps one of tls.ca_cert_pem.",
			"Replace the certificate that the error names.", "Or your clock may be wrong."},
		{errors.As(e.Err, new(x509.UnknownAuthorityError)), "The certificate may come from a private authority.",
			"Set tls.ca_cert_pem to the certificate of the authority, or check {address}.", ""},
		{hasNames && (e.TokenRequest || throughProxy), "The certificate may belong to the {receiver} under another name.",
			"Use a name of the certificate in {address}.", ""},
		{hasNames, "The certificate may belong to the {receiver} under another name.",
			"Use a name of the certificate in {address}, or in tls.server_name.", ""},
		{wrongName, "The certificate may have only a common name, which no longer counts.",
			"The {receiver} needs a certificate with its host as a subject alternative name.", ""},
		{certificate.Reason == x509.Expired, "", "The {receiver} may have to renew its certificate, or your clock may be wrong.", ""},
		{errors.As(e.Err, new(*tls.CertificateVerificationError)), "The certificate of the {receiver} may not be one for servers, or " +
			"its authority may not be allowed to issue it.", "Check {address}.", "If it is right, the operators have to replace the certificate."},
		{causedBy(requests.ErrNoCertificate) && !status(401, 403), "The {receiver} may require a client certificate.",
			"Set tls.client_cert_pem and tls.client_key_pem, or check {address}.", ""},
		{errors.As(e.Err, new(*requests.HandshakeError)), "The certificate of the {receiver} may be malformed: Go refuses a negative " +
			"serial number, for example. Then the operators have to replace it. Otherwise, the {receiver} may not use TLS 1.2 or newer " +
			"at this port.", "Check {address}.", ""},
		{requests.HasAlert(e.Err, requests.AlertUnrecognizedName, requests.AlertInternalError), "The {receiver} may not serve this host " +
			"at this address.", "Check the host in {address}, and tls.server_name if it is set.", ""},
		{requests.HasAlert(e.Err, requests.AlertHandshakeFailure, requests.AlertProtocolVersion, requests.AlertInsufficientSecurity), "The " +
			"{receiver} may not serve this host, may have no version or cipher of TLS that the provider accepts, or may require another " +
			"client certificate.", "Check {address}, tls.server_name and tls.client_cert_pem.", "For a service that has only RSA key " +
			"exchange, set the environment variable GODEBUG=tlsrsakex=1."},
		{requests.IsTLSFailure(e.Err), "The {receiver} may require another client certificate, or may not use TLS 1.2 or newer at this " +
			"port.", "Check tls.client_cert_pem, tls.client_key_pem and {address}.", ""},
		{throughProxy && refused.Status == 0, "The proxy may be down, or may have another address.",
			"Check HTTPS_PROXY (HTTP_PROXY for http://), or list the host in NO_PROXY.", noProxyForms},
		{throughProxy || status(http.StatusProxyAuthRequired), "The proxy may need other credentials, or " +
			"may not reach the host.", "Check the address, user name and password in HTTPS_PROXY (HTTP_PROXY for http://), or list the " +
			"host in NO_PROXY.", noProxyForms},
		{e.Header.Bytes > commonLimit && (e.Status == 0 && e.Kind == streams.KindConnection || status(400) && !e.Documented()),
			longHeader(e.Header), shorterHeader + " Otherwise, check {address}.", ""},
		{status(http.StatusNotModified) && read, "A cache may have responded in place of the service.",
			"Check base_url, and headers for If-None-Match and the like.", ""},
		{status(http.StatusNotModified) && !e.TokenRequest, "The service may have {this set|these sets} already.",
			"Compare the set with the processors in the service, and check headers for If-None-Match and the like.", ""},
		{class == 3, "", "If Location is the {receiver}, change {address} to that address.",
			"If Location is a login page, check the credentials."},

		// The token endpoint responded. Some refuse a client with a status of success.
		{e.TokenRequest && (e.Documented() && (status(400) || class == 2 && e.Kind == streams.KindAuthentication) || isRejection), "A " +
			"request with {credentials} was rejected. The client, its credentials or scopes may be unknown or expired.",
			"Check oauth2.client_id and oauth2.token_url.", orOther},
		{e.TokenRequest && e.Documented() && (unexpected || rejected), "The token endpoint may not allow this grant or this client, or " +
			"may require other parameters.", "Check oauth2.token_url, oauth2.scopes and oauth2.endpoint_params.", ""},
		{e.TokenRequest && (unexpected || rejected), "The response may have come from " + other + ".",
			"Check oauth2.token_url.", ""},

		// The service responded.
		{anotherSet, "The service may merge sets instead of replacing them, or may ignore ids that it does not know.",
			"Compare the set with the processors in the service.", "If the service attaches some itself, add them to {the set|the sets}. " +
				"If it may have responded with the former set, run the command again."},
		{unexpected || !e.Documented() && e.Form != requests.FormJSON && status(400, 404, 422), "The response may not have come from the " +
			"service, but from " + other + ".", "Check base_url, HTTPS_PROXY and NO_PROXY.",
			"base_url may need another path, or https://, and the {id of the stream|ids of the streams} may be wrong."},
		{status(http.StatusTooManyRequests) && !e.TokenRequest && causedBy(requests.ErrNoTime), "There may be too many requests at a time.",
			"Set requests_per_second or max_concurrent_requests, or raise the timeouts of the resource.", ""},
		{status(http.StatusTooManyRequests) && !e.TokenRequest, "There may be too many requests at a time.",
			"Set requests_per_second or max_concurrent_requests, or raise retry.max_attempts.", ""},
		{status(401, 403) && e.Credentials == requests.NoCredentials, "A request with no credentials was rejected.",
			"Set token, token_file, basic_auth, oauth2 or headers.", join(" ", "Each has an environment variable, too.", orOther)},
		{status(http.StatusUnauthorized), "A request with {credentials} was rejected. The credential may have expired, or be the " +
			"wrong one.", "Check the provider block and the variables STREAM_….", orOther},
		{status(http.StatusForbidden), "A request with {credentials} was rejected.",
			"The credentials may not permit the operation on {this stream|these streams}.", orOther},
		{status(http.StatusNotFound) && read, did.missing,
			"If {the stream exists|the streams exist}, the deployment may not serve GET /v2/streams/{id}, which detect_drift needs. Then " + did.unserved, ""},
		{status(http.StatusGone), "{The stream|The streams} may have been deleted, or the {receiver} may no longer offer this address.",
			"Check the {id of the stream|ids of the streams} and {address}.", ""},
		{status(http.StatusNotFound), notFound, checkID, join(" ", orCreate, orGateway)},
		{status(http.StatusConflict, http.StatusLocked, http.StatusTooEarly), "The service may take one update at a time, also of " +
			"different streams, or somebody else may be changing {the stream|the streams}.", "Set max_concurrent_requests = 1, or run the " +
			"command again later.", "For single resources, -parallelism=1 does the same."},
		{status(http.StatusRequestEntityTooLarge), "", "The set may be too large for the service or a proxy.", ""},
		{status(400, 422) && read, "The service may not accept {this id|these ids}, or may not serve GET /v2/streams/{id}, which " +
			"detect_drift needs.", checkID, "If {it is|they are} right, " + did.unserved},
		{status(400, 422), "The service may not know one of the processor ids, or may not accept this set.", "Check the processor ids.", orGateway},
		{status(http.StatusPaymentRequired, http.StatusInsufficientStorage), "The organization may have reached a limit of the {receiver}.",
			"Check the limits of the organization.", ""},
		{status(http.StatusPreconditionFailed, http.StatusPreconditionRequired), "The {receiver} may require a condition, or headers may set " +
			"one.", "Check headers for If-Match and the like.", "The provider sends no condition of its own."},
		{status(http.StatusMisdirectedRequest), "The {receiver} may not serve this host at this address.",
			"Check the host in {address}, tls.server_name and the proxy settings (HTTPS_PROXY, NO_PROXY).", ""},
		{status(http.StatusUnsupportedMediaType) && e.Accepts != "", "The {receiver} may expect another media type than application/json.",
			"Check {address}: it may be that of another interface.", ""},
		{status(405, 501) && (!e.Documented() || e.Proxied), "A proxy may not let " + e.Method + " pass, or the {receiver} may not offer it " +
			"at this address.", "Check {address} and the proxy settings (HTTPS_PROXY, NO_PROXY).", ""},
		{status(http.StatusHTTPVersionNotSupported), "The {receiver} or a proxy may not support this version of HTTP.",
			"Check {address} and the proxy settings (HTTPS_PROXY, NO_PROXY).", ""},
		{status(http.StatusNetworkAuthenticationRequired), "This network may require a login.",
			"Log in to the network, and run the command again.", ""},

		// Nothing more is known.
		{rejected || status(http.StatusNotImplemented), "The {receiver} may not offer this operation at this address.",
			"Check {address}.", orUnserved},
		{causedBy(requests.ErrNoConnection), "A firewall may not let connections to the {receiver} pass.",
			"Check {address}, the network and the proxy settings (HTTPS_PROXY, NO_PROXY).", ""},
		{causedBy(requests.ErrRequestTimeout), "The {receiver} may be slow.", "Check {address}, or raise request_timeout.", ""},
		{e.Kind == streams.KindTimeout && e.Err != nil, "The {receiver} may be slow or down.",
			"Check {address}, or raise the timeouts of the resource.", ""},
		{hasFault && !registered && class == 4, "A proxy may have stopped waiting for the {receiver}. Run the command again.",
			"If this error persists, check {address} and the proxy settings (HTTPS_PROXY, NO_PROXY).", ""},
		{hasFault, "The {receiver} may be overloaded or have a fault. Run the command again later.",
			"If this error persists, check {address}.", ""},
		{strings.HasPrefix(e.URL, "http://") && e.Outcome == streams.Unknown, "The {receiver} may have a fault, or may use TLS at this port.",
			"Check {address} (http:// or https://), the network and the proxy settings (HTTP_PROXY, NO_PROXY).", ""},
		{true, "The {receiver} may be down, or may have another address.",
			"Check {address}, the network and the proxy settings (HTTPS_PROXY, NO_PROXY).", ""},
	}
}

const (
	noProxyForms = "NO_PROXY has host names, domains, IP addresses and CIDR blocks, separated by commas."
	refusesEmpty = "The service may not accept an empty set."
	isForeign    = "Only a 404 with the error body of the service says that {the stream does|the streams do} not exist. This one may have " +
		"come from a proxy or gateway that has no route to the service."
	checkForeign = "Run the command again; if this error persists, check base_url."
	ifGone       = "If {the stream is|the streams are} really gone, "

	notFound = "{The stream|The streams} may not exist at this base_url, or the credentials may not permit access."
	checkID  = "Check the {id of the stream|ids of the streams}."
	orCreate = "If {it is|they are} new, create {the stream|the streams} in the service first."
)

// Headers that are too long.
const (
	nginxLongHeader = 494
	commonLimit     = 8000 // bytes, below which no common server refuses a header or ends its connection
	shorterHeader   = "Use a shorter credential, or fewer or shorter headers."
)

// longHeader says how long the header of a request is.
func longHeader(size requests.HeaderSize) string {
	longest := size.Longest + " of headers"
	switch size.Longest {
	case "Authorization":
		longest = "the credential (Authorization)"
	case "User-Agent":
		longest = "User-Agent (see TF_APPEND_USER_AGENT)"
	}
	return fmt.Sprintf("The header of the request may be too long for the {receiver} or a proxy: it has %d bytes, and %s has %d of them.",
		size.Bytes, longest, size.LongestBytes)
}

// servesNoReads reports whether a read failed with a response about the route, not about the stream.
func servesNoReads(e *streams.Error) bool {
	if e.Method != http.MethodGet || errors.Is(e.Err, requests.ErrIncomplete) {
		return false
	}
	notOffered := e.Status == http.StatusNotFound && !e.Documented() && e.Form != requests.FormPart || slices.Contains([]int{405, 501}, e.Status)
	return notOffered || e.Status/100 == 2 || e.Status/100 == 3 && e.Status != http.StatusNotModified
}
