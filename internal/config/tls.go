package config

import (
	"errors"

	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// tls reads the settings of TLS. A certificate and its key come together.
func (r *reader) tls() transport.TLS {
	t := transport.TLS{
		CACertPEM:          r.lines(r.get("tls.ca_cert_pem")),
		ClientCertPEM:      r.lines(r.get("tls.client_cert_pem")),
		ClientKeyPEM:       r.lines(r.get("tls.client_key_pem")),
		ServerName:         r.line(r.get("tls.server_name")),
		InsecureSkipVerify: r.get("tls.insecure_skip_verify").isTrue(),
	}
	checked := t
	if t.ClientCertPEM == "" || t.ClientKeyPEM == "" { // missing, or known after apply
		checked.ClientCertPEM, checked.ClientKeyPEM = "", ""
	}
	switch {
	case t.ClientCertPEM != "" && !r.isSet(r.get("tls.client_key_pem")):
		r.refuseUnset(r.get("tls.client_key_pem"), " A client certificate needs its key.")
	case t.ClientKeyPEM != "" && !r.isSet(r.get("tls.client_cert_pem")):
		r.refuseUnset(r.get("tls.client_cert_pem"), " A key needs its client certificate.")
	}
	_, problems := checked.Config()
	for _, problem := range problems {
		advice := ""
		if errors.Is(problem.Err, transport.ErrNoPEM) {
			advice = ` Set it to the content of the file, in Terraform with file("…"), not to the path.`
		}
		r.refuse(r.get("tls."+problem.Setting), "%s.%s", problem.Err, advice)
	}
	if t.InsecureSkipVerify {
		r.diags.AddAttributeWarning(r.get("tls.insecure_skip_verify").at, "Certificates Are Not Verified", "Anyone between "+
			"Terraform and the service can read the credentials and change the requests. To trust a private authority, "+
			"set ca_cert_pem instead.")
	}
	return t
}
