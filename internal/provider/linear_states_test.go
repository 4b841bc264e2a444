package provider_test

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A read takes three times as much work for twice as many processors or streams, at most.
func TestReadsAreLinear(t *testing.T) { // not parallel, because it counts allocations
	work := func(n int) map[string]float64 {
		ids := idsOf(sameSet(n))
		_, p := startQuery(t, nil, append(streamstest.Streams(ids...), streamstest.Stream{ID: "cam", ProcessorIDs: ids})...)
		imported, _ := p.ImportState(coretest.SingleName, "cam")
		state, _ := p.Read(imported)
		return map[string]float64{
			"stream_processors":      testing.AllocsPerRun(1, func() { read(p, coretest.SingleName, "cam") }),
			"group of one stream":    testing.AllocsPerRun(1, func() { read(p, coretest.GroupName, "cam") }),
			"group of small streams": testing.AllocsPerRun(1, func() { read(p, coretest.GroupName, ids...) }),
			"refresh":                testing.AllocsPerRun(1, func() { p.Read(state) }),
		}
	}
	once, twice := work(500), work(1000)
	for of := range once {
		if twice[of] > 3*once[of] {
			t.Errorf("%s: %g allocations, and %g for twice as much", of, once[of], twice[of])
		}
	}
}
