package streams

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// Length limits of texts from a service, in characters. A documented message is worth more space than a page of HTML.
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
	if json.Unmarshal(body, &fields) == nil && decodeValue(fields["message"], &message) {
		return secrets.printable(message, maxMessage), true
	}
	text := secrets.mask(string(body))
	if strings.HasPrefix(http.DetectContentType(body), "text/html") {
		text = "HTML page: " + html.UnescapeString(markup.ReplaceAllString(text, " "))
	}
	return secrets.printable(strings.Join(strings.Fields(text), " "), maxText), false
}

// markup is what a browser does not show of a web page. The first characters of a page are markup, and would
// say nothing.
var markup = regexp.MustCompile(`(?is)<!--.*?-->|<(script|style|svg|noscript|template)\b.*?</(script|style|svg|noscript|template)\s*>|<[^>]*>`)

// printable returns a text from outside as an error shows it: without secrets and invisible characters,
// and with at most limit characters.
func (r *redactor) printable(text string, limit int) string {
	return truncate(escapeInvisible(truncate(r.mask(text), limit)), limit)
}

// escapeInvisible escapes the characters that a terminal interprets or does not show, so that a
// message cannot move the cursor, hide words or add lines to Terraform's output.
func escapeInvisible(s string) string {
	quoted := strconv.QuoteToGraphic(s)
	return unquoter.Replace(quoted[1 : len(quoted)-1])
}

// unquoter undoes what only a quoted text needs.
var unquoter = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// truncate returns the first limit characters of s, and "…" if there are more.
func truncate(s string, limit int) string {
	if first := fmt.Sprintf("%.*s", limit, s); len(first) < len(s) {
		return first + "…"
	}
	return s
}
