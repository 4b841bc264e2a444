package masking

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// What is shorter, in bytes, is not masked: to mask a value such as "1" would make other texts unreadable.
const (
	MinValue = 4 // the value of a header or a parameter, or another spelling of a secret
	minPart  = 8 // a part of a secret
)

// spellings returns a secret as it is, as a web form or ISO 8859-1 has it, in other kinds of base64, and without its own escapes,
// because a service may escape only the other characters: at most the given number of these changes.
func spellings(secret string, changes int) []string {
	latin1, _ := charmap.ISO8859_1.NewEncoder().String(secret)
	all := []string{secret, strings.ReplaceAll(secret, " ", "+"), strings.ReplaceAll(secret, "+", " "), latin1}
	others := []string{strings.TrimRight(secret, "="), strings.NewReplacer("+", "-", "/", "_").Replace(secret)}
	for _, kind := range escapes {
		plain, _ := kind.undoAll(secret)
		others = append(others, plain)
	}
	for _, other := range others {
		if changes > 0 && other != secret && len(other) >= MinValue {
			all = append(all, spellings(other, changes-1)...)
		}
	}
	return all
}

// escapes has the escapes of a URL, of a string in JSON or a programming language, and of HTML.
var escapes = []escapeKind{
	{regexp.MustCompile(`%[[:xdigit:]]{2}`), func(escape string) string { c, _ := url.PathUnescape(escape); return c }},
	{regexp.MustCompile(`(?s)\\(x[[:xdigit:]]{2}|(u[dD][89abAB][[:xdigit:]]{2}\\)?u[[:xdigit:]]{4}|U[[:xdigit:]]{8}|[0-7]{3}|.)`),
		unquote},
	{regexp.MustCompile(`&(#[xX]?0*)?[[:alnum:]]{1,32};?`), html.UnescapeString},
}

type escapeKind struct {
	pattern *regexp.Regexp
	undo    func(escape string) string
}

// undoneEscape is where an escape was in a text, and the length of what it stands for.
type undoneEscape struct{ begin, end, length int }

// undoAll returns a text without escapes of this kind, and where they were.
func (k escapeKind) undoAll(text string) (plain string, undone []undoneEscape) {
	var b strings.Builder
	done := 0
	for _, at := range k.pattern.FindAllStringIndex(text, -1) {
		c := k.undo(text[at[0]:at[1]])
		b.WriteString(text[done:at[0]] + c)
		done = at[1]
		undone = append(undone, undoneEscape{at[0], at[1], len(c)})
	}
	b.WriteString(text[done:])
	return b.String(), undone
}

// unquote returns the character of an escape of Go or JSON, or another character without its backslash.
func unquote(escape string) (c string) {
	c, err := strconv.Unquote(`"` + escape + `"`)
	if err != nil && json.Unmarshal([]byte(`"`+escape+`"`), &c) != nil {
		return escape[1:]
	}
	return c
}
