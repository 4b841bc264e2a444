package transport

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http/httptrace"
	"strings"
	"syscall"
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
		Subject: pkix.Name{CommonName: name}, SerialNumber: big.NewInt(1),
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(validity),
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
	var self *issuer
	root, other, oldRoot := self.issue(t, "root", valid), self.issue(t, "other", valid), self.issue(t, "old root", expired)
	intermediate, oldIntermediate := root.issue(t, "intermediate", valid), root.issue(t, "old intermediate", expired)
	for name, test := range map[string]struct {
		trusted *issuer
		chain   []*issuer
		about   string
	}{
		"another authority": {other, []*issuer{root.issue(t, "leaf", valid)}, `; the issuer is "CN=root"`},
		"no intermediate":   {root, []*issuer{intermediate.issue(t, "leaf", valid)}, `; the issuer is "CN=intermediate"`},
		"expired root":      {oldRoot, []*issuer{oldRoot.issue(t, "leaf", valid)}, `; the certificate is "CN=old root"`},
		"expired intermediate": {
			root, []*issuer{oldIntermediate.issue(t, "leaf", valid), oldIntermediate}, `; the certificate is "CN=old intermediate"`,
		},
		"expired":      {root, []*issuer{root.issue(t, "leaf", expired)}, `; the certificate is "CN=leaf"`},
		"another name": {root, []*issuer{root.issue(t, "host", valid)}, ""},
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
	for _, other := range []error{errors.New("x"), x509.UnknownAuthorityError{}, x509.CertificateInvalidError{Reason: x509.Expired}} {
		if err := certificateError(other); err.Error() != other.Error() {
			t.Errorf("%v", err)
		}
	}
}

// An error of TLS has a prefix of Go's packages, whatever is around it. All but one of them are final.
func TestNames(t *testing.T) {
	t.Parallel()
	alert := func(sender string, code tls.AlertError) error {
		return &net.OpError{Op: sender, Err: errors.New(code.Error())}
	}
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	silentNames := &net.DNSError{Err: "i/o timeout", Name: "my-tls", IsTimeout: true, UnwrapErr: context.DeadlineExceeded}
	for text, test := range map[string]struct {
		err            error
		isTLS, isFinal bool
		named          error
	}{
		"remote error: tls: handshake failure": {alert("remote error", 40), true, true, nil},
		"remote error: tls: bad certificate":   {alert("remote error", 42), true, true, nil},
		"remote error: tls: internal error":    {alert("remote error", 80), true, false, nil},
		"local error: tls: internal error":     {alert("local error", 80), true, true, nil},
		"local error: tls: no renegotiation":   {alert("local error", 100), true, true, nil},
		"x509: malformed certificate":          {errors.New("x509: malformed certificate"), true, true, nil},
		"tls: no record":                       {tls.RecordHeaderError{Msg: "no record"}, true, true, nil},
		"malformed HTTP response":              {errors.New(`net/http: malformed HTTP response "x"`), false, true, ErrNotHTTP},
		"a ping got no answer":                 {errors.New("http2: client connection lost"), false, false, ErrNoPong},
		"connection refused":                   {dial(syscall.ECONNREFUSED), false, false, nil},
		"connection timed out":                 {dial(syscall.ETIMEDOUT), false, false, ErrNoConnection},
		"context deadline exceeded":            {dial(context.DeadlineExceeded), false, false, ErrNoConnection},
		"lookup my-tls: i/o timeout":           {dial(silentNames), false, false, ErrNoConnection},
		"lookup my-tls: no such host":          {dial(&net.DNSError{Err: "no such host", Name: "my-tls"}), false, false, nil},
	} {
		err := new(host).explain(test.err, new(trace))
		for _, err := range []error{err, fmt.Errorf("x: %w", err)} {
			if !strings.Contains(err.Error(), text) || IsTLSFailure(err) != test.isTLS || WouldFailAgain(err) != test.isFinal {
				t.Errorf("%s: %v: %t, %t", text, err, IsTLSFailure(err), WouldFailAgain(err))
			}
			for _, name := range []error{ErrNotHTTP, ErrNoPong, ErrNoConnection} {
				if errors.Is(err, name) != errors.Is(test.named, name) || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", text, err)
				}
			}
		}
	}
	used := &trace{used: httptrace.GotConnInfo{Conn: conn{}}}
	if broken := new(host).explain(dial(syscall.ETIMEDOUT), used); errors.Is(broken, ErrNoConnection) {
		t.Errorf("a connection was used: %v", broken)
	}
	if !WouldFailAgain(ErrNotSent) || WouldFailAgain(io.EOF) || IsTLSFailure(nil) {
		t.Error("wrong")
	}
}

func TestStatusText(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{404: "404 Not Found", 499: "499"} {
		if got := StatusText(status); got != want {
			t.Errorf("%d: %q", status, got)
		}
	}
}
