package report

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// attempted is what a read or an operation was to do, and what a person should know if it failed.
type attempted struct {
	failed   string // a clause: what could not be done
	purpose  purpose
	empty    bool   // it sent the empty set
	keep     string // of a resource that leaves the stream: how it does so without a request
	orKeep   string // likewise: what else is possible; may be empty
	unserved string // of a read: what to do where the deployment serves none
	missing  string // of a read: what to do if the stream does not exist
	next     string // what to know before the next apply

	besideTaken bool // a failure of the call says that others get through: all of its streams have one cause
}

// leavesStream reports whether the configuration does not have the stream.
func (a attempted) leavesStream() bool { return a.purpose == aLeave || a.purpose == aDrop }

// purpose is what a read or an operation is for.
type purpose int

const (
	anAction purpose = iota // for an action
	aRead                   // nothing but a look
	aCreate                 // a resource gets the stream
	anUpdate                // a resource keeps the stream
	aLeave                  // a destroy or a replacement leaves the stream
	aDrop                   // a group that stays leaves the stream
)

// failure is a read or an operation that failed.
type failure struct {
	*streams.Error
	did attempted
}

// condition says whether a hint applies to a failure.
type condition func(f failure) bool

func both(a, b condition) condition { return func(f failure) bool { return a(f) && b(f) } }

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

func isFor(purposes ...purpose) condition {
	return func(f failure) bool { return slices.Contains(purposes, f.did.purpose) }
}

// What was attempted.
var (
	isRead         condition = func(f failure) bool { return f.Method == http.MethodGet }
	isTokenRequest condition = func(f failure) bool { return f.TokenRequest }
	sentEmptySet   condition = func(f failure) bool { return f.did.empty }
	isPlain        condition = func(f failure) bool { return strings.HasPrefix(f.URL, "http://") }

	// The service works on other streams.
	othersGetThrough condition = func(f failure) bool { return f.OthersTaken || f.did.besideTaken }

	// retry.max_attempts is set, and allows no other attempt.
	isOutOfAttempts condition = func(f failure) bool { return f.OutOfAttempts }

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
	isRejection = both(hasClass(4), not(hasStatus(http.StatusRequestTimeout, http.StatusTooManyRequests)))

	// The last response counts, although a later attempt may have got none.
	hasFault condition = func(f failure) bool {
		return f.Status != 0 && (f.Err == nil || f.Outcome != streams.NotChanged)
	}

	// A proxy or a framework may answer for a route that does not exist, but not in the form of the service.
	isForeign = both(hasStatus(http.StatusNotFound), not(either(isDocumented, isTokenRequest)))

	isIncomplete = either(causedBy(requests.ErrIncomplete), both(hasForm(masking.FormPart), hasStatus(400, 404, 422)))

	// A response about the route, not about the stream.
	isAboutRoute  = either(isForeign, hasStatus(405, 501), hasClass(2), both(hasClass(3), not(hasStatus(http.StatusNotModified))))
	servesNoReads = both(isRead, both(isAboutRoute, not(isIncomplete)))

	refusesEmpty = both(both(sentEmptySet, not(isTokenRequest)), either(hasStatus(400, 422), hasOtherSet))

	// The token endpoint, or what has responded in its place, rejects the client. Some endpoints do so with a success.
	rejectsClient = both(isTokenRequest, both(not(hasForm(masking.FormPage)), either(
		hasStatus(400, 401, 403), both(hasClass(2), func(f failure) bool { return f.Kind == streams.KindAuthentication }))))
)

// Why no response came.
var (
	isExpired condition = func(f failure) bool {
		invalid, found := errors.AsType[x509.CertificateInvalidError](f.Err)
		return found && invalid.Reason == x509.Expired
	}
	hasNoNames condition = func(f failure) bool {
		wrong, found := errors.AsType[x509.HostnameError](f.Err)
		return found && len(wrong.Certificate.DNSNames)+len(wrong.Certificate.IPAddresses) == 0
	}
	isUntrusted            = either(hasError[*tls.CertificateVerificationError](), hasError[x509.UnknownAuthorityError]())
	isNoTLS                = either(hasError[tls.RecordHeaderError](), causedBy(http.ErrSchemeMismatch))
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
	addsSlash   condition = func(f failure) bool {
		request, err := url.Parse(f.URL)
		if err != nil || f.TokenRequest {
			return false
		}
		target, err := request.Parse(f.Location)
		return err == nil && target.String() == f.URL+"/"
	}
)
