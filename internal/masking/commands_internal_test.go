package masking

import (
	"strings"
	"testing"
)

// No line of the output may begin with a command of a CI system. Two colons elsewhere are no command.
func TestCommandsAreBroken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"::add-mask::x": `\x3a:add-mask::x`, "no\n::set-env name=a::b": `no\n\x3a:set-env name=a::b`,
		"no ::error file=a,line=1::b": `no \x3a:error file=a,line=1::b`,
		"::a ::b::":                   `\x3a:a \x3a:b::`, "\u00a0::stop-commands::x": "\u00a0" + `\x3a:stop-commands::x`,
		"##vso[task.setvariable variable=a]b": `\x23#vso[task.setvariable variable=a]b`, "no##[error]x": `no\x23#[error]x`,
		"##teamcity[x]":             `\x23#teamcity[x]`,
		"a::b fe80::1 ::1 :: x ::b": "a::b fe80::1 ::1 :: x ::b", "arn:aws:iam::12:role/a": "arn:aws:iam::12:role/a", "C::D::e": "C::D::e",
		"## a [b] #[c]": "## a [b] #[c]",
	} {
		r := newRedactor()
		if got := r.Printable(text, MaxText); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := r.Printable(want, MaxText); !strings.Contains(want, `\n`) && got != want {
			t.Errorf("again, %q: %q", want, got)
		}
	}
}
