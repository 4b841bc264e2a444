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

// shownGaps is the number of streams of a run for which a plan says that they may have no processors for a moment.
const shownGaps = 5

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
	changed, leaves  int                     // streams whose operation succeeded
	failures         map[streams.Outcome]int // streams whose operation failed
	errors, warnings reportedStreams
	mayWarn          func(kind, id string) bool // whether a warning is shown; nil: those about the first streams are
}

type reportedStreams struct {
	kinds  map[string]int // by summary
	shown  diag.Diagnostics
	hidden []string // streams whose diagnostics are only counted
}

func newReport(of subject, mayWarn func(kind, id string) bool) *report {
	return &report{
		subject:  of,
		failures: map[streams.Outcome]int{},
		errors:   reportedStreams{kinds: map[string]int{}},
		warnings: reportedStreams{kinds: map[string]int{}},
		mayWarn:  mayWarn,
	}
}

func (r *report) hasErrors() bool { return len(r.errors.kinds) > 0 }

// add reports a diagnostic about a stream.
func (r *report) add(id string, d diag.Diagnostic) {
	to := &r.errors
	if d.Severity() == diag.SeverityWarning {
		to = &r.warnings
	}
	show := r.subject == ofResource || len(to.shown) < shownStreams
	kind, _, _ := strings.Cut(d.Summary(), ": stream ") // see warning
	if to == &r.warnings && r.mayWarn != nil {
		show = r.mayWarn(kind, id)
	}
	if r.subject != ofResource {
		d = diag.WithPath(r.path(id), d)
	}
	to.add(kind, id, d, show)
}

func (s *reportedStreams) add(kind, id string, d diag.Diagnostic, show bool) {
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
func (r *report) failed(id string, c change, o operation) {
	outcome, _ := o.now()
	r.failures[outcome]++
	_, stays := c.want[id]
	done := "updated"
	switch {
	case !stays:
		done = "detached"
	case c.kind == create:
		done = "set"
	}
	inState := ""
	if c.kind == create && r.subject == ofResource { // a group says it once
		inState = notSaved
	}
	d := diagnose(id, fmt.Sprintf("the processors of stream %q could not be %s", id, done), inState, o)
	if r.errors.kinds[d.Summary()] > 0 && errors.As(o.err, new(interruptedError)) {
		r.errors.add(d.Summary(), id, d, false)
	} else {
		r.add(id, d)
	}
}

// left reports that the resource left a stream. unforeseen says that the plan of the run did not know of it.
func (r *report) left(id string, c change, o operation, unforeseen bool) {
	r.leaves++
	switch {
	case o.notFound != nil:
		r.add(id, notFoundOnDestroyWarning(id, asStreamError(o.notFound)))
	case o.result == nil && c.detach && o.known.Failed && o.known.Reported == nil:
		r.add(id, staysAttachedWarning(id, c.was[id].Set, o))
	case unforeseen && c.detach && o.result != nil && o.decision.Set.Len() == 0:
		r.add(id, unforeseenDetachWarning(id))
	}
}

// notSaved is true of every failed create. With create_before_destroy, Terraform keeps the former object.
const notSaved = "Nothing of this create is in the state: what was attached stays attached, and a destroy may not detach it. Apply " +
	"again. If the plan then shows no changes, because create_before_destroy keeps the former object, change a value in triggers."

// nowInState says what a failed change leaves in the state of a group.
func (r *report) nowInState(c change) string {
	mayHaveAttached := r.changed+r.failures[streams.Changed]+r.failures[streams.Unknown] > 0
	switch {
	case c.kind == create && mayHaveAttached:
		return notSaved
	case c.kind == create:
		return "Nothing of this create is in the state: apply again."
	case c.kind == destroy:
		return "The state has only the streams that failed."
	case c.kind == redeploy && r.changed == 0:
		return "The state is still that of the former deployment."
	}
	return "The state has what succeeded. The next plan shows the rest."
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
	say(r.leaves, "was left as on_destroy says", "were left as on_destroy says")
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
