// Package masking shows texts from outside: a response, an error of a library, a header. Whoever sent one may repeat secrets, move
// the cursor of a terminal, or send a page in place of a message.
package masking

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Limits of texts from outside. A documented message is worth more space than a page of HTML.
const (
	MaxShown   = 20 << 10 // bytes of a text that are masked before the text is cut
	MaxMessage = 4000     // characters of a message
	MaxText    = 300      // characters of any other text
)

// Redactor masks known secrets in texts from outside, which may quote them in base64, UTF-8 or ISO 8859-1, and escaped
// up to three times. The provider's own words, its URLs and the user's ids are never masked.
type Redactor struct {
	mu      sync.Mutex    // for one text at a time, because a long one needs several times its size
	secrets [256][]string // by their first byte
	longest int           // how many bytes of a text a secret may take: some escapes have six characters, such as \u0041
}

// Add adds secrets, which Mask finds from then on, with every spelling that they may have.
func (r *Redactor) Add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range secrets {
		encoded := base64.StdEncoding.EncodeToString([]byte(secret))
		for _, spelling := range append(spellings(secret, 3), spellings(encoded, 2)...) {
			if spelling != "" && !slices.Contains(r.secrets[spelling[0]], spelling) {
				r.secrets[spelling[0]] = append(r.secrets[spelling[0]], spelling)
				r.longest = max(r.longest, 4<<10+6*len(spelling))
			}
		}
	}
}

// Parts returns the parts of a header's value, such as key and secret of "key:secret".
func Parts(value string) []string {
	_, credential, _ := strings.Cut(value, " ")
	separators := func(c rune) bool { return strings.ContainsRune(` =:;,&"'`, c) }
	all := append(strings.FieldsFunc(value, separators), credential)
	return slices.DeleteFunc(all, func(part string) bool { return len(part) < minPart })
}

// Printable returns a text from outside as an error shows it. It cannot move the cursor, hide words or add lines.
func (r *Redactor) Printable(text string, limit int) string {
	quoted := strconv.QuoteToGraphic(Truncate(r.Mask(text, MaxShown), limit))
	return Truncate(unquoter.Replace(quoted[1:len(quoted)-1]), limit)
}

// unquoter undoes what only a quoted text needs.
var unquoter = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// Truncate returns the first limit characters of s, and "…" if there are more.
func Truncate(s string, limit int) string {
	if first := fmt.Sprintf("%.*s", limit, s); len(first) < len(s) {
		return first + "…"
	}
	return s
}

// Mask replaces the secrets in a text from outside, and the words that have an escaped one. The result may end after
// enough bytes of the text. Mask before a text is cut: half a secret is not found.
func (r *Redactor) Mask(text string, enough int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	first, end, shown := text[:min(len(text), enough+r.longest)], "", []byte(nil)
	hidden := r.find(first, 3)
	if unescaped := r.find(first, 0); !slices.Equal(hidden, unescaped) {
		for _, word := range words.FindAllStringIndex(first, -1) {
			if i, j := word[0], word[1]; !slices.Equal(hidden[i:j], unescaped[i:j]) {
				copy(hidden[i:j], slices.Repeat([]bool{true}, j-i))
			}
		}
	}
	if len(first) < len(text) {
		hidden, end = hidden[:enough], "…"
	}
	for i, isSecret := range hidden {
		if !isSecret {
			shown = append(shown, first[i])
		} else if i == 0 || !hidden[i-1] {
			shown = append(shown, "***"...)
		}
	}
	return tokenInURL.ReplaceAllString(string(shown), "${1}***") + end
}

var words = regexp.MustCompile(`[^\s"'<>?]+`)
var tokenInURL = regexp.MustCompile(`(_token(=|%3[Dd]))[^&#\s"'<>]+`) // such as access_token of a login page

// find reports which bytes of a text are of secrets, as they are or with at most the given levels of escapes undone. No
// secret is removed before all are found: it may be the part without escapes of a longer one.
func (r *Redactor) find(text string, levels int) []bool {
	hidden := make([]bool, len(text))
	for i, end := 0, 0; i < len(text); i++ {
		for _, secret := range r.secrets[text[i]] {
			if strings.HasPrefix(text[i:], secret) {
				end = max(end, i+len(secret))
			}
		}
		hidden[i] = i < end
	}
	for _, kind := range escapes {
		if levels == 0 {
			break
		}
		plain, undone := kind.undoAll(text)
		if undone == nil { // as in most texts, which would be read forty times
			continue
		}
		found, i := r.find(plain, levels-1), 0
		for _, e := range append(undone, undoneEscape{len(text), len(text), 0}) {
			for ; i < e.begin; i, found = i+1, found[1:] {
				hidden[i] = hidden[i] || found[0]
			}
			for isSecret := slices.Contains(found[:e.length], true); i < e.end; i++ {
				hidden[i] = hidden[i] || isSecret
			}
			found = found[e.length:]
		}
	}
	return hidden
}
