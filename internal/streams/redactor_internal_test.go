package streams

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

func newRedactor(secrets ...string) *redactor {
	r := new(redactor)
	r.add(secrets...)
	return r
}

func TestMask(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		secrets    []string
		text, want string
	}{
		"no secrets":       {nil, "a b %41", "a b %41"},
		"empty secrets":    {[]string{"", ""}, "a b", "a b"},
		"as it is":         {[]string{"s3cret"}, "a s3cret, s3crets3cret", "a ***, ******"},
		"several":          {[]string{"one", "two"}, "one two", "*** ***"},
		"part of another":  {[]string{"abc", "abcdef"}, "abcdef abc", "*** ***"},
		"escaped":          {[]string{"a+b="}, `{"m": "no a\u002Bb\u003d and %3cp%3e"}`, `{"m": "no *** and %3cp%3e"}`},
		"in a URL":         {[]string{"a/b c&d"}, "https://x/y?t=a%2Fb+c%26d no", "https://x/y?*** no"},
		"side by side":     {[]string{`p"a`, "b+c"}, `p"ab%2Bc`, "***"},
		"more than a word": {[]string{`a"b c`}, `no \"a\"b c\" here`, "***"},
		"with escapes":     {[]string{"p%41&amp;"}, "p%41&amp; p%2541%26amp%3B pA&", "*** *** pA&"},
		"in ISO 8859-1":    {[]string{"geheim-ß"}, `geheim-\xdf "geheim-%DF" geheim-Ã\u009f ß` + " geheim-\xdf", `*** "***" *** ß ***`},
		"in Windows-1252":  {[]string{"pÄßword"}, "p&#195;&#132;&#195;&#159;word pÃ„ÃŸword", "*** ***"},
		"plus as a space":  {[]string{"ab+cd"}, "ab cd ab%20cd", "*** ***"},
		"login page":       {nil, "https://x/?a=b#access_token=ab.c&id_token%3Dcd%26x a_token", "https://x/?a=b#access_token=***&id_token%3D*** a_token"},
		"not in it":        {[]string{"€uro"}, `\x80uro €uro`, `\x80uro ***`},
		"four times":       {[]string{"a+b="}, "a%2525252Bb=", "a%2525252Bb="},
	} {
		if got := newRedactor(test.secrets...).mask(test.text, maxBody); got != test.want {
			t.Errorf("%s: %q is shown as %q, want %q", name, test.text, got, test.want)
		}
	}
}

// escapeIf escapes the characters of a text that fit.
func escapeIf(fits func(c rune) bool, escape func(c rune) string) func(string) string {
	return func(text string) string {
		var b strings.Builder
		for _, c := range text {
			if fits(c) {
				b.WriteString(escape(c))
			} else {
				b.WriteRune(c)
			}
		}
		return b.String()
	}
}

// encoders write texts as services, proxies and libraries do.
func encoders() []func(string) string {
	oneOf := func(chars string) func(rune) bool { return func(c rune) bool { return strings.ContainsRune(chars, c) } }
	notIn := func(chars string) func(rune) bool {
		return func(c rune) bool {
			return c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune(chars, c)
		}
	}
	format := func(format string) func(rune) string { return func(c rune) string { return fmt.Sprintf(format, c) } }
	units := func(format string) func(rune) string {
		return func(c rune) (escaped string) {
			for _, unit := range utf16.Encode([]rune{c}) {
				escaped += fmt.Sprintf(format, unit)
			}
			return escaped
		}
	}
	bytes := func(format string) func(rune) string {
		return func(c rune) (escaped string) {
			for _, b := range []byte(string(c)) {
				escaped += fmt.Sprintf(format, b)
			}
			return escaped
		}
	}
	backslash := func(c rune) string { return `\` + string(c) }
	named := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;", "=", "&equals;", "é", "&eacute;")
	return []func(string) string{
		func(text string) string { return text },
		func(text string) string { b, _ := json.Marshal(text); return string(b[1 : len(b)-1]) }, // Go
		escapeIf(notIn(" -_.~/:,;!?@$()*[]{}|^#%"), units(`\u%04X`)),                            // .NET
		escapeIf(oneOf(`\"'<>&=`), units(`\u%04x`)),                                             // Gson
		escapeIf(notIn(" !#$%&'()*+,-./:;<=>?@[]^_`{|}~"), units(`\u%04x`)),                     // Python's json.dumps
		escapeIf(oneOf(`\"/`), backslash),                                                       // PHP
		escapeIf(oneOf(`\'`), backslash),                                                        // JavaScript, Python's repr
		escapeIf(notIn(" "), bytes(`\x%02x`)),                                                   // repr of bytes
		url.QueryEscape, url.PathEscape,                                                         // Go
		escapeIf(notIn("-_.!~*'()"), bytes("%%%02X")),  // encodeURIComponent
		escapeIf(notIn("_.-~/"), bytes("%%%02X")),      // Python's quote
		escapeIf(notIn("-_.~"), bytes("%%%02x")),       // .NET, lower case
		escapeIf(oneOf(`&<>"'=/+é`), format("&#x%X;")), // Mustache
		escapeIf(oneOf(`&<>"'`), format("&#%03d;")),    // PHP
		named.Replace,
	}
}

