package transport

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Causes of a failure.
var (
	ErrNotSent       = errors.New("the request cannot be sent")                   // by Go's library, because of a setting or a variable
	ErrLongHeader    = errors.New("its header is longer than the server accepts") // as the server has said over HTTP/2
	ErrNoConnection  = errors.New("no connection was made")                       // within a time limit
	ErrNoCertificate = errors.New("the server asked for a client certificate, and none is set")
	ErrNoPong        = errors.New("the connection has died: a ping got no answer within " + pingTimeout.String())
)

// HTTP/2 sends all requests over one connection. If it has died without a word, a ping shows it before an attempt ends. A busy
// service may answer a ping late, and its loss ends all requests.
const (
	pingAfter   = 10 * time.Second
	pingTimeout = 10 * time.Second
)

// ProxyError is why a proxy does not connect to the service: its response, perhaps because of its credentials, or the
// failure of the connection to the proxy itself.
type ProxyError struct {
	Status int    // of its response to CONNECT; 0 without one
	proxy  string // its address, without credentials
	err    error
}

// Error returns the address of the proxy, and its response or the cause.
func (e *ProxyError) Error() string {
	if e.err != nil {
		return fmt.Sprintf("the proxy %s cannot be used: %s", e.proxy, e.err)
	}
	return fmt.Sprintf("the proxy %s responded to CONNECT with %s", e.proxy, StatusText(e.Status))
}

// Unwrap returns the cause, or nil if there was a response.
func (e *ProxyError) Unwrap() error { return e.err }

// HandshakeError is an error of a TLS handshake for which package tls has no type: the client cannot read the certificate
// of the host, for example. A connection that breaks is no such error.
type HandshakeError struct{ err error }

// Error returns what package tls says.
func (e *HandshakeError) Error() string { return e.err.Error() }

// Unwrap returns the error of package tls.
func (e *HandshakeError) Unwrap() error { return e.err }

// IsTLSFailure reports whether client and service do not accept each other's certificate or protocol.
func IsTLSFailure(err error) bool {
	return errors.As(err, new(*HandshakeError)) || errors.As(err, new(*ProtocolError)) ||
		errors.As(err, new(*tls.CertificateVerificationError)) ||
		PeerSentAlert(err) || sentAlert(err, byClient) ||
		errors.As(err, new(tls.RecordHeaderError)) || errors.Is(err, http.ErrSchemeMismatch) // the response is not TLS
}

// Who sent a TLS alert, as package tls calls them.
const (
	byService = "remote error" // such as for a missing client certificate
	byClient  = "local error"  // such as for a service that asks for one after the request
)

// TLS alerts (RFC 8446, section 6.2).
const (
	AlertHandshakeFailure     tls.AlertError = 40 // nothing in common, or no client certificate
	alertAccessDenied         tls.AlertError = 49
	AlertProtocolVersion      tls.AlertError = 70
	AlertInsufficientSecurity tls.AlertError = 71
	AlertInternalError        tls.AlertError = 80 // such as for an unknown host
	AlertUnrecognizedName     tls.AlertError = 112
	alertCertificateRequired  tls.AlertError = 116
)

// HasAlert reports whether the error is one of these alerts of the other side. Those of package tls have no type.
func HasAlert(err error, alerts ...tls.AlertError) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	if !ok || failed.Err == nil {
		return false
	}
	isOne := func(alert tls.AlertError) bool { return failed.Err.Error() == alert.Error() }
	return failed.Op == byService && slices.ContainsFunc(alerts, isOne) || HasAlert(failed.Err, alerts...)
}

// RejectsClient reports whether the service has sent an alert about the client's certificate, or about a missing one.
func RejectsClient(err error) bool {
	for alert := AlertHandshakeFailure; alert <= alertAccessDenied; alert++ {
		if HasAlert(err, alert) {
			return true
		}
	}
	return HasAlert(err, alertCertificateRequired)
}

// PeerSentAlert reports whether the other side has ended a connection with an alert.
func PeerSentAlert(err error) bool { return sentAlert(err, byService) }

func sentAlert(err error, sender string) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && (failed.Op == sender || sentAlert(failed.Err, sender)) // that of a proxy is the cause of another one
}

// StatusText returns a status code with its name, such as "404 Not Found".
func StatusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
