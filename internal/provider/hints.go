package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// failure is an operation that failed, as a hint sees it.
type failure struct {
	*streams.Error
	destroy bool // the operation detaches the processors for a destroy
}

// hint says what to check after a failed operation: the text of the first row that fits. A hint is
// always a possibility, because only the service knows the cause.
func hint(f failure) string { return hints[firstHint(f)].text(f) }

func firstHint(f failure) int {
	return slices.IndexFunc(hints, func(row hintRow) bool { return row.fits(f) })
}

type hintRow struct {
	fits func(failure) bool
	text func(failure) string
}

// hints is ordered: the first row that fits a failure gives its hint. The last row fits every failure.
var hints = []hintRow{
	// No request was sent.
	{causedBy(context.Canceled), says("Apply again when you are ready.")},
	{repeatsAnother, says("The error of the other operation says what to check.")},
	{causedBy(streams.ErrNotSent), says("A setting or an environment variable of this machine may be invalid. Check headers, and the " +
		"variables that the error names.")},
	{causedBy(streams.ErrTokenWait), says("The token endpoint may be slow or overloaded. Check oauth2.token_url. request_timeout limits " +
		"one attempt of a token request; the timeouts of the resource include the wait for it.")},
	{causedBy(streams.ErrRateLimit), says("requests_per_second may be too low for this number of streams. Raise it, or raise the " +
		"timeouts of the resource.")},
	{causedBy(streams.ErrSecretFile), says("The file may not be mounted or written yet, or the path may be wrong. A relative path is " +
		"relative to the folder where Terraform runs.")},
	{neverSent, says("Another operation on the same stream may be slow. Apply again, or raise the timeouts of the resource.")},

	{waitedForTurn, says("Too many operations may wait for their turn. Raise max_concurrent_requests or the timeouts of the resource, " +
		"or lower Terraform's -parallelism.")},

	// The operation decides.
	{cannotRead, says("This deployment may not offer GET /v2/streams/{id}, which the service's interface document does not " +
		"specify, or may respond in a form of its own. Set detect_drift = false (or unset STREAM_DETECT_DRIFT). If reads have " +
		"worked before, check base_url.")},
	{allOf(destroys, anyOf(status(400, 422), reportsAnotherSet)), says("The service may not accept an empty set. To leave the " +
		"processors attached, set on_destroy = \"keep\", apply, and then destroy.")},

	// The request did not get through.
	{causedBy(streams.ErrUnknownAuthority), namesAddress("The certificate may come from a private authority: set tls.ca_cert_pem " +
		"to the certificate of the authority. If the certificate is not the one of the %[1]s, check %[2]s.")},
	{causedBy(streams.ErrWrongName), namesAddress("The certificate may belong to the %[1]s under another name: use that name in " +
		"%[2]s, or set tls.server_name to it.")},
	{causedBy(streams.ErrExpired), namesAddress("The %[1]s may have to renew its certificate, or the clock of this machine may be " +
		"wrong. If the certificate is not the one of the %[1]s, check %[2]s.")},
	{causedBy(streams.ErrNotTLS), namesAddress("This port may not use TLS. Check the port in %[2]s, or use http:// in it if the " +
		"%[1]s has no TLS.")},
	{causedBy(streams.ErrClientCertificate), namesAddress("The %[1]s may require a client certificate, or may not accept the " +
		"configured one. Check tls.client_cert_pem and tls.client_key_pem, or whether %[2]s is right.")},
	{causedBy(streams.ErrTLS), namesAddress("The %[1]s may not support TLS 1.2 or newer, which the provider needs. " +
		"Check %[2]s.")},
	{anyOf(causedBy(streams.ErrProxyCredentials), status(http.StatusProxyAuthRequired)), says("The proxy may need other credentials. " +
		"Check the user name and password in HTTPS_PROXY, or list the host in NO_PROXY.")},
	{causedBy(streams.ErrProxyRefused), says("The proxy may not allow connections to this host, or may not reach it. Check HTTPS_PROXY, or " +
		"list the host in NO_PROXY.")},
	{statusClass(3), namesAddress("The address in %[2]s may be old, may lack a path, or may need https. If Location is the " +
		"%[1]s, change %[2]s to that address. If Location is a login page, check the credentials.")},

	// The token endpoint responded.
	{allOf(tokenRequest, anyOf(status(400, 401), refusedWithSuccess)), says("The token endpoint may not know the client, or may not accept its credentials, " +
		"scopes or parameters. Check oauth2.client_id and the other attributes of oauth2 or the environment variables " +
		"STREAM_OAUTH2_…, and whether oauth2.token_url is the right endpoint.")},
	{allOf(tokenRequest, kind(streams.KindUnexpected)), says("The response may not have come from a token endpoint, but from a login page or a " +
		"proxy. Check oauth2.token_url.")},
	{allOf(tokenRequest, status(http.StatusTooManyRequests)), says("The token endpoint may limit requests. Apply again later. If this " +
		"error stays, check oauth2.token_url.")},
	{allOf(tokenRequest, statusClass(4)), says("The token endpoint may have another address, or may not allow this grant. Check " +
		"oauth2.token_url.")},

	// The service responded.
	{reportsAnotherSet, says("The service may merge sets instead of replacing them, may add processors of its own, or may ignore " +
		"ids that it does not know. Compare processor_ids with the processors in the service.")},
	{kind(streams.KindUnexpected), says("The response may not have come from the service, but from a proxy, a login page or another version of " +
		"the service. Check base_url.")},
	{status(http.StatusTooManyRequests), says("There may be too many requests at a time. Limit them with requests_per_second or " +
		"Terraform's -parallelism.")},
	{allOf(undocumented, status(401, 403)), says("The response may not have come from the service, whose errors have another form, but " +
		"from a proxy or gateway. Check base_url and the proxy settings (HTTPS_PROXY, NO_PROXY), and what the proxy requires.")},
	{allOf(status(http.StatusUnauthorized), sentNoCredentials), says("The request carried no credentials. Set token, token_file, basic_auth, oauth2 " +
		"or headers in the provider block, or the environment variables of one of them.")},
	{status(http.StatusUnauthorized), func(f failure) string {
		return fmt.Sprintf("The request carried %s. The service may expect another credential or another form, or the credential may "+
			"have expired. Check the provider block and the environment variables STREAM_….", f.Credentials)
	}},
	{status(http.StatusForbidden), func(f failure) string {
		return fmt.Sprintf("The request carried %s. The credentials may not permit the operation on this stream.", f.Credentials)
	}},
	{allOf(undocumented, status(http.StatusNotFound)), says("The response may not have come from the service, whose errors have " +
		"another form. Check base_url and stream_id.")},
	{status(http.StatusNotFound), says("The stream may not exist at this base_url, or the credentials may not permit access to it. " +
		"Check stream_id.")},
	{status(http.StatusMethodNotAllowed, http.StatusNotImplemented), says("The service may not offer updates at this address, or may " +
		"be another version. Check base_url.")},
	{status(http.StatusConflict, http.StatusLocked), says("Somebody else may be changing the stream. Apply again.")},
	{status(http.StatusRequestEntityTooLarge), says("The set may be too large for the service or for a proxy before it. Compare the " +
		"number of processor_ids with the limit of the service.")},
	{allOf(undocumented, status(400, 422)), says("The response may not have come from the service, whose errors have another form. " +
		"Check base_url, for example whether it must begin with https://.")},
	{status(400, 422), says("The service may not know one of the processor_ids, or may not accept this set.")},
	{statusClass(4), says("The service may not accept requests of this form, or may be another version. Check base_url.")},
	{reportedTimeout, namesAddress("The %[1]s may be slow or overloaded. Apply again later. If this error stays, check %[2]s.")},
	{kind(streams.KindTimeout), namesAddress("The %[1]s may be slow or overloaded, or nothing may listen at this address. Check " +
		"%[2]s. request_timeout limits one attempt; the timeouts of the resource limit all attempts together.")},
	{kind(streams.KindBadGateway), namesAddress("A proxy may not reach the %[1]s. Apply again later. If this error stays, check %[2]s.")},
	{failed, namesAddress("The %[1]s may have a temporary fault. Apply again later. If this error stays, check %[2]s.")},
	{always, namesAddress("The %[1]s may be down, or may have another address. Check %[2]s, the network and the proxy settings " +
		"(HTTPS_PROXY, NO_PROXY).")},
}

