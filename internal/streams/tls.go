package streams

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// TLS adjusts how the service is verified and how the client proves itself. All of it is optional,
// and each part works without the others.
type TLS struct {
	CACertPEM          string // trusted instead of the system's authorities
	ClientCertPEM      string // goes together with ClientKeyPEM
	ClientKeyPEM       string
	ServerName         string // expected in the certificate instead of the URL's host
	InsecureSkipVerify bool   // accept any certificate
}

// CheckCACert says why text is no bundle of PEM certificates, or returns nil.
func CheckCACert(text string) error {
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) {
		return errors.New("holds no PEM certificate")
	}
	return nil
}

// CheckKeyPair says why a PEM certificate and key do not make a client certificate, or returns nil.
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
