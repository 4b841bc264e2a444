package acceptance

import (
	"fmt"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Without a moved block, a new name, a new key in for_each and a swap of two streams empty no stream unless the plan has
// warned about this stream. With a moved block, nothing is sent.
func TestAccRename(t *testing.T) {
	t.Parallel()
	ids := []string{"renamed", "key", "swapped-1", "swapped-2", "moved"}
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	config := func(suffix, first, second string) string {
		return resourceOf("renamed"+suffix, "renamed", `"p1"`, "") + resourceOf("swap-1", first, `"p1"`, "") +
			resourceOf("swap-2", second, `"p2"`, "") + resourceOf("moved"+suffix, "moved", `"p1"`, "") + fmt.Sprintf(`
resource "stream_processors" "keys" {
  for_each      = { "key%s" = "key" }
  stream_id     = each.value
  processor_ids = ["p1"]
}
`, suffix)
	}
	w := newWorkspace(t, url, config("", "swapped-1", "swapped-2"))
	w.mustApply()
	service.ForgetRequests()

	w.writeConfig(config("-2", "swapped-2", "swapped-1") + "moved {\n  from = stream_processors.moved\n  to   = stream_processors.moved-2\n}\n")
	plan := w.mustRun("plan", "-out=plan", "-no-color")
	w.mustApply("plan")
	if emptied := emptiedWithoutWarning(service, plan); len(emptied) > 0 {
		t.Errorf("%q were emptied, and the plan did not warn: %v", emptied, plan)
	}
	for _, r := range service.Requests() {
		if r.StreamID == "moved" {
			t.Errorf("a moved block sent %s", r)
		}
	}
	for id, processor := range map[string]string{"renamed": "p1", "key": "p1", "swapped-1": "p2", "swapped-2": "p1", "moved": "p1"} {
		service.WantAttached(t, id, processor)
	}
	w.wantNoChanges()
}

// Two sets for one stream are one error of the plan, and nothing is sent.
func TestAccConflict(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam", "other")...)
	w := newWorkspace(t, url, resourceOf("owner", "cam", `"p1"`, "")+groupOf("rival", map[string]string{"cam": "", "other": `"p1"`}, ""))
	r, diags := w.diagnostics("apply", "-auto-approve")
	if r.code != 1 || len(diags) != 1 {
		t.Fatalf("want one conflict: %v", r)
	}
	wantContains(t, diags[0].Summary, "Conflicting Processor Sets")
	wantContains(t, diags[0].Detail, `stream "cam"`, `["p1"]`, "[]", "Nothing was sent")
	diags[0].wantLastLine(t, notChanged)
	service.WantRequests(t)
}
