package provider_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A session shows the warnings about its first streams in full, however many resources it has. The others have one summary,
// and name the stream and the processors. An apply plans again, and shows fewer.
func TestManyWarnings(t *testing.T) {
	t.Parallel()
	all := sameSet(60, "p1")
	attached := seeds(all)
	for i := range attached {
		attached[i].ProcessorIDs = []string{"old"}
	}
	for name, want := range map[string]int{"plan": 20, "apply": 5} {
		_, r := startRun(t, nullGroup().Value, detectDrift, append(attached, streamstest.Streams("cam-1")...)...)
		p := startProvider(t, r.provider)
		none := coretest.Managed{Value: nullResource()}
		if planned, _, _ := p.Plan(none, cam1("p1")); name == "apply" {
			p.Apply(none.Value, planned, cam1("p1"))
		}
		full := 0
		plan := func(prior coretest.Managed, config tftypes.Value) {
			_, _, again := p.Plan(prior, config)
			_, _, diags := p.Plan(prior, config)
			wantEqual(t, name+", planned again", again.String(), diags.String())
			for _, d := range diags {
				if d.Summary == "Processors Will Be Detached: more streams" {
					streamstest.WantText(t, d.Detail, `Stream "s0`, `the apply detaches them: ["old"].`)
				} else {
					full++
				}
			}
		}
		for _, id := range idsOf(all)[:30] {
			plan(none, single(id, all[id]))
		}
		plan(nullGroup(), group(without(all, idsOf(all)[:30]...), nil))
		wantEqual(t, name+": warnings in full", want, full)
	}
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
