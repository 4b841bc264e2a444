package acceptance

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func movedBlock(from, to string) string {
	return fmt.Sprintf("moved {\n  from = %s\n  to   = %s\n}\n", from, to)
}

func removedBlock(from string) string {
	return fmt.Sprintf("removed {\n  from = %s\n  lifecycle {\n    destroy = false\n  }\n}\n", from)
}

// A moved block from a resource of another provider changes and sends nothing. The test needs clitest for the state file.
//
// To move a resource, Terraform starts the provider that the resource comes from, and asks this provider nothing about
// the resource. So the provider of this tree stands in for the other, under its name.
func TestAccMove(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	w := newWorkspace(t, url, "")
	if !clitest.AtLeast(t, "1.8", "1.10") {
		t.Skip("the CLI moves no resource to another type")
	}
	w.Write("terraform.tfstate", clitest.ReadFile(t, filepath.Join("..", "moved", "testdata", "restful-foreach.json")))
	w.Configure(movedBlock("restful_operation.s", this) + `
resource "stream_processors" "this" {
  for_each      = { "cam-1" = ["p1"], "cam-2" = [] }
  stream_id     = each.key
  processor_ids = each.value
}
`)
	w.MustRun("init")
	w.Apply().Want(0, "0 added, 0 changed, 0 destroyed")
	w.Plan().Want(0)
	service.WantRequests(t)
}

// Each way to change the form of a fleet sends the sets of the streams that change their place, and empties none.
// It needs clitest for the output: no plan warns.
func TestAccRegroup(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(4)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, "")
	if !clitest.AtLeast(t, "1.7", "1.7") {
		t.Skip("the CLI has no removed blocks")
	}
	groups := func(name, onDestroy string, byKey map[string][]string) string {
		encoded, _ := json.Marshal(byKey) // a map of texts always encodes, and ASCII JSON is HCL
		return fmt.Sprintf(`
resource "stream_processors_group" %q {
  for_each   = %s
  streams    = { for id in each.value : id => ["p1"] }
  on_destroy = %q
}
`, name, encoded, onDestroy)
	}
	one := map[string][]string{"a": ids}
	two := map[string][]string{"a1": ids[:2], "a2": ids[2:]}
	renamed := map[string][]string{"a1": ids[:2], "b": ids[2:]}
	const fleet, other = "stream_processors_group.fleet", "stream_processors_group.other"
	for _, step := range []struct {
		name, config string
		sent         []string
	}{
		{"create", groups("fleet", "keep", one), ids},
		{"other groups", groups("fleet", "keep", two), ids},
		{"renamed key", groups("fleet", "keep", renamed) + movedBlock(fleet+`["a2"]`, fleet+`["b"]`), nil},
		{"other groups without keep", removedBlock(fleet) + groups("other", "detach", one), ids},
		{"single resources", removedBlock(other) + resourceForEach(ids, `"p1"`, ""), ids},
		{"groups", removedBlock(this) + groups("fleet", "detach", two), ids},
	} {
		t.Log(step.name)
		w.Configure(step.config)
		if r := w.MustApply(); strings.Contains(r.Text(), "Processors May Be Detached") {
			t.Errorf("the plan warns: %v", r)
		}
		service.WantRequests(t, updatesOf(sets(step.sent, `"p1"`))...)
	}
	w.Plan().Want(0)
}
