package streams

import (
	"cmp"
	"encoding/json"
	"html"
	"net/url"
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
			s, strings.Trim(string(quoted), `"`), html.EscapeString(s), url.QueryEscape(s), url.PathEscape(s),
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

func (m *mask) hide(s string) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.replacer == nil {
		return s
	}
	return m.replacer.Replace(s)
}
