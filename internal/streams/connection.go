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

func (e *proxyError) Unwrap() error { return ErrProxyRefused }

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

// tlsFailure returns [ErrTLS] or a cause that wraps it if client and service cannot agree on TLS.
func tlsFailure(err error) error {
	var invalid x509.CertificateInvalidError
	var alert *net.OpError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)), errors.As(err, new(x509.SystemRootsError)):
		return ErrUnknownAuthority
	case errors.As(err, new(x509.HostnameError)):
		return ErrWrongName
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return ErrExpired
	case errors.As(err, new(tls.RecordHeaderError)), errors.Is(err, http.ErrSchemeMismatch), // the response is not TLS
		errors.As(err, &alert) && alert.Op == "remote error", // of the service, such as for a missing client certificate
		errors.As(err, new(*tls.CertificateVerificationError)):
		return ErrTLS
	}
	return nil
}
