// Package report makes what a person reads: diagnostics of findings. It decides nothing that is sent. A failed operation says what
// happened, where, what the service said, what to check, and last what is now true of the stream.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

const (
	shownWarnings = 20   // of a kind, about single resources: are shown in full
	namedStreams  = 1000 // in one diagnostic
)

// Subject is the attribute that has the streams of a call.
type Subject string

// The subjects. One stream has none: its diagnostics have the paths of their attributes.
const (
	OneStream Subject = ""
	Group     Subject = "streams"
	StreamIDs Subject = "stream_ids"
)

func (s Subject) path(streams []message) path.Path {
	at := path.Root(string(s))
	if s == Group && len(streams) == 1 {
		return at.AtMapKey(streams[0].stream)
	}
	return at
}

// Reporter makes the diagnostics of one session.
type Reporter struct {
	mu    sync.Mutex
	shown map[string][]string // by summary of a warning: the streams whose warnings are shown in full
}

// New returns a reporter.
func New() *Reporter { return &Reporter{shown: map[string][]string{}} }

// first reports whether a warning is one of the first of its kind: those are shown in full. The others have one summary, so that
// Terraform shows one of them and counts the rest, and -json shows each.
func (r *Reporter) first(limit int, summary, id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := slices.Contains(r.shown[summary], id)
	if !first && len(r.shown[summary]) < limit {
		r.shown[summary], first = append(r.shown[summary], id), true
	}
	return first
}

// message is what a person reads about one stream. Messages of a group with one summary and cause are one diagnostic.
type message struct {
	text
	stream    string
	severity  diag.Severity
	inDestroy bool // Terraform merges no warnings of a destroy
	cause     string
	said      string
	own       string // what may differ from stream to stream; the last paragraph, if head does not have it
	last      string
	short     string // the whole detail, if another message has the cause
}

// diagnostics returns the warnings, and then the errors. closing says what is now true of all streams of a failed call.
func (r *Reporter) diagnostics(of Subject, messages []message, closing string) (diags diag.Diagnostics) {
	slices.SortStableFunc(messages, func(a, b message) int { return int(b.severity - a.severity) })
	if of == OneStream {
		for _, m := range messages {
			diags = append(diags, r.aboutOne(m))
		}
		return diags
	}
	var causes [][]message
	for _, m := range messages {
		same := func(c []message) bool {
			return c[0].summary == m.summary && c[0].cause == m.cause && c[0].severity == m.severity
		}
		if i := slices.IndexFunc(causes, same); i >= 0 {
			causes[i] = append(causes[i], m)
		} else {
			causes = append(causes, []message{m})
		}
	}
	for i, streams := range causes {
		last := ""
		if i == len(causes)-1 && streams[0].severity == diag.SeverityError {
			last = closing
		}
		diags = append(diags, diag.WithPath(of.path(streams), aboutMany(streams, last)))
	}
	return diags
}

// aboutOne has the stream's id in the summary of a warning, because Terraform merges warnings with equal summaries, and shows
// the details of only one.
func (r *Reporter) aboutOne(m message) diag.Diagnostic {
	detail := cmp.Or(m.short, m.alone())
	if m.inDestroy {
		detail = strings.ReplaceAll(detail, "\n\n", "\n")
	}
	d := diag.Diagnostic(diag.NewErrorDiagnostic(m.summary, detail))
	switch {
	case m.severity == diag.SeverityError:
	case m.inDestroy, r.first(shownWarnings, m.summary, m.stream):
		d = diag.NewWarningDiagnostic(fmt.Sprintf("%s: stream %q", m.summary, m.stream), detail)
	default:
		m.advice = ""
		d = diag.NewWarningDiagnostic(m.summary+": more streams", Paragraphs(
			fmt.Sprintf("Stream %q:\n%s", m.stream, m.alone()), "With -json, this command shows each of these warnings."))
	}
	if m.attribute == "" {
		return d
	}
	return diag.WithPath(path.Root(m.attribute), d)
}

func (m message) alone() string {
	own := m.own
	if strings.Contains(m.head, "{own}") {
		own = ""
	}
	return Paragraphs(m.about(fmt.Sprintf("stream %q", m.stream), "has", m.own), m.said, m.advice, own, m.last)
}

// about fills in what happened.
func (m message) about(streams, has, own string) string {
	return Sentence(strings.NewReplacer("{streams}", streams, "{has}", has, "{own}", own).Replace(m.head))
}

// aboutMany quotes the first stream that has the whole cause, and names all.
func aboutMany(streams []message, closing string) diag.Diagnostic {
	m := streams[max(0, slices.IndexFunc(streams, func(m message) bool { return m.short == "" }))]
	detail, summary := m.alone(), fmt.Sprintf("%s: stream %q", m.summary, m.stream)
	if more := len(streams) - 1; more > 0 {
		many := fmt.Sprintf("%d streams", len(streams))
		head := m.about(many, "have", "see below")
		if !strings.Contains(m.head, "{streams}") {
			head = many + ", named below. " + head
		}
		detail = Paragraphs(head, m.said, m.advice, list(streams), m.last)
		summary = fmt.Sprintf("%s and %d more", summary, more)
	}
	if m.severity == diag.SeverityWarning {
		return diag.NewWarningDiagnostic(summary, detail)
	}
	return diag.NewErrorDiagnostic(m.summary, Paragraphs(detail, closing))
}

// list names the streams, each with what is its own.
func list(streams []message) string {
	more := max(0, len(streams)-namedStreams)
	var owns, lines []string
	names := map[string][]string{}
	for _, m := range streams[:len(streams)-more] {
		if names[m.own] == nil {
			owns = append(owns, m.own)
		}
		names[m.own] = append(names[m.own], strconv.Quote(m.stream))
	}
	for _, own := range owns {
		lines = append(lines, join(": ", strings.Join(names[own], ", "), own))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more streams", more))
	}
	return strings.Join(lines, "\n")
}

// Paragraphs leaves out the parts that are empty.
func Paragraphs(parts ...string) string { return join("\n\n", parts...) }

func join(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// Sentence makes a clause a sentence.
func Sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(first)) + s[size:]
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// countOf returns "" for none.
func countOf(count int, one, many string) string {
	switch count {
	case 0:
		return ""
	case 1:
		return "1 stream " + one + "."
	}
	return fmt.Sprintf("%d streams %s.", count, many)
}
