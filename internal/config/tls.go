package config

import (
	"errors"

	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// tls reads the settings of TLS. A certificate and its key come together.
func (r *reader) tls() transport.TLS {
	t := transport.TLS{
		CACertPEM:          r.lines(r.TLS.CACertPEM),
		ClientCertPEM:      r.lines(r.TLS.ClientCertPEM),
		ClientKeyPEM:       r.lines(r.TLS.ClientKeyPEM),
		ServerName:         r.line(r.TLS.ServerName),
		InsecureSkipVerify: r.TLS.InsecureSkipVerify.inBlock.ValueBool(),
	}
	checked := t
	if t.ClientCertPEM == "" || t.ClientKeyPEM == "" { // missing, or known after apply
		checked.ClientCertPEM, checked.ClientKeyPEM = "", ""
	}
	switch {
	case t.ClientCertPEM != "" && !r.isSet(r.TLS.ClientKeyPEM):
		r.refuseUnset(r.TLS.ClientKeyPEM, " A client certificate needs its key.")
	case t.ClientKeyPEM != "" && !r.isSet(r.TLS.ClientCertPEM):
		r.refuseUnset(r.TLS.ClientCertPEM, " A key needs its client certificate.")
	}
	settings := map[string]setting{
		"ca_cert_pem": r.TLS.CACertPEM, "client_cert_pem": r.TLS.ClientCertPEM, "client_key_pem": r.TLS.ClientKeyPEM,
	}
	_, problems := checked.Config()
	for _, problem := range problems {
		advice := ""
		if errors.Is(problem.Err, transport.ErrNoPEM) {
			advice = ` Set it to the content of the file, in Terraform with file("…"), not to the path.`
		}
		r.refuse(settings[problem.Setting], "%s.%s", problem.Err, advice)
	}
	if t.InsecureSkipVerify {
		r.diags.AddAttributeWarning(r.TLS.InsecureSkipVerify.at, "Certificates Are Not Verified", "Anyone between "+
			"Terraform and the service can read the credentials and change the requests. To trust a private authority, "+
			"set ca_cert_pem instead.")
	}
	return t
}
