package streams

import (
	"strings"
	"testing"
)

func newRedactor(secrets ...string) *redactor {
	r := new(redactor)
	r.add(secrets...)
	return r
}

// A secret is masked as it is, and escaped for JSON, URLs and HTML.
func TestMask(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		secrets    []string
		text, want string
	}{
		"no secrets":      {nil, "a b", "a b"},
		"empty secrets":   {[]string{"", ""}, "a b", "a b"},
		"as it is":        {[]string{"s3cret"}, "a s3cret, s3crets3cret", "a ***, ******"},
		"several":         {[]string{"one", "two"}, "one two", "*** ***"},
		"part of another": {[]string{"abc", "abcdef"}, "abcdef abc", "*** ***"},
		"JSON by Go":      {[]string{`a<b>&"\`}, `"a\u003cb\u003e\u0026\"\\"`, `"***"`},
		"JSON by others":  {[]string{`a<b>&"/\`}, `"a<b>&\"/\\" "a<b>&\"\/\\"`, `"***" "***"`},
		"URL path":        {[]string{"a/b c&d"}, "/x?a%2Fb%20c&d", "/x?***"},
		"URL query":       {[]string{"a/b c&d"}, "/x?t=a%2Fb+c%26d&y", "/x?t=***&y"},
		"HTML":            {[]string{`a<b>&"'`}, `a&lt;b&gt;&amp;&#34;&#39; a&lt;b&gt;&amp;&quot;&#39;`, `*** ***`},
		"not escaped yet": {[]string{"p%41&amp;"}, "p%41&amp; p%2541%26amp%3B", "*** ***"},
	} {
		if got := newRedactor(test.secrets...).mask(test.text); got != test.want {
			t.Errorf("%s: %q is shown as %q, want %q", name, test.text, got, test.want)
		}
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
	page := "<html><title>No</title><style>p {}</style><p class='s3cret/t0ken+&#34;&lt;&amp;&gt;'>Bad&nbsp;token\n s3cret/t0ken+&quot;&lt;&amp;&gt;!</p>"
	if message, _ := readMessage([]byte(page), r); message != "HTML page: No Bad token ***!" {
		t.Errorf("a page is shown as %q", message)
	}
}
