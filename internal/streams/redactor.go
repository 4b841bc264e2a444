package streams

import (
	"cmp"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/encoding/charmap"
)

// redactor masks known secrets in texts from outside, which may quote them in UTF-8 or ISO 8859-1, and escaped up to
// three times. The provider's own words, its URLs and the user's ids are never masked. The zero value masks nothing.
type redactor struct {
	mu      sync.Mutex // for one text at a time, because a long one needs several times its size
	secrets []string   // longest first
}

func (r *redactor) add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range secrets {
		latin1, _ := charmap.ISO8859_1.NewEncoder().String(secret)
		misread, _ := charmap.ISO8859_1.NewDecoder().String(secret)
		r.secrets = append(r.secrets, secret, strings.ReplaceAll(secret, " ", "+"), latin1, misread) // "+" as in a form
	}
	slices.SortFunc(r.secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	r.secrets = slices.DeleteFunc(slices.Compact(r.secrets), func(secret string) bool { return secret == "" })
}

// mask replaces the secrets in a text from outside. If one is escaped, mask replaces the words that have it, or the
// whole text if the secret is more than a word. Mask before a text is cut: half a secret is not found.
func (r *redactor) mask(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if masked := r.replace(text, 3); masked != "***" {
		return masked
	}
	return r.replace(words.ReplaceAllStringFunc(r.replace(text, 0), func(word string) string { return r.replace(word, 3) }), 3)
}

// replace replaces the secrets in a text, or all of it if one appears once up to so many levels of escapes are undone.
func (r *redactor) replace(text string, levels int) string {
	for _, secret := range r.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	for i := 0; i < len(unescape) && levels > 0; i++ {
		if plain := unescape[i](text); plain != text && r.replace(plain, levels-1) != plain {
			return "***"
		}
	}
	return text
}

var (
	words     = regexp.MustCompile(`[^\s"'<>?]+`)
	percent   = regexp.MustCompile(`%[\da-fA-F]{2}`)
	backslash = regexp.MustCompile(`(?s)\\(u[\da-fA-F]{4}(\\u[\da-fA-F]{4})*|x[\da-fA-F]{2}|[0-7]{3}|U[\da-fA-F]{8}|.)`)
	// unescape has functions that undo the escapes of a URL, of a string in JSON or a programming language, and of HTML.
	unescape = []func(string) string{
		func(text string) string {
			return percent.ReplaceAllStringFunc(text, func(escape string) string { return unquote(`\x` + escape[1:]) })
		},
		func(text string) string { return backslash.ReplaceAllStringFunc(text, unquote) },
		html.UnescapeString,
	}
)

// unquote returns what an escape stands for, or several of the form \uXXXX, because two may be one character.
func unquote(escape string) string {
	plain, err := strconv.Unquote(`"` + escape + `"`)
	if err != nil && json.Unmarshal([]byte(`"`+escape+`"`), &plain) != nil {
		return escape[1:] // a character that needs no escape
	}
	return plain
}
