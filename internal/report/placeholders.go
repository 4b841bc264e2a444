package report

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
)

// placeholders returns what stands for the placeholders of the hint for a failure, beside those of a [text].
func placeholders(f failure) *strings.Replacer {
	receiver, address := receiverOf(f)
	return strings.NewReplacer(
		"{receiver}", receiver,
		"{address}", address,
		"{method}", f.Method,
		"{credentials}", f.Credentials,
		"{place}", cmp.Or(f.Place, "token, token_file, basic_auth, oauth2, headers and their environment variables: none of them is set"),
		"{standing}", standing(f),
		"{otherwise}", otherwise(f, address),
		"{ifSome}", ifSome(f),
		"{toLeave}", f.toLeave,
		"{missing}", f.missing,
		"{orReads}", orReads(f),
	)
}

// receiverOf names what the request was sent to, and the setting with its address.
func receiverOf(f failure) (receiver, address string) {
	switch {
	case throughProxy(f):
		return "proxy", "HTTPS_PROXY (HTTP_PROXY for http://)"
	case f.TokenRequest:
		return f.Receiver(), "oauth2.token_url"
	}
	return f.Receiver(), "base_url"
}

// standing is a sentence about a credential that was rejected. Reads and updates may be permitted apart.
func standing(f failure) string {
	switch {
	case f.Credentials == requests.NoCredentials:
		return ""
	case f.accepted == requests.AcceptedReads && !isRead(f):
		return "The service accepts this credential for reads; it may not permit updates."
	case f.accepted != requests.NotAccepted:
		return "The credential works for other streams; it may not permit this one, or may have expired since."
	}
	return "The credential may be the wrong one, may have expired, or may not permit this operation."
}

// otherwise is a sentence about what may have responded in place of the receiver, unless the response has the documented form.
func otherwise(f failure, address string) string {
	if f.Documented() {
		return ""
	}
	return "Otherwise, a proxy, a gateway or a login page may have responded: check " + address + ", HTTPS_PROXY and NO_PROXY."
}

// ifSome is a sentence about a service that is too slow for some of the requests for the streams of a call.
func ifSome(f failure) string {
	slow := either(hasStatus(408, 503, 504), causedBy(requests.ErrRequestTimeout))
	if !f.others || isTokenRequest(f) || !slow(f) {
		return ""
	}
	return "If only some requests fail, a smaller max_concurrent_requests may help."
}

// orReads is a sentence about a deployment that serves no reads, if the request was one. A 401 is about the credential.
func orReads(f failure) string {
	if !isRead(f) || f.Status == http.StatusUnauthorized {
		return ""
	}
	return "If updates of {the stream|the streams} work, the deployment may not serve GET /v2/streams/{id}, which detect_drift needs and " +
		"the interface does not specify. Then " + f.unserved
}
