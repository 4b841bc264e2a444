package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
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

// secureProxy begins TLS with an https:// proxy.
func secureProxy(ctx context.Context, conn net.Conn, proxy *url.URL, settings TLS) (net.Conn, error) {
	config := settings.proxyConfig(proxy.Hostname())
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, handshakeError(err)
	}
	return secured, nil
}

// proxyError gives a type to an error of the connection to a proxy.
func proxyError(proxy *url.URL, err error) error {
	if errors.Is(err, context.DeadlineExceeded) { // that of package http: no context of a request has ended
		err = fmt.Errorf("%w: it did not respond to CONNECT within a minute", ErrNoConnection)
	}
	if refused, ok := errors.AsType[*ProxyError](err); ok {
		return refused
	}
	if around, ok := errors.AsType[*net.OpError](err); ok && around.Op == "proxyconnect" {
		err = around.Err
	}
	return &ProxyError{proxy: addressOf(proxy), err: err}
}

// addressOf returns the address of a proxy without its credentials.
func addressOf(proxy *url.URL) string { return proxy.Scheme + "://" + proxy.Host }
