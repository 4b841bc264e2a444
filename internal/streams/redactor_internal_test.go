package streams

import (
	"strings"
	"sync"
	"testing"
)

func newTestRedactor(secrets ...string) *redactor {
	m := new(redactor)
	m.add(secrets...)
	return m
}

// A secret is redacted in every form in which a service or a proxy may escape it.
func TestRedact(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		secrets []string
		text    string
		want    string
	}{
		"no secrets":            {nil, `a %41 \u0041 &amp;`, `a %41 \u0041 &amp;`},
		"text without a secret": {[]string{"s3cret"}, `a %41 \u0041 &amp;`, `a %41 \u0041 &amp;`},
		"empty secrets":         {[]string{"", ""}, "a b", "a b"},
		"unescaped":             {[]string{"s3cret"}, "a s3cret, s3crets3cret", "a ***, ******"},
		"several":               {[]string{"one", "two"}, "one two", "*** ***"},
		"a part of another":     {[]string{"abc", "abcdef"}, "abcdef abc", "*** ***"},
		"the end of another":    {[]string{"def", "abcdef"}, "abcdef def", "*** ***"},
		"one within another":    {[]string{"cd", "abcdef"}, "abcdef cd", "*** ***"},
		"same secret twice":     {[]string{"abc", "abc"}, "abc", "***"},
		"JSON":                  {[]string{`a"b\c`}, `{"x":"a\"b\\c"}`, `{"x":"***"}`},
		"JSON by Go":            {[]string{`a<b>&"`}, `a\u003cb\u003e\u0026\"`, `***`},
		"JSON by others":        {[]string{`a<b>&"`}, `a<b>&\"`, `***`},
		"JSON, slash escaped":   {[]string{"dXNl/cg=="}, `Basic dXNl\/cg==`, `Basic ***`},
		"JSON, plus escaped":    {[]string{"dXNl+cg=="}, `Basic dXNl\u002Bcg==`, `Basic ***`},
		"JSON, ASCII only":      {[]string{"pässwörd😀"}, `p\u00e4ssw\u00f6rd\ud83d\ude00`, `***`},
		"URL path":              {[]string{"a/b c&d"}, "/x?a%2Fb%20c&d", "/x?***"},
		"URL query":             {[]string{"a/b c&d"}, "/x?t=a%2Fb+c%26d&y", "/x?t=***&y"},
		"URL, small letters":    {[]string{"a/b+c="}, "?t=a%2fb%2bc%3d", "?t=***"},
		"URL, all characters":   {[]string{"abcd"}, "?t=%61%62%63%64", "?t=***"},
		"URL, twice":            {[]string{"a/b"}, "?next=%2Fx%3Ft%3Da%252fb", "?next=/x?t=***"},
		"HTML by Go":            {[]string{`a<b>&"'`}, `a&lt;b&gt;&amp;&#34;&#39;`, `***`},
		"HTML by others":        {[]string{`a<b>&"'`}, `a&lt;b&gt;&amp;&quot;&#x27;`, `***`},
		"HTML, decimal":         {[]string{"a+b"}, `<p>a&#43;b</p>`, `<p>***</p>`},
		"HTML in JSON":          {[]string{`a<b`}, `"a\u0026lt;b"`, `"***"`},
		"JSON in HTML":          {[]string{`a"b`}, `{&quot;x&quot;:&quot;a\&quot;b&quot;}`, `{"x":"***"}`},
		"secret with escapes":   {[]string{"p%41&amp;"}, "p%41&amp; and p%2541&amp%3B", "*** and ***"},
		"looks escaped, URL":    {[]string{"p%41"}, "?t=p%2541&u=p%41", "?t=***&u=***"},
		"ends with a quote":     {[]string{`ab"`}, `{"x":"ab\""}`, `{"x":"***"}`},
		"key with lines":        {[]string{"-----BEGIN KEY-----\nabc\n"}, `"-----BEGIN KEY-----\nabc\n"`, `"***"`},
		"invalid escapes":       {[]string{"s3cret"}, `s3cret%zz\q\u12&nope s3cret%`, `***%zz\q\u12&nope ***%`},
		"not UTF-8":             {[]string{"s3cret"}, "\xff%41s3cret\xfe", "\xff%41***\xfe"},
	} {
		if got := newTestRedactor(test.secrets...).redact(test.text); got != test.want {
			t.Errorf("%s: redact(%q) = %q, want %q", name, test.text, got, test.want)
		}
	}
	if got := new(redactor).redact("a %41"); got != "a %41" {
		t.Errorf("the zero value changes %q", got)
	}
}

// Texts with many nested escapes are redacted in a short time.
func TestRedactManyLayers(t *testing.T) {
	t.Parallel()
	for _, layer := range []string{"%25", "&amp;", `\\`, `\u005c`} {
		text := strings.Repeat(layer, 1<<12) + strings.Repeat("25", 1<<12) + strings.Repeat("amp;", 1<<12)
		if got := newTestRedactor("s3cret").redact(text); got != text {
			t.Errorf("%s…: a text without a secret was changed", layer)
		}
	}
}

func TestRedactorConcurrentUse(t *testing.T) {
	t.Parallel()
	r := new(redactor)
	var additions sync.WaitGroup
	for _, secret := range []string{"alpha", "beta", "gamma", "delta"} {
		additions.Go(func() {
			r.add(secret)
			if got := r.redact("a " + secret); got != "a ***" {
				t.Errorf("%q after the secret was added", got)
			}
		})
	}
	additions.Wait()
	if got := r.redact("alpha beta gamma delta"); got != "*** *** *** ***" {
		t.Errorf("%q in the end", got)
	}
}
