package masking

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

func newRedactor(secrets ...string) *Redactor {
	r := new(Redactor)
	r.Add(secrets...)
	return r
}

func TestMask(t *testing.T) {
	t.Parallel()
	const token, part = `Tk"<&>/+=9Zq\y-and-more`, `9Zq\y-and-more` // HTML has the part as it is
	inHTML := html.EscapeString(token)
	for name, test := range map[string]struct {
		secrets    []string
		text, want string
	}{
		"empty secrets":    {[]string{"", ""}, "a b", "a b"},
		"as it is":         {[]string{"s3cret"}, "a s3cret, s3crets3cret", "a ***, ***"},
		"part of another":  {[]string{"abc", "abcdef"}, "abcdef abc", "*** ***"},
		"escaped":          {[]string{"a+b="}, `{"m": "no a\u002Bb\u003d and %3cp%3e"}`, `{"m": "no *** and %3cp%3e"}`},
		"in a URL":         {[]string{"a/b c&d"}, "https://x/y?t=a%2Fb+c%26d no", "https://x/y?*** no"},
		"side by side":     {[]string{`p"a`, "b+c"}, `p"ab%2Bc`, "***"},
		"more than a word": {[]string{`a"b c`}, `no \"a\"b c\" here`, `no \"***" here`},
		"with escapes":     {[]string{"p%41&amp;"}, "p%41&amp; p%2541%26amp%3B pA&", "*** *** pA&"},
		"no escapes":       {[]string{"50%off+x", `ab+cd\`}, `50%off%2Bx ab\u002bcd\`, "*** ***"},
		"in ISO 8859-1":    {[]string{"geheim-ß"}, `geheim-\xdf "geheim-%DF" ß` + " geheim-\xdf", `*** "***" ß ***`},
		"plus as a space":  {[]string{"ab+cd"}, "ab cd ab%20cd", "*** ***"},
		"login page": {nil, "https://x/?a=b#access_token=ab.c&id_token%3Dcd%26x a_token",
			"https://x/?a=b#access_token=***&id_token%3D*** a_token"},
		"not in it":        {[]string{"€uro"}, `\x80uro €uro`, `\x80uro ***`},
		"part as it is":    {[]string{part, token}, "<p>no " + inHTML + ", " + part, "<p>no *** ***"},
		"a thousand times": {[]string{part, token}, strings.Repeat(inHTML+" ", 1000), strings.Repeat("*** ", 1000)},
		"part in a word":   {[]string{part, token}, `{"m": "no Tk\"<&>/+=9Zq\\y-and-more"}`, `{"m": "no ***"}`},
		"part of a phrase": {[]string{"secret phrase", `my "secret phrase"`}, "my&#32;&quot;secret phrase&quot; no", "*** no"},
		"in base64": {[]string{"p?ssw0rd~", "???", "a"},
			"cD9zc3cwcmR+ cD9zc3cwcmR- cD9zc3cwcmR%2B Pz8/ Pz8_ YQ== YQ",
			"*** *** *** *** *** *** YQ"},
		"base64, both":      {[]string{"???~"}, "Pz8/fg== Pz8/fg Pz8_fg== Pz8_fg", "*** *** *** ***"},
		"all own escapes":   {[]string{`p%41&amp;\u0042+"<`}, `p%41&amp;\u0042%2B\"&lt; no`, "*** no"},
		"three times, both": {[]string{"a+b="}, "a%25252Bb= a&amp;amp;#43;b=", "*** ***"},
		"in an escape":      {[]string{`a\nb+c`, "k+ey="}, `a\nb%25252Bc k\\\\u002bey=`, "*** ***"},
		"octal":             {[]string{"geheim-ß"}, `geheim-\303\237`, "***"},
		"four times":        {[]string{"a+b="}, "a%2525252Bb=", "a%2525252Bb="},
	} {
		if got := newRedactor(test.secrets...).Mask(test.text, 1<<20); got != test.want {
			t.Errorf("%s: %q is shown as %q, want %q", name, test.text, got, test.want)
		}
	}
}

// A part of a header is masked by itself unless it is too short to be a secret.
func TestParts(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{
		"ApiKey t0ken-key:t0ken-12":   {"t0ken-key", "t0ken-12", "t0ken-key:t0ken-12"},
		"1234567 12345678=12345678,x": {"12345678", "12345678", "12345678=12345678,x"},
		"t0ken-key":                   {"t0ken-key"}, "short": nil,
	} {
		if got := Parts(value); !slices.Equal(got, want) {
			t.Errorf("%s: %q", value, got)
		}
	}
}

// A file with a secret is read again and again.
func TestAddAgain(t *testing.T) {
	t.Parallel()
	r := newRedactor("s3cret+t0ken")
	before := len(r.secrets['s'])
	if r.Add("s3cret+t0ken"); before == 0 || len(r.secrets['s']) != before {
		t.Errorf("%d spellings, then %d", before, len(r.secrets['s']))
	}
}

// escape returns an encoder that formats each unit of all characters but the letters and digits of ASCII.
func escape[Unit any](format string, units func(c rune) []Unit) func(string) string {
	return func(text string) (escaped string) {
		for _, c := range text {
			if c <= unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
				escaped += string(c)
				continue
			}
			for _, unit := range units(c) {
				escaped += fmt.Sprintf(format, unit)
			}
		}
		return escaped
	}
}

// encoders write texts as services, proxies and libraries do.
func encoders() []func(string) string {
	whole := func(c rune) []rune { return []rune{c} }
	in16 := func(c rune) []uint16 { return utf16.Encode([]rune{c}) }
	in8 := func(c rune) []byte { return []byte(string(c)) }
	unquote := func(quoted string) string { return quoted[1 : len(quoted)-1] }
	return []func(string) string{
		func(text string) string { return text },
		func(text string) string { b, _ := json.Marshal(text); return unquote(string(b)) },
		func(text string) string { return unquote(strconv.QuoteToASCII(text)) },
		escape(`\u%04X`, in16), escape(`\u%04x`, in16), // .NET, Python's json.dumps
		escape(`\x%02x`, in8),                        // repr of bytes
		escape("%%%02X", in8), escape("%%%02x", in8), // encodeURIComponent, .NET
		escape("&#x%X;", whole), escape("&#%03d;", whole), // Mustache, PHP
		url.QueryEscape, url.PathEscape, html.EscapeString,
		strings.NewReplacer(`\`, `\\`, `"`, `\"`, "'", `\'`, "/", `\/`).Replace, // PHP, JavaScript
		strings.NewReplacer("&", "&amp;", "'", "&apos;", "=", "&equals;", "é", "&eacute;").Replace,
	}
}

// leaks returns a text that shows a secret, or half of a long one, or "". The secret, which may have parts that are
// masked by themselves, is part of a text that is encoded up to three times.
func leaks(secret string, encodings ...func(string) string) string {
	text, shown := `{"error": "`+secret+`"}`, []string{secret}
	if chars := []rune(secret); len(chars) >= 2*len(`{"error": "`)+2 {
		shown = append(shown, string(chars[:len(chars)/2]), string(chars[len(chars)/2:]))
	}
	for _, encode := range encodings {
		text = encode(text)
		for i := range shown {
			shown[i] = encode(shown[i])
		}
	}
	masked := newRedactor(append(Parts(secret), "another one", secret)...).Mask(text, 1<<20)
	for _, part := range shown {
		if strings.Contains(strings.ReplaceAll(masked, "***", "\n"), part) { // a secret may have asterisks, but no line break
			return masked
		}
	}
	return ""
}

// A secret is masked however it is escaped, up to three times, in any mixture.
func TestMaskEscaped(t *testing.T) {
	t.Parallel()
	all := encoders()
	for _, secret := range []string{
		"s3cret", "ab+/cd==", `p"a'ss\`, "p%41&amp;", `a\u0041\n`, "my secret phrase", "a+b c%20d", "pässwörd-é", "<key>&'/", "100%",
		"pass😀word", "流れ=é", `Tk"<&>/+=9Zq\y-and-more-of-it`,
		"-----BEGIN KEY-----\nMII+/\n-----END KEY-----\n",
	} {
		for i, first := range all {
			for j, second := range all {
				if text := leaks(secret, first, second, all[(i+2*j)%len(all)]); text != "" {
					t.Errorf("%q leaks in %s", secret, text)
				}
			}
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("ab+/cd==", byte(2), byte(9), byte(13))
	f.Add(`p"a'ss\`, byte(1), byte(1), byte(12))
	f.Add(`Tk"<&>/+=9Zq\y-and-more-of-it`, byte(0), byte(12), byte(0))
	f.Fuzz(func(t *testing.T, secret string, a, b, c byte) {
		if len(secret) < MinValue || !utf8.ValidString(secret) || strings.ContainsFunc(secret, unicode.IsControl) {
			t.Skip("no credential")
		}
		all := encoders()
		pick := func(n byte) func(string) string { return all[int(n)%len(all)] }
		if text := leaks(secret, pick(a), pick(b), pick(c)); text != "" {
			t.Errorf("%q leaks in %s", secret, text)
		}
	})
}

// A secret is masked before a text is cut: half of it would not be found.
func TestMaskBeforeACut(t *testing.T) {
	t.Parallel()
	const secret = `s3cret/t0ken+"<&>`
	r := newRedactor(secret)
	for _, limit := range []int{MaxText, MaxMessage} {
		text := strings.Repeat("x", limit-4) + secret
		shown := r.Printable(text, limit)
		if want := text[:limit-4] + "***"; shown != want {
			t.Errorf("limit %d: the text ends with %q", limit, shown[limit-8:])
		}
	}
	for _, secret := range []string{secret, strings.Repeat("t0ken", 2000)} {
		for i := range 17 { // what is masked becomes short, so an error could show what was cut
			for _, encoded := range []string{secret, url.QueryEscape(secret)} {
				text := strings.Repeat("-", i) + strings.Repeat(encoded+" ", 100_000/len(secret))
				if shown := newRedactor(secret).Mask(text, MaxShown); strings.Trim(shown, "-* …") != "" {
					t.Fatalf("cut, the text is %.9000q", shown)
				}
			}
		}
	}
}

// A secret may go on beyond a cut, in the longest form of each character: a long secret in escapes of six, and a short one in
// escapes with many zeros.
func TestMaskAcrossACut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ secret, escape string }{
		"long":  {strings.Repeat("s3cret+t0ken/", 200), `\u%04x`},
		"short": {strings.Repeat("s3cret+t0ken", 5), "&#x%055x;"},
	} {
		escaped := ""
		for _, c := range test.secret {
			escaped += fmt.Sprintf(test.escape, c)
		}
		const before = "no secret "
		text := before + escaped + strings.Repeat(" -", 100_000)
		half := len(before) + len(escaped)/len(test.secret) // after the first character
		if shown := newRedactor(test.secret).Mask(text, half); shown != before+"***…" {
			t.Errorf("%s: %q", name, shown)
		}
	}
}
