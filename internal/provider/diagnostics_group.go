package provider

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// shownStreams is the number of streams of a group that get errors and warnings of their own.
const shownStreams = 20

// groupReport collects what an operation says about the streams of a group: the diagnostics of the first
// streams, and then the counts of all.
type groupReport struct {
	changed, left    int                     // streams whose operation succeeded
	failures         map[streams.Outcome]int // streams whose operation failed
	errors, warnings reportedStreams
}

type reportedStreams struct {
	count int
	kinds map[string]int // by summary
	shown diag.Diagnostics
}

func newGroupReport() *groupReport {
	return &groupReport{
		failures: map[streams.Outcome]int{},
		errors:   reportedStreams{kinds: map[string]int{}},
		warnings: reportedStreams{kinds: map[string]int{}},
	}
}

func (r *groupReport) hasErrors() bool { return r.errors.count > 0 }

// add reports diagnostics at the key of a stream.
func (r *groupReport) add(id string, diags ...diag.Diagnostic) {
	for _, d := range diags {
		to := &r.warnings
		if d.Severity() == diag.SeverityError {
			to = &r.errors
		}
		kind, _, _ := strings.Cut(d.Summary(), ": stream ") // see aboutStream
		to.kinds[kind]++
		if to.count++; to.count <= shownStreams {
			to.shown = append(to.shown, diag.WithPath(path.Root("streams").AtMapKey(id), d))
		}
	}
}

// failed reports a failed operation on a stream.
func (r *groupReport) failed(o groupOutcome, d diag.Diagnostic) {
	r.failures[asStreamError(o.err).Outcome]++
	r.add(o.id, d)
}

// diagnostics ends with the counts, and with what is now true of the group in the state.
func (r *groupReport) diagnostics(state string) diag.Diagnostics {
	diags := slices.Concat(r.warnings.shown, r.errors.shown)
	if r.warnings.count > shownStreams {
		diags.AddAttributeWarning(path.Root("streams"), "More Warnings About Streams", r.warnings.text("warnings"))
	}
	if len(r.failures) == 0 && r.errors.count <= shownStreams {
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
	say(r.left, "was left as on_destroy says", "were left as on_destroy says")
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
	if s.count > shownStreams {
		text += fmt.Sprintf(" The first %d are shown above.", shownStreams)
	}
	return text
}

// largeGroupWarning names the form that is faster.
func largeGroupWarning(n int) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(path.Root("streams"), "Large Group", fmt.Sprintf(
		"This group has %d streams. The time for a plan and an apply grows faster than the number of streams in one group. "+
			"Use several groups of a few hundred streams each, with for_each over stable keys: see the guide \"Large Fleets\".", n))
}

// droppedStreamError is for a stream that a group drops while another resource keeps it and sends nothing.
// Terraform calls only the group in the apply, and passes it nothing from its plan.
func droppedStreamError(id string, left streams.ProcessorSet) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("streams"), "Another Resource Keeps the Stream", paragraphs(
		fmt.Sprintf("A group of this plan drops stream %q, which would leave the stream with %s. Another resource of this plan has "+
			"the stream too, with another set, and would send nothing: its state would become untrue.", id, left),
		"Change a value in triggers of the other resource in the same apply, so that the other resource sends its set. If both "+
			"resources have the same set, on_destroy = \"keep\" in the group is enough.",
		"Nothing was sent for this resource. "+nowTrue(streams.NotChanged, nil),
	))
}

// detachedForAMomentWarning is for a stream that moves from a group to another resource.
func detachedForAMomentWarning(id string) diag.Diagnostic {
	return diag.NewWarningDiagnostic(aboutStream("Processors May Be Detached for a Moment", id), paragraphs(
		"This group drops the stream and detaches its processors, and another resource of this plan sets the processors. "+
			"Terraform may run the update of this group first, and the stream has no processors in between.",
		"To keep the processors attached throughout, set on_destroy = \"keep\" in this group, in the same apply."))
}

func streamGoneFromGroupWarning(id string) diag.Diagnostic {
	return diag.NewWarningDiagnostic(aboutStream("Stream Is Gone", id),
		"The service does not know this stream any more. The stream was removed from the group in the state.")
}

func invalidStreamValue(at path.Path, value, what string, err error) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Invalid Attribute Value", fmt.Sprintf("%s: %q is not %s: it %s.", at, value, what, err))
}

func missingStreamValue(at path.Path, what string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Missing Attribute Value", fmt.Sprintf("%s: %s must not be null.", at, what))
}
