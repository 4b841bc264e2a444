// Package report makes what a person reads: diagnostics of findings. It decides nothing that is sent. A failed
// operation says what happened, where, what the service said, what to check, and last what is now true of the stream.
package report

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// shownWarnings is how many warnings of a kind are shown in full, if each has something of its own.
const shownWarnings = 20

// Subject is what a call is about.
type Subject int

// The subjects. Terraform would print the whole map or list of several streams, so their diagnostics have no path.
const (
	OneStream Subject = iota
	SeveralStreams
)

// Reporter makes the diagnostics of one session.
type Reporter struct {
	configured string // the deployment of the session

	mu    sync.Mutex
	shown map[string][]string // by summary of a warning: the streams whose warnings are shown in full
	said  map[any]string      // what is said once, or once in full: the stream of which it is said
}

// New returns the reporter of a session with a deployment.
func New(configured string) *Reporter {
	return &Reporter{configured: configured, shown: map[string][]string{}, said: map[any]string{}}
}

// amongFirst reports whether a warning is one of the first of its kind: those are shown in full. The others have one
// summary, so that Terraform shows one of them and counts the rest, and -json shows each.
func (r *Reporter) amongFirst(summary, id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := slices.Contains(r.shown[summary], id)
	if !first && len(r.shown[summary]) < shownWarnings {
		r.shown[summary], first = append(r.shown[summary], id), true
	}
	return first
}

// first reports whether this is the first call with a key, and returns the stream of the first one.
func (r *Reporter) first(key any, stream string) (of string, isFirst bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of, found := r.said[key]
	if !found {
		r.said[key], of = stream, stream
	}
	return of, !found
}

// diagnostics returns one for each cause. closing says at the end of each error what is now true of all streams of a failed call.
func (r *Reporter) diagnostics(of Subject, messages []message, closing string) (diags diag.Diagnostics) {
	for _, same := range inOrder(messages, func(m message) cause { return m.cause }) {
		d := r.diagnostic(same, closing)
		if attribute := same[0].attribute; of == OneStream && attribute != "" {
			d = diag.WithPath(path.Root(attribute), d)
		}
		diags = append(diags, d)
	}
	return diags
}

// diagnostic returns one diagnostic about all streams of a cause. Terraform merges warnings with equal summaries, and shows the
// details of only one. So those with something of their own have the id of their first stream in the summary.
func (r *Reporter) diagnostic(messages []message, closing string) diag.Diagnostic {
	m := messages[0]
	shown := m.severity == diag.SeverityError || m.own == "" || r.amongFirst(m.summary, m.stream)
	if !shown {
		m.advice = ""
	}
	summary, detail := m.summary, m.alone()
	switch whole, isFirst := r.first(m.cause, m.stream); {
	case len(messages) > 1:
		detail = m.ofMany(messages)
	case !isFirst && m.short != "": // because there may be hundreds
		detail = fmt.Sprintf("%s More in the error of stream %q.\n%s", m.short, whole, m.now)
	}
	switch {
	case m.severity == diag.SeverityError:
		return diag.NewErrorDiagnostic(summary, paragraphs(detail, closing))
	case !shown:
		summary, detail = summary+": more streams", paragraphs(detail, "With -json, this command shows them all.")
	case m.own != "":
		summary += fmt.Sprintf(": stream %q", m.stream)
		if more := len(messages) - 1; more > 0 {
			summary += fmt.Sprintf(" and %d more", more)
		}
	}
	return diag.NewWarningDiagnostic(summary, strings.ReplaceAll(detail, "\n\n", "\n")) // short: Terraform merges none of a destroy
}
