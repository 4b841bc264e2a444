package transport_test

import (
	"crypto/tls"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Each PEM block must be a certificate; the error says which is none. Texts between the blocks are comments.
func TestAuthorities(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	pair := ca.Issue(t, "other")
	one, two := ca.CertPEM, pair.CertPEM
	const first, last = "-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n"
	const ofBlock1, ofBlock2 = "contains a damaged PEM block, number 1", "contains a damaged PEM block, number 2"
	for name, test := range map[string]struct{ pem, want string }{
		"two":                      {one + two, ""},
		"comments":                 {"subject=a\r\n" + one + "\n# the other one\n" + two + "# end", ""},
		"line breaks of Windows":   {strings.ReplaceAll(one+two, "\n", "\r\n"), ""},
		"no line break at the end": {one + strings.TrimSpace(two), ""},
		"a byte order mark":        {"\ufeff" + one, ""},
		"two byte order marks":     {"\ufeff" + one + "\ufeff" + two, ""},
		"a path":                   {"/etc/ssl/ca.pem", "contains no PEM block"},
		"no line break between":    {strings.TrimSpace(one) + two, "contains a PEM block, number 2, that does not begin on a line of its own"},
		"indented":                 {"  " + strings.ReplaceAll(one, "\n", "\n  "), "contains a PEM block, number 1, that does not begin on a line of its own"},
		"escaped line breaks":      {strings.ReplaceAll(one, "\n", `\n`), `contains \n in place of line breaks`},
		"no line breaks":           {strings.ReplaceAll(one, "\n", ""), "contains no line breaks; PEM needs them"},
		"no line breaks within":    {one + strings.ReplaceAll(two, "\n", "") + "\n", "contains no line breaks; PEM needs them"},
		"spaces":                   {strings.ReplaceAll(one+two, "\n", " "), "contains spaces in place of line breaks"},
		"carriage returns":         {strings.ReplaceAll(one, "\n", "\r"), "contains carriage returns in place of line breaks"},
		"in base64":                {base64.StdEncoding.EncodeToString([]byte(one)), "contains PEM in base64, which must be decoded"},
		"damaged":                  {one + strings.Replace(two, "MII", "M*I", 1), ofBlock2},
		"the first is damaged":     {strings.Replace(one, "MII", "M*I", 1) + two, ofBlock1},
		"cut":                      {one + strings.TrimSpace(two)[:200], ofBlock2},
		"without its last line":    {strings.TrimSuffix(one, last) + two, ofBlock1},
		"without its first line":   {strings.TrimPrefix(one, first) + two, ofBlock1},
		"the same for the second":  {one + strings.TrimPrefix(two, first), ofBlock2},
		"no certificate":           {one + strings.Replace(two, "MII", "AII", 1), "contains a certificate that cannot be read as PEM block 2: x509: malformed certificate"},
		"a key":                    {one + pair.KeyPEM, `contains a "PRIVATE KEY" instead of a certificate as PEM block 2`},
		"of OpenSSL":               {strings.ReplaceAll(one, "CERTIFICATE", "TRUSTED CERTIFICATE"), `contains a "TRUSTED CERTIFICATE" instead of a certificate as PEM block 1`},
	} {
		config, problems := transport.TLS{CACertPEM: test.pem}.Config()
		if test.want == "" {
			if len(problems) > 0 || config.RootCAs == nil || config.Renegotiation != tls.RenegotiateNever {
				t.Errorf("%s: %v", name, problems)
			}
			continue
		}
		if len(problems) != 1 || problems[0].Setting != "ca_cert_pem" || !strings.HasPrefix(problems[0].Err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, problems, test.want)
		}
	}
}
