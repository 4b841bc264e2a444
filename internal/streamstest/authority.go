package streamstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// Authority is a certificate authority that no system trusts.
type Authority struct {
	CertPEM string

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// KeyPair is a certificate and its key.
type KeyPair struct{ CertPEM, KeyPEM string }

// NewAuthority makes an authority whose certificates are valid for a day.
func NewAuthority(t TB) *Authority {
	t.Helper()
	a := &Authority{
		certificate: &x509.Certificate{
			SerialNumber:          big.NewInt(1),
			Subject:               pkix.Name{CommonName: "Private Authority"},
			NotBefore:             time.Now().Add(-time.Hour),
			NotAfter:              time.Now().Add(24 * time.Hour),
			KeyUsage:              x509.KeyUsageCertSign,
			BasicConstraintsValid: true,
			IsCA:                  true,
		},
		key: newKey(t),
	}
	a.CertPEM = a.sign(t, a.certificate, a.key)
	return a
}

// Issue makes a certificate for servers and clients with the given host names and IP addresses.
func (a *Authority) Issue(t TB, names ...string) KeyPair {
	t.Helper()
	return a.issue(t, a.certificate.NotAfter, names)
}

// IssueExpired makes a certificate that has expired.
func (a *Authority) IssueExpired(t TB, names ...string) KeyPair {
	t.Helper()
	return a.issue(t, time.Now().Add(-time.Minute), names)
}

func (a *Authority) issue(t TB, end time.Time, names []string) KeyPair {
	t.Helper()
	certificate := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: names[0]},
		NotBefore:    a.certificate.NotBefore,
		NotAfter:     end,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			certificate.IPAddresses = append(certificate.IPAddresses, ip)
		} else {
			certificate.DNSNames = append(certificate.DNSNames, name)
		}
	}
	key := newKey(t)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatalf("encoding a key: %v", err)
	}
	return KeyPair{
		CertPEM: a.sign(t, certificate, key),
		KeyPEM:  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	}
}

func (a *Authority) sign(t TB, certificate *x509.Certificate, key *ecdsa.PrivateKey) string {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, certificate, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatalf("signing a certificate: %v", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func newKey(t TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("making a key: %v", err)
	}
	return key
}
