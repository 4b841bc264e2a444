package config

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

const mark = "\ufeff"

var errMark = errors.New("must not have a byte order mark (U+FEFF), with which some editors begin a file")

// checkVariable returns an error, such as "must not be in quotes", if an environment variable has another text than the user
// meant.
func checkVariable(text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New("is not UTF-8 text")
	case len(text) > 1 && strings.ContainsRune(`"'`, rune(text[0])) && text[0] == text[len(text)-1]:
		return errors.New("must not be in quotes, which some files of variables keep as part of the value")
	}
	return nil
}

// checkLine returns an error, such as "must not have control characters", if a text cannot be a value of one line. Secrets
// often come from files, with what these have at their ends.
func checkLine(text string) error {
	switch {
	case strings.Contains(text, mark):
		return errMark
	case strings.TrimSpace(text) != text:
		return errors.New("must not begin or end with white space, such as the line break of a file")
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("must not have control characters, such as a line break")
	}
	return nil
}