func says(text string) func(failure) string { return func(failure) string { return text } }

// namesAddress fills in what the request was sent to, %[1]s, and the attribute with its address, %[2]s.
func namesAddress(format string) func(failure) string {
	return func(f failure) string {
		receiver, attribute := "service", "base_url"
		if f.TokenRequest {
			receiver, attribute = "token endpoint", "oauth2.token_url"
		}
		return fmt.Sprintf(format, receiver, attribute)
	}
}

func allOf(conditions ...func(failure) bool) func(failure) bool {
	return func(f failure) bool {
		return !slices.ContainsFunc(conditions, func(fits func(failure) bool) bool { return !fits(f) })
	}
}

func anyOf(conditions ...func(failure) bool) func(failure) bool {
	return func(f failure) bool {
		return slices.ContainsFunc(conditions, func(fits func(failure) bool) bool { return fits(f) })
	}
}

func statusClass(class int) func(failure) bool {
	return func(f failure) bool { return f.Status/100 == class }
}

func status(codes ...int) func(failure) bool {
	return func(f failure) bool { return slices.Contains(codes, f.Status) }
}

func kind(k streams.Kind) func(failure) bool {
	return func(f failure) bool { return f.Kind == k }
}

func causedBy(cause error) func(failure) bool {
	return func(f failure) bool { return errors.Is(f.Err, cause) }
}

