package streams

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
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
		"no secrets":                   {nil, `a %41 \u0041 &amp;`, `a %41 \u0041 &amp;`},
		"text without a secret":        {[]string{"s3cret"}, `a %41 \u0041 &amp;`, `a %41 \u0041 &amp;`},
		"empty secrets":                {[]string{"", ""}, "a b", "a b"},
		"unescaped":                    {[]string{"s3cret"}, "a s3cret, s3crets3cret", "a ***, ******"},
		"several":                      {[]string{"one", "two"}, "one two", "*** ***"},
		"a part of another":            {[]string{"abc", "abcdef"}, "abcdef abc", "*** ***"},
		"the end of another":           {[]string{"def", "abcdef"}, "abcdef def", "*** ***"},
		"one within another":           {[]string{"cd", "abcdef"}, "abcdef cd", "*** ***"},
		"same secret twice":            {[]string{"abc", "abc"}, "abc", "***"},
		"JSON":                         {[]string{`a"b\c`}, `{"x":"a\"b\\c"}`, `{"x":"***"}`},
		"JSON by Go":                   {[]string{`a<b>&"`}, `a\u003cb\u003e\u0026\"`, `***`},
		"JSON by others":               {[]string{`a<b>&"`}, `a<b>&\"`, `***`},
		"JSON, slash escaped":          {[]string{"dXNl/cg=="}, `Basic dXNl\/cg==`, `Basic ***`},
		"JSON, plus escaped":           {[]string{"dXNl+cg=="}, `Basic dXNl\u002Bcg==`, `Basic ***`},
		"JSON, ASCII only":             {[]string{"pässwörd😀"}, `p\u00e4ssw\u00f6rd\ud83d\ude00`, `***`},
		"URL path":                     {[]string{"a/b c&d"}, "/x?a%2Fb%20c&d", "/x?***"},
		"URL query":                    {[]string{"a/b c&d"}, "/x?t=a%2Fb+c%26d&y", "/x?t=***&y"},
		"URL, small letters":           {[]string{"a/b+c="}, "?t=a%2fb%2bc%3d", "?t=***"},
		"URL, all characters":          {[]string{"abcd"}, "?t=%61%62%63%64", "?t=***"},
		"URL, twice":                   {[]string{"a/b"}, "?next=%2Fx%3Ft%3Da%252fb", "?next=%2Fx%3Ft%3D***"},
		"HTML by Go":                   {[]string{`a<b>&"'`}, `a&lt;b&gt;&amp;&#34;&#39;`, `***`},
		"HTML by others":               {[]string{`a<b>&"'`}, `a&lt;b&gt;&amp;&quot;&#x27;`, `***`},
		"HTML, decimal":                {[]string{"a+b"}, `<p>a&#43;b</p>`, `<p>***</p>`},
		"HTML in JSON":                 {[]string{`a<b`}, `"a\u0026lt;b"`, `"***"`},
		"JSON in HTML":                 {[]string{`a"b`}, `{&quot;x&quot;:&quot;a\&quot;b&quot;}`, `{&quot;x&quot;:&quot;***&quot;}`},
		"secret with escapes":          {[]string{"p%41&amp;"}, "p%41&amp; and p%2541&amp%3B", "*** and ***"},
		"looks escaped, URL":           {[]string{"p%41"}, "?t=p%2541&u=p%41", "?t=***&u=***"},
		"ends with a quote":            {[]string{`ab"`}, `{"x":"ab\""}`, `{"x":"***"}`},
		"key with lines":               {[]string{"-----BEGIN KEY-----\nabc\n"}, `"-----BEGIN KEY-----\nabc\n"`, `"***"`},
		"invalid escapes":              {[]string{"s3cret"}, `s3cret%zz\q\u12&nope s3cret%`, `***%zz\q\u12&nope ***%`},
		"secret with an escape, HTML":  {[]string{"p%41&amp;"}, "<p>p%41&amp;amp;</p>", "<p>***</p>"},
		"secret with an escape, JSON":  {[]string{`p\n%q"`}, `{"x":"p\\n%q\""}`, `{"x":"***"}`},
		"secret with an escape, twice": {[]string{"p%25%41"}, "?t=p%252525%252541", "?t=***"},
		"JSON and HTML at once":        {[]string{`a"<b>`}, `a\"&lt;b\u003e`, `***`},
		"URL, form of a space":         {[]string{"a b+c"}, "?t=a+b%2Bc&u=a%20b%2bc", "?t=***&u=***"},
		"quoted by Go":                 {[]string{"pä\x00\U0001f600"}, `"p\u00e4\x00\U0001f600"`, `"***"`},
		"base64":                       {[]string{"s3cret-t0ken"}, "czNjcmV0LXQwa2Vu", "***"},
		"base64, padded":               {[]string{"s3cret-t0ke"}, "czNjcmV0LXQwa2U=", "***="},
		"base64 with a user":           {[]string{"s3cret-t0ken"}, "Basic bWU6czNjcmV0LXQwa2Vu", "Basic bWU6***"},
		"base64 for URLs":              {[]string{"s3cret\xff\xfe\xfb?"}, "czNjcmV0__77Pw", "***"},
		"base64 in a URL":              {[]string{"s3cret\xff\xfe\xfb?"}, "?t=czNjcmV0%2F%2F77Pw%3D%3D", "?t=***%3D%3D"},
		"hexadecimal":                  {[]string{"s3cret"}, "733363726574 and 733363726574", "*** and ***"},
		"hexadecimal, capital letters": {[]string{"s3cretZ"}, "7333637265745A", "***"},
		"wrapped":                      {[]string{"s3cret t0ken"}, "s3cret\n   t0ken", "***"},
		"one beside another":           {[]string{"abcd", "cdef"}, "abcdef", "***"},
		"not UTF-8":                    {[]string{"s3cret"}, "\xff%41s3cret\xfe", "\xff%41***\xfe"},
	} {
		if got := newTestRedactor(test.secrets...).redact(test.text); got != test.want {
			t.Errorf("%s: redact(%q) = %q, want %q", name, test.text, got, test.want)
		}
	}
	if got := new(redactor).redact("a %41"); got != "a %41" {
		t.Errorf("the zero value changes %q", got)
	}
}