// leaks returns a text that shows a secret, or "". The secret is part of a text that is encoded up to three times.
func leaks(secret string, encodings ...func(string) string) string {
	text, part := `{"error": "bad token `+secret+`"}`, secret
	for _, encode := range encodings {
		text, part = encode(text), encode(part)
	}
	masked := newRedactor("another one", secret).mask(text, maxBody)
	if strings.Contains(strings.ReplaceAll(masked, "***", "\n"), part) { // a secret may have asterisks, but no line break
		return masked
	}
	return ""
}

// A secret is masked however it is escaped, up to three times, in any mixture.
func TestMaskEscaped(t *testing.T) {
	t.Parallel()
	all := encoders()
	for _, secret := range []string{
		"s3cret", "ab+/cd==", `p"a'ss\`, "p%41&amp;", `a\u0041\n`, "my secret phrase", "a+b c%20d", "pässwörd-é", "<key>&'/", "100%",
		"pass😀word", "流れ=é",
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
	f.Fuzz(func(t *testing.T, secret string, a, b, c byte) {
		if len(secret) < minSecretValue || !utf8.ValidString(secret) || strings.ContainsFunc(secret, unicode.IsControl) {
			t.Skip("no credential")
		}
		all := encoders()
		pick := func(n byte) func(string) string { return all[int(n)%len(all)] }
		if text := leaks(secret, pick(a), pick(b), pick(c)); text != "" {
			t.Errorf("%q leaks in %s", secret, text)
		}
	})
}

// The longest response is masked, whatever it has.
func BenchmarkMask(b *testing.B) {
	r := newRedactor("s3cret-one/+=", "an other one", `pässwörd\%41&amp;`, "eyJ0eXAiOiJKV1QifQ.abc", "bWU6cGE6c3M=")
	for _, unit := range []string{`\`, `%`, "%25", "&amp;", `\\u003c%5c&amp;`, `\u0025%5c&#x5c;`, `\&#37;25`, `\x5c`, `\ud83d\ude00`} {
		b.Run(unit, func(b *testing.B) {
			for text := strings.Repeat(unit, maxBody/len(unit)); b.Loop(); {
				r.mask(text, maxBody)
			}
		})
	}
}

// A secret is masked before a text is cut: half of it would not be found.
func TestMaskBeforeACut(t *testing.T) {
	t.Parallel()
	const secret = `s3cret/t0ken+"<&>`
	r := newRedactor(secret)
	for _, limit := range []int{maxText, maxMessage} {
		text := strings.Repeat("x", limit-4) + secret
		shown := r.printable(text, limit)
		if want := text[:limit-4] + "***"; shown != want {
			t.Errorf("limit %d: the text ends with %q", limit, shown[limit-8:])
		}
	}
	for _, secret := range []string{secret, strings.Repeat("t0ken", 2000)} {
		for i := range 17 { // what is masked becomes short, so an error could show what was cut
			for _, encoded := range []string{secret, url.QueryEscape(secret)} {
				text := strings.Repeat("-", i) + strings.Repeat(encoded+" ", 100_000/len(secret))
				if shown := newRedactor(secret).mask(text, maxShown); strings.Trim(shown, "-* …") != "" {
					t.Fatalf("cut, the text is %.9000q", shown)
				}
			}
		}
	}
	page := "<html><title>No</title><p class='s3cret/t0ken+&#34;&lt;&amp;&gt;'>Bad&nbsp;token\n s3cret/t0ken+&quot;&lt;&amp;&gt; here</p>"
	if message, _ := readMessage([]byte(page), r); message != "HTML page: No Bad token *** here" {
		t.Errorf("a page is shown as %q", message)
	}
}
