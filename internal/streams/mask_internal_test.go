package streams

import (
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"
)

func newRedactor(secrets ...string) *redactor {
	m := new(redactor)
	m.add(secrets...)
	return m
}

// However a service or a proxy spells a secret, it is hidden.
func TestHide(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		secrets []string
		text    string
		want    string
	}{
		"nothing to hide":       {nil, `a %41 \u0041 &amp;`, `a %41 \u0041 &amp;`},
		"no secret in it":       {[]string{"s3cret"}, `a %41 \u0041 &amp;`, `a %41 \u0041 &amp;`},
		"empty secrets":         {[]string{"", ""}, "a b", "a b"},
		"plain":                 {[]string{"s3cret"}, "a s3cret, s3crets3cret", "a ***, ******"},
		"several":               {[]string{"one", "two"}, "one two", "*** ***"},
		"a part of another":     {[]string{"abc", "abcdef"}, "abcdef abc", "*** ***"},
		"the end of another":    {[]string{"def", "abcdef"}, "abcdef def", "*** ***"},
		"one within another":    {[]string{"cd", "abcdef"}, "abcdef cd", "*** ***"},
		"twice the same":        {[]string{"abc", "abc"}, "abc", "***"},
		"JSON":                  {[]string{`a"b\c`}, `{"x":"a\"b\\c"}`, `{"x":"***"}`},
		"JSON by Go":            {[]string{`a<b>&"`}, `a\u003cb\u003e\u0026\"`, `***`},
		"JSON by others":        {[]string{`a<b>&"`}, `a<b>&\"`, `***`},
		"JSON, slash escaped":   {[]string{"dXNl/cg=="}, `Basic dXNl\/cg==`, `Basic ***`},
		"JSON, plus escaped":    {[]string{"dXNl+cg=="}, `Basic dXNl\u002Bcg==`, `Basic ***`},
		"JSON, ASCII only":      {[]string{"pässwörd😀"}, `p\u00e4ssw\u00f6rd\ud83d\ude00`, `***`},
		"URL path":              {[]string{"a/b c&d"}, "/x?a%2Fb%20c&d", "/x?***"},
		"URL query":             {[]string{"a/b c&d"}, "/x?t=a%2Fb+c%26d&y", "/x?t=***&y"},
		"URL, small letters":    {[]string{"a/b+c="}, "?t=a%2fb%2bc%3d", "?t=***"},
		"URL, all of it":        {[]string{"abcd"}, "?t=%61%62%63%64", "?t=***"},
		"URL, twice":            {[]string{"a/b"}, "?next=%2Fx%3Ft%3Da%252fb", "?next=/x?t=***"},
		"HTML by Go":            {[]string{`a<b>&"'`}, `a&lt;b&gt;&amp;&#34;&#39;`, `***`},
		"HTML by others":        {[]string{`a<b>&"'`}, `a&lt;b&gt;&amp;&quot;&#x27;`, `***`},
		"HTML, decimal":         {[]string{"a+b"}, `<p>a&#43;b</p>`, `<p>***</p>`},
		"HTML in JSON":          {[]string{`a<b`}, `"a\u0026lt;b"`, `"***"`},
		"JSON in HTML":          {[]string{`a"b`}, `{&quot;x&quot;:&quot;a\&quot;b&quot;}`, `{"x":"***"}`},
		"looks escaped":         {[]string{"p%41&amp;"}, "p%41&amp; and p%2541&amp%3B", "*** and ***"},
		"looks escaped, URL":    {[]string{"p%41"}, "?t=p%2541&u=p%41", "?t=***&u=***"},
		"ends with a quote":     {[]string{`ab"`}, `{"x":"ab\""}`, `{"x":"***"}`},
		"key with lines":        {[]string{"-----BEGIN KEY-----\nabc\n"}, `"-----BEGIN KEY-----\nabc\n"`, `"***"`},
		"beside an open escape": {[]string{"s3cret"}, `s3cret%zz\q\u12&nope s3cret%`, `***%zz\q\u12&nope ***%`},
		"not UTF-8":             {[]string{"s3cret"}, "\xff%41s3cret\xfe", "\xff%41***\xfe"},
	} {
		if got := newRedactor(test.secrets...).redact(test.text); got != test.want {
			t.Errorf("%s: %q becomes %q, want %q", name, test.text, got, test.want)
		}
	}
	if got := new(redactor).redact("a %41"); got != "a %41" {
		t.Errorf("the zero value changes %q", got)
	}
}

