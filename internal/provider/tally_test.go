package provider

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A session shows the warnings about the first streams, and counts those about the others, however many resources it has.
func TestManyWarnings(t *testing.T) {
	t.Parallel()
	_, r := startRun(t, nullGroup().Value, nil, seeds(sameSet(60, "p1"))...)
	r.mustApply(group(sameSet(60, "p1"), nil))
	p := startProvider(t, r.provider)
	p.Plan(r.state, r.null())
	var summaries []string
	note := func(diags coretest.Diagnostics) {
		for _, d := range diags {
			summary, _, _ := strings.Cut(d.Summary, ":")
			summaries = append(summaries, fmt.Sprintf("%s %s", d.Severity, summary))
		}
	}
	groups := []map[string][]string{{}, {}}
	for i := range 50 {
		groups[i/25][fmt.Sprintf("s%03d", i)] = []string{"p1"}
	}
	for _, streams := range groups {
		_, _, again := p.Plan(nullGroup(), group(streams, nil))
		_, _, diags := p.Plan(nullGroup(), group(streams, nil))
		note(diags)
		wantEqual(t, "a repeated plan", again.String(), diags.String())
	}
	_, _, diags := p.Plan(coretest.Managed{Value: nullResource()}, single("s055", []string{"p1"}))
	note(diags)
	wantDiagnostic(t, diags, "WARNING: More Warnings About Streams",
		`Streams with warnings: 1 (1 × Processors May Be Detached for a Moment). Not shown above: "s055".`)
	first := slices.Repeat([]string{"WARNING Processors May Be Detached for a Moment"}, shownGaps)
	others := slices.Repeat([]string{"WARNING More Warnings About Streams"}, 3)
	wantEqual(t, "warnings", append(first, others...), summaries)
}

// Only the first streams have errors of their own. They name what a group has.
func TestGroupManyErrors(t *testing.T) {
	t.Parallel()
	_, r := startRun(t, nullGroup().Value, nil)
	diags := r.mustFail(group(sameSet(50, "p1"), nil))
	if found := errorsAt(diags); len(found) != 21 || len(found["s019"]) != 1 || len(found[""]) != 1 {
		t.Fatal(diags)
	}
	for _, d := range diags {
		if text := d.Summary + d.Detail; strings.Contains(text, "stream_id") || strings.Contains(text, "processor_ids") {
			t.Errorf("a group has no such attribute: %s", text)
		}
	}
	wantDiagnostic(t, diags, "ERROR: Resource Not Found Error", "Check the id of the stream.")
	wantDiagnostic(t, diags, "ERROR: Streams Failed", "50 streams were not changed. Nothing of this create is in the state: apply again.")
	streamstest.WantText(t, diags[len(diags)-1].Detail, `Streams with errors: 50 (50 × Resource Not Found Error). Not shown above: "s020", `)
}

// One interrupt is one error for the streams to which nothing was sent.
func TestInterruptedGroup(t *testing.T) {
	t.Parallel()
	streams := sameSet(50, "p1")
	service, r := startRun(t, nullGroup().Value, coretest.Attributes{"max_concurrent_requests": 1}, seeds(streams)...)
	p := startProvider(t, r.provider)
	config := group(streams, nil)
	planned, _, _ := p.Plan(nullGroup(), config)
	var once sync.Once
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		once.Do(func() { p.Interrupt() })
		return nil
	})
	_, diags := p.Apply(r.state.Value, planned, config)
	if len(diags) > 3 {
		t.Errorf("%d errors for one interrupt: %s", len(diags), diags)
	}
	wantDiagnostic(t, diags, "ERROR: Streams Failed", fmt.Sprintf("%d × Operation Interrupted", 50-len(service.Requests())))
}
