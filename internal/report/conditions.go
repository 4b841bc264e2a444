package report

import (
	"crypto/x509"
	"errors"
	"net/http"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// task is what a read or an operation was to do, and what a person should know if it failed. Texts may be empty.
type task struct {
	failed string // a clause: what could not be done
	empty  bool   // it sent the empty set
	next   string // what to know before the next apply
	Reader        // of an operation, only what to do if the stream does not exist, and how a resource leaves it

	// Of all streams of the call, which have one cause.
	others   bool                // some of its operations have succeeded
	accepted requests.Acceptance // what the service has accepted of the credential
}

// failure is a read or an operation that failed.
type failure struct {
	*streams.Error
	task
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
	leavesStream   condition = func(f failure) bool { return f.toLeave != "" && !isRead(f) }
	sentEmptySet   condition = func(f failure) bool { return f.empty }
)

// What the response was.
var (
	isUnexpected condition = func(f failure) bool { return f.Kind == streams.KindUnexpected }
	hasResponse  condition = func(f failure) bool { return f.Status != 0 } // perhaps before an attempt without one
	hasOtherSet  condition = func(f failure) bool { return f.Stream != nil }

	// A rejection is a 4xx that ends the operation, perhaps one that HTTP does not know.
	isRejection = all(hasClass(4), not(hasStatus(http.StatusRequestTimeout, http.StatusTooManyRequests)))

	// A proxy or a framework may answer for a route that does not exist, but not in the form of the service.
	isForeign = all(hasStatus(http.StatusNotFound), not(either(hasForm(masking.FormDocumented), isTokenRequest)))

	// A response about the route, not about the stream.
	servesNoReads = all(isRead, either(isForeign, isUnexpected, hasStatus(405, 501)))

	// The token endpoint, or what has responded in its place, rejects the client. Some endpoints do so with a success.
	rejectsClient = all(isTokenRequest, not(hasForm(masking.FormPage)), either(
		hasStatus(400, 401, 403), all(hasClass(2), func(f failure) bool { return f.Kind == streams.KindAuthentication })))
)

// Why no response came.
var (
	hasOtherNames condition = func(f failure) bool {
		wrong, found := errors.AsType[x509.HostnameError](f.Err)
		return found && len(wrong.Certificate.DNSNames)+len(wrong.Certificate.IPAddresses) > 0
	}
	isTLSFailure condition = func(f failure) bool { return transport.IsTLSFailure(f.Err) }

	throughProxy = hasError[*transport.ProxyError]()
)

var hasLocation condition = func(f failure) bool { return f.Location != "" } // of a redirect
