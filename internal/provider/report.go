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
	ofQuery = subject{
		stream: func(string) path.Path { return path.Root("stream_ids") },
		set:    func(string) path.Path { return path.Root("stream_ids") },
		words:  strings.NewReplacer("stream_id", "the id in stream_ids"),
		group:  true,
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
	mayWarn           func(id string) bool // in this run; nil: only the warnings of the report count
}

type reportedStreams struct {
	count  int
	kinds  map[string]int // by summary
	shown  diag.Diagnostics
	hidden []string // streams whose diagnostics are only counted
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
	show := !r.group || len(r.warnings.shown) < shownStreams
	if d.Severity() == diag.SeverityError {
		to = &r.errors
		show = !r.group || len(r.errors.shown) < shownStreams
	} else if r.mayWarn != nil {
		show = r.mayWarn(id)
	}
	kind, _, _ := strings.Cut(d.Summary(), ": stream ") // see aboutStream
	to.kinds[kind]++
	to.count++
	switch {
	case !show:
		to.hidden = append(to.hidden, id)
	case r.group:
		to.shown = append(to.shown, diag.WithPath(r.stream(id), d))
	default:
		to.shown = append(to.shown, d)
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
	diags := slices.Concat(r.warnings.shown, r.errors.shown, r.moreWarnings())
	if !r.group {
		return diags
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
	diags.AddAttributeError(path.Root("streams"), "Streams Failed", paragraphs(r.errors.text("Streams of this group with errors"), strings.Join(append(now, state), " ")))
	return diags
}

// queryDiagnostics are the errors of a query, and the count of its warnings. Its first warnings were shown before.
func (r *report) queryDiagnostics() diag.Diagnostics {
	diags := slices.Clone(r.errors.shown)
	if len(r.errors.hidden) > 0 {
		diags.AddError("Streams Failed", r.errors.text("Streams with errors"))
	}
	return append(diags, r.moreWarnings()...)
}

// moreWarnings counts the warnings that are not shown. Terraform shows one of the resources that have this summary, and
// counts the others.
func (r *report) moreWarnings() (diags diag.Diagnostics) {
	if len(r.warnings.hidden) > 0 {
		diags.AddWarning("More Warnings About Streams", r.warnings.text("Streams with warnings"))
	}
	return diags
}

// text says how many streams have diagnostics, by kind, and names the first that are not shown.
func (s *reportedStreams) text(what string) string {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.kinds)) {
		kinds = append(kinds, fmt.Sprintf("%d × %s", s.kinds[kind], kind))
	}
	text := fmt.Sprintf("%s: %d (%s).", what, s.count, strings.Join(kinds, ", "))
	if shown := len(s.shown); s.count > shown && shown > 0 {
		text += fmt.Sprintf(" The first %d are shown above.", shown)
	}
	if named := min(len(s.hidden), namedStreams); named > 0 {
		var quoted []string
		for _, id := range s.hidden[:named] {
			quoted = append(quoted, strconv.Quote(id))
		}
		text += " Others: " + strings.Join(quoted, ", ")
		if more := len(s.hidden) - named; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		text += "."
	}
	return text
}
