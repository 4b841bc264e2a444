package streams

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// The message of any body is short, has one line and only visible characters.
func FuzzReadMessage(f *testing.F) {
	for _, body := range []string{
		"", "null", `{"message":"no"}`, `{"message":null}`, `{"Message":"x"}`, "<h1>No</h1>", "\xff\xfe", "a\x1b[2J\u202eb",
		strings.Repeat("\x1b", maxText), strings.Repeat("x", maxText-3), `{"message":"` + strings.Repeat("x", maxMessage) + `"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		message, documented := readMessage(body, new(redactor))
		limit := maxText
		if documented {
			limit = maxMessage
		}
		if n := utf8.RuneCountInString(message); n > limit+1 || n == limit+1 && !strings.HasSuffix(message, "…") || !utf8.ValidString(message) {
			t.Errorf("%q is shown as %d characters: %q", body, n, message)
		}
		for _, r := range message {
			if !unicode.IsGraphic(r) {
				t.Errorf("%q is shown as %q, which has %U", body, message, r)
			}
		}
	})
}
