package acceptance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Validate needs no address, because it may run in another environment than plan. It reports all wrong values at once,
// each at its attribute.
func TestAccValidate(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "", resourceOf("this", "cam-1", `"p1"`, ""))
	w.mustRun("validate")
	wantResult(t, w.plan(), 1, "The address of the service is missing.", "STREAM_BASE_URL")

	w.writeConfig(resourceOf("this", "..", `"p1"`, `on_destroy = "forget"`))
	r, diags := w.diagnostics("validate")
	got := map[string]bool{}
	for _, d := range diags {
		attribute, _, _ := strings.Cut(strings.TrimSpace(d.Snippet.Code), " ")
		got[attribute] = true
	}
	if diff := cmp.Diff(map[string]bool{"stream_id": true, "on_destroy": true}, got); r.code != 1 || diff != "" {
		t.Errorf("attributes with errors (-want +got):\n%s\n%v", diff, r)
	}
}
