package provider

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// shownStreams is the number of streams of a group that get errors of their own, and of streams of a run that get
// warnings of their own in plans and refreshes.
const shownStreams = 20

// namedStreams is the number of other streams that are named.
const namedStreams = 10

// subject is what a report is about: the attribute that has the streams, or "" for a single resource, whose diagnostics have
// the paths of its attributes.
type subject string

const (
	ofResource subject = ""
	ofGroup    subject = "streams"
	ofQuery    subject = "stream_ids"
)

// path returns where diagnostics about a stream are shown, or about all of them, if id is "".
func (s subject) path(id string) path.Path {
	at := path.Root(string(s))
	if s == ofGroup && id != "" {
		return at.AtMapKey(id)
	}
	return at
}

// report collects what an operation says about the streams of a resource. For a group, that is the diagnostics of
// the first streams, and then the counts of all.
type report struct {
	subject
	changed, released int                     // streams whose operation succeeded
	failures          map[streams.Outcome]int // streams whose operation failed
	errors, warnings  reportedStreams
	mayWarn           func(id string) bool // whether warnings about a stream are shown
}

type reportedStreams struct {
	kinds  map[string]int // by summary
	shown  diag.Diagnostics
	hidden []string // streams whose diagnostics are only counted
}

func newReport(s subject) *report {
	r := &report{
		subject:  s,
		failures: map[streams.Outcome]int{},
		errors:   reportedStreams{kinds: map[string]int{}},
		warnings: reportedStreams{kinds: map[string]int{}},
	}
	r.mayWarn = func(string) bool { return s == ofResource || len(r.warnings.shown) < shownStreams }
	return r
}

func (r *report) hasErrors() bool { return len(r.errors.kinds) > 0 }

func (r *report) mayHaveAttached() bool {
	return r.changed+r.failures[streams.Changed]+r.failures[streams.Unknown] > 0
}

// add reports a diagnostic about a stream.
func (r *report) add(id string, d diag.Diagnostic) {
	to, show := &r.errors, r.subject == ofResource || len(r.errors.shown) < shownStreams
	if d.Severity() == diag.SeverityWarning {
		to, show = &r.warnings, r.mayWarn(id)
	}
	if r.subject != ofResource {
		d = diag.WithPath(r.path(id), d)
	}
	to.add(id, d, show)
}

func (s *reportedStreams) add(id string, d diag.Diagnostic, show bool) {
	kind, _, _ := strings.Cut(d.Summary(), ": stream ") // see warning
	s.kinds[kind]++
	if show {
		s.shown = append(s.shown, d)
	} else {
		s.hidden = append(s.hidden, id)
	}
}

// planned reports what a plan decides for a stream.
func (r *report) planned(id string, p claims.Plan) {
	if p.Refusal == claims.StreamIsKept {
		r.add(id, droppedStreamError(id, p.Other))
	}
	for _, w := range p.Warnings {
		r.add(id, planWarning(w, id, p.Other))
	}
}

// failed reports a failed operation on a stream. An interrupt is shown once for the streams to which nothing was sent.
func (r *report) failed(id string, c change, o outcome) {
	result, _ := o.now()
	r.failures[result]++
	op := operationOf(id, c)
	op.create = op.create && r.subject == ofResource // a group says it once
	d := diagnose(id, op, o)
	if r.errors.kinds[d.Summary()] > 0 && errors.As(o.err, new(interruptedError)) {
		r.errors.add(id, d, false)
	} else {
		r.add(id, d)
	}
}

// left reports a departure from a stream. unforeseen says that the plan of the run did not know of it.
func (r *report) left(id string, c change, o outcome, unforeseen bool) {
	r.released++
	switch {
	case o.err != nil:
		r.add(id, notFoundOnDestroyWarning(id, o))
	case o.result == nil && c.detach && o.known.Failed && o.known.Reported == nil:
		r.add(id, staysAttachedWarning(id, c.was[id].Set, o))
	case unforeseen && c.detach && o.result != nil && o.decision.Set.Len() == 0:
		r.add(id, unforeseenDetachWarning(id))
	}
}

// diagnostics ends, for a group, with the counts, and with what is now true of the group in the state.
func (r *report) diagnostics(state string) diag.Diagnostics {
	diags := slices.Concat(r.warnings.shown, r.errors.shown)
	if len(r.warnings.hidden) > 0 {
		diags.AddWarning("More Warnings About Streams", "Streams with warnings: "+r.warnings.text())
	}
	if r.subject == ofResource || len(r.failures) == 0 && len(r.errors.hidden) == 0 {
		return diags
	}
	var now []string
	say := func(count int, one, many string) {
		switch {
		case count == 1:
			now = append(now, "1 stream "+one+".")
		case count > 1:
			now = append(now, fmt.Sprintf("%d streams %s.", count, many))
		}
	}
	say(r.changed, "has its planned set", "have their planned sets")
	say(r.released, "was left as on_destroy says", "were left as on_destroy says")
	say(r.failures[streams.NotChanged], "was not changed", "were not changed")
	say(r.failures[streams.Changed], "was changed, but not as planned", "were changed, but not as planned")
	say(r.failures[streams.Unknown], "may or may not have been changed", "may or may not have been changed")
	diags.AddAttributeError(r.path(""), "Streams Failed",
		paragraphs("Streams with errors: "+r.errors.text(), strings.Join(append(now, state), " ")))
	return diags
}

// text says how many streams have diagnostics, by kind, and names the first that are not shown.
func (s *reportedStreams) text() string {
	var kinds, names []string
	for _, kind := range slices.Sorted(maps.Keys(s.kinds)) {
		kinds = append(kinds, fmt.Sprintf("%d × %s", s.kinds[kind], kind))
	}
	text := fmt.Sprintf("%d (%s).", len(s.shown)+len(s.hidden), strings.Join(kinds, ", "))
	if len(s.hidden) == 0 {
		return text
	}
	for _, id := range s.hidden[:min(len(s.hidden), namedStreams)] {
		names = append(names, strconv.Quote(id))
	}
	if more := len(s.hidden) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return text + " Not shown above: " + strings.Join(names, ", ") + "."
}
