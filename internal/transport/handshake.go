package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
)

// HandshakeError is an error of a TLS handshake for which package tls has no type: the client cannot read the certificate
// of the host, for example. A connection that breaks is no such error.
type HandshakeError struct{ err error }

// Error returns what package tls says.
func (e *HandshakeError) Error() string { return e.err.Error() }

// Unwrap returns the error of package tls.
func (e *HandshakeError) Unwrap() error { return e.err }

// handshakeError gives a type to an error of a TLS handshake that has none, and details to one of a certificate.
func handshakeError(err error) error {
	if IsTLSFailure(err) || hasBroken(err) {
		return certificateError(err)
	}
	return &HandshakeError{err}
}

// certificateError adds to an error of a verification which certificate it is about, or who issued it: Go's error does not say. It
// returns any other error as it is.
func certificateError(err error) error {
	if !errors.As(err, new(*tls.CertificateVerificationError)) {
		return err
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Cert != nil {
		return fmt.Errorf("%w; the certificate is %q", err, invalid.Cert.Subject)
	}
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok && unknown.Cert != nil {
		return fmt.Errorf("%w; the issuer is %q", err, unknown.Cert.Issuer)
	}
	return err
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

// rejectsClient reports whether the other side has sent an alert about the client's certificate, or about a missing one.
func rejectsClient(err error) bool { return hasAlert(err, byPeer, rejections...) }

// hasBroken reports whether a connection has ended.
func hasBroken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, new(net.Error))
}
