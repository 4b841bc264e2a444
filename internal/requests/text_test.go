package requests_test

import (
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	. "github.com/stream-management/terraform-provider-stream/internal/scripted"
)

func TestCheckVariable(t *testing.T) {
	t.Parallel()
	const quotes = "must not be in quotes"
	for text, want := range map[string]string{
		"": "", "a": "", `a"b"`: "", `"a" b`: "", `"`: "", "it's": "", `{"a": "b"}`: "", "\n\ufeff": "",
		"a\xc3": "is not UTF-8 text", `"a"`: quotes, "'a b'": quotes, "`a`": quotes, "“a”": quotes, "«a»": quotes, "“a": "", "a”": "", "a\x00": "", `""`: quotes, `'{"a": "b"}'`: quotes,
	} {
		if got := ErrorText(requests.CheckVariable(text)); got != want && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCheckLine(t *testing.T) {
	t.Parallel()
	const space, control = "must not begin or end with white space", "must not have control characters"
	const lineBreak = ": it has a line break"
	for text, want := range map[string]string{
		"": "", "a b": "", `"a"`: "", "ü": "",
		"a\r": space + lineBreak + " there, such as the one of a file", "\na": space + lineBreak + " there, such as the one of a file",
		"a ": space, "\ta": space, "a\u00a0": space, " \n": space + lineBreak + " there, such as the one of a file",
		"a\r\nb": control + lineBreak, "a\rb": control + lineBreak, "a\x00b": control, "a\u009bb": control,
		"\ufeffa\r\n": requests.ErrMark.Error(), "a\ufeff": requests.ErrMark.Error(),
	} {
		if got := ErrorText(requests.CheckLine(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What RFC 6750 allows is a token, and so is what services use beyond it. A text in its place is none.
func TestCheckToken(t *testing.T) {
	t.Parallel()
	const reference, characters = "it looks like a reference", "it has characters that no bearer token has"
	for text, want := range map[string]string{
		"AZaz09-._~+/==": "", "eyJh.eyJz.c2ln": "", "null": "", "changeme": "", "abc==": "", "abc=": "", "ref/op/ENC": "", "1|abc": "", "key:secret": "",
		"app!a@b*c,d;e&f?g^h": "", "a=b=": "it has the form", strings.Repeat("a", 64<<10): "",

		"$(STREAM_TOKEN)": reference, "${X}": reference, "$TOKEN": reference, "{{ token }}": reference, "#{token}#": reference, "%TOKEN%": reference,
		"op://vault/item/field": reference, "vault://a#b": reference, "ENC[AES256_GCM,data:x]": reference, "<token>": reference,
		"vault:secret/data/x#token": reference, "arn:aws:secretsmanager:eu:1:secret:x": reference, "***": reference,
		"https://vault.example/x": "it is a URL", `{"token":"a"}`: "it is a JSON object", `{"token": "a"}`: "it is a JSON object",
		"TOKEN=abc": "it has the form NAME=value", "export TOKEN=abc": characters, `"abc"`: "it is in quotes", "'abc'": "it is in quotes", "“abc”": "it is in quotes",
		"a b": characters, "tök": characters, "a[b]": characters, `a"b`: characters, "a(b)": characters, "a\\b": characters,
		"Bearer abc": `it begins with "Bearer"`, "bearer abc": `it begins with "Bearer"`, "a\x7f": "it has control characters",
		strings.Repeat("a", 64<<10+1): "it is longer than 64 KiB",
	} {
		if got := ErrorText(requests.CheckToken(text)); got != want && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

func TestLooksUnfilled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"s3cret": false, "https://host": false, "a=b": false, "Basic dTpw": false, "pa$$word": false, "p%40ss": false, "a<b>c": false, "null1": false,
		"$(KEY)": true, "ApiKey ${KEY}": true, "$KEY": true, "op://a/b": true, "null": true, "undefined": true, "REPLACE_ME": true, "****": true,
		"ref+awsssm://a": true, "projects/p/secrets/s/versions/latest": true, "@Microsoft.KeyVault(SecretUri=x)": true,
		"__TOKEN__": true, "@@TOKEN@@": true, "((token))": true, "_TOKEN_": false, "__token": false, "a((b))": false,
	} {
		if got := requests.LooksUnfilled(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
