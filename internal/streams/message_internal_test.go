package streams

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestEscapeInvisible(t *testing.T) {
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

func TestTruncate(t *testing.T) {
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
