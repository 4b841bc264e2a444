package transport

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
)

// TLS configures how the client verifies the service and identifies itself. Every setting is optional. The token endpoint
// gets all of them, but ServerName only if it has the host of the service.
type TLS struct {
	CACertPEM          string // trusted instead of the system's certificate authorities
	ClientCertPEM      string // requires ClientKeyPEM
	ClientKeyPEM       string // requires ClientCertPEM
	ServerName         string // expected in the service's certificate instead of the URL's host
	InsecureSkipVerify bool   // accept any certificate
}

// TLSProblem is what is wrong with a setting of [TLS]. It quotes none of them.
type TLSProblem struct {
	Setting string // such as "ca_cert_pem"
	Err     error  // such as "contains no PEM block"
}

// Config returns the configuration of connections, and what is wrong with the settings.
func (t TLS) Config() (*tls.Config, []TLSProblem) {
	config := &tls.Config{ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipVerify}
	var problems []TLSProblem
	check := func(setting string, err error) {
		if err != nil {
			problems = append(problems, TLSProblem{setting, err})
		}
	}
	if t.CACertPEM != "" {
		config.RootCAs = x509.NewCertPool()
		certificates, err := parseCertificates(t.CACertPEM)
		check("ca_cert_pem", err)
		for _, certificate := range certificates {
			config.RootCAs.AddCert(certificate)
		}
	}
	if t.ClientCertPEM != "" || t.ClientKeyPEM != "" {
		_, certErr := parseCertificates(t.ClientCertPEM, "PRIVATE KEY", "PARAMETERS") // a file may have both
		check("client_cert_pem", certErr)
		keyErr := checkKey(t.ClientKeyPEM)
		if keyErr == nil && certErr == nil {
			var pair tls.Certificate
			pair, keyErr = tls.X509KeyPair([]byte(withoutMarks(t.ClientCertPEM)), []byte(withoutMarks(t.ClientKeyPEM)))
			if keyErr != nil {
				keyErr = fmt.Errorf("does not make a client certificate with client_cert_pem: %w", keyErr)
			}
			config.Certificates = []tls.Certificate{pair}
			// Whichever authorities the service lists: the list may have only the root of a chain, write names in another encoding, or lack a
			// certificate that is trusted by itself. Package tls would send none.
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		check("client_key_pem", keyErr)
		config.Renegotiation = tls.RenegotiateOnceAsClient // some services ask for the certificate after the request
	}
	return config, problems
}
