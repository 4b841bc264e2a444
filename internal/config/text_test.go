package config

import (
	"strings"
	"testing"
)

func TestCheckVariable(t *testing.T) {
	t.Parallel()
	const quotes = "must not be in quotes"
	for text, want := range map[string]string{
		"": "", "a": "", `a"b"`: "", `"a" b`: "", `"`: "", "it's": "", `{"a": "b"}`: "", "\n\ufeff": "", "a\x00": "", "“a”": "", "`a`": "", `"a'`: "",
		"a\xc3": "is not UTF-8 text", `"a"`: quotes, "'a b'": quotes, `""`: quotes, `'{"a": "b"}'`: quotes,
	} {
		if got := errorText(checkVariable(text)); got != want && (want == "" || !strings.HasPrefix(got, want)) {
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
		"\ufeffa\r\n": errMark.Error(), "a\ufeff": errMark.Error(),
	} {
		if got := errorText(checkLine(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
