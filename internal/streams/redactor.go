package streams

import (
	"cmp"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// replacement is written in place of a secret.
const replacement = "***"

// redactor replaces known secrets in texts that leave the client: a service or a proxy may echo a
// request. The zero value replaces nothing. It is safe for concurrent use.
type redactor struct {
	mu       sync.RWMutex
	secrets  []string
	replacer *strings.Replacer
}

// add makes the redactor replace secrets from now on, also as they are escaped in JSON, HTML and URLs.
func (r *redactor) add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range secrets {
		quoted, _ := json.Marshal(s) // cannot fail for a string
		for _, form := range []string{
			s, string(quoted[1 : len(quoted)-1]), html.EscapeString(s), url.QueryEscape(s), url.PathEscape(s),
		} {
			if form != "" && !slices.Contains(r.secrets, form) {
				r.secrets = append(r.secrets, form)
			}
		}
	}
	// Longest first, because a secret may be the beginning of another one.
	slices.SortFunc(r.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	pairs := make([]string, 0, 2*len(r.secrets))
	for _, s := range r.secrets {
		pairs = append(pairs, s, replacement)
	}
	r.replacer = strings.NewReplacer(pairs...)
}

// redact replaces the secrets in s. Frameworks escape in different ways, and sometimes twice, so no
// list of forms is complete. If s contains a secret only after unescaping, the result is unescaped.
func (r *redactor) redact(s string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.replacer == nil {
		return s
	}
	s = r.replacer.Replace(s)
	unescaped := s
	for i := 0; i < 3 && strings.ContainsAny(unescaped, escapeStarts); i++ {
		unescaped = unescape(unescaped)
		if redacted := r.replacer.Replace(unescaped); redacted != unescaped {
			s, unescaped = redacted, redacted
		}
	}
	return s
}

// printable returns a text of the service as an error shows it: without secrets and invisible
// characters, and with at most limit characters.
func (r *redactor) printable(s string, limit int) string {
	return truncate(escapeInvisible(r.redact(s)), limit)
}

// escapeStarts has the first character of each escape sequence in JSON, URLs and HTML.
const escapeStarts = `\%&`

var escapeSequence = regexp.MustCompile(`^(?:\\u[Dd][89ABab][0-9A-Fa-f]{2}\\u[0-9A-Fa-f]{4}|\\u[0-9A-Fa-f]{4}|\\["\\/bfnrt]` +
	`|%[0-9A-Fa-f]{2}|&#?[0-9A-Za-z]+;)`)

// maxEscapeSequence limits the search for an escape sequence, in bytes: on all of a long text, the
// regular expression would be slow.
const maxEscapeSequence = 40

// unescape replaces each escape sequence of JSON, URLs and HTML by its character.
func unescape(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(s, escapeStarts)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		sequence := escapeSequence.FindString(s[:min(len(s), maxEscapeSequence)])
		switch {
		case sequence == "":
			sequence = s[:1]
			b.WriteString(sequence)
		case sequence[0] == '\\':
			var decoded string
			_ = json.Unmarshal([]byte(`"`+sequence+`"`), &decoded) // the pattern matches only valid JSON
			b.WriteString(decoded)
		case sequence[0] == '%':
			decoded, _ := url.PathUnescape(sequence) // the pattern matches only valid escapes
			b.WriteString(decoded)
		default:
			b.WriteString(html.UnescapeString(sequence))
		}
		s = s[len(sequence):]
	}
}
