package transport_test

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
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
	damaged := func(n int) string {
		return fmt.Sprintf("contains a damaged PEM block, number %d; it may have lost its line breaks", n)
	}
	for name, test := range map[string]struct{ pem, want string }{
		"two":                      {one + two, ""},
		"comments":                 {"subject=a\r\n" + one + "\n# the other one\n" + two + "# end", ""},
		"line breaks of Windows":   {strings.ReplaceAll(one+two, "\n", "\r\n"), ""},
		"no line break at the end": {one + strings.TrimSpace(two), ""},
		"a byte order mark":        {"\ufeff" + one, ""},
		"two byte order marks":     {"\ufeff" + one + "\ufeff" + two, ""},
		"a path":                   {"/etc/ssl/ca.pem", "contains no PEM block"},
		"no line break between":    {strings.TrimSpace(one) + two, damaged(1)},
		"indented":                 {"  " + strings.ReplaceAll(one, "\n", "\n  "), damaged(1)},
		"escaped line breaks":      {strings.ReplaceAll(one, "\n", `\n`), damaged(1)},
		"no line breaks":           {strings.ReplaceAll(one, "\n", ""), damaged(1)},
		"no line breaks within":    {one + strings.ReplaceAll(two, "\n", "") + "\n", damaged(2)},
		"spaces":                   {strings.ReplaceAll(one+two, "\n", " "), damaged(1)},
		"carriage returns":         {strings.ReplaceAll(one, "\n", "\r"), damaged(1)},
		"in base64":                {base64.StdEncoding.EncodeToString([]byte(one)), "contains no PEM block"},
		"damaged":                  {one + strings.Replace(two, "MII", "M*I", 1), damaged(2)},
		"the first is damaged":     {strings.Replace(one, "MII", "M*I", 1) + two, damaged(1)},
		"cut":                      {one + strings.TrimSpace(two)[:200], damaged(2)},
		"without its last line":    {strings.TrimSuffix(one, last) + two, damaged(1)},
		"without its first line":   {strings.TrimPrefix(one, first) + two, damaged(1)},
		"the same for the second":  {one + strings.TrimPrefix(two, first), damaged(2)},
		"no certificate":           {one + strings.Replace(two, "MII", "AII", 1), `contains a "CERTIFICATE" that is no certificate as PEM`},
		"a key":                    {one + pair.KeyPEM, `contains a "PRIVATE KEY" that is no certificate as PEM block 2: x509: `},
		"of OpenSSL":               {strings.ReplaceAll(one, "CERTIFICATE", "TRUSTED CERTIFICATE"), ""},
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
