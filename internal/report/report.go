// Package report makes what a person reads: diagnostics of findings. It decides nothing that is sent. A failed
// operation says what happened, where, what the service said, what to check, and last what is now true of the stream.
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

// Reporter makes the diagnostics of one session.
type Reporter struct {
	mu    sync.Mutex
	shown map[string][]string // by summary of a warning: the streams whose warnings are shown in full

	notRead sync.Once // the warning of imports: Terraform does not count those
}

// New returns a reporter.
func New() *Reporter { return &Reporter{shown: map[string][]string{}} }

// first reports whether a warning is one of the first of its kind: those are shown in full. The others have one
// summary, so that Terraform shows one of them and counts the rest, and -json shows each.
func (r *Reporter) first(summary, id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := slices.Contains(r.shown[summary], id)
	if !first && len(r.shown[summary]) < shownWarnings {
		r.shown[summary], first = append(r.shown[summary], id), true
	}
	return first
}

// message is what a person reads about one stream.
type message struct {
	text
	stream    string
	severity  diag.Severity
	inDestroy bool   // Terraform merges no warnings of a destroy
	cause     string // the messages of a group with one cause are one diagnostic
	said      string // by the service
	own       string // what stands for {own} in the head
	now       string // what is now true of the stream
	short     string // the whole detail, if another message has the cause
}

// diagnostics returns the warnings, and then the errors. closing says what is now true of all streams of a failed call.
func (r *Reporter) diagnostics(of Subject, messages []message, closing string) (diags diag.Diagnostics) {
	slices.SortStableFunc(messages, func(a, b message) int { return int(b.severity - a.severity) })
	var causes [][]message
	for _, m := range messages {
		i := slices.IndexFunc(causes, func(c []message) bool { return c[0].cause == m.cause })
		if i < 0 {
			i = len(causes)
			causes = append(causes, nil)
		}
		causes[i] = append(causes[i], m)
	}
	for i, streams := range causes {
		last := ""
		if i == len(causes)-1 {
			last = closing
		}
		d := r.diagnostic(of, streams, last)
		switch attribute := cmp.Or(string(of), streams[0].attribute); {
		case of == Group && len(streams) == 1:
			d = diag.WithPath(path.Root(attribute).AtMapKey(streams[0].stream), d)
		case attribute != "":
			d = diag.WithPath(path.Root(attribute), d)
		}
		diags = append(diags, d)
	}
	return diags
}

// diagnostic quotes the first stream that has the whole cause, and names all. The summary of a warning has the id of
// that stream, because Terraform merges warnings with equal summaries, and shows the details of only one.
func (r *Reporter) diagnostic(of Subject, streams []message, closing string) diag.Diagnostic {
	m := streams[max(0, slices.IndexFunc(streams, func(m message) bool { return m.short == "" }))]
	summary, detail := fmt.Sprintf("%s: stream %q", m.summary, m.stream), cmp.Or(m.short, m.alone())
	if more := len(streams) - 1; more > 0 {
		summary, detail = fmt.Sprintf("%s and %d more", summary, more), m.ofMany(streams)
	}
	if m.inDestroy {
		detail = strings.ReplaceAll(detail, "\n\n", "\n")
	}
	switch {
	case m.severity == diag.SeverityError:
		return diag.NewErrorDiagnostic(m.summary, paragraphs(detail, closing))
	case of == OneStream && !m.inDestroy && !r.first(m.summary, m.stream):
		m.advice = ""
		summary = m.summary + ": more streams"
		detail = fmt.Sprintf("Stream %q:\n%s\n\nWith -json, this command shows them all.", m.stream, m.alone())
	}
	return diag.NewWarningDiagnostic(summary, detail)
}

func (m message) alone() string {
	return paragraphs(m.about(fmt.Sprintf("stream %q", m.stream), "has", m.own), m.said, m.advice, m.now)
}

func (m message) ofMany(streams []message) string {
	many := fmt.Sprintf("%d streams", len(streams))
	head, now := m.about(many, "have", "see below"), ""
	if !strings.Contains(m.head, "{streams}") {
		head = many + ", named below. " + head
	}
	if m.own != "" { // otherwise the list has what is now true
		now = m.now
	}
	return paragraphs(head, m.said, m.advice, list(streams), now)
}

// about fills in what happened.
func (m message) about(streams, has, own string) string {
	return Sentence(strings.NewReplacer("{streams}", streams, "{has}", has, "{own}", own).Replace(m.head))
}

// list names the streams, each with what is its own.
func list(streams []message) string {
	more := max(0, len(streams)-namedStreams)
	var owns, lines []string
	names := map[string][]string{}
	for _, m := range streams[:len(streams)-more] {
		own := cmp.Or(m.own, m.now)
		if names[own] == nil {
			owns = append(owns, own)
		}
		names[own] = append(names[own], strconv.Quote(m.stream))
	}
	for _, own := range owns {
		lines = append(lines, join(": ", strings.Join(names[own], ", "), own))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more streams", more))
	}
	return strings.Join(lines, "\n")
}

// paragraphs leaves out the parts that are empty.
func paragraphs(parts ...string) string { return join("\n\n", parts...) }

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
