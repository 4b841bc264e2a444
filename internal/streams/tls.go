package streams

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
)

// TLS configures how the client verifies the service and identifies itself. Every setting is
// optional and works without the others, except that a client certificate needs its key.
type TLS struct {
	CACertPEM          string // trusted instead of the system's certificate authorities
	ClientCertPEM      string // requires ClientKeyPEM
	ClientKeyPEM       string // requires ClientCertPEM
	ServerName         string // expected in the service's certificate instead of the URL's host
	InsecureSkipVerify bool   // accept any certificate
}

// Check returns an error, such as "contains no PEM certificate", if a certificate or a key cannot be used.
func (t TLS) Check() error {
	_, err := t.config()
	return err
}

func (t TLS) config() (*tls.Config, error) {
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

// Causes of an [Error] if client and service do not accept each other's certificate or protocol. Each
// is also an ErrTLS.
var (
	ErrTLS = errors.New("client and service cannot agree on TLS")

	ErrUnknownAuthority  = fmt.Errorf("%w: unknown authority", ErrTLS)
	ErrWrongName         = fmt.Errorf("%w: the certificate is for another name", ErrTLS)
	ErrExpired           = fmt.Errorf("%w: the certificate is expired or not yet valid", ErrTLS)
	ErrNotTLS            = fmt.Errorf("%w: the response is not TLS", ErrTLS)
	ErrClientCertificate = fmt.Errorf("%w: the client certificate is missing or refused", ErrTLS)
)

// tlsFailure returns the cause of a connection that failed because client and service do not accept
// each other's certificate or protocol, or else nil.
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
