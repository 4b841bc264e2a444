package streams

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Length limits of texts from a service, in characters. A documented message is worth more space
// than a page of HTML.
const (
	maxMessage = 4000
	maxText    = 300
)

// readMessage returns the message of an error body, and whether the body has the documented form
// (INTERFACE.md, section 2). For any other body it returns the text.
func readMessage(body []byte, secrets *redactor) (message string, documented bool) {
	body = bytes.TrimPrefix(body, byteOrderMark)
	// Not a struct: that would accept "Message", which web frameworks send for an unknown route.
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) == nil && into(&message)(fields["message"]) {
		return secrets.printable(message, maxMessage), true
	}
	text := secrets.mask(string(body))
	if strings.HasPrefix(http.DetectContentType(body), "text/html") {
		text = "HTML page: " + secrets.mask(html.UnescapeString(markup.ReplaceAllString(text, " ")))
	}
	return secrets.printable(strings.Join(strings.Fields(text), " "), maxText), false
}

// markup is what a browser does not show of a web page. The first characters of a page are markup, and would
// say nothing.
var markup = regexp.MustCompile(`(?is)<!--.*?-->|<(script|style|svg|noscript|template)\b.*?</(script|style|svg|noscript|template)\s*>|<[^>]*>`)

// escapeInvisible escapes the characters that a terminal interprets or does not show, so that a
// message cannot move the cursor, hide words or add lines to Terraform's output.
func escapeInvisible(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				fmt.Fprintf(&b, `\x%02x`, s[i])
				continue
			}
		}
		switch {
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// truncate returns the first limit characters of s, and "…" if there are more.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for i := range s {
		if limit--; limit < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
