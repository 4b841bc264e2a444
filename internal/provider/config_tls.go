package provider

import (
	"cmp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func tlsAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "TLS settings: how the service's certificate is verified, and the client certificate. Each part " +
			"works alone. Default: the system's certificate authorities and no client certificate.",
		Attributes: map[string]schema.Attribute{
			"ca_cert_pem": optionalString("Certificates of the authorities to trust instead of the system's, in PEM. " +
				"Default: the system's."),
			"client_cert_pem": optionalString("Client certificate (chain) in PEM. Requires `client_key_pem`. Default: none."),
			"client_key_pem":  secretString("Private key of the client certificate in PEM. Requires `client_cert_pem`. Default: none."),
			"server_name":     optionalString("Name to expect in the service's certificate. Default: the host of `base_url`."),
			"insecure_skip_verify": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Accept any certificate. Anyone between Terraform and the service can then read and change " +
					"every request. Default: `false`.",
			},
		},
	}
}

func (s *settings) readTLS(v types.Object) {
	if s.unknown = s.unknown || v.IsUnknown(); v.IsUnknown() {
		return
	}
	at := path.Root("tls")
	t := &s.client.TLS
	t.ServerName, _ = s.text(at.AtName("server_name"), objectAttribute[types.String](v, "server_name"), "")
	t.CACertPEM, _ = s.text(at.AtName("ca_cert_pem"), objectAttribute[types.String](v, "ca_cert_pem"), "")
	if t.CACertPEM != "" {
		if err := streams.CheckCACert(t.CACertPEM); err != nil {
			s.refuse(at.AtName("ca_cert_pem"), "%s.%s", err, fileAdvice(t.CACertPEM))
		}
	}
	s.readClientCertificate(at, v)

	insecure := objectAttribute[types.Bool](v, "insecure_skip_verify")
	s.unknown = s.unknown || insecure.IsUnknown()
	if t.InsecureSkipVerify = insecure.ValueBool(); t.InsecureSkipVerify {
		s.diags.Append(notVerifiedWarning(at.AtName("insecure_skip_verify")))
	}
}

func (s *settings) readClientCertificate(at path.Path, v types.Object) {
	t := &s.client.TLS
	var certificateKnown, keyKnown bool
	t.ClientCertPEM, certificateKnown = s.text(at.AtName("client_cert_pem"), objectAttribute[types.String](v, "client_cert_pem"), "")
	t.ClientKeyPEM, keyKnown = s.text(at.AtName("client_key_pem"), objectAttribute[types.String](v, "client_key_pem"), "")
	switch {
	case !certificateKnown, !keyKnown, t.ClientCertPEM == "" && t.ClientKeyPEM == "":
	case t.ClientKeyPEM == "":
		s.refuse(at.AtName("client_key_pem"), "is missing: a client certificate needs its private key.")
	case t.ClientCertPEM == "":
		s.refuse(at.AtName("client_cert_pem"), "is missing: a private key needs its certificate.")
	default:
		if err := streams.CheckKeyPair(t.ClientCertPEM, t.ClientKeyPEM); err != nil {
			s.refuse(at.AtName("client_cert_pem"), "and client_key_pem do not make a client certificate: %s.%s", err,
				cmp.Or(fileAdvice(t.ClientCertPEM), fileAdvice(t.ClientKeyPEM)))
		}
	}
}

// fileAdvice is a hint for a text of one line where PEM is expected: it may be the path of a file. It does
// not quote the text, which may be a key.
func fileAdvice(text string) string {
	if strings.ContainsAny(strings.TrimSpace(text), "\r\n") {
		return ""
	}
	return ` If it is the path of a file, use file("…").`
}
