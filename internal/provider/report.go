package provider

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// shownStreams is the number of streams of a group that get errors and warnings of their own.
const shownStreams = 20

// subject is how diagnostics name a resource and its attributes.
type subject struct {
	stream, set func(id string) path.Path
	words       *strings.Replacer // of the texts, which are written for a single resource
	group       bool
}

var (
	ofResource = subject{
		stream: func(string) path.Path { return path.Root("stream_id") },
		set:    func(string) path.Path { return path.Root("processor_ids") },
		words:  strings.NewReplacer(),
	}
	ofGroup = subject{
		stream: func(id string) path.Path { return path.Root("streams").AtMapKey(id) },
		set:    func(id string) path.Path { return path.Root("streams").AtMapKey(id) },
		words: strings.NewReplacer(
			"The resource was removed from the state", "The stream was removed from the group in the state",
			"the resource was removed from the state", "the stream was removed from the group in the state",
			"Remove the resource from the configuration", "Remove the key from streams",
			"Nothing was sent for this resource", "Nothing was sent for this stream",
			"stream_id", "the key in streams",
			"processor_ids", "the stream's set in streams",
		),
		group: true,
	}
)

// report collects what an operation says about the streams of a resource. For a group, that is the diagnostics of
// the first streams, and then the counts of all.
type report struct {
	subject
	changed, released int                     // streams whose operation succeeded
	failures          map[streams.Outcome]int // streams whose operation failed
	interrupted       int                     // streams of failures for which nothing was sent
	errors, warnings  reportedStreams
}

type reportedStreams struct {
	count int
	kinds map[string]int // by summary
	shown diag.Diagnostics
}

func newReport(s subject) *report {
	return &report{
		subject:  s,
		failures: map[streams.Outcome]int{},
		errors:   reportedStreams{kinds: map[string]int{}},
		warnings: reportedStreams{kinds: map[string]int{}},
	}
}

func (r *report) hasErrors() bool { return r.errors.count > 0 }

func (r *report) mayHaveAttached() bool {
	return r.changed+r.failures[streams.Changed]+r.failures[streams.Unknown] > 0
}

// add reports a diagnostic about a stream.
func (r *report) add(id string, d diag.Diagnostic) {
	to := &r.warnings
	if d.Severity() == diag.SeverityError {
		to = &r.errors
	}
	kind, _, _ := strings.Cut(d.Summary(), ": stream ") // see aboutStream
	to.kinds[kind]++
	to.count++
	switch {
	case !r.group:
		to.shown = append(to.shown, d)
	case len(to.shown) < shownStreams:
		to.shown = append(to.shown, diag.WithPath(r.stream(id), d))
	}
}

// planned reports what a plan decides for a stream.
func (r *report) planned(id string, p claims.Plan) {
	if p.Refusal == claims.StreamIsKept {
		r.add(id, droppedStreamError(r.subject, id, p.Other))
	}
	for _, w := range p.Warnings {
		r.add(id, planWarning(w, id, p.Other))
	}
}

// failed reports a failed operation on a stream.
func (r *report) failed(id string, c change, o outcome) {
	r.failures[o.now().Outcome]++
	if r.group && o.result == nil && errors.As(o.err, new(interruptedError)) {
		if r.interrupted++; r.interrupted > 1 { // they are all alike
			r.errors.count++
			r.errors.kinds[string(streams.KindInterrupted)]++
			return
		}
	}
	r.add(id, diagnose(r.subject, id, operationOf(id, c), o))
}

// left reports a departure from a stream. unseen says that the plan of the run did not see the departure.
func (r *report) left(id string, c change, o outcome, unseen bool) {
	r.released++
	switch {
	case o.err != nil:
		r.add(id, notFoundOnDestroyWarning(r.subject, id, o.err))
	case o.result == nil && c.detach && o.known.Failed && o.known.Left != nil:
		r.add(id, staysAttachedWarning(id, o.known))
	case o.result != nil && c.detach && unseen:
		r.add(id, unseenDetachWarning(id))
	}
}

// diagnostics ends, for a group, with the counts, and with what is now true of the group in the state.
func (r *report) diagnostics(state string) diag.Diagnostics {
	diags := slices.Concat(r.warnings.shown, r.errors.shown)
	if !r.group {
		return diags
	}
	if r.warnings.count > len(r.warnings.shown) {
		diags.AddAttributeWarning(path.Root("streams"), "More Warnings About Streams", r.warnings.text("warnings"))
	}
	if len(r.failures) == 0 && r.errors.count == len(r.errors.shown) {
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
	diags.AddAttributeError(path.Root("streams"), "Streams Failed", paragraphs(r.errors.text("errors"), strings.Join(append(now, state), " ")))
	return diags
}

// text says how many streams have diagnostics, by kind.
func (s *reportedStreams) text(what string) string {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.kinds)) {
		kinds = append(kinds, fmt.Sprintf("%d × %s", s.kinds[kind], kind))
	}
	text := fmt.Sprintf("Streams of this group with %s: %d (%s).", what, s.count, strings.Join(kinds, ", "))
	if shown := len(s.shown); s.count > shown {
		text += fmt.Sprintf(" The first %d are shown above.", shown)
	}
	return text
}
