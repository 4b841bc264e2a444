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
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// redactor masks known secrets in texts from outside, which may quote them in UTF-8 or ISO 8859-1, and escaped up to
// three times. The provider's own words, its URLs and the user's ids are never masked.
type redactor struct {
	mu       sync.Mutex // for one text at a time, because a long one needs several times its size
	secrets  []string   // longest first
	longest  int        // how many bytes of a text a secret may take: some escapes have six characters, such as \u0041
	replacer *strings.Replacer
}

func (r *redactor) add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range append(secrets, inBase64(secrets)...) {
		r.secrets = append(r.secrets, forms(secret, 3)...)
	}
	slices.SortFunc(r.secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	r.secrets = slices.DeleteFunc(slices.Compact(r.secrets), func(secret string) bool { return secret == "" })
	var pairs []string
	for _, secret := range r.secrets {
		pairs, r.longest = append(pairs, secret, "***"), max(r.longest, 4<<10+6*len(secret))
	}
	r.replacer = strings.NewReplacer(pairs...)
}

// forms returns a secret as it is, as a form has it, misread, with another alphabet and no padding in base64, and without
// escapes of its own, because a service may escape only the other characters: up to so many of these changes.
func forms(secret string, changes int) []string {
	latin1, _ := charmap.ISO8859_1.NewEncoder().String(secret)
	misread, _ := charmap.ISO8859_1.NewDecoder().String(secret)
	inHTML, _ := charmap.Windows1252.NewDecoder().String(secret) // HTML has no control characters of ISO 8859-1
	all := []string{secret, strings.ReplaceAll(secret, " ", "+"), strings.ReplaceAll(secret, "+", " "), latin1, misread, inHTML}
	others := []string{strings.TrimRight(secret, "="), strings.NewReplacer("+", "-", "/", "_").Replace(secret)}
	for _, undo := range unescape {
		others = append(others, undo(secret))
	}
	for _, other := range others {
		if changes > 0 && other != secret && len(other) >= minSecretPart {
			all = append(all, forms(other, changes-1)...)
		}
	}
	return all
}

// mask replaces the secrets in a text from outside. If one is escaped, mask replaces the words that have it, or the
// whole text if the secret is more than a word. The result may end after so many bytes: then mask leaves out what may be
// the beginning of a secret. Mask before a text is cut: half a secret is not found.
func (r *redactor) mask(text string, enough int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := tokenInURL.ReplaceAllString(text[:min(len(text), enough+r.longest)], "${1}***")
	masked := r.replace(first, 3)
	if masked == "***" {
		masked = r.replace(words.ReplaceAllStringFunc(r.replace(first, 0), func(word string) string { return r.replace(word, 3) }), 3)
	}
	if len(text) > enough+r.longest && masked != "***" {
		return masked[:max(0, len(masked)-r.longest)] + "…"
	}
	return masked
}

// replace replaces the secrets in a text, or all of it if one appears once up to so many levels of escapes are undone.
func (r *redactor) replace(text string, levels int) string {
	text = r.replacer.Replace(text)
	for i := 0; i < len(unescape) && levels > 0; i++ {
		if plain := unescape[i](text); plain != text && r.replace(plain, levels-1) != plain {
			return "***"
		}
	}
	return text
}

var (
	words      = regexp.MustCompile(`[^\s"'<>?]+`)
	tokenInURL = regexp.MustCompile(`(_token(=|%3[Dd]))[^&#\s"'<>]+`) // such as access_token of a login page
)

// unescape has functions that undo the escapes of a URL, of a string in JSON or a programming language, and of HTML.
var unescape = []func(string) string{
	func(text string) string { return undo(text, "%", `\x`) },
	func(text string) string { return undo(text, `\`, `\`) },
	html.UnescapeString,
}

// undo undoes the escapes that begin with a character. With prefix instead of it, they are escapes of Go or JSON.
func undo(text, begin, prefix string) string {
	for plain := []byte(nil); ; {
		before, after, found := strings.Cut(text, begin)
		plain = append(plain, before...)
		if !found {
			return string(plain)
		}
		escape, pair := prefix+after[:min(len(after), 11)], "" // \uXXXX\uXXXX may be one character
		c, isRune, rest, err := strconv.UnquoteChar(escape, 0)
		switch {
		case err == nil && isRune:
			plain = utf8.AppendRune(plain, c)
		case err == nil:
			plain = append(plain, byte(c))
		case strings.HasPrefix(escape, `\u`) && json.Unmarshal([]byte(`"`+escape+`"`), &pair) == nil:
			plain, rest = append(plain, pair...), ""
		case begin == "%" || after == "":
			plain, rest = append(plain, begin...), escape[len(prefix):]
		default: // the character needs no escape
			rest = escape[len(prefix):]
		}
		text = after[len(escape)-len(prefix)-len(rest):]
	}
}
