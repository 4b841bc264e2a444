// Package report makes what a person reads: diagnostics of findings. It decides nothing that is sent. A failed
// operation says what happened, where, what the service said, what to check, and last what is now true of the stream.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// shownWarnings is how many warnings of a kind are shown in full, if each has something of its own.
const shownWarnings = 20

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

// diagnostics returns the warnings, and then the errors. closing, of the last one, says what is now true of all streams of a failed call.
func (r *Reporter) diagnostics(of Subject, messages []message, closing string) (diags diag.Diagnostics) {
	groups := inOrder(messages, func(m message) cause { return m.cause })
	slices.SortStableFunc(groups, func(a, b []message) int {
		return cmp.Or(int(b[0].severity-a[0].severity), changed(b)-changed(a), len(pathOf(of, a).Steps())-len(pathOf(of, b).Steps()))
	})
	for i, same := range groups {
		last := ""
		if i == len(groups)-1 {
			last = closing
		}
		d, at := r.diagnostic(same, last), pathOf(of, same)
		isBefore := slices.ContainsFunc(groups[i:], func(next []message) bool { // Terraform shows errors with a path last
			return next[0].severity == same[0].severity && len(pathOf(of, next).Steps()) == 0
		})
		if !isBefore {
			d = diag.WithPath(at, d)
		}
		diags = append(diags, d)
	}
	return diags
}

// changed returns 1 if one of the streams may have been changed: those errors come first.
func changed(messages []message) int {
	if slices.ContainsFunc(messages, func(m message) bool { return m.changed }) {
		return 1
	}
	return 0
}

// pathOf returns the path of a diagnostic. One about several streams has none: Terraform would print the whole map or list
// for it, and so it would for a stream that is not in the configuration.
func pathOf(of Subject, messages []message) path.Path {
	switch m := messages[0]; {
	case of == Group && len(messages) == 1 && !m.leaves:
		return path.Root(string(of)).AtMapKey(m.stream)
	case of == OneStream && m.attribute != "":
		return path.Root(m.attribute)
	}
	return path.Empty()
}

// diagnostic returns one diagnostic about all streams of a cause. Terraform merges warnings with equal summaries, and shows the
// details of only one. So those with something of their own have the id of their first stream in the summary.
func (r *Reporter) diagnostic(messages []message, closing string) diag.Diagnostic {
	m := messages[0]
	shown := m.severity == diag.SeverityError || m.own == "" || m.inDestroy || r.amongFirst(m.summary, m.stream)
	if !shown {
		m.advice = ""
	}
	summary, detail := m.summary, m.alone()
	switch whole, isFirst := r.first(m.cause, m.stream); {
	case len(messages) > 1, m.few:
		detail = m.ofMany(messages)
	case !isFirst && m.short != "":
		detail = m.beside(whole)
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
	if m.inDestroy {
		detail = strings.ReplaceAll(detail, "\n\n", "\n")
	}
	return diag.NewWarningDiagnostic(summary, detail)
}
