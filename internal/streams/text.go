package streams

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// byteOrderMark begins a text in UTF-8 that some programs wrote. JSON does not allow it.
var byteOrderMark = []byte("\ufeff")

// maxBody is the longest response body that is accepted, in bytes. A stream has a few hundred bytes.
const maxBody = 1 << 20

// Length limits of texts from a service, in characters. A documented message is worth more space than a page of HTML.
const (
	maxMessage = 4000
	maxText    = 300
)

// maxShown is how much of a text, in bytes, is masked before the text is cut to such a length.
const maxShown = 20 << 10

// printable returns a text from outside as an error shows it: without secrets, with at most limit characters, and with
// escapes for what a terminal interprets or does not show. So a message cannot move the cursor, hide words or add lines.
func (r *redactor) printable(text string, limit int) string {
	quoted := strconv.QuoteToGraphic(truncate(r.mask(text, maxShown), limit))
	return truncate(unquoter.Replace(quoted[1:len(quoted)-1]), limit)
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

// requestID returns the value of the first header that identifies the request for the service's support, or "".
func requestID(h http.Header) string {
	return cmp.Or(h.Get("X-Request-Id"), h.Get("Request-Id"), h.Get("X-Correlation-Id"), h.Get("X-Amzn-Requestid"),
		h.Get("X-Amz-Request-Id"), h.Get("X-Ms-Request-Id"), h.Get("X-Amzn-Trace-Id"), h.Get("X-Trace-Id"), h.Get("Cf-Ray"))
}

// difference says how the reported set differs from the sent one. Whether an update replaces
// or merges is not shown (INTERFACE.md, section 4).
func (r *redactor) difference(sent, reported ProcessorSet) string {
	var parts []string
	missing, additional := sent.Minus(reported), reported.Minus(sent)
	if missing.Len() > 0 {
		parts = append(parts, "the service did not attach "+missing.String())
	}
	if additional.Len() > 0 {
		parts = append(parts, "the service reports additional processors "+r.processors(additional, ProcessorSet{}))
	}
	if missing.Len() == 0 {
		parts = append(parts, "it may have merged the set instead of replacing it")
	}
	return strings.Join(parts, "; ")
}

// processors describes a set that the service reported. The ids that the user wrote are shown as they are.
func (r *redactor) processors(reported, own ProcessorSet) string {
	var shown ProcessorSet
	for length := 0; len(shown.ids) < reported.Len() && length < maxMessage; {
		id := reported.ids[len(shown.ids)]
		if !own.contains(id) {
			id = r.mask(id, maxText)
		}
		shown.ids, length = append(shown.ids, id), length+len(id)
	}
	if shown.Len() < reported.Len() {
		return strings.TrimSuffix(shown.String(), "]") + ", …]"
	}
	return shown.String()
}
