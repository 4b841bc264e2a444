package streams

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Retry says how often and how patiently an operation is tried. Sending the whole set twice is the
// same as sending it once, so an update may be repeated whatever became of the first.
type Retry struct {
	MaxAttempts int           // at least 1; 1 means no retry
	MinBackoff  time.Duration // the shortest wait, unless the service names one
	MaxBackoff  time.Duration // the longest wait, unless the service names one
}

// DefaultRetry is what a deployment gets that asks for nothing else.
var DefaultRetry = Retry{MaxAttempts: 5, MinBackoff: 500 * time.Millisecond, MaxBackoff: 30 * time.Second}

// retryableStatus reports whether the same request may succeed later.
func retryableStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryableFailure reports whether an attempt that got no answer may succeed later. Failed
// connections may; what the two sides will not agree on next time either is final.
func retryableFailure(err error) bool {
	return !errors.As(err, new(*Error)) && !disagreement(err)
}

// disagreement reports whether a connection failed because client and service do not accept each
// other's certificate or protocol.
func disagreement(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
		hostname    x509.HostnameError
		invalid     x509.CertificateInvalidError
		record      tls.RecordHeaderError
		network     *net.OpError
	)
	switch {
	case errors.As(err, &certificate), errors.As(err, &authority), errors.As(err, &hostname),
		errors.As(err, &invalid), errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return true
	case errors.As(err, &network):
		return network.Op == "remote error" // a TLS alert
	}
	return false
}

// backoff is the wait before the attempt after the given one (1 is the first). It doubles its upper
// bound each time; random, from 0 to 1, places it, so that parallel operations spread out.
func (r Retry) backoff(attempt int, random float64) time.Duration {
	bound := r.MinBackoff
	for range attempt {
		if bound >= r.MaxBackoff/2 {
			bound = r.MaxBackoff
			break
		}
		bound *= 2
	}
	return r.MinBackoff + time.Duration(random*float64(max(0, bound-r.MinBackoff)))
}

// retryAfter reads a Retry-After header, seconds or a date (RFC 9110, section 10.2.3).
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		const most = uint64(1<<63-1) / uint64(time.Second)
		return time.Duration(min(seconds, most)) * time.Second, true
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now)), true
	}
	return 0, false
}
