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

const (
	shownStreams = 20 // of a group: have errors of their own
	namedStreams = 10 // others of a group that are named
)

// subject is what a tally is about: the attribute that has the streams, or "" for one stream, whose diagnostics have
// the paths of their attributes.
type subject string

const (
	ofOneStream subject = ""
	ofGroup     subject = "streams"
	ofStreamIDs subject = "stream_ids"
)

// path returns where diagnostics about a stream are shown, or about all of them, if id is "".
func (s subject) path(id string) path.Path {
	at := path.Root(string(s))
	if s == ofGroup && id != "" {
		return at.AtMapKey(id)
	}
	return at
}

// tally counts the streams of a call, and collects the diagnostics about them. For a group, that is the errors of the
// first streams, and then the counts of all.
type tally struct {
	subject
	changed, leaves int                      // streams whose operation succeeded
	failures        [streams.Changed + 1]int // streams whose operation failed, by outcome
	errors          struct {
		kinds  []string // the summaries of all
		shown  diag.Diagnostics
		hidden []string // streams whose errors are only counted
	}
	warnings diag.Diagnostics
	inFull   func(kind, id string) bool // whether a warning is shown in full; see warned
}

func (t *tally) add(id string, d diag.Diagnostic) {
	kind, _, _ := strings.Cut(d.Summary(), ": stream ") // see warningText
	warns := d.Severity() == diag.SeverityWarning
	if warns && !t.inFull(kind, id) {
		d = asOneOfMany(kind, id, d.Detail())
	}
	if t.subject != ofOneStream {
		d = diag.WithPath(t.path(id), d)
	}
	if warns {
		t.warnings = append(t.warnings, d)
	} else {
		t.addError(id, d, len(t.errors.shown) < shownStreams)
	}
}

func (t *tally) addError(id string, d diag.Diagnostic, show bool) {
	t.errors.kinds = append(t.errors.kinds, d.Summary())
	if show {
		t.errors.shown = append(t.errors.shown, d)
	} else {
		t.errors.hidden = append(t.errors.hidden, id)
	}
}

func (t *tally) planned(id string, c change, p claims.Plan) {
	switch p.Refusal {
	case claims.ConflictingSets:
		t.add(id, conflictError(id, *c.want[id], p.Other))
	case claims.StreamIsKept:
		t.add(id, droppedStreamError(id, p.Other))
	}
	for _, w := range p.Warnings {
		t.add(id, planWarnings[w].with(p.Other.String()).about(id))
	}
}

// failed counts a failed operation on a stream. An interrupt is shown once for the streams to which nothing was sent.
func (t *tally) failed(id string, c change, o operation) {
	outcome, _ := o.now()
	t.failures[outcome]++
	_, stays := c.want[id]
	done := "updated"
	switch {
	case !stays:
		done = "detached"
	case c.kind == create:
		done = "set"
	}
	next, e := "", asStreamError(o.err)
	switch {
	case c.kind != create, t.subject != ofOneStream: // a group says it once
	case e.Outcome == streams.NotChanged && !o.leftAttached():
	case e.Repeated:
		next = changeTriggers
	default:
		next = notSaved
	}
	d := diagnose(id, fmt.Sprintf("the processors of stream %q could not be %s", id, done), next, o)
	if errors.As(o.err, new(interruptedError)) && slices.Contains(t.errors.kinds, d.Summary()) {
		t.addError(id, d, false)
		return
	}
	t.add(id, d)
}

// left counts a stream that the resource left. unforeseen says that the plan did not know of it.
func (t *tally) left(id string, l claims.Leave, o operation, unforeseen bool) {
	t.leaves++
	switch {
	case o.notFound != nil:
		t.add(id, notFoundOnDestroy(id, asStreamError(o.notFound)))
	case o.result == nil && l.Kind == claims.LeftBehind && l.Detach && o.facts.Reported == nil && !l.IsEmpty():
		t.add(id, leftAttached.with(l.Set.String()).about(id))
	case o.result == nil && l.Detach && o.facts.Failed && o.facts.Reported == nil:
		t.add(id, staysAttached.with(l.Set.String()).about(id, nowTrue(o.now())))
	case unforeseen && l.Detach && o.result != nil && o.decision.Set.Len() == 0:
		t.add(id, unforeseenDetach.about(id))
	}
}

// notSaved is true of every failed create. With create_before_destroy, Terraform keeps the former object.
const notSaved = "Nothing of this create is in the state: if you remove the resource now, its processors may stay attached. Apply " +
	"again. " + changeTriggers

// changeTriggers helps where create_before_destroy puts the former object back into the state.
const changeTriggers = "If the next plan shows no changes, change a value in triggers."

// nowInState says what a failed change leaves in the state of a group.
func (t *tally) nowInState(c change) string {
	mayHaveAttached := t.changed+t.failures[streams.Changed]+t.failures[streams.Unknown] > 0
	switch {
	case c.kind == create && mayHaveAttached:
		return notSaved
	case c.kind == create:
		return "Nothing of this create is in the state: apply again."
	case c.kind == destroy:
		return "The state has only the streams that failed."
	case c.kind == redeploy && t.changed == 0:
		return "The state is still that of the former deployment."
	}
	return "The state has what succeeded. Apply again to send the rest."
}

// diagnostics ends, for a group, with the counts, and with what is now true of the group in the state.
func (t *tally) diagnostics(state string) diag.Diagnostics {
	diags := slices.Concat(t.warnings, t.errors.shown)
	if t.subject == ofOneStream || t.failures == [len(t.failures)]int{} && len(t.errors.hidden) == 0 {
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
	say(t.changed, "has its planned set", "have their planned sets")
	say(t.leaves, "was left as on_destroy says", "were left as on_destroy says")
	say(t.failures[streams.NotChanged], "was not changed", "were not changed")
	say(t.failures[streams.Changed], "was changed, but not as planned", "were changed, but not as planned")
	say(t.failures[streams.Unknown], "may or may not have been changed", "may or may not have been changed")
	diags.AddAttributeError(t.path(""), "Streams Failed",
		paragraphs("Streams with errors: "+t.countErrors(), strings.Join(append(now, state), " ")))
	return diags
}

// countErrors says how many streams have errors, by kind, and names the first that are not shown.
func (t *tally) countErrors() string {
	counts := map[string]int{}
	for _, kind := range t.errors.kinds {
		counts[kind]++
	}
	var kinds, names []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		kinds = append(kinds, fmt.Sprintf("%d × %s", counts[kind], kind))
	}
	text := fmt.Sprintf("%d (%s).", len(t.errors.kinds), strings.Join(kinds, ", "))
	hidden := t.errors.hidden
	if len(hidden) == 0 {
		return text
	}
	named := min(len(hidden), namedStreams)
	if t.subject == ofStreamIDs {
		named = len(hidden) // ids that do not exist can then be removed at once
	}
	for _, id := range hidden[:named] {
		names = append(names, strconv.Quote(id))
	}
	if more := len(hidden) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return text + " Not shown above: " + strings.Join(names, ", ") + "."
}
