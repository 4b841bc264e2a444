package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A call takes three times as much work for twice as many processors or streams, at most.
func TestCallsAreLinear(t *testing.T) { // not parallel, because it counts allocations
	work := func(n int) map[string]float64 {
		ids := idsOf(sameSet(n))
		changed := append([]string{"new"}, ids[1:]...)
		service, r := startRun(t, nullResource(), detectDrift, append(streamstest.Streams(ids...), streamstest.Stream{ID: "cam"})...)
		found := map[string]float64{}
		count := func(what string, call func() coretest.Diagnostics) {
			t.Helper()
			var diags coretest.Diagnostics
			if found[what] = testing.AllocsPerRun(1, func() { diags = call() }); diags.Failed() {
				t.Fatalf("%s: %s", what, diags)
			}
		}
		for typeName, config := range map[string]func(set []string) tftypes.Value{
			coretest.SingleName: func(set []string) tftypes.Value { return single("cam", set) },
			coretest.GroupName:  func(set []string) tftypes.Value { return group(map[string][]string{"cam": set}, nil) },
		} {
			p := startProvider(t, r.provider)
			apply := func(what string, prior coretest.Managed, set []string) (after coretest.Managed) {
				planned, _, _ := p.Plan(prior, config(set))
				count(typeName+": "+what, func() (diags coretest.Diagnostics) {
					after, diags = p.Apply(prior.Value, planned, config(set))
					return diags
				})
				return after
			}
			created := apply("create", coretest.Managed{Value: tftypes.NewValue(config(nil).Type(), nil)}, ids)
			p = startProvider(t, merge(r.provider, coretest.Attributes{"detect_drift": false}))
			count(typeName+": refresh without a read", func() coretest.Diagnostics { _, diags := p.Read(created); return diags })
			updated := apply("update", created, changed)
			p = startProvider(t, r.provider)
			service.Seed(streamstest.Stream{ID: "cam", ProcessorIDs: ids})
			count(typeName+": refresh", func() coretest.Diagnostics { _, diags := p.Read(updated); return diags })
			count(typeName+": data source", func() coretest.Diagnostics { _, diags := read(p, typeName, "cam"); return diags })
		}
		p := startProvider(t, r.provider)
		count("data source of many streams", func() coretest.Diagnostics { _, diags := read(p, coretest.GroupName, ids...); return diags })
		return found
	}
	once, twice := work(500), work(1000)
	for of := range once {
		if twice[of] > 3*once[of] {
			t.Errorf("%s: %g allocations, and %g for twice as much", of, once[of], twice[of])
		}
	}
}
