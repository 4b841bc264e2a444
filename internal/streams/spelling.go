package streams

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A service, a framework or a proxy may escape a secret that it echoes in JSON, a URL or HTML, in
// several ways, and more than once. So no list of escaped forms is complete: the redactor searches a
// text as it is, and again after each of a few rounds of unescaping.

// layer is a text after some rounds of unescaping. White space and "+", which stands for a space in a
// URL, are one space.
type layer struct {
	text  []byte
	place []span // of each byte in the original text
}

// maxRounds limits the rounds of unescaping. Each round takes time in proportion to the text.
const maxRounds = 4

// unescapedLayers returns s as it is, and after each round that changes it.
func unescapedLayers(s string) []layer {
	layers := []layer{firstLayer(s)}
	for len(layers) <= maxRounds {
		next, changed := layers[len(layers)-1].unescape()
		if !changed {
			break
		}
		layers = append(layers, next)
	}
	return layers
}

func firstLayer(s string) layer {
	l := layer{make([]byte, 0, len(s)), make([]span, 0, len(s))}
	for i := range len(s) {
		l.append(s[i], span{i, i + 1})
	}
	return l
}

func (l *layer) append(b byte, place span) {
	if b == '+' || isSpace(rune(b)) {
		b = ' '
		if last := len(l.text) - 1; last >= 0 && l.text[last] == ' ' {
			l.place[last].to = place.to
			return
		}
	}
	l.text = append(l.text, b)
	l.place = append(l.place, place)
}

func isSpace(r rune) bool { return r < utf8.RuneSelf && unicode.IsSpace(r) }

// unescape replaces each escape sequence by its character.
func (l *layer) unescape() (next layer, changed bool) {
	if !bytes.ContainsAny(l.text, escapeStarts) {
		return next, false
	}
	for i := 0; i < len(l.text); {
		decoded, size := unescapeFirst(l.text[i:])
		if size == 0 {
			next.append(l.text[i], l.place[i])
			i++
			continue
		}
		changed = true
		place := span{l.place[i].from, l.place[i+size-1].to}
		for j := range len(decoded) {
			next.append(decoded[j], place)
		}
		i += size
	}
	return next, changed
}

// find adds the places of a pattern.
func (l *layer) find(pattern []byte, found []span) []span {
	for start := 0; ; {
		i := bytes.Index(l.text[start:], pattern)
		if i < 0 {
			return found
		}
		start += i
		found = append(found, span{l.place[start].from, l.place[start+len(pattern)-1].to})
		start += len(pattern)
	}
}

// findCut adds the place of a pattern that goes on after the end of the original text, which has the
// given length. The end may also cut an escape sequence.
func (l *layer) findCut(pattern []byte, length int, found []span) []span {
	text := l.text
	for range 3 { // a sequence of two halves may be cut in its second half
		for n := min(len(pattern)-1, len(text)); n >= minSecretPart; n-- {
			if bytes.HasSuffix(text, pattern[:n]) {
				return append(found, span{l.place[len(text)-n].from, length})
			}
		}
		text = text[:max(0, bytes.LastIndexAny(text, escapeStarts))]
		if len(l.text)-len(text) > maxEscapeSequence {
			break
		}
	}
	return found
}

// minSecretPart is the length of the shortest part of a secret that is worth hiding, in bytes.
const minSecretPart = 3

// escapeStarts has the first character of each escape sequence in JSON, Go, URLs and HTML.
const escapeStarts = `\%&`

// maxEscapeSequence is the length of the longest escape sequence that is recognized, in bytes.
const maxEscapeSequence = 40

var entityPattern = regexp.MustCompile(`^&#?[0-9A-Za-z]+;`)

// unescapeFirst decodes the escape sequence at the beginning of text. Size is 0 if there is none.
func unescapeFirst(text []byte) (decoded string, size int) {
	switch text[0] {
	case '%':
		if len(text) >= 3 {
			if b, err := hex.DecodeString(string(text[1:3])); err == nil {
				return string(b), 3
			}
		}
	case '&':
		entity := entityPattern.Find(text[:min(len(text), maxEscapeSequence)])
		if decoded := html.UnescapeString(string(entity)); decoded != string(entity) {
			return decoded, len(entity)
		}
	case '\\':
		return unescapeBackslash(string(text[:min(len(text), len(`\ud83d\ude00`))]))
	}
	return "", 0
}

// unescapeBackslash knows the sequences of JSON and of Go, whose libraries quote what they received.
func unescapeBackslash(text string) (decoded string, size int) {
	if len(text) < 2 {
		return "", 0
	}
	if strings.ContainsRune(`/"'`, rune(text[1])) {
		return text[1:2], 2
	}
	if first, rest, ok := cutUnit(text); ok && utf16.IsSurrogate(first) {
		second, rest, ok := cutUnit(rest)
		if pair := utf16.DecodeRune(first, second); ok && pair != utf8.RuneError {
			return string(pair), len(text) - len(rest)
		}
		return "", 0
	}
	r, multibyte, rest, err := strconv.UnquoteChar(text, 0)
	if err != nil {
		return "", 0
	}
	if !multibyte {
		return string([]byte{byte(r)}), len(text) - len(rest)
	}
	return string(r), len(text) - len(rest)
}

// cutUnit decodes \u and four digits, a unit of UTF-16.
func cutUnit(text string) (unit rune, rest string, ok bool) {
	const length = len(`\u0000`)
	if len(text) < length || text[:2] != `\u` {
		return 0, text, false
	}
	n, err := strconv.ParseUint(text[2:length], 16, 16)
	return rune(n), text[length:], err == nil
}

// secretForms returns what the redactor searches for: a secret in each layer, in hexadecimal digits,
// and in base64, also as a part of a longer text.
func secretForms(secret string) [][]byte {
	if len(secret) <= 2 {
		return [][]byte{[]byte(secret)}[:min(len(secret), 1)]
	}
	var forms [][]byte
	add := func(form []byte, shortest int) {
		if len(form) >= shortest {
			forms = append(forms, form)
		}
	}
	for i, l := range unescapedLayers(secret) {
		// A secret that contains escape sequences is not the same after unescaping.
		add(l.text, 1+min(i, 1)*(minSecretPart-1))
	}
	const shortestEncoded = 6 // shorter ones occur by chance
	encode := func(s string) { add(firstLayer(s).text, shortestEncoded) }
	encode(hex.EncodeToString([]byte(secret)))
	encode(strings.ToUpper(hex.EncodeToString([]byte(secret))))
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		encode(encoding.EncodeToString([]byte(secret)))
		for before := range 3 { // bytes before the secret; their number modulo 3 matters
			text := encoding.EncodeToString(append(make([]byte, before), secret...))
			encode(text[(before*8+5)/6 : (before+len(secret))*8/6])
		}
	}
	return slices.CompactFunc(forms, bytes.Equal)
}
