package config

import (
	"errors"
	"strings"
	"unicode/utf8"
)

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
