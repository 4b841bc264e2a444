package streams

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// replacement is written in place of a secret.
const replacement = "***"

// redactor replaces known secrets in texts that leave the client: a service or a proxy may echo a
// request. The zero value replaces nothing. It is safe for concurrent use.
type redactor struct {
	mu       sync.RWMutex
	patterns [][]byte // see secretForms; never changed in place
}

// add makes the redactor replace secrets from now on, in all of their forms.
func (r *redactor) add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	patterns := slices.Clone(r.patterns)
	for _, secret := range secrets {
		forms := secretForms(secret)
		if inLine := strings.Join(strings.Fields(secret), " "); inLine != secret {
			forms = append(forms, secretForms(inLine)...) // as line shows a secret of several lines
		}
		for _, form := range forms {
			if !slices.ContainsFunc(patterns, func(p []byte) bool { return bytes.Equal(p, form) }) {
				patterns = append(patterns, form)
			}
		}
	}
	r.patterns = patterns
}

// redact replaces the secrets in s.
func (r *redactor) redact(s string) string { return r.replace(s, false) }

// printable returns a text of the service as an error shows it: without secrets and invisible
// characters, and with at most limit characters. Only these characters are searched for secrets.
func (r *redactor) printable(s string, limit int) string {
	shown, more := cutRunes(s, limit)
	shown = truncate(escapeInvisible(r.replace(shown, more)), limit)
	if more && !strings.HasSuffix(shown, "…") {
		shown += "…"
	}
	return shown
}

// line is like printable, and replaces each sequence of white space by one space.
func (r *redactor) line(text []byte, limit int) string {
	enough := utf8.UTFMax*limit + 1 // bytes, for more than limit characters
	var shown []byte
	for len(shown) <= enough {
		text = bytes.TrimLeftFunc(text, unicode.IsSpace)
		if len(text) == 0 {
			break
		}
		field := text[:min(len(text), enough)]
		if end := bytes.IndexFunc(field, unicode.IsSpace); end >= 0 {
			field = field[:end]
		}
		if len(shown) > 0 {
			shown = append(shown, ' ')
		}
		shown = append(shown, field...)
		text = text[len(field):]
	}
	return r.printable(string(shown), limit)
}

// log returns a text as a log line shows it: without secrets, and at most maxLogged bytes of it.
func (r *redactor) log(s string) string {
	if len(s) <= maxLogged {
		return r.redact(s)
	}
	cut := maxLogged
	for cut > maxLogged-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return r.replace(s[:cut], true) + "…"
}

// maxLogged is the length of the longest text in a log line, in bytes.
const maxLogged = 64 << 10

// replace replaces the secrets in s. If s is only the beginning of a text, more says so, and the
// beginning of a secret at the end of s is replaced, too.
func (r *redactor) replace(s string, more bool) string {
	r.mu.RLock()
	patterns := r.patterns
	r.mu.RUnlock()
	if len(patterns) == 0 {
		return s
	}
	var found []span
	for _, l := range unescapedLayers(s) {
		for _, pattern := range patterns {
			found = l.find(pattern, found)
			if more {
				found = l.findCut(pattern, len(s), found)
			}
		}
	}
	return replaceSpans(s, found)
}

// span is a part of a text.
type span struct{ from, to int }

// replaceSpans replaces each span of s. Spans that overlap are replaced together.
func replaceSpans(s string, spans []span) string {
	if len(spans) == 0 {
		return s
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	end := 0
	for i, next := range spans {
		if i == 0 || next.from >= end {
			b.WriteString(s[end:next.from])
			b.WriteString(replacement)
		}
		end = max(end, next.to)
	}
	b.WriteString(s[end:])
	return b.String()
}

// cutRunes returns the first limit characters of s, and whether there are more.
func cutRunes(s string, limit int) (start string, more bool) {
	if len(s) <= limit {
		return s, false
	}
	for i := range s {
		if limit--; limit < 0 {
			return s[:i], true
		}
	}
	return s, false
}
