package transport

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"
)

// issuer is a certificate with its key.
type issuer struct {
	*x509.Certificate
	key crypto.Signer
}

// issue makes a certificate. Without an issuer, it signs itself.
func (i *issuer) issue(t *testing.T, name string, validity time.Duration) *issuer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(validity),
		IsCA: name != "leaf", BasicConstraintsValid: true, DNSNames: []string{name},
	}
	if template.IsCA {
		template.KeyUsage = x509.KeyUsageCertSign
	}
	if i == nil {
		i = &issuer{template, key}
	}
	der, createErr := x509.CreateCertificate(rand.Reader, template, i.Certificate, key.Public(), i.key)
	certificate, parseErr := x509.ParseCertificate(der)
	if err := errors.Join(err, createErr, parseErr); err != nil {
		t.Fatal(err)
	}
	return &issuer{certificate, key}
}

// The error names the certificate that is not trusted, or its issuer.
func TestCertificateError(t *testing.T) {
	t.Parallel()
	const valid, expired = time.Hour, -time.Minute
	root, other, oldRoot := (*issuer)(nil).issue(t, "root", valid), (*issuer)(nil).issue(t, "other", valid), (*issuer)(nil).issue(t, "old root", expired)
	oldIntermediate := root.issue(t, "old intermediate", expired)
	for name, test := range map[string]struct {
		trusted *issuer
		chain   []*issuer
		about   string
	}{
		"another authority":    {other, []*issuer{root.issue(t, "leaf", valid)}, `; the issuer is "CN=root"`},
		"no intermediate":      {root, []*issuer{root.issue(t, "intermediate", valid).issue(t, "leaf", valid)}, `; the issuer is "CN=intermediate"`},
		"expired root":         {oldRoot, []*issuer{oldRoot.issue(t, "leaf", valid)}, `; the certificate is "CN=old root"`},
		"expired intermediate": {root, []*issuer{oldIntermediate.issue(t, "leaf", valid), oldIntermediate}, `; the certificate is "CN=old intermediate"`},
		"expired":              {root, []*issuer{root.issue(t, "leaf", expired)}, `; the certificate is "CN=leaf"`},
		"another name":         {root, []*issuer{root.issue(t, "host", valid)}, ""},
	} {
		roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
		roots.AddCert(test.trusted.Certificate)
		for _, i := range test.chain {
			intermediates.AddCert(i.Certificate)
		}
		_, cause := test.chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates, DNSName: "leaf"})
		failed := &tls.CertificateVerificationError{Err: cause}
		err := certificateError(failed)
		if err.Error() != failed.Error()+test.about || !errors.Is(err, failed) || !IsTLSFailure(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if another := errors.New("x"); !errors.Is(certificateError(another), another) {
		t.Error("another error is changed")
	}
}

// The TLS alerts of both sides are failures of TLS. Only one of the other side about the client's certificate shows that it has not
// read the request.
func TestAlerts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sender              string
		alert               tls.AlertError
		isFailure, isReject bool
	}{
		"handshake failure": {byPeer, 40, true, true}, "access denied": {byPeer, 49, true, true}, "certificate required": {byPeer, 116, true, true},
		"before them": {byPeer, 22, true, false}, "after them": {byPeer, 50, true, false}, "internal error": {byPeer, 80, true, false},
		"of the client": {byClient, 116, true, false}, "a broken connection": {"read", 116, false, false},
	} {
		alert := &net.OpError{Op: test.sender, Err: errors.New(test.alert.Error())}
		for _, err := range []error{alert, fmt.Errorf("x: %w", alert), &net.OpError{Op: "proxyconnect", Err: alert}} {
			if IsTLSFailure(err) != test.isFailure || WouldFailAgain(err) != test.isFailure || rejectsClient(err) != test.isReject {
				t.Errorf("%s: %v: %t, %t", name, err, IsTLSFailure(err), rejectsClient(err))
			}
		}
	}
}