// Escapes without end take no time without end.
func TestHideManyLayers(t *testing.T) {
	t.Parallel()
	for _, layer := range []string{"%25", "&amp;", `\\`, `\u005c`} {
		text := strings.Repeat(layer, 1<<12) + strings.Repeat("25", 1<<12) + strings.Repeat("amp;", 1<<12)
		if got := newRedactor("s3cret").redact(text); got != text {
			t.Errorf("%s…: a text without a secret was changed", layer)
		}
	}
}

func TestMaskIsShared(t *testing.T) {
	t.Parallel()
	m := new(redactor)
	var all sync.WaitGroup
	for _, secret := range []string{"alpha", "beta", "gamma", "delta"} {
		all.Go(func() {
			m.add(secret)
			if got := m.redact("a " + secret); got != "a ***" {
				t.Errorf("%q right after it was added", got)
			}
		})
	}
	all.Wait()
	if got := m.redact("alpha beta gamma delta"); got != "*** *** *** ***" {
		t.Errorf("%q in the end", got)
	}
}

func TestSecretsOfConfig(t *testing.T) {
	t.Parallel()
	cfg := Config{
		Token:     "t0ken",
		BasicAuth: &BasicAuth{Username: "visible-user", Password: "passw0rd"},
		OAuth2:    &OAuth2{ClientID: "visible client", ClientSecret: "cl1ent/secret", TokenURL: "https://visible.example"},
		Headers:   map[string]string{"X-Key": "k3yk3y", "X-Auth": "ApiKey z9y8", "X-Pin": "4711", "X-Version": "123", "X-Two": "v a"},
		TLS:       TLS{ClientKeyPEM: "key in PEM", ClientCertPEM: "visible cert", CACertPEM: "visible CA"},
	}
	m := newRedactor(cfg.secrets()...)
	for _, hidden := range []string{
		"t0ken", "passw0rd", "dmlzaWJsZS11c2VyOnBhc3N3MHJk", "cl1ent/secret", "cl1ent%2Fsecret",
		"dmlzaWJsZStjbGllbnQ6Y2wxZW50JTJGc2VjcmV0", "k3yk3y", "ApiKey z9y8", "z9y8", "4711", "key in PEM",
	} {
		if got := m.redact("<" + hidden + ">"); got != "<***>" {
			t.Errorf("%q is shown as %q", hidden, got)
		}
	}
	for _, shown := range []string{"visible-user", "visible client", "https://visible.example", "X-Key", "ApiKey", "123", "v a", "visible cert", "visible CA"} {
		if got := m.redact(shown); got != shown {
			t.Errorf("%q is hidden as %q", shown, got)
		}
	}
}

