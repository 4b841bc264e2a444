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
	"net/http"
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

// An error of TLS has a prefix of Go's packages, whatever is around it. Only one of the moment is retried.
func TestNames(t *testing.T) {
	t.Parallel()
	alert := func(sender string, code tls.AlertError) error {
		return &net.OpError{Op: sender, Err: errors.New(code.Error())}
	}
	const theirs, ours = "remote error", "local error"
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	type want struct {
		isTLS, isFinal bool
		named          error
	}
	for text, test := range map[string]struct {
		err  error
		want want
	}{
		"handshake failure": {alert(theirs, 40), want{true, true, nil}}, "access denied": {alert(theirs, 49), want{true, true, nil}},
		"unrecognized name": {alert(theirs, 112), want{true, true, nil}}, "internal error": {alert(theirs, 80), want{true, false, nil}},
		"bad certificate": {alert(theirs, 42), want{true, true, nil}}, "unknown certificate authority": {alert(theirs, 48), want{true, true, nil}},
		"certificate required":  {alert(theirs, 116), want{true, true, nil}},
		"tls: no renegotiation": {alert(ours, 100), want{true, true, nil}}, "local error: tls: internal error": {alert(ours, 80), want{true, true, nil}},
		"x509: malformed":               {errors.New("x509: malformed certificate"), want{true, true, nil}},
		"HTTP response to HTTPS client": {tls.RecordHeaderError{RecordHeader: [5]byte([]byte("HTTP/"))}, want{true, true, http.ErrSchemeMismatch}},
		"does not look like TLS":        {tls.RecordHeaderError{Msg: "does not look like TLS", RecordHeader: [5]byte([]byte("SSH-2"))}, want{true, true, nil}},
		"malformed HTTP response":       {errors.New(`net/http: malformed HTTP response "x"`), want{false, true, ErrNotHTTP}},
		"connection refused":            {dial(syscall.ECONNREFUSED), want{}}, "EOF": {io.EOF, want{}},
		"connection timed out": {dial(syscall.ETIMEDOUT), want{named: ErrNoConnection}}, "context deadline exceeded": {dial(context.DeadlineExceeded), want{named: ErrNoConnection}},
		"lookup my-tls: i/o timeout": {
			dial(&net.DNSError{Err: "i/o timeout", Name: "my-tls", IsTimeout: true, UnwrapErr: context.DeadlineExceeded}), want{named: ErrNoConnection}},
		"lookup my-tls: no such host": {dial(&net.DNSError{Err: "no such host", Name: "my-tls"}), want{}},
	} {
		for _, err := range []error{test.err, fmt.Errorf("x: %w", test.err)} {
			err = new(host).explain(err, new(trace))
			if !strings.Contains(err.Error(), text) || IsTLSFailure(err) != test.want.isTLS || WouldFailAgain(err) != test.want.isFinal {
				t.Errorf("%s: %v: %t, %t", text, err, IsTLSFailure(err), WouldFailAgain(err))
			}
			for _, name := range []error{http.ErrSchemeMismatch, ErrNotHTTP, ErrNoConnection} {
				if errors.Is(err, name) != (name == test.want.named) || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", text, err)
				}
			}
		}
	}
	if silent := new(host).explain(dial(syscall.ETIMEDOUT), &trace{used: httptrace.GotConnInfo{Conn: conn{}}}); errors.Is(silent, ErrNoConnection) {
		t.Errorf("a connection was used: %v", silent)
	}
	for err, isFinal := range map[error]bool{ErrNotSent: true, ErrNotHTTP: true, io.EOF: false} {
		if WouldFailAgain(fmt.Errorf("%w: x", err)) != isFinal || IsTLSFailure(err) || IsTLSFailure(nil) {
			t.Error(err)
		}
	}
}
