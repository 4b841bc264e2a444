package streams

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
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

// CheckCACert returns an error if text contains no PEM certificate.
func CheckCACert(text string) error {
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) {
		return errors.New("contains no PEM certificate")
	}
	return nil
}

// CheckKeyPair returns an error if a PEM certificate and a PEM key do not form a client certificate.
func CheckKeyPair(certificate, key string) error {
	_, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	return err
}

func (t TLS) config() (*tls.Config, error) {
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify,
	}
	if t.CACertPEM != "" {
		if err := CheckCACert(t.CACertPEM); err != nil {
			return nil, fmt.Errorf("CA certificate %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM([]byte(t.CACertPEM))
	}
	if t.ClientCertPEM != "" || t.ClientKeyPEM != "" {
		pair, err := tls.X509KeyPair([]byte(t.ClientCertPEM), []byte(t.ClientKeyPEM))
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
