package requests_test

import (
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
)

// Tokens with every visible character are sent. What is refused can be no token, or breaks the request.
func TestCheckToken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"AZaz09-._~+/==": "", "a=b=": "", "key:secret": "", "k8$Zp!x": "", "Qz(7w]kL2": "", `"abc"`: "", "'a'": "", "TOKEN=abc": "",
		`{"token":"a"}`: "", "${X}": "", "op://a/b": "", "a b": "", "tök": "", `a\b"c`: "", "Bearer": "", "Bearerabc": "", "null": "",
		strings.Repeat("a", 64<<10): "",

		"Bearer abc": `it begins with "Bearer", which is sent before the token: remove it`, "bEARER ": `it begins with "Bearer"`,
		"a\x7f": "it has control characters", "a\x00": "it has control characters", "a\u0085b": "it has control characters",
		"a\nb":                        "it has control characters",
		strings.Repeat("a", 64<<10+1): "it is longer than 64 KiB",
	} {
		if got := ErrorText(requests.CheckToken(text)); got != want && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

// A credential that may not be what somebody meant is named after a rejection, and sent all the same.
func TestSuspicion(t *testing.T) {
	t.Parallel()
	const empty, header, unfilled = "is empty", "begins with the name of a header",
		"looks like a reference or a placeholder that nothing has replaced"
	for want, texts := range map[string][]string{
		"": {"s3cret", "a=b", "pa$$word", "pa$word", "100%", "a%b%c", "****", "a<b>c", "1://", "x y://z", "(a)", "nullable", "annull",
			"Basic abc", "key:secret", "a:b"},
		unfilled: {"$(KEY)", "ApiKey ${KEY}", "a{{ key }}", "op://a/b", "ref+awsssm://a", "https://host", "a://", "null", "NULL", "nil", "None",
			"undefined", "changeme", "CHANGE_ME", "change-me", "TODO", "$KEY", "ApiKey $KEY", "%KEY%", "<token>", "<your key>", "<nil>", "((token))",
			"((team/key))", "ENC[AES256_GCM,data:x]"},
		header: {"Authorization: Bearer abc", "authorization:abc", "X-Api-Key: abc", "Bearer: abc"},
		empty:  {""},
	} {
		for _, text := range texts {
			if got := requests.Suspicion(text); got != want {
				t.Errorf("%q: %q", text, got)
			}
		}
	}
}