// What is beyond the cut is not searched, so the beginning of a secret at the cut is redacted, too.
func TestRedactBeforeACut(t *testing.T) {
	t.Parallel()
	const secret = `s3cret/"t0ken"&+<😀>`
	m := newTestRedactor(secret)
	quoted, _ := json.Marshal(secret)
	for _, spelled := range []string{
		secret, string(quoted[1 : len(quoted)-1]), url.QueryEscape(secret), html.EscapeString(secret), url.QueryEscape(url.QueryEscape(secret)),
		`s3cret/\"t0ken\"&+<\ud83d\ude00>`, hex.EncodeToString([]byte(secret)), base64.RawStdEncoding.EncodeToString([]byte(secret)),
	} {
		for cut := 6; cut < len(spelled); cut++ {
			if got := m.replace("a "+spelled[:cut], true); got != "a ***" {
				t.Errorf("%q is shown as %q", spelled[:cut], got)
			}
		}
	}
	long := strings.Repeat("x", maxLogged-8) + secret
	if got := m.log(long); got != long[:maxLogged-8]+"***…" {
		t.Errorf("a long text ends with %q", got[maxLogged-20:])
	}
	if got := m.line([]byte(" a\n\tb "+strings.Repeat("\n", 1<<20)+secret), 300); got != "a b ***" {
		t.Errorf("white space: %q", got)
	}
}

// Only what is shown of a hostile text is searched: a search of the whole text would allocate gigabytes. The test is not
// parallel, because it counts what all tests allocate. BenchmarkHostileResponse measures the time.
func TestRedactHostileTexts(t *testing.T) {
	const secret = "s3cret-t0ken-s3cret-t0ken-of-some-length"
	m := newTestRedactor(secret, strings.Repeat("ab", 1000))
	for _, pattern := range []string{"plain text ", `\`, "%25", "&amp;", "&", "&#", `\u005c`, `\ud83d`, secret[:39], "ab", "+", " "} {
		body := []byte(strings.Repeat(pattern, maxBody/len(pattern)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		message, _ := readMessage(body, m)
		logged := LogText{m, body}.String()
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<30 {
			t.Errorf("%d MiB of %q: %d MiB were allocated", maxBody>>20, pattern, allocated>>20)
		}
		if len(logged) > maxLogged+len("…") || utf8.RuneCountInString(message) > maxText+1 {
			t.Errorf("%q: %d and %d characters are shown", pattern, len(logged), len(message))
		}
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
