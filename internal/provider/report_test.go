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

// A session shows the warnings about its first single resources in full. The others have one summary, and name the stream and
// the processors. A group has one warning, which names all.
func TestManyWarnings(t *testing.T) {
	t.Parallel()
	all := sameSet(60, "p1")
	attached := seeds(all)
	for i := range attached {
		attached[i].ProcessorIDs = []string{"old"}
	}
	attached[59].ProcessorIDs = []string{"older"}
	_, r := startRun(t, nullGroup().Value, detectDrift, attached...)
	p, full := startProvider(t, r.provider), 0
	plan := func(prior coretest.Managed, config tftypes.Value) coretest.Diagnostics {
		_, _, again := p.Plan(prior, config)
		_, _, diags := p.Plan(prior, config)
		wantEqual(t, "planned again", again.String(), diags.String())
		return diags
	}
	for _, id := range idsOf(all)[:30] {
		for _, d := range plan(coretest.Managed{Value: nullResource()}, single(id, all[id])) {
			if d.Summary == "Processors Will Be Detached: more streams" {
				streamstest.WantText(t, d.Detail, `Stream "s0`, `the apply detaches them: ["old"].`)
			} else {
				full++
			}
		}
	}
	wantEqual(t, "warnings in full", 20, full)
	diags := plan(nullGroup(), group(all, nil))
	wantDiagnostics(t, diags, `WARNING: Processors Will Be Detached: stream "s000" and 59 more`)
	streamstest.WantText(t, diags[0].Detail, "60 streams, named below.", `"s057", "s058": ["old"]`, `"s059": ["older"]`)
}

// An error names all streams that have its cause, and each cause has an error, however many have another one.
func TestGroupManyErrors(t *testing.T) {
	t.Parallel()
	all := sameSet(50, "p1")
	service, r := startRun(t, nullGroup().Value, nil, seeds(all)...)
	faults := map[string]streamstest.Fault{}
	for i, id := range idsOf(all)[13:] {
		faults[id] = streamstest.Fault{Status: 409, Message: "locked"}
		if i >= 25 {
			faults[id] = streamstest.Fault{Status: 422, Message: "unknown processors"}
		}
	}
	refuse(service, faults)
	diags := r.mustFail(group(all, nil))
	wantDiagnostics(t, diags, "ERROR: Bad Request Error", "ERROR: Bad Request Error")
	wantEqual(t, "streams", [2]int{25, 12}, [2]int{len(coretest.ByStream(diags[0])), len(coretest.ByStream(diags[1]))})
	wantDiagnostic(t, diags, "ERROR: Bad Request Error", "The processors of 25 streams could not be set.")
	wantDiagnostic(t, diags, "ERROR: Bad Request Error", "The service said: unknown processors\n")
	streamstest.WantText(t, diags[1].Detail, "13 streams have their planned sets. 37 streams were not changed. "+notSaved)
	for _, d := range diags {
		if text := d.Detail; strings.Contains(text, "stream_id") || strings.Contains(text, "processor_ids") {
			t.Errorf("a group has no such attribute: %s", text)
		}
	}
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
	wantDiagnostic(t, diags, "ERROR: Operation Interrupted", fmt.Sprintf("The processors of %d streams", 50-len(service.Requests())))
}
