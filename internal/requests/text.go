package requests

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const mark = "\ufeff"

const maxToken = 64 << 10 // bytes of a credential

// ErrMark is the error of a text with a byte order mark.
var ErrMark = errors.New("must not have a byte order mark (U+FEFF), with which some editors begin a file")

// CheckVariable returns an error, such as "must not be in quotes", if an environment variable has another text than the user
// meant.
func CheckVariable(text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New("is not UTF-8 text")
	case inQuotes(text):
		return errors.New("must not be in quotes, which some files of variables keep as part of the value")
	}
	return nil
}

// closing has the quotes that a text may end with, by those that it begins with. Some programs make typographic ones.
var closing = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '“': '”', '‘': '’', '„': '“', '«': '»'}

func inQuotes(text string) bool {
	first, size := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	end, isQuote := closing[first]
	return isQuote && end == last && len(text) > size
}

// CheckLine returns an error, such as "must not have control characters", if a text cannot be a value of one line. Secrets
// often come from files, with what these have at their ends.
func CheckLine(text string) error {
	const breaks = "\r\n"
	trimmed := strings.TrimSpace(text)
	switch {
	case strings.Contains(text, mark):
		return ErrMark
	case trimmed != text && strings.ContainsAny(strings.Replace(text, trimmed, "", 1), breaks):
		return errors.New("must not begin or end with white space: it has a line break there, such as the one of a file")
	case trimmed != text:
		return errors.New("must not begin or end with white space")
	case strings.ContainsAny(text, breaks):
		return errors.New("must not have control characters: it has a line break")
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("must not have control characters")
	}
	return nil
}

// LooksUnfilled reports whether a text looks like a reference to a value, or like the absence of one. It may be the value.
func LooksUnfilled(text string) bool {
	return reference.MatchString(text)
}

// reference matches what pipelines, templates and secret stores replace, and what programs write for a missing value.
var reference = regexp.MustCompile(`(?i)\$\(|\$\{|\{\{|#\{|^\$\w+$|^%\w+%$|^__\w+__$|^@@\w+@@$|^\(\(|^<[^<>]+>$|^ENC\[|` +
	`^(op|bw|keeper|doppler|vault|secret|secretref|ref\+\w+|env|file)://|^(vault|secret|arn|ssm):|^projects/[^/]+/secrets/|^@Microsoft\.KeyVault\(|` +
	`^(null|nil|none|undefined|change[-_]?me|replace[-_]?me|\*+)$`)

// bearer matches every bearer token of RFC 6750, section 2.1.
var bearer = regexp.MustCompile(`^[[:alnum:]\-._~+/]+=*$`)

// notTokens are the texts in place of a bearer token that are refused. Some services have tokens with more characters than
// RFC 6750 allows, such as a colon.
var notTokens = []struct {
	is      func(token string) bool
	problem string
}{
	{inQuotes, "it is in quotes"},
	{regexp.MustCompile(`^[A-Za-z_]\w*=[^=]`).MatchString, "it has the form NAME=value, of which the token is only a part"},
	{LooksUnfilled, "it looks like a reference that nothing has replaced with its value"},
	{regexp.MustCompile(`^\{.*\}$`).MatchString, "it is a JSON object, of which the token is only a part"},
	{regexp.MustCompile(`://`).MatchString, "it is a URL"},
	{regexp.MustCompile("[^!-~]|[\"'`$(){}\\[\\]<>\\\\]").MatchString, "it has characters that no bearer token has"},
}

// CheckToken returns an error, such as "it is in quotes", if a bearer token of the configuration cannot be one.
func CheckToken(token string) error {
	if err := checkSendable(token); err != nil || bearer.MatchString(token) {
		return err
	}
	for _, other := range notTokens {
		if other.is(token) {
			return errors.New(other.problem)
		}
	}
	return nil
}

// checkSendable returns an error, such as "it has control characters", if a bearer token cannot be sent.
func checkSendable(token string) error {
	scheme, _, found := strings.Cut(token, " ")
	switch {
	case len(token) > maxToken:
		return fmt.Errorf("it is longer than %d KiB", maxToken>>10)
	case found && strings.EqualFold(scheme, "Bearer"):
		return errors.New(`it begins with "Bearer", which is sent before the token`)
	case strings.ContainsFunc(token, unicode.IsControl):
		return errors.New("it has control characters")
	}
	return nil
}
