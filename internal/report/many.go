package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-log/tflog"
)

const (
	namedStreams = 1000 // in one list
	namedTwice   = 100  // beside the texts that differ, if a list of outcomes names all streams
	shownTexts   = 20   // that differ
)

// ofMany says once what is true of all streams of a cause, and shows the request of one of them. What differs stands beside the
// streams, if need be shortened, but for that of the example: a request that was sent, if there is one.
func (m message) ofMany(ctx context.Context, streams []message) string {
	reason := takeCommon(streams, func(m *message) *string { return &m.reason })
	response := takeCommon(streams, func(m *message) *string { return &m.response })
	title := ""
	if onlyResponses(streams) {
		title = takeCommon(streams, func(m *message) *string { return &m.label })
	}
	outcomes := rowsOf(streams, func(m message) string { return m.now })
	differences := rowsOf(streams, func(m message) string {
		return join(" ", m.own, m.reason, strings.TrimPrefix(m.response, title))
	})
	texts, example := len(differences), m
	if i := slices.IndexFunc(streams, func(m message) bool { return m.sent }); i > 0 {
		example = streams[i]
	}
	if m.own == "" { // otherwise these are sets, which have no other place
		whole := differences
		differences, texts = shorten(ctx, differences), shownTexts
		if i := slices.IndexFunc(whole, func(r row) bool { return r.text != "" }); i >= 0 && differences[i].text != whole[i].text {
			example, differences[i].text = whole[i].first, "as in the example"
			response = join("\n", example.reason, cmp.Or(response, example.response))
		}
	}
	if len(outcomes) > shownTexts {
		log(ctx, outcomes)
	}
	beside, now := "", labelled("For each of them: ", m.now)
	switch {
	case len(differences) == 1 && differences[0].text == "":
		now = list(outcomes, shownTexts, namedStreams)
	case len(outcomes) == 1:
		beside = list(differences, texts, namedStreams)
	default:
		differences = slices.DeleteFunc(differences, func(r row) bool { return r.text == "" })
		beside, now = list(differences, texts, namedTwice), list(outcomes, shownTexts, namedStreams)
	}
	return paragraphs(
		join(" ", m.happened(len(streams)), reason),
		join("\n", labelled("For example: ", example.request), response),
		join("\n", strings.TrimSpace(title), beside),
		m.fill(m.advice, len(streams)),
		now,
	)
}

// takeCommon returns a text that all messages have, and takes it from them.
func takeCommon(streams []message, field func(*message) *string) string {
	common := *field(&streams[0])
	if slices.ContainsFunc(streams, func(m message) bool { return *field(&m) != common }) {
		return ""
	}
	for i := range streams {
		*field(&streams[i]) = ""
	}
	return common
}

// onlyResponses reports whether nothing but what the service said differs.
func onlyResponses(streams []message) bool {
	return slices.ContainsFunc(streams, func(m message) bool { return m.response != "" }) &&
		!slices.ContainsFunc(streams, func(m message) bool { return m.reason != "" })
}

// row is a text, and the streams that have it.
type row struct {
	text    string // "" for none
	streams []string
	first   message // of the first stream
}

// rowsOf returns a row for each text, in the order of the first streams.
func rowsOf(messages []message, text func(message) string) (rows []row) {
	for _, equal := range inOrder(messages, text) {
		r := row{text: text(equal[0]), first: equal[0]}
		for _, m := range equal {
			r.streams = append(r.streams, strconv.Quote(m.stream))
		}
		rows = append(rows, r)
	}
	return rows
}

// shorten cuts texts to one line if there are many. The log has all texts of which a part will not be shown.
func shorten(ctx context.Context, rows []row) []row {
	short := slices.Clone(rows)
	complete, lines := len(rows) <= shownTexts, max(1, shownTexts/len(rows))
	for i, r := range rows {
		short[i].text = cutAtWord(r.text, max(lineLength/2, lines*lineLength-len(r.streams[0])-len(": ")))
		complete = complete && short[i].text == r.text
	}
	if !complete {
		log(ctx, rows)
	}
	return short
}

func log(ctx context.Context, rows []row) {
	for _, r := range rows {
		tflog.Debug(ctx, "stream failed", map[string]any{"streams": r.streams, "message": r.text})
	}
}

// list writes the first texts beside their streams, and then names the other streams, as far as there is room. If there is
// not, each text still has a name.
func list(all []row, texts, room int) string {
	var rows []row
	var others []string
	hidden := 0
	for _, r := range all {
		switch {
		case r.text != "" && len(rows) < texts:
			rows = append(rows, r)
			continue
		case r.text != "":
			hidden++
		}
		others = append(others, r.streams...)
	}
	if others != nil {
		rows = append(rows, row{streams: others})
	}
	var lines []string
	unnamed := 0
	for i, r := range rows {
		n := min(len(r.streams), max(room-len(rows[i+1:]), min(1, room)))
		room, unnamed = room-n, unnamed+len(r.streams)-n
		if n > 0 {
			lines = append(lines, join(": ", strings.Join(r.streams[:n], ", "), r.text))
		}
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("and %d more different messages: TF_LOG_PROVIDER=DEBUG shows them all", hidden))
	}
	if unnamed > 0 {
		lines = append(lines, fmt.Sprintf("and %d more streams", unnamed))
	}
	return strings.Join(lines, "\n")
}
