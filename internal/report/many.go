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
	reason := shared(messages, func(m message) string { return m.reason })
	response := shared(messages, func(m message) string { return m.response })
	different := func(m message) (text string) { // what is not shared, or a set, which has no other place
		if reason == "" {
			text = m.reason
		}
		switch {
		case response != "":
		case text == "":
			text = m.said
		default:
			text = join(" ", text, m.response)
		}
		return cmp.Or(m.own, cut(text))
	}
	example, reasonOfExample := exampleOf(messages), ""
	if reason == "" {
		reasonOfExample = example.reason
	}

	named, others := messages, ""
	if more := len(messages) - shownTexts; m.few && more > 0 {
		named, others = messages[:shownTexts], fmt.Sprintf("and %d more", more)
	}
	differences, texts := rowsOf(named, different), shownTexts
	if m.own != "" {
		texts = len(differences)
	}
	outcomes := rowsOf(messages, func(m message) string { return m.now })

	beside, now := "", labelled("For each of them: ", m.now)
	switch {
	case len(differences) == 1 && differences[0].text == "": // nothing differs
		now = list(outcomes, shownTexts)
	case len(outcomes) == 1:
		beside = list(differences, texts)
	default: // the outcomes name all streams
		differences = slices.DeleteFunc(differences, func(r row) bool { return r.text == "" })
		beside, now = list(differences, texts), list(outcomes, shownTexts)
	}
	return paragraphs(
		join(" ", m.happened(len(messages)), reason),
		join("\n", labelled("For example: ", example.request), reasonOfExample, example.response),
		join("\n", beside, others),
		m.fill(m.advice, len(messages)),
		now,
	)
}

// shared returns a text that all messages have, or "".
func shared(messages []message, text func(message) string) string {
	common := text(messages[0])
	if slices.ContainsFunc(messages, func(m message) bool { return text(m) != common }) {
		return ""
	}
	return common
}

// exampleOf returns the first message with a response, or of a request that was sent.
func exampleOf(messages []message) message {
	for _, fits := range []func(message) bool{
		func(m message) bool { return m.sent && m.response != "" },
		func(m message) bool { return m.sent },
	} {
		if i := slices.IndexFunc(messages, fits); i >= 0 {
			return messages[i]
		}
	}
	return messages[0]
}
