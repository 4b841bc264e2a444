package acceptance

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const detachedForAMoment = "Processors May Be Detached for a Moment: stream %q"

// TestAccRename renames ten resources at once, without moved blocks. A stream may only pass through an empty set if
// the plan has warned about this stream. RENAME_ROUNDS sets the number of rounds.
func TestAccRename(t *testing.T) {
	t.Parallel()
	rounds := 3
	if text := os.Getenv("RENAME_ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for i := range 10 {
		ids = append(ids, fmt.Sprintf("cam-%d", i))
	}
	renamed := func(round int) string {
		var hcl strings.Builder
		for _, id := range ids {
			fmt.Fprintf(&hcl, "resource \"stream_processors\" \"%s-%d\" {\n  stream_id     = %q\n  processor_ids = [\"p1\"]\n}\n", id, round, id)
		}
		return hcl.String()
	}
	rekeyed := func(round int) string {
		return fmt.Sprintf(`
resource "stream_processors" "this" {
  for_each      = { for i in range(10) : "key-${i}-%d" => "cam-${i}" }
  stream_id     = each.value
  processor_ids = ["p1"]
}`, round)
	}
	for name, config := range map[string]func(int) string{"resource": renamed, "for_each key": rekeyed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
			w := newWorkspace(t, url, config(0))
			w.mustApply()
			emptied, warned := 0, 0
			for round := range rounds {
				service.ForgetRequests()
				w.writeConfig(config(round + 1))
				plan := w.mustRun("plan", "-out=plan", "-no-color").text()
				w.mustApply("plan")
				for _, r := range service.Requests() {
					if r.Body != `{"processor_ids":[]}` {
						continue
					}
					emptied++
					if !strings.Contains(plan, fmt.Sprintf(detachedForAMoment, r.StreamID)) {
						t.Errorf("round %d: %s was emptied, and the plan did not warn", round, r.StreamID)
					}
				}
				warned += strings.Count(plan, "Processors May Be Detached for a Moment: stream")
				for _, id := range ids {
					service.WantAttached(t, id, "p1")
				}
			}
			t.Logf("of %d renames, the plan warned about %d, and %d passed through an empty set", 10*rounds, warned, emptied)
		})
	}
}

// TestAccSwap swaps the streams of two resources: neither is emptied.
func TestAccSwap(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1", "cam-2")...)
	config := func(a, b string) string {
		return fmt.Sprintf(`
resource "stream_processors" "a" {
  stream_id     = %q
  processor_ids = ["p1"]
}

resource "stream_processors" "b" {
  stream_id     = %q
  processor_ids = ["p2"]
}`, a, b)
	}
	w := newWorkspace(t, url, config("cam-1", "cam-2"))
	w.mustApply()
	service.ForgetRequests()
	w.writeConfig(config("cam-2", "cam-1"))
	plan := w.mustRun("plan", "-out=plan", "-no-color").text()
	w.mustApply("plan")
	service.WantAttached(t, "cam-1", "p2")
	service.WantAttached(t, "cam-2", "p1")
	for _, r := range service.Requests() {
		if r.Body == `{"processor_ids":[]}` && !strings.Contains(plan, fmt.Sprintf(detachedForAMoment, r.StreamID)) {
			t.Errorf("%s was emptied, and the plan did not warn", r.StreamID)
		}
	}
}
