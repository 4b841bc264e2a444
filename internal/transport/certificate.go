package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// certificateError adds to an error of a verification which certificate it is about, or who issued it: Go's error does not say. It
// returns any other error as it is.
func certificateError(err error) error {
	if !errors.As(err, new(*tls.CertificateVerificationError)) {
		return err
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Cert != nil {
		return fmt.Errorf("%w; the certificate is %q", err, invalid.Cert.Subject)
	}
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok && unknown.Cert != nil {
		return fmt.Errorf("%w; the issuer is %q", err, unknown.Cert.Issuer)
	}
	return err
}
