package streams

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// newNetwork returns what sends requests. It keeps an idle connection for each request that may be under way; Go's
// default keeps two per host, and would reconnect for most requests. The request timeout also covers connecting and the
// TLS handshake.
func newNetwork(cfg Config) (http.RoundTripper, error) {
	tlsConfig, err := cfg.TLS.Config()
	if err != nil {
		return nil, fmt.Errorf("TLS settings: %w", err)
	}
	proxyFor := httpproxy.FromEnvironment().ProxyFunc()
	return &http.Transport{
		Proxy:                  func(req *http.Request) (*url.URL, error) { return proxyFor(req.URL) },
		DialContext:            cfg.DialContext,
		TLSClientConfig:        tlsConfig,
		ForceAttemptHTTP2:      true, // a custom TLS configuration would disable it
		MaxIdleConnsPerHost:    cfg.MaxConcurrent,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10, // Go's default is 10 MB
		OnProxyConnectResponse: func(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			return &proxyError{proxy: proxy.Scheme + "://" + proxy.Host, status: resp.StatusCode}
		},
	}, nil
}

// proxyError is the response of a proxy to CONNECT.
type proxyError struct {
	proxy  string // its address, without credentials
	status int
}

func (e *proxyError) Error() string {
	return fmt.Sprintf("the proxy %s responded to CONNECT with %s", e.proxy, StatusText(e.status))
}

func (e *proxyError) Is(target error) bool {
	return target == ErrProxyRefused || target == ErrProxyCredentials && e.status == http.StatusProxyAuthRequired
}

// Config returns an error, such as "contains no PEM certificate", if a certificate or a key cannot be used.
func (t TLS) Config() (*tls.Config, error) {
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify,
	}
	if t.CACertPEM != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(t.CACertPEM)) {
			return nil, errors.New("contains no PEM certificate")
		}
	}
	if t.ClientCertPEM != "" || t.ClientKeyPEM != "" {
		pair, err := tls.X509KeyPair([]byte(t.ClientCertPEM), []byte(t.ClientKeyPEM))
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// tlsFailure returns which of the causes that wrap [ErrTLS] a failed connection has, or nil.
func tlsFailure(err error) error {
	var invalid x509.CertificateInvalidError
	var network *net.OpError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)), errors.As(err, new(x509.SystemRootsError)):
		return ErrUnknownAuthority
	case errors.As(err, new(x509.HostnameError)):
		return ErrWrongName
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return ErrExpired
	case errors.As(err, new(tls.RecordHeaderError)), errors.Is(err, http.ErrSchemeMismatch):
		return ErrNotTLS
	case errors.As(err, &network) && network.Op == "remote error": // a TLS alert from the service
		if slices.ContainsFunc(clientCertificateAlerts, func(a tls.AlertError) bool { return a.Error() == network.Err.Error() }) {
			return ErrClientCertificate
		}
		return ErrTLS
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return ErrTLS
	}
	return nil
}

// clientCertificateAlerts refuse a missing or unsuitable client certificate (RFC 8446, section 6.2). Some services send
// 40, handshake_failure, for a missing one, and those up to TLS 1.2 send 42, bad_certificate. Package tls has no other
// type to recognize an alert of the service.
var clientCertificateAlerts = []tls.AlertError{40, 42, 43, 44, 45, 46, 48, 116}
