package transport

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// pingTimeout is for a busy service, which may answer a ping late: its loss ends all requests.
const pingTimeout = 10 * time.Second

// Why a request failed.
var (
	ErrNotSent       = errors.New("the request cannot be sent")                   // by Go's library, because of a setting or a variable
	ErrLongHeader    = errors.New("its header is longer than the server accepts") // as the server has said over HTTP/2; wraps ErrNotSent
	ErrNoConnection  = errors.New("no connection was made")                       // in time
	ErrNoCertificate = errors.New("the server asked for a client certificate, and none is set")
	ErrNoPong        = errors.New("the connection has died: a ping got no answer within " + pingTimeout.String())
	ErrNeedsHTTP1    = errors.New("the server requires HTTP/1.1") // it has not processed the request (RFC 9113, section 7)
	ErrNotHTTP       = errors.New("the response is not HTTP/1.1") // such as TLS, or HTTP/2 without TLS
)

// ProxyError is why a proxy does not connect to the service: its response, perhaps because of its credentials, or the
// failure of the connection to the proxy itself. The text and Schemes have what the proxy said.
type ProxyError struct {
	Status  int    // of its response to CONNECT; 0 without one
	Schemes string // see [ProxySchemes]
	proxy   string // its address, without credentials
	err     error
}

// Error returns the address of the proxy, and its response or the cause.
func (e *ProxyError) Error() string {
	if e.err != nil {
		return fmt.Sprintf("the proxy %s cannot be used: %s", e.proxy, e.err)
	}
	text := fmt.Sprintf("the proxy %s responded to CONNECT with %s", e.proxy, StatusText(e.Status))
	if e.Schemes != "" {
		text += ", and offers " + e.Schemes
	}
	return text
}

// Unwrap returns the cause, or nil if there was a response.
func (e *ProxyError) Unwrap() error { return e.err }

// ProxySchemes returns how a proxy lets clients authenticate, such as "NTLM, Negotiate", as the header of a 407 says. Whoever shows
// the text masks it.
func ProxySchemes(h http.Header) string {
	var schemes []string
	for _, challenge := range splitUnquoted(strings.Join(h.Values("Proxy-Authenticate"), ",")) {
		name, rest, _ := strings.Cut(strings.TrimSpace(challenge), " ")
		isParameter := strings.Contains(name, "=") || strings.HasPrefix(strings.TrimSpace(rest), "=")
		if name != "" && !isParameter && !slices.Contains(schemes, name) {
			schemes = append(schemes, name)
		}
	}
	return strings.Join(schemes, ", ")
}

// splitUnquoted splits a list (RFC 9110, section 5.6.1). Commas in quotes do not count.
func splitUnquoted(list string) []string {
	inQuotes := false
	return strings.FieldsFunc(list, func(c rune) bool {
		if c == '"' {
			inQuotes = !inQuotes
		}
		return c == ',' && !inQuotes
	})
}

// HandshakeError is an error of a TLS handshake for which package tls has no type: the client cannot read the certificate
// of the host, for example. A connection that breaks is no such error.
type HandshakeError struct{ err error }

// Error returns what package tls says.
func (e *HandshakeError) Error() string { return e.err.Error() }

// Unwrap returns the error of package tls.
func (e *HandshakeError) Unwrap() error { return e.err }

// WouldFailAgain reports whether the same request would fail again, because client and host have no protocol, certificate or
// setting in common.
func WouldFailAgain(err error) bool {
	return IsTLSFailure(err) || errors.Is(err, ErrNotHTTP) || errors.Is(err, ErrNeedsHTTP1) || errors.Is(err, ErrNotSent)
}

// IsTLSFailure reports whether client and host do not accept each other's certificate or protocol.
func IsTLSFailure(err error) bool {
	return errors.As(err, new(*HandshakeError)) || errors.As(err, new(*tls.CertificateVerificationError)) ||
		hasAlert(err, byPeer) || hasAlert(err, byClient) ||
		errors.As(err, new(tls.RecordHeaderError)) || errors.Is(err, http.ErrSchemeMismatch) // the response is not TLS
}

// Who sent a TLS alert, as package tls calls them.
const (
	byPeer   = "remote error" // such as for a missing client certificate
	byClient = "local error"  // such as for a service that asks for one after the request
)

// hasAlert reports whether an error is a TLS alert of this sender: one of the given ones, or any if none are given.
func hasAlert(err error, sender string, alerts ...tls.AlertError) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	if !ok {
		return false
	}
	isOne := func(alert tls.AlertError) bool { return fmt.Sprint(failed.Err) == alert.Error() } // those of package tls have no type
	if failed.Op == sender && (len(alerts) == 0 || slices.ContainsFunc(alerts, isOne)) {
		return true
	}
	return hasAlert(failed.Err, sender, alerts...) // that of a proxy is the cause of another error
}

// rejections are the alerts about a client's certificate (RFC 8446, section 6.2): handshake_failure to access_denied, which
// include those of older versions, and certificate_required.
var rejections = []tls.AlertError{40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 116}

// RejectsClient reports whether the other side has sent an alert about the client's certificate, or about a missing one. With
// TLS 1.3, a client sends its request before it learns that; the host has not read it, unless it has answered before.
func RejectsClient(err error) bool { return hasAlert(err, byPeer, rejections...) }

// hasBroken reports whether a connection has ended.
func hasBroken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, new(net.Error))
}

// StatusText returns a status code with its name, such as "404 Not Found".
func StatusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
