package streams

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// redactor masks known secrets in texts from outside: a service, a proxy or a library may quote what it received, as it
// is, or escaped up to three times for a URL, for a string in JSON or a programming language, or for HTML. The provider's
// own words, its URLs and the ids that the user wrote are never masked. The zero value masks nothing.
type redactor struct {
	mu      sync.Mutex // for one text at a time, because a long one needs several times its size
	secrets []string   // longest first
}

// add makes the redactor mask secrets from now on.
func (r *redactor) add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range secrets {
		if secret != "" && !slices.Contains(r.secrets, secret) {
			r.secrets = append(r.secrets, secret, strings.ReplaceAll(secret, " ", "+")) // as in a form
		}
	}
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
}

// mask replaces the secrets in a text from outside. If one is escaped, mask replaces the words that have it, or the whole
// text if the secret is more than a word. Mask before a text is cut: half a secret is not found.
func (r *redactor) mask(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range r.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	hide := func(text string) string {
		if r.hidden(text, 3) {
			return "***"
		}
		return text
	}
	if hide(text) != text {
		text = hide(words.ReplaceAllStringFunc(text, hide))
	}
	return text
}

var words = regexp.MustCompile(`[^\s"'<>?]+`)

// hidden reports whether a text has a secret, or has one once up to as many levels of escapes are undone.
func (r *redactor) hidden(text string, levels int) bool {
	found := slices.ContainsFunc(r.secrets, func(secret string) bool { return strings.Contains(text, secret) })
	if found || levels == 0 {
		return found
	}
	return slices.ContainsFunc([]func(string) string{unescapeURL, unquote, html.UnescapeString}, func(undo func(string) string) bool {
		plain := undo(text)
		return plain != text && r.hidden(plain, levels-1)
	})
}
