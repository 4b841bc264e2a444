package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
)

func TestCheckVariable(t *testing.T) {
	t.Parallel()
	const quotes = "must not be in quotes"
	for text, want := range map[string]string{
		"": "", "a": "", `a"b"`: "", `"a" b`: "", `"`: "", "it's": "", `{"a": "b"}`: "", "\n\ufeff": "", "a\x00": "", "“a”": "", "`a`": "",
		`"a'`:   "",
		"a\xc3": "is not UTF-8 text", `"a"`: quotes, "'a b'": quotes, `""`: quotes, `'{"a": "b"}'`: quotes,
	} {
		if got := errorText(checkVariable(text)); got != want && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Each variable that is used says what is wrong with its text. What a state has is in NFC; credentials and paths are not altered.
func TestTextOfTheEnvironment(t *testing.T) {
	t.Parallel()
	const (
		encoding  = "is not UTF-8 text."
		quotes    = "must not be in quotes"
		mark      = "must not have a byte order mark (U+FEFF)"
		lineBreak = "must not begin or end with white space"
	)
	of := func(variable, text string) environment {
		env := environment{}
		switch {
		case variable == "STREAM_USERNAME", variable == "STREAM_PASSWORD":
			env["STREAM_USERNAME"], env["STREAM_PASSWORD"] = "u", "p"
		case strings.HasPrefix(variable, "STREAM_OAUTH2_CLIENT_"):
			env["STREAM_OAUTH2_TOKEN_URL"], env["STREAM_OAUTH2_CLIENT_ID"] = someURL, "c"
		}
		env[variable] = text
		return env
	}
	all := map[string]string{"TF_APPEND_USER_AGENT": "", "NO_PROXY": "", "no_proxy": "", "HTTPS_PROXY": "", "https_proxy": "",
		"HTTP_PROXY": "", "http_proxy": ""}
	for name, of := range variables {
		all[of[0]] = fmt.Sprintf(" (%s)", name)
	}
	for variable, name := range all {
		for text, want := range map[string]string{
			"Hidden\xff": encoding, "a\xc3": encoding, `"Hidden"`: quotes, "'Hidden'": quotes, "\ufeffHidden": mark, "Hidden\r": lineBreak,
			"Hidden\n": lineBreak,
		} {
			anyLines := strings.HasSuffix(variable, "_PEM") || strings.EqualFold(variable, "NO_PROXY") || variable == "STREAM_HEADERS"
			skipsLineBreak := anyLines || strings.HasSuffix(variable, "_URL") || variable == "TF_APPEND_USER_AGENT"
			if want == mark && anyLines || want == lineBreak && skipsLineBreak {
				continue
			}
			_, diags := read(t, nil, of(variable, text))
			want = "The environment variable " + variable + name + " " + want
			if !strings.Contains(fmt.Sprint(diags), want) || strings.Contains(fmt.Sprint(diags), "Hidden") {
				t.Errorf("%s = %q: %q", variable, text, problemsIn(diags))
			}
		}
	}
	_, diags := read(t, block{"token": "t", "deployment": "eu"},
		environment{"STREAM_TOKEN": "\xff", "STREAM_DEPLOYMENT": "\xff", "STREAM_PASSWORD": "\xff"})
	wantProblems(t, diags)

	const decomposed = "u\u0308"
	s, diags := read(t, nil, environment{"STREAM_USERNAME": decomposed, "STREAM_PASSWORD": decomposed, "STREAM_HEADERS": `{"X-Key": "` +
		decomposed + `"}`})
	if wantProblems(t, diags); *s.Client.BasicAuth != (requests.BasicAuth{Username: decomposed, Password: decomposed}) ||
		s.Client.Headers["X-Key"] != decomposed {
		t.Errorf("%+v", s.Client)
	}
	if s, _ = read(t, nil, environment{"STREAM_TOKEN_FILE": decomposed}); s.Client.TokenFile != decomposed {
		t.Errorf("%+q", s.Client.TokenFile)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
