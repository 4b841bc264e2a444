package requests

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

const maxToken = 64 << 10 // bytes of a credential; no server takes a longer one

// CheckToken returns an error, such as "it has control characters", if a bearer token or an assertion cannot be sent.
func CheckToken(token string) error {
	scheme, _, found := strings.Cut(token, " ")
	switch {
	case len(token) > maxToken:
		return fmt.Errorf("it is longer than %d KiB", maxToken>>10)
	case found && strings.EqualFold(scheme, "Bearer"):
		return errors.New(`it begins with "Bearer", which is sent before the token: remove it`)
	case strings.ContainsFunc(token, unicode.IsControl):
		return errors.New("it has control characters")
	}
	return nil
}

// LooksUnfilled reports whether a text looks like a reference to a value. It may be the value: an error mentions it after a rejection.
func LooksUnfilled(text string) bool { return reference.MatchString(text) }

// reference matches what pipelines, templates and secret stores replace.
var reference = regexp.MustCompile(`\$\(|\$\{|\{\{|^[A-Za-z][\w+.-]*://`)
