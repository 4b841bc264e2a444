package acceptance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// groupsByKey is a resource with a group for each key, all with the set of p1.
func groupsByKey(name, onDestroy string, groups map[string][]string) string {
	encoded, _ := json.Marshal(groups) // a map of texts always encodes, and ASCII JSON is HCL
	return fmt.Sprintf(`
resource "stream_processors_group" %q {
  for_each   = %s
  streams    = { for id in each.value : id => ["p1"] }
  on_destroy = %q
}
`, name, encoded, onDestroy)
}

func movedBlock(from, to string) string {
	return fmt.Sprintf("moved {\n  from = %s\n  to   = %s\n}\n", from, to)
}

func removedBlock(from string) string {
	return fmt.Sprintf("removed {\n  from = %s\n  lifecycle {\n    destroy = false\n  }\n}\n", from)
}

// Each way to change the form of a fleet sends the sets of the streams that change their place, and empties none.
// It needs clitest for the output: no plan warns.
func TestAccRegroup(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(8)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, "")
	if !clitest.AtLeast(t, "1.7", "1.7") {
		t.Skip("the CLI has no removed blocks")
	}
	two := map[string][]string{"a": ids[:4], "b": ids[4:]}
	four := map[string][]string{"a0": ids[:2], "a1": ids[2:4], "b0": ids[4:6], "b1": ids[6:]}
	renamed := map[string][]string{"a0": ids[:2], "c": ids[2:4], "b0": ids[4:6], "b1": ids[6:]}
	singles := resourceForEach(ids, `"p1"`, "")
	const fleet, other = "stream_processors_group.fleet", "stream_processors_group.other"
	for _, step := range []struct {
		name, root, module string
		sent               []string
	}{
		{"create", groupsByKey("fleet", "keep", two), "", ids},
		{"other groups", groupsByKey("fleet", "keep", four), "", ids},
		{"renamed key", groupsByKey("fleet", "keep", renamed) + movedBlock(fleet+`["a1"]`, fleet+`["c"]`), "", nil},
		{"into a module", movedBlock(fleet, "module.fleet."+fleet), groupsByKey("fleet", "keep", renamed), nil},
		{"other groups without keep", removedBlock("module.fleet." + fleet), groupsByKey("other", "detach", two), ids},
		{"single resources", removedBlock("module.fleet."+other) + singles, "# empty\n", ids},
		{"single resources into a module", movedBlock(this, "module.fleet."+this), singles, nil},
		{"groups", removedBlock("module.fleet."+this) + groupsByKey("fleet", "detach", two), "# empty\n", ids},
	} {
		t.Log(step.name)
		if step.module != "" {
			step.root += "module \"fleet\" {\n  source = \"./fleet\"\n}\n"
			w.Write("fleet/main.tf", clitest.RequireProvider+step.module)
		}
		w.Configure(step.root)
		w.MustRun("get")
		if r := w.MustApply(); strings.Contains(r.Text(), "Processors May Be Detached") {
			t.Errorf("the plan warns: %v", r)
		}
		service.WantRequests(t, updatesOf(sets(step.sent, `"p1"`))...)
	}
	w.Plan().Want(0)
}
