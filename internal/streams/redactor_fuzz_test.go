package streams

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// spellings are the ways in which a service may write what it received.
var spellings = []func(string) string{
	func(s string) string { return s },
	func(s string) string {
		quoted, _ := json.Marshal(s) // cannot fail for a string
		return string(quoted[1 : len(quoted)-1])
	},
	func(s string) string { quoted := strconv.QuoteToASCII(s); return quoted[1 : len(quoted)-1] },
	html.EscapeString,
	url.QueryEscape,
	url.PathEscape,
	func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("me:" + s)) },
	func(s string) string { return hex.EncodeToString([]byte(s)) },
}

// FuzzRedact: however a secret is spelled, escaped up to three times, and whatever surrounds it, it is
// redacted, and nothing of the text gets lost but the secret.
func FuzzRedact(f *testing.F) {
	f.Add("s3cret/t0ken", "before", "after", uint(0), uint(4), uint(1))
	f.Add(`p"&<Zq%41>\n+/ 1`, `\`, "%", uint(6), uint(5), uint(3))
	f.Add(`ends with \\`, `%2`, `&am`, uint(2), uint(2), uint(4))
	f.Add("aaaaaaaa", "aaa", "aaa", uint(8), uint(1), uint(0))
	f.Fuzz(func(t *testing.T, secret, before, after string, first, second, third uint) {
		if len(secret) < 8 || strings.Contains(secret, "*") || strings.TrimSpace(secret) != secret || strings.ToValidUTF8(secret, "") != secret {
			t.Skip()
		}
		spelled := spellings[first%uint(len(spellings))](secret)
		for _, n := range []uint{second, third} {
			spelled = spellings[n%6](spelled) // the last ones are no escapes
		}
		r := newTestRedactor(secret)
		text := before + " " + spelled + " " + after
		got := r.replace(text, false)
		core := strings.TrimRight(spelled[min(len(spelled)/2, 6):], "=") // in base64, other bytes share the first character
		if strings.Contains(got, secret) || first%uint(len(spellings)) < 6 && strings.Contains(got, spelled) ||
			len(core) > 8 && strings.Contains(got, core) && !strings.Contains(before+after, core) {
			t.Errorf("%q is shown as %q", text, got)
		}
		if !strings.Contains(got, replacement) {
			t.Errorf("%q has the secret %q, but is shown as %q", text, secret, got)
		}
		if strings.Contains(r.replace(got, false), secret) {
			t.Errorf("%q has the secret again", got)
		}
	})
}
