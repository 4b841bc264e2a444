package transport

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Why a request failed.
var (
	ErrNotSent      = errors.New("the request cannot be sent") // by Go's library, because of a setting or a variable
	ErrNoConnection = errors.New("no connection was made")     // in time
	ErrNoPong       = errors.New("the connection has died: a ping got no answer within " + pingTimeout.String())
	ErrNotHTTP      = errors.New("the response is not HTTP/1.1") // such as TLS, or HTTP/2 without TLS
)

// ProxyError is why a proxy does not connect to the service: its response, perhaps because of its credentials, or the
// failure of the connection to the proxy itself. The text has what the proxy said.
type ProxyError struct {
	Status int // of its response to CONNECT; 0 without one
	error
}

// Unwrap returns the error with the text.
func (e *ProxyError) Unwrap() error { return e.error }

// refusalOf returns the error of a proxy's response to CONNECT.
func refusalOf(proxy *url.URL, resp *http.Response) error {
	text := fmt.Sprintf("the proxy %s responded to CONNECT with %s", addressOf(proxy), StatusText(resp.StatusCode))
	if schemes := ProxySchemes(resp.Header); schemes != "" {
		text += ", and offers " + schemes
	}
	return &ProxyError{resp.StatusCode, errors.New(text)}
}

// ProxySchemes returns how a proxy lets clients authenticate, as its header says. Whoever shows the text masks it.
func ProxySchemes(h http.Header) string { return strings.Join(h.Values("Proxy-Authenticate"), ", ") }

// addressOf returns the address of a proxy without its credentials.
func addressOf(proxy *url.URL) string { return proxy.Scheme + "://" + proxy.Host }

// WouldFailAgain reports whether the same request would fail again, because client and host have no protocol, certificate or
// setting in common.
func WouldFailAgain(err error) bool {
	if IsTLSFailure(err) {
		return !strings.Contains(err.Error(), byHost+"internal error") // servers send it while they load a certificate
	}
	return errors.Is(err, ErrNotHTTP) || errors.Is(err, ErrNotSent)
}

// IsTLSFailure reports whether client and host do not accept each other's certificate or protocol. Packages tls and x509 have a type
// for few of their errors, but one prefix for all.
func IsTLSFailure(err error) bool {
	return err != nil && ofTLS.MatchString(err.Error())
}

var ofTLS = regexp.MustCompile(`(^|: )(tls|x509): `) // not "lookup my-tls: no such host"

// byHost begins the error of an alert that the other side has sent.
const byHost = "remote error: tls: "

// rejectsClient reports whether the other side has sent an alert about the client's certificate, or about a missing one.
func rejectsClient(err error) bool {
	return strings.Contains(err.Error(), byHost) && strings.Contains(err.Error(), "certificate")
}

// isUnused reports whether a new connection of HTTP/2 was closed before anything was sent over it, such as after an alert.
func isUnused(err error) bool {
	return strings.Contains(err.Error(), "http2: client conn could not be established")
}

// explain gives a name to an error of package http that has none, and adds what is known of certificates.
func (h *host) explain(err error, seen *trace) error {
	if errors.As(err, new(*ProxyError)) {
		return err
	}
	around, isNet := errors.AsType[*net.OpError](err)
	byProxy := h.proxy != nil && seen.used.Conn == nil && !seen.handshake.Load() // such as no response to CONNECT
	if isNet && around.Op == "proxyconnect" {
		byProxy, err = true, around.Err
	}
	if byProxy {
		return &ProxyError{error: fmt.Errorf("the proxy %s cannot be used: %w", addressOf(h.proxy), name(err, seen))}
	}
	err = name(err, seen)
	inHandshake := seen.handshake.Load() && seen.used.Conn == nil || strings.Contains(err.Error(), byHost) // with TLS 1.3, after it
	if inHandshake && !h.certEnds.IsZero() && time.Now().After(h.certEnds) {
		err = fmt.Errorf("%w; the certificate of tls.client_cert_pem expired on %s", err, h.certEnds.UTC().Format(time.DateOnly))
	}
	return err
}

// name gives a name to an error, or says which certificate it is about.
func name(err error, seen *trace) error {
	text := err.Error()
	failed, isNet := errors.AsType[net.Error](err)
	switch {
	case text == "http2: client connection lost":
		return ErrNoPong
	case strings.Contains(text, "malformed HTTP response"):
		return fmt.Errorf("%w: %w", ErrNotHTTP, err)
	case isNet && failed.Timeout() && seen.used.Conn == nil: // of package net: no context of a request has ended
		return fmt.Errorf("%w: %s", ErrNoConnection, text)
	}
	return certificateError(err)
}

// certificateError adds to an error of a verification which certificate it is about, or who issued it: Go's error does not say. It
// returns any other error as it is.
func certificateError(err error) error {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Cert != nil {
		return fmt.Errorf("%w; the certificate is %q", err, invalid.Cert.Subject)
	}
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok && unknown.Cert != nil {
		return fmt.Errorf("%w; the issuer is %q", err, unknown.Cert.Issuer)
	}
	return err
}

// StatusText returns a status code with its name, such as "404 Not Found".
func StatusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
