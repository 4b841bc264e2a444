package report

import (
	"fmt"
	"strconv"
	"strings"
)

// row is a text, and the streams that have it.
type row struct {
	text    string // "" for none
	streams []string
}

// rowsOf returns a row for each text, in the order of the first streams.
func rowsOf(messages []message, text func(message) string) (rows []row) {
	for _, equal := range inOrder(messages, text) {
		r := row{text: text(equal[0])}
		for _, m := range equal {
			r.streams = append(r.streams, strconv.Quote(m.stream))
		}
		rows = append(rows, r)
	}
	return rows
}

// list writes the first texts beside their streams, then the streams with other texts, and last those with none. Each line has
// at least one name; all of them have about as many as a list may have.
func list(rows []row, texts int) string {
	var shown []row
	var others, without row
	different := 0
	for _, r := range rows {
		switch {
		case r.text == "":
			without.streams = append(without.streams, r.streams...)
		case len(shown) < texts:
			shown = append(shown, r)
		default:
			others.streams = append(others.streams, r.streams...)
			different++
		}
	}
	others.text = fmt.Sprintf("%d more different messages; TF_LOG_PROVIDER=TRACE shows all responses", different)
	var lines []string
	names := namedStreams
	for _, r := range append(shown, others, without) {
		if len(r.streams) > 0 {
			lines = append(lines, join(": ", some(r.streams, names), r.text))
			names -= len(r.streams)
		}
	}
	return strings.Join(lines, "\n")
}

// some joins the first names, up to a number but at least one, and counts the others.
func some(names []string, shown int) string {
	n := min(max(shown, 1), len(names))
	text := strings.Join(names[:n], ", ")
	if more := len(names) - n; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
