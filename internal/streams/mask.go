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

// masked stands where a secret stood.
const masked = "***"

// mask hides known secrets in texts that leave the client: a service or a proxy may echo what it
// was sent. Its zero value hides nothing.
type mask struct {
	mu       sync.RWMutex
	secrets  []string
	replacer *strings.Replacer
}

// add makes the mask hide secrets from now on, also in the spellings that JSON, HTML and URLs give them.
func (m *mask) add(secrets ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range secrets {
		quoted, _ := json.Marshal(s) // a string always has a JSON form
		for _, form := range []string{
			s, string(quoted[1 : len(quoted)-1]), html.EscapeString(s), url.QueryEscape(s), url.PathEscape(s),
		} {
			if form != "" && !slices.Contains(m.secrets, form) {
				m.secrets = append(m.secrets, form)
			}
		}
	}
	// The longest first: a secret may begin with another one.
	slices.SortFunc(m.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	pairs := make([]string, 0, 2*len(m.secrets))
	for _, s := range m.secrets {
		pairs = append(pairs, s, masked)
	}
	m.replacer = strings.NewReplacer(pairs...)
}

// hide replaces the secrets in s. Each framework escapes in its own way and some of them twice, so
// that no list of spellings is complete: what holds a secret once it is unescaped stays unescaped.
func (m *mask) hide(s string) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.replacer == nil {
		return s
	}
	s = m.replacer.Replace(s)
	plain := s
	for i := 0; i < 3 && strings.ContainsAny(plain, escapes); i++ {
		plain = unescape(plain)
		if hidden := m.replacer.Replace(plain); hidden != plain {
			s, plain = hidden, hidden
		}
	}
	return s
}

// escapes are what an escape begins with in JSON, URLs and HTML.
const escapes = `\%&`

var escape = regexp.MustCompile(`^(?:\\u[Dd][89ABab][0-9A-Fa-f]{2}\\u[0-9A-Fa-f]{4}|\\u[0-9A-Fa-f]{4}|\\["\\/bfnrt]` +
	`|%[0-9A-Fa-f]{2}|&#?[0-9A-Za-z]+;)`)

// unescape writes the characters themselves for the escapes in s.
func unescape(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(s, escapes)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		found := escape.FindString(s[:min(len(s), 40)]) // none is longer; a regexp over all of s is slow
		switch {
		case found == "":
			found = s[:1]
			b.WriteString(found)
		case found[0] == '\\':
			var plain string
			_ = json.Unmarshal([]byte(`"`+found+`"`), &plain) // what is found is legal JSON
			b.WriteString(plain)
		case found[0] == '%':
			plain, _ := url.PathUnescape(found) // and a legal escape
			b.WriteString(plain)
		default:
			b.WriteString(html.UnescapeString(found))
		}
		s = s[len(found):]
	}
}
