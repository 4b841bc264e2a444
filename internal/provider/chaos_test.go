package provider

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Hundreds of streams behind a network where one request in five goes wrong. However often an apply
// fails, the next one goes on from what is true.
func TestAccChaos(t *testing.T) {
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
	chaos := func(streamstest.Request) *streamstest.Fault {
		if random.IntN(5) > 0 {
			return nil
		}
		return []*streamstest.Fault{
			{ResetBefore: true}, {ResetAfter: true}, {Truncate: true},
			{Status: 429}, {Status: 500}, {Status: 500, Apply: true}, {Status: 502}, {Status: 503},
		}[random.IntN(8)]
	}
	w := newWorkspace(t, url, "")
	failures, held := 0, 0
	converge := func(config string) {
		t.Helper()
		w.write("provider \"stream\" {\n  retry = { max_attempts = 2, min_backoff = \"1ms\", max_backoff = \"2ms\" }\n}\n" + config)
		service.InjectFunc(chaos)
		defer service.InjectFunc(nil)
		for range applies {
			r := w.apply("-parallelism=20")
			lost := held
			held = len(w.resources())
			if lost -= held; lost > 0 && config != "" {
				t.Fatalf("an apply lost %d resources: %v", lost, r)
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
		converge(fmt.Sprintf(`
resource "stream_processors" "this" {
  count         = %d
  stream_id     = format("stream-%%03d", count.index)
  processor_ids = %s
}
`, streamCount, step.set))
		if held != streamCount {
			t.Errorf("the state has %d resources", held)
		}
		for i, id := range ids {
			service.WantAttached(t, id, step.want(i)...)
		}
		w.wantNoChanges()
	}
	converge("")
	if held > 0 {
		t.Errorf("the state still has %d resources", held)
	}
	for _, id := range ids {
		service.WantAttached(t, id)
	}
	if failures == 0 {
		t.Error("no apply failed: the chaos was too tame")
	}
}
