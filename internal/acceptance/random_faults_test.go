package acceptance

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestAccRandomFaults breaks one request in five, for hundreds of streams. Repeated applies reach the configuration, and
// a failed apply loses no resource.
func TestAccRandomFaults(t *testing.T) {
	t.Parallel()
	const streamCount, applies = 400, 25
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	ids := make([]string, streamCount)
	for i := range ids {
		ids[i] = fmt.Sprintf("stream-%03d", i)
	}
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	randomFault := func(streamstest.Request) *streamstest.Fault {
		if random.IntN(5) > 0 {
			return nil
		}
		return []*streamstest.Fault{
			{ResetBefore: true}, {ResetAfter: true}, {Truncate: true},
			{Status: 429}, {Status: 500}, {Status: 500, Apply: true}, {Status: 502}, {Status: 503},
		}[random.IntN(8)]
	}
	w := newWorkspace(t, url, "")
	failures, inState := 0, 0
	applyUntilSuccess := func(config string) {
		t.Helper()
		w.writeConfig("provider \"stream\" {\n  retry = { max_attempts = 2, min_backoff = \"1ms\", max_backoff = \"2ms\" }\n}\n" + config)
		service.InjectFunc(randomFault)
		defer service.InjectFunc(nil)
		for range applies {
			r := w.apply("-parallelism=20")
			before := inState
			inState = len(w.stateResources())
			if inState < before && config != "" {
				t.Fatalf("an apply lost %d resources: %v", before-inState, r)
			}
			if r.code == 0 {
				return
			}
			failures++
		}
		t.Fatalf("no apply of %d succeeded", applies)
	}
	for _, step := range []struct {
		set  string
		want func(i int) []string
	}{
		{`["p${count.index}", "all"]`, func(i int) []string { return []string{"all", fmt.Sprintf("p%d", i)} }},
		{`["p${count.index % 7}"]`, func(i int) []string { return []string{fmt.Sprintf("p%d", i%7)} }},
	} {
		applyUntilSuccess(fmt.Sprintf(`
resource "stream_processors" "this" {
  count         = %d
  stream_id     = format("stream-%%03d", count.index)
  processor_ids = %s
}
`, streamCount, step.set))
		if inState != streamCount {
			t.Errorf("the state has %d resources", inState)
		}
		for i, id := range ids {
			service.WantAttached(t, id, step.want(i)...)
		}
		w.wantNoChanges()
	}
	applyUntilSuccess("")
	if inState > 0 {
		t.Errorf("the state still has %d resources", inState)
	}
	for _, id := range ids {
		service.WantAttached(t, id)
	}
	if failures == 0 {
		t.Error("no apply failed: there were too few faults")
	}
}
