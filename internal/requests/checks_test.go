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
		"AZaz09-._~+/==": "", "a=b=": "", "key:secret": "", "k8$Zp!x": "", "Qz(7w]kL2": "", `"abc"`: "", "'a'": "", "TOKEN=abc": "", `{"token":"a"}`: "",
		"${X}": "", "op://a/b": "", "a b": "", "tök": "", `a\b"c`: "", "Bearer": "", "Bearerabc": "", "null": "", strings.Repeat("a", 64<<10): "",

		"Bearer abc": `it begins with "Bearer", which is sent before the token: remove it`, "bEARER ": `it begins with "Bearer"`,
		"a\x7f": "it has control characters", "a\x00": "it has control characters", "a\u0085b": "it has control characters", "a\nb": "it has control characters",
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
		"$(KEY)": true, "ApiKey ${KEY}": true, "a{{ key }}": true, "op://a/b": true, "ref+awsssm://a": true, "https://host": true,
		"s3cret": false, "a=b": false, "pa$$word": false, "$KEY": false, "%KEY%": false, "null": false, "****": false, "a<b>c": false, "a://": true, "1://": false, "x y://z": false,
	} {
		if got := requests.LooksUnfilled(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
