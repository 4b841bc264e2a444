package streams

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/http2"
)

// network sends requests to the service and to the token endpoint.
type network struct {
	host                   string // of the service, in its normal form
	service, tokenEndpoint *endpointNetwork
}

// newNetwork returns the network of a client. The settings have their defaults.
func newNetwork(cfg Config, baseURL *url.URL, config *tls.Config) *network {
	others := config.Clone()
	others.ServerName = ""
	return &network{normalHost(baseURL), newEndpointNetwork(cfg, config), newEndpointNetwork(cfg, others)}
}

// RoundTrip implements [http.RoundTripper].
func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	if normalHost(req.URL) == n.host { // the token endpoint may have the same
		return n.service.RoundTrip(req)
	}
	return n.tokenEndpoint.RoundTrip(req)
}

// endpointNetwork sends requests to one host, over HTTP/2 unless the host requires HTTP/1.1.
type endpointNetwork struct {
	standard, http1 *http.Transport
	requiresHTTP1   atomic.Bool
}

func newEndpointNetwork(cfg Config, config *tls.Config) *endpointNetwork {
	var standard, http1 http.Protocols
	standard.SetHTTP1(true)
	standard.SetHTTP2(true) // a custom TLS configuration would disable it
	http1.SetHTTP1(true)
	return &endpointNetwork{standard: newTransport(cfg, config, &standard), http1: newTransport(cfg, config, &http1)}
}

func newTransport(cfg Config, config *tls.Config, protocols *http.Protocols) *http.Transport {
	proxyFor := httpproxy.FromEnvironment().ProxyFunc()
	return &http.Transport{
		Proxy:                  func(req *http.Request) (*url.URL, error) { return proxyFor(req.URL) },
		DialContext:            checkingProtocol(cfg.DialContext),
		TLSClientConfig:        config.Clone(), // the transport adds its protocols
		Protocols:              protocols,
		MaxIdleConnsPerHost:    cfg.MaxConcurrent, // Go's default is 2, so that most requests would reconnect
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10, // Go's default is 10 MB
		OnProxyConnectResponse: func(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			return &ProxyError{proxy: proxy.Scheme + "://" + proxy.Host, status: resp.StatusCode}
		},
	}
}

// RoundTrip implements [http.RoundTripper]. A host that requires HTTP/1.1, for example to ask for a client certificate,
// has not processed the request.
func (n *endpointNetwork) RoundTrip(req *http.Request) (*http.Response, error) {
	if n.requiresHTTP1.Load() {
		return roundTrip(n.http1, req)
	}
	resp, err := roundTrip(n.standard, req)
	reset, isReset := errors.AsType[http2.StreamError](err)
	if !isReset || reset.Code != http2.ErrCodeHTTP11Required {
		return resp, err
	}
	n.requiresHTTP1.Store(true)
	if req.GetBody != nil {
		if req.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return roundTrip(n.http1, req)
}

// HandshakeError is an error of a TLS handshake for which package tls has no type: the client cannot read the certificate
// of the host, for example. A connection that breaks is no such error.
type HandshakeError struct{ err error }

// Error returns what package tls says.
func (e *HandshakeError) Error() string { return e.err.Error() }

// Unwrap returns the error of package tls.
func (e *HandshakeError) Unwrap() error { return e.err }

// roundTrip gives a type to the errors of TLS handshakes that have none.
func roundTrip(transport *http.Transport, req *http.Request) (*http.Response, error) {
	var handshake atomic.Pointer[error]
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) { handshake.Store(&err) },
	})
	resp, err := transport.RoundTrip(req.WithContext(ctx))
	if other, found := errors.AsType[*ProtocolError](err); found {
		return nil, other // without what package http says around it
	}
	failed := handshake.Load()
	if err == nil || failed == nil || *failed == nil || !errors.Is(err, *failed) || IsTLSFailure(err) || hasBroken(err) {
		return resp, err
	}
	return nil, &HandshakeError{err}
}

// hasBroken reports whether a connection has ended.
func hasBroken(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, context.Canceled} {
		if errors.Is(err, end) {
			return true
		}
	}
	return errors.As(err, new(net.Error))
}
