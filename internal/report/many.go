package report

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	shownTexts   = 20   // that differ
	namedStreams = 1000 // in one list
)

// ofMany says once what is true of all streams of a cause, and shows the request of one of them, with its message whole. What
// differs stands beside the streams.
func (m message) ofMany(messages []message) string {
	example := messages[max(0, slices.IndexFunc(messages, func(m message) bool { return m.response != "" }))]
	named, others := messages, ""
	if more := len(messages) - shownTexts; m.all > 0 && more > 0 {
		named, others = messages[:shownTexts], fmt.Sprintf("and %d more", more)
	}
	differences := rowsOf(named, func(m message) string { return cmp.Or(m.own, cut(join(" ", m.reason, m.response))) })
	texts := shownTexts
	if m.own != "" { // a set has no other place
		texts = len(differences)
	}
	outcomes := rowsOf(messages, func(m message) string { return m.now })
	beside, now := "", list(outcomes, shownTexts)
	if len(differences) > 1 || m.own != "" {
		beside = join("\n", list(differences, texts), others)
		if len(outcomes) == 1 {
			now = labelled("For each of them: ", m.now)
		}
	}
	return paragraphs(
		m.happened(len(messages)),
		join("\n", labelled("For example: ", example.request), example.reason, example.response),
		beside,
		m.fill(m.advice, len(messages)),
		now,
	)
}
