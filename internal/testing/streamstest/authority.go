package streamstest

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"
)

// Authority is a certificate authority that no system trusts.
type Authority struct {
	KeyPair

	certificate *x509.Certificate
	key         ed25519.PrivateKey
}

// KeyPair is a certificate and its key.
type KeyPair struct{ CertPEM, KeyPEM string }

// NewAuthority makes an authority whose certificates are valid for a day.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{certificate: authority("Private Authority")}
	a.KeyPair = a.issue(t, a.certificate, 24*time.Hour)
	return a
}

// NewIntermediate makes an authority with a certificate of this one.
func (a *Authority) NewIntermediate(t testing.TB) *Authority {
	t.Helper()
	certificate := authority("Intermediate Authority")
	issued := a.issue(t, certificate, 24*time.Hour)
	pair, err := tls.X509KeyPair([]byte(issued.CertPEM), []byte(issued.KeyPEM))
	if err != nil {
		t.Fatal(err)
	}
	key, _ := pair.PrivateKey.(ed25519.PrivateKey)
	return &Authority{KeyPair: issued, certificate: certificate, key: key}
}

func authority(name string) *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
}

// Issue makes a certificate for servers and clients with the given host names and IP addresses.
func (a *Authority) Issue(t testing.TB, names ...string) KeyPair {
	t.Helper()
	return a.issue(t, leaf(names), 24*time.Hour)
}

// IssueExpired makes a certificate that has expired.
func (a *Authority) IssueExpired(t testing.TB, names ...string) KeyPair {
	t.Helper()
	return a.issue(t, leaf(names), -time.Minute)
}

func leaf(names []string) *x509.Certificate {
	certificate := &x509.Certificate{
		Subject:     pkix.Name{CommonName: names[0]},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			certificate.IPAddresses = append(certificate.IPAddresses, ip)
		} else {
			certificate.DNSNames = append(certificate.DNSNames, name)
		}
	}
	return certificate
}

// issue makes a key and signs a certificate for it. The first certificate is the authority's own.
func (a *Authority) issue(t testing.TB, certificate *x509.Certificate, validity time.Duration) KeyPair {
	t.Helper()
	public, key, keyErr := ed25519.GenerateKey(rand.Reader)
	if a.key == nil {
		a.key = key
	}
	certificate.SerialNumber = big.NewInt(time.Now().UnixNano())
	certificate.NotBefore = time.Now().Add(-time.Hour)
	certificate.NotAfter = time.Now().Add(validity)
	certDER, certErr := x509.CreateCertificate(rand.Reader, certificate, a.certificate, public, a.key)
	keyDER, encodeErr := x509.MarshalPKCS8PrivateKey(key)
	if err := errors.Join(keyErr, certErr, encodeErr); err != nil {
		t.Fatalf("making a certificate: %v", err)
	}
	return KeyPair{
		CertPEM: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certDER})),
		KeyPEM:  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})),
	}
}
