package report

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// advice is a row of the hints.
type advice struct {
	fits bool
	text string
}

// hint says what to check after a failed operation. It is always a possibility, because only the service knows the cause.
func hint(e *streams.Error, did attempted) string {
	all := hints(e, did)
	return all[slices.IndexFunc(all, func(a advice) bool { return a.fits })].text
}

// hints returns all hints, in the order in which they are tried. The last one fits every failure.
func hints(e *streams.Error, did attempted) []advice {
	causedBy := func(cause error) bool { return errors.Is(e.Err, cause) }
	status := func(codes ...int) bool { return slices.Contains(codes, e.Status) }
	class := e.Status / 100
	anotherSet := e.Stream != nil
	unexpected := e.Kind == streams.KindUnexpected
	receiver, address := e.Receiver(), "base_url"
	if e.TokenRequest {
		address = "oauth2.token_url"
	}
	carried := "The request carried " + e.Credentials + ". "
	if e.Repeated && !e.TokenRequest {
		carried = "Those requests carried " + e.Credentials + ". "
	}
	applyLater, patience := "Apply again later. If this error stays, check "+address+".", ""
	if !e.Repeated && e.Attempts > 1 {
		patience = fmt.Sprintf(" By default, retries outlast %d seconds; retry.max_attempts changes that.", int(streams.DefaultPatience.Seconds()))
	}

	return []advice{
		// No request was sent.
		{causedBy(context.Canceled), "Apply again when you are ready."},
		{causedBy(streams.ErrNotSent), "A setting or an environment variable of this machine may be invalid. Check headers, " +
			"TF_APPEND_USER_AGENT and the variables that the error names."},
		{causedBy(streams.ErrTokenWait), "The token endpoint may be slow or overloaded. Check oauth2.token_url, or raise the timeouts of " +
			"the resource, which include the wait for a token."},
		{causedBy(streams.ErrRateLimit), "requests_per_second may be too low for this number of streams. Raise it, or raise the " +
			"timeouts of the resource."},
		{causedBy(streams.ErrSecretFile), "The file may not be mounted or written yet, or may be the wrong one. A relative path is " +
			"relative to the folder where Terraform runs."},
		{e.URL == "" && e.Err != nil, "Another operation on the same stream may be slow. Apply again, or raise the timeouts of the resource."},
		{causedBy(streams.ErrSlotWait), "Too many operations may wait for their turn. Raise " +
			"max_concurrent_requests or the timeouts of the resource, or lower Terraform's -parallelism."},

		// The operation decides.
		{cannotRead(e), "This deployment may not offer GET /v2/streams/{id}, which the service's interface document does not specify, " +
			"or may respond in a form of its own. If reads have worked before, check base_url. Otherwise " + did.otherwise},
		{did.leaves && did.empty && !e.TokenRequest && (status(400, 422) || anotherSet), "The service may not accept an empty set. To " +
			"leave the stream without one, set on_destroy = \"keep\", and apply that change first."},
		{did.empty && !e.TokenRequest && (status(400, 422) || anotherSet), "The service may not accept an empty set, or may merge sets " +
			"instead of replacing them. Detach the processors in the service."},

		// The request did not get through.
		{causedBy(streams.ErrUnknownAuthority), "The certificate may come from a private authority: set tls.ca_cert_pem to the " +
			"certificate of the authority. If the certificate is not the one of the " + receiver + ", check " + address + "."},
		{causedBy(streams.ErrWrongName), "The certificate may belong to the " + receiver + " under another name: use that name in " +
			address + ", or set tls.server_name to it."},
		{causedBy(streams.ErrExpired), "The " + receiver + " may have to renew its certificate, or the clock of this machine may be " +
			"wrong. If the certificate is not the one of the " + receiver + ", check " + address + "."},
		{causedBy(streams.ErrTLS), "The " + receiver + " may require another client certificate, may not use TLS at this port, or may " +
			"not support TLS 1.2 or newer. Check tls.client_cert_pem and tls.client_key_pem, and " + address + "."},
		{causedBy(streams.ErrProxyRefused) || status(http.StatusProxyAuthRequired), "The proxy may need other credentials, may not " +
			"allow connections to this host, or may not reach it. Check the address, user name and password in HTTPS_PROXY " +
			"(HTTP_PROXY for an http:// address), or list the host in NO_PROXY."},
		{class == 3, "The address in " + address + " may be old, may lack a path, or may need https. If Location is the " + receiver +
			", change " + address + " to that address. If Location is a login page, check the credentials."},

		{e.Kind == streams.KindTimeout && e.Err == nil, "The " + receiver + " may be slow or overloaded. " + applyLater},

		// The token endpoint responded. Some refuse a client with a status of success.
		{e.TokenRequest && (status(400, 401) || class == 2 && e.Kind == streams.KindAuthentication), carried +
			"The client, its credentials or scopes may be unknown or expired. Check oauth2.client_id and oauth2.token_url, too."},
		{e.TokenRequest && unexpected, "The response may not have come from a token endpoint, but from a login page or a proxy. Check " +
			"oauth2.token_url."},
		{e.TokenRequest && status(http.StatusTooManyRequests), "The token endpoint may limit requests. " + applyLater},
		{e.TokenRequest && class == 4, "The token endpoint may have another address, or may not allow this grant. Check oauth2.token_url."},

		// The service responded.
		{anotherSet, "The service may merge sets instead of replacing them, may add processors of its own, or may ignore ids that it " +
			"does not know. Compare the set with the processors in the service."},
		{unexpected, "The response may not have come from the service, but from a proxy, a login page or another version of the " +
			"service. Check base_url."},
		{status(http.StatusTooManyRequests), "There may be too many requests at a time. Limit them with requests_per_second or " +
			"Terraform's -parallelism."},
		{!e.Documented && status(400, 401, 403, 404, 422), "The response may not have come from the service, whose errors have another " +
			"form, but from a proxy or gateway. Check base_url (its path, and https://), the id of the stream, HTTPS_PROXY and NO_PROXY."},
		{status(401, 403) && e.Credentials == streams.NoCredentials, carried + "Set token, token_file, " +
			"basic_auth, oauth2 or headers in the provider block, or the environment variables of one of them."},
		{status(http.StatusUnauthorized), carried + "The credential may have expired, or be the wrong one. Check the provider block " +
			"and the variables STREAM_…."},
		{status(http.StatusForbidden), carried + "The credentials may not permit the operation on this stream."},
		{status(http.StatusNotFound), "The stream may not exist at this base_url, or the credentials may not permit access to it. Check " +
			"the id of the stream, or create the stream in the service first."},
		{status(http.StatusConflict, http.StatusLocked), "Somebody else may be changing the stream. Apply again."},
		{status(http.StatusRequestEntityTooLarge), "The set may be too large for the service or for a proxy before it. Compare the number " +
			"of processor ids with the limit of the service."},
		{status(400, 422), "The service may not know one of the processor ids, or may not accept this set."},
		{class == 4 || status(http.StatusNotImplemented), "The " + receiver + " may not offer this operation at this address, or may be " +
			"another version. Check " + address + "."},
		{causedBy(streams.ErrRequestTimeout), "The " + receiver + " may be slow or down. Check " + address + ", or raise request_timeout, which " +
			"limits one attempt."},
		{e.Kind == streams.KindTimeout, "The " + receiver + " may be slow or down. Check " + address + ", or raise the timeouts of the resource, " +
			"which limit all attempts together."},
		{e.Kind == streams.KindBadGateway, "A proxy may not reach the " + receiver + ". " + applyLater + patience},
		{e.Status != 0 && (e.Err == nil || e.Outcome != streams.NotChanged), "The " + receiver + " may have a temporary fault. " + applyLater + patience},
		{true, "The " + receiver + " may be down, or may have another address. Check " + address + ", the network and the proxy settings " +
			"(HTTPS_PROXY, NO_PROXY)."},
	}
}

// cannotRead reports whether a read failed with a response about the route, not about the stream.
func cannotRead(e *streams.Error) bool {
	if e.Method != http.MethodGet {
		return false
	}
	notOffered := e.Status == http.StatusNotFound && !e.Documented || slices.Contains([]int{405, 501}, e.Status)
	return notOffered || e.Status/100 == 2 || e.Status/100 == 3
}
