package streams

import (
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// replacement is written in place of a secret.
const replacement = "***"

// redactor masks known secrets in texts from outside: a service, a proxy or a library may quote what it
// received. The provider's own words, its URLs and the ids that the user wrote are never masked. The zero
// value masks nothing. It is safe for concurrent use.
type redactor struct {
	mu       sync.RWMutex
	spelled  []string // each secret in each of its spellings, longest first
	replacer *strings.Replacer
}

// add makes the redactor mask secrets from now on.
func (r *redactor) add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range secrets {
		if secret != "" {
			r.spelled = append(r.spelled, spellings(secret)...)
		}
	}
	slices.SortFunc(r.spelled, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range r.spelled {
		pairs = append(pairs, s, replacement)
	}
	r.replacer = strings.NewReplacer(pairs...)
}

// mask replaces the secrets in a text from outside. Mask before a text is cut: half a secret is not found.
func (r *redactor) mask(text string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.replacer == nil {
		return text
	}
	return r.replacer.Replace(text)
}

// printable returns a text from outside as an error shows it: without secrets and invisible characters,
// and with at most limit characters.
func (r *redactor) printable(text string, limit int) string {
	return truncate(escapeInvisible(truncate(r.mask(text), limit)), limit)
}

// processors describes a set that the service reported. The ids that the user wrote are shown as they are.
func (r *redactor) processors(reported, own ProcessorSet) string {
	shown := slices.Clone(reported.ids)
	for i, id := range shown {
		if !own.contains(id) {
			shown[i] = r.mask(id)
		}
	}
	return ProcessorSet{shown}.String()
}

// spellings returns a secret as it is, and escaped for JSON, URLs and HTML. Secrets that are sent in base64
// are secrets of their own.
func spellings(secret string) []string {
	byGo, _ := json.Marshal(secret) // fails for no string
	byOthers, _ := marshalUnescaped(secret)
	inJSON, inHTML := string(byOthers[1:len(byOthers)-1]), html.EscapeString(secret)
	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret),
		string(byGo[1 : len(byGo)-1]), inJSON, strings.ReplaceAll(inJSON, "/", `\/`),
		inHTML, strings.ReplaceAll(inHTML, "&#34;", "&quot;"),
	}
}