func always(failure) bool { return true }

func destroys(f failure) bool { return f.destroy && !f.TokenRequest }

func undocumented(f failure) bool { return !f.Documented }

func reportsAnotherSet(f failure) bool { return f.Stream != nil }

func tokenRequest(f failure) bool { return f.TokenRequest }

func sentNoCredentials(f failure) bool { return f.Credentials == noCredentials }

// repeatsAnother fits an operation that sent nothing because another one had failed.
func repeatsAnother(f failure) bool { return f.Repeated }

// refusedWithSuccess fits a token endpoint that refuses with a status of success.
func refusedWithSuccess(f failure) bool {
	return f.Status/100 == 2 && f.Kind == streams.KindAuthentication
}

// neverSent fits an operation that ended while it waited for another operation on the stream.
func neverSent(f failure) bool { return f.URL == "" && f.Err != nil }

// waitedForTurn fits an operation that ended while it waited for the end of other requests.
func waitedForTurn(f failure) bool {
	return f.Attempts == 0 && errors.Is(f.Err, context.DeadlineExceeded)
}

// cannotRead fits a read that says something about the route, not about the stream.
func cannotRead(f failure) bool {
	if f.Method != http.MethodGet {
		return false
	}
	return f.Status == http.StatusNotFound && !f.Documented || f.Status == http.StatusMethodNotAllowed ||
		f.Status == http.StatusNotImplemented || f.Status/100 == 2 || f.Status/100 == 3
}

// reportedTimeout fits a timeout that the service or a gateway reported, not one of the client.
func reportedTimeout(f failure) bool { return f.Kind == streams.KindTimeout && f.Err == nil }

// failed fits an error of the service, and a connection that failed while a request was under way.
func failed(f failure) bool {
	return f.Status != 0 && (f.Err == nil || f.Outcome != streams.NotChanged)
}