// A secret where the text is cut must not lose its end, and with it its disguise.
func TestSecretAcrossTheCut(t *testing.T) {
	t.Parallel()
	const secret = "s3cret-t0ken-of-some-length"
	m := newRedactor(secret)
	for _, limit := range []int{maxText, maxMessage} {
		for before := limit - len(secret) - 5; before < limit+5; before++ {
			text := strings.Repeat("x", before) + secret + "tail"
			for _, body := range []string{text, `{"message":"` + text + `"}`} {
				if message, _ := readMessage([]byte(body), m); strings.Contains(message, "s3cret") || strings.Contains(message, "s3c") {
					t.Fatalf("%d characters before it: …%s", before, message[max(0, len(message)-40):])
				}
			}
		}
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                     "",
		"grün 流 😀\u00a0é":      "grün 流 😀\u00a0é",
		"a\nb\tc\rd":           `a\nb\tc\u000dd`,
		"\x00\x07\x1b[0m\x7f":  `\u0000\u0007\u001b[0m\u007f`,
		"\u0085\u009b":         `\u0085\u009b`,
		"\u202a\u202e\u2066":   `\u202a\u202e\u2066`,
		"\u200b\u200d\ufeff":   `\u200b\u200d\ufeff`,
		"\u2028\u2029\u00ad":   `\u2028\u2029\u00ad`,
		"\U000e0001\U0010ffff": `\U000e0001\U0010ffff`,
		"\ue000":               `\ue000`,
		"\xff\xc3(\ufffd":      `\xff\xc3(` + "\ufffd",
		`already \n escaped`:   `already \n escaped`,
	} {
		if got := escapeInvisible(in); got != want {
			t.Errorf("escapeInvisible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		to   int
		want string
	}{{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"流流流", 3, "流流流"}, {"流流流", 2, "流流…"}, {"a", 0, "…"}} {
		if got := truncate(test.in, test.to); got != test.want {
			t.Errorf("truncate(%q, %d) = %q, want %q", test.in, test.to, got, test.want)
		}
	}
}

// Whatever an answer holds, what is shown of it is short, one line, printable and without the secret.
func FuzzReadMessage(f *testing.F) {
	const secret = `s3cret/t0ken+"<&%25>'==`
	m := newRedactor(secret)
	for _, body := range []string{
		"", "null", `{"message":"no"}`, `{"message":null}`, `{"Message":"x"}`, "<h1>No</h1>", "\xff\xfe", "a\x1b[2J\u202eb",
		strings.Repeat("x", maxText-3), strings.Repeat("x", maxMessage-3), `{"message":"` + strings.Repeat("x", maxMessage-3), `%`, `\u00`, `&#`, "s3cret/",
	} {
		f.Add([]byte(body), []byte(`"}`))
	}
	quoted, _ := json.Marshal(secret)
	f.Fuzz(func(t *testing.T, before, after []byte) {
		for _, spelled := range []string{
			secret, string(quoted), html.EscapeString(secret), url.QueryEscape(secret), url.PathEscape(secret),
			strings.ReplaceAll(string(quoted[1:len(quoted)-1]), "/", `\/`), "",
		} {
			body := string(before) + spelled + string(after)
			message, documented := readMessage([]byte(body), m)
			limit := maxText
			if documented {
				limit = maxMessage
			}
			if n := utf8.RuneCountInString(message); n > limit+1 || n == limit+1 && !strings.HasSuffix(message, "…") {
				t.Errorf("%d characters of %q", n, body)
			}
			if strings.Contains(message, secret) || strings.Contains(message, "s3cret/t0ken+") && spelled != "" {
				t.Errorf("%q shows the secret as %q", body, message)
			}
			for _, r := range message {
				if !unicode.IsGraphic(r) {
					t.Errorf("%q is shown as %q, which has %U", body, message, r)
				}
			}
			if !utf8.ValidString(message) {
				t.Errorf("%q is shown as %q, which is not UTF-8", body, message)
			}
		}
	})
}

// Go quotes a proxy's address that it cannot read, so that it is a secret if it can hold a password.
func TestProxyAddressIsSecret(t *testing.T) {
	const with, without = "http://user:pr0xy-secret@[::1", "http://proxy.example:3128"
	t.Setenv("HTTPS_PROXY", with)
	t.Setenv("http_proxy", without)
	hidden := new(redactor)
	hidden.add(Config{}.secrets()...)
	if got, want := hidden.redact("invalid proxy address "+with+", not "+without), "invalid proxy address ***, not "+without; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
