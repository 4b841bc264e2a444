package transport

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
)

// CertificateError is why a certificate is not trusted, with what Go's error does not say.
type CertificateError struct {
	Fault CertificateFault
	about string // which certificate it is
	err   error
}

// CertificateFault is what may have to be changed.
type CertificateFault int

// Apart from OtherFault, each one is another reason for Go's errors x509.UnknownAuthorityError and x509.Expired.
const (
	OtherFault       CertificateFault = iota
	NoAuthorities                     // this machine has no certificates of authorities
	NotInCACert                       // ca_cert_pem has another authority, or the service does not send an intermediate certificate
	WeakSignature                     // SHA-1 or older, which Go refuses
	ExpiredAuthority                  // the certificate of an authority has expired, perhaps in ca_cert_pem
)

// Error returns what package tls says, and the subject or the issuer of the certificate.
func (e *CertificateError) Error() string { return e.err.Error() + e.about }

// Unwrap returns the error of package tls.
func (e *CertificateError) Unwrap() error { return e.err }

// certificateError describes an error of a verification with these roots; nil means those of the system. It returns any other
// error as it is.
func certificateError(err error, roots *x509.CertPool) error {
	failed, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok || errors.As(err, new(*CertificateError)) {
		return err
	}
	e := &CertificateError{err: failed}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Cert != nil {
		e.about = fmt.Sprintf("; the certificate is %q", invalid.Cert.Subject)
		if invalid.Reason == x509.Expired && invalid.Cert.IsCA {
			e.Fault = ExpiredAuthority
		}
	}
	unknown, ok := errors.AsType[x509.UnknownAuthorityError](err)
	if ok && unknown.Cert != nil {
		e.about = fmt.Sprintf("; the issuer is %q", unknown.Cert.Issuer)
	}
	switch {
	case errors.As(err, new(x509.SystemRootsError)), ok && roots == nil && hasNoRoots():
		e.Fault = NoAuthorities
	case ok && slices.ContainsFunc(failed.UnverifiedCertificates, isWeak):
		e.Fault = WeakSignature
	case ok && roots != nil:
		e.Fault = NotInCACert
	}
	return e
}

// hasNoRoots reports whether the system has no certificates, such as a container without any. Where another program verifies
// them, the pool is not an empty one.
func hasNoRoots() bool {
	system, err := x509.SystemCertPool()
	return err != nil || system.Equal(x509.NewCertPool())
}

// isWeak reports whether Go refuses the signature of a certificate. That of a root does not count.
func isWeak(certificate *x509.Certificate) bool {
	refused := []x509.SignatureAlgorithm{x509.MD2WithRSA, x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1, x509.ECDSAWithSHA1}
	isRoot := bytes.Equal(certificate.RawIssuer, certificate.RawSubject)
	return !isRoot && slices.Contains(refused, certificate.SignatureAlgorithm)
}
