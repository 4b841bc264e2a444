package report

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// attempted is what a read or an operation was to do, and what a person should know if it failed. Texts may be empty.
type attempted struct {
	failed   string // a clause: what could not be done
	empty    bool   // it sent the empty set
	toLeave  string // of a resource that leaves the stream, and no other: how it does so without a request
	orKeep   string // likewise: what else is possible
	unserved string // of a read: what to do where the deployment serves none
	missing  string // what to do if the stream does not exist
	next     string // what to know before the next apply

	besideTaken bool // a failure of the call says that others get through: all of its streams have one cause
}

// leavesStream reports whether the configuration does not have the stream.
func (a attempted) leavesStream() bool { return a.toLeave != "" }

// failure is a read or an operation that failed.
type failure struct {
	*streams.Error
	did attempted
}

// condition says whether a hint applies to a failure.
type condition func(f failure) bool

func all(conditions ...condition) condition {
	return func(f failure) bool {
		return !slices.ContainsFunc(conditions, func(c condition) bool { return !c(f) })
	}
}

func not(c condition) condition { return func(f failure) bool { return !c(f) } }

func either(conditions ...condition) condition {
	return func(f failure) bool {
		return slices.ContainsFunc(conditions, func(c condition) bool { return c(f) })
	}
}

func hasStatus(codes ...int) condition {
	return func(f failure) bool { return slices.Contains(codes, f.Status) }
}

// hasClass is about the first digit of a status.
func hasClass(class int) condition {
	return func(f failure) bool { return f.Status/100 == class }
}

func hasForm(forms ...masking.Form) condition {
	return func(f failure) bool { return slices.Contains(forms, f.Form) }
}

func causedBy(cause error) condition {
	return func(f failure) bool { return errors.Is(f.Err, cause) }
}

func hasError[E error]() condition {
	return func(f failure) bool { _, found := errors.AsType[E](f.Err); return found }
}

func always(failure) bool { return true }

// What was attempted.
var (
	isRead         condition = func(f failure) bool { return f.Method == http.MethodGet }
	isTokenRequest condition = func(f failure) bool { return f.TokenRequest }
	leavesStream   condition = func(f failure) bool { return f.did.leavesStream() }
	sentEmptySet   condition = func(f failure) bool { return f.did.empty }
	isPlain        condition = func(f failure) bool { return strings.HasPrefix(f.URL, "http://") }

	// The service works on other streams.
	othersGetThrough condition = func(f failure) bool { return f.OthersTaken || f.did.besideTaken }

	// The operation ended before the client had a request to send.
	neverBegan condition = func(f failure) bool { return f.URL == "" && f.Err != nil }
)

// What the response was.
var (
	isDocumented              = hasForm(masking.FormDocumented)
	isUnexpected    condition = func(f failure) bool { return f.Kind == streams.KindUnexpected }
	isTimeout       condition = func(f failure) bool { return f.Kind == streams.KindTimeout && f.Err != nil }
	isUnknown       condition = func(f failure) bool { return f.Outcome == streams.Unknown }
	hasOtherSet     condition = func(f failure) bool { return f.Stream != nil }
	hasNoCredential condition = func(f failure) bool { return f.Credentials == requests.NoCredentials }

	// A rejection is a 4xx that ends the operation, perhaps one that HTTP does not know.
	isRejection = all(hasClass(4), not(hasStatus(http.StatusRequestTimeout, http.StatusTooManyRequests)))

	// The last response counts, although a later attempt may have got none.
	hasFault condition = func(f failure) bool {
		return f.Status != 0 && (f.Err == nil || f.Outcome != streams.NotChanged)
	}

	// A proxy or a framework may answer for a route that does not exist, but not in the form of the service.
	isForeign = all(hasStatus(http.StatusNotFound), not(either(isDocumented, isTokenRequest)))

	// A response about the route, not about the stream.
	servesNoReads = all(isRead, either(isForeign, hasStatus(405, 501), hasClass(2)))

	refusesEmpty = all(sentEmptySet, not(isTokenRequest), either(hasStatus(400, 422), hasOtherSet))

	// The token endpoint, or what has responded in its place, rejects the client. Some endpoints do so with a success.
	rejectsClient = all(isTokenRequest, not(hasForm(masking.FormPage)), either(
		hasStatus(400, 401, 403), all(hasClass(2), func(f failure) bool { return f.Kind == streams.KindAuthentication })))
)

// Why no response came.
var (
	isExpired condition = func(f failure) bool {
		invalid, found := errors.AsType[x509.CertificateInvalidError](f.Err)
		return found && invalid.Reason == x509.Expired
	}
	hasOtherNames condition = func(f failure) bool {
		wrong, found := errors.AsType[x509.HostnameError](f.Err)
		return found && len(wrong.Certificate.DNSNames)+len(wrong.Certificate.IPAddresses) > 0
	}
	isUntrusted            = hasError[*tls.CertificateVerificationError]()
	isTLSFailure condition = func(f failure) bool { return transport.IsTLSFailure(f.Err) }

	throughProxy = hasError[*transport.ProxyError]()
	// The proxy itself could not be reached.
	hasNoProxy condition = func(f failure) bool {
		refused, found := errors.AsType[*transport.ProxyError](f.Err)
		return found && refused.Status == 0
	}
	// It offers other ways to authenticate than HTTP Basic, the only one of Go's library.
	offersNoBasic condition = func(f failure) bool {
		offered := ""
		if refused, found := errors.AsType[*transport.ProxyError](f.Err); found {
			offered = refused.Schemes
		} else if f.Status == http.StatusProxyAuthRequired {
			offered = f.Challenge
		}
		isBasic := func(scheme string) bool { return strings.EqualFold(scheme, "Basic") }
		return offered != "" && !slices.ContainsFunc(strings.Split(offered, ", "), isBasic)
	}
)

// Where a redirect leads.
var (
	hasLocation condition = func(f failure) bool { return f.Location != "" }

	// To the path of the request, perhaps with a slash at its end or in another case: base_url cannot follow.
	redirectsToItself condition = func(f failure) bool { from, to := redirectOf(f); return from != "" && strings.EqualFold(from, to) }
	// Likewise, with the id in another case.
	redirectsToOtherID condition = func(f failure) bool {
		from, to := redirectOf(f)
		return redirectsToItself(f) && path.Base(from) != path.Base(to)
	}
)

// redirectOf returns the paths of a request and of its redirect after that of base_url, without a slash at the end; "" if the redirect
// leads elsewhere.
func redirectOf(f failure) (from, to string) {
	request, err := url.Parse(f.URL)
	if err != nil || f.TokenRequest || f.Location == "" {
		return "", ""
	}
	target, err := request.Parse(f.Location)
	if err != nil || target.Scheme != request.Scheme || !strings.EqualFold(target.Host, request.Host) {
		return "", ""
	}
	from = request.EscapedPath()
	base := from[:max(strings.LastIndex(from, "/v2/streams/"), 0)]
	to, within := strings.CutPrefix(target.EscapedPath(), base)
	if !within {
		return "", ""
	}
	return strings.TrimPrefix(from, base), strings.TrimSuffix(to, "/")
}
