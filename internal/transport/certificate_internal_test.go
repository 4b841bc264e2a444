package transport

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"
)

// issuer is a certificate with its key.
type issuer struct {
	*x509.Certificate
	key crypto.Signer
}

// issue makes a certificate. Without an issuer, it signs itself.
func (i *issuer) issue(t *testing.T, name string, validity time.Duration, algorithm x509.SignatureAlgorithm) *issuer {
	t.Helper()
	var key crypto.Signer
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if strings.HasPrefix(name, "RSA") {
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(validity),
		IsCA: name != "leaf", BasicConstraintsValid: true, DNSNames: []string{"host"}, SignatureAlgorithm: algorithm,
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

// The fault is what the user or the operators have to change, and the error names the certificate.
func TestCertificateError(t *testing.T) {
	t.Parallel()
	const valid, expired = time.Hour, -time.Minute
	root, other := (*issuer)(nil).issue(t, "root", valid, 0), (*issuer)(nil).issue(t, "other", valid, 0)
	rsaRoot, oldRoot := (*issuer)(nil).issue(t, "RSA root", valid, 0), (*issuer)(nil).issue(t, "old root", expired, 0)
	weakRoot := (*issuer)(nil).issue(t, "RSA weak root", valid, x509.SHA1WithRSA)
	oldIntermediate := root.issue(t, "old intermediate", expired, 0)
	pool := func(all ...*issuer) *x509.CertPool {
		p := x509.NewCertPool()
		for _, i := range all {
			p.AddCert(i.Certificate)
		}
		return p
	}
	for name, test := range map[string]struct {
		roots *x509.CertPool
		chain []*issuer
		fault CertificateFault
		about string
	}{
		"another authority":         {pool(other), []*issuer{root.issue(t, "leaf", valid, 0)}, NotInCACert, `; the issuer is "CN=root"`},
		"no intermediate":           {pool(root), []*issuer{root.issue(t, "intermediate", valid, 0).issue(t, "leaf", valid, 0)}, NotInCACert, `; the issuer is "CN=intermediate"`},
		"SHA-1":                     {pool(rsaRoot), []*issuer{rsaRoot.issue(t, "leaf", valid, x509.SHA1WithRSA)}, WeakSignature, `; the issuer is "CN=RSA root"`},
		"SHA-1, but only of a root": {pool(root), []*issuer{weakRoot.issue(t, "leaf", valid, 0), weakRoot}, NotInCACert, `; the issuer is "CN=RSA weak root"`},
		"expired root":              {pool(oldRoot), []*issuer{oldRoot.issue(t, "leaf", valid, 0)}, ExpiredAuthority, `; the certificate is "CN=old root"`},
		"expired intermediate":      {pool(root), []*issuer{oldIntermediate.issue(t, "leaf", valid, 0), oldIntermediate}, ExpiredAuthority, `; the certificate is "CN=old intermediate"`},
		"expired":                   {pool(root), []*issuer{root.issue(t, "leaf", expired, 0)}, OtherFault, `; the certificate is "CN=leaf"`},
		"authorities, but others":   {nil, []*issuer{root.issue(t, "leaf", valid, 0)}, OtherFault, `; the issuer is "CN=root"`},
	} {
		if name == "authorities, but others" && hasNoRoots() {
			test.fault = NoAuthorities
		}
		intermediates, failed := x509.NewCertPool(), &tls.CertificateVerificationError{}
		for _, i := range test.chain {
			failed.UnverifiedCertificates = append(failed.UnverifiedCertificates, i.Certificate)
			intermediates.AddCert(i.Certificate)
		}
		_, failed.Err = test.chain[0].Verify(x509.VerifyOptions{Roots: test.roots, Intermediates: intermediates, DNSName: "host"})
		err := certificateError(failed, test.roots)
		e, ok := errors.AsType[*CertificateError](err)
		if !ok || e.Fault != test.fault || e.Error() != failed.Error()+test.about || !IsTLSFailure(err) || !errors.Is(certificateError(err, nil), err) {
			t.Errorf("%s: %#v, %v", name, e, err)
		}
	}
	for err, want := range map[error]CertificateFault{x509.SystemRootsError{}: NoAuthorities, x509.HostnameError{Host: "h"}: OtherFault} {
		e, _ := errors.AsType[*CertificateError](certificateError(&tls.CertificateVerificationError{Err: err}, nil))
		if e == nil || e.Fault != want {
			t.Errorf("%v: %#v", err, e)
		}
	}
	if another := errors.New("x"); !errors.Is(certificateError(another, nil), another) {
		t.Error("another error is changed")
	}
}
