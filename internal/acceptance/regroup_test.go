package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
func TestAccRegroup(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(8)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, "")
	w.atLeast("1.7", "1.7")
	two := map[string][]string{"a": ids[:4], "b": ids[4:]}
	four := map[string][]string{"a0": ids[:2], "a1": ids[2:4], "b0": ids[4:6], "b1": ids[6:]}
	merged := map[string][]string{"a0": ids[:4], "b0": ids[4:6], "b1": ids[6:]}
	split := map[string][]string{"a0": ids[:2], "a2": ids[2:4], "b0": ids[4:6], "b1": ids[6:]}
	renamed := map[string][]string{"a0": ids[:2], "c": ids[2:4], "b0": ids[4:6], "b1": ids[6:]}
	singles := resourceForEach(ids, `"p1"`)
	const group = "stream_processors_group.fleet"
	for _, step := range []struct {
		name, root, module string
		sent               []string
	}{
		{"create", groupsByKey("fleet", "detach", two), "", ids},
		{"keep", groupsByKey("fleet", "keep", two), "", nil},
		{"other groups", groupsByKey("fleet", "keep", four), "", ids},
		{"merged groups", groupsByKey("fleet", "keep", merged), "", ids[2:4]},
		{"split group", groupsByKey("fleet", "keep", split), "", ids[2:4]},
		{"renamed key", groupsByKey("fleet", "keep", renamed) + movedBlock(group+`["a2"]`, group+`["c"]`), "", nil},
		{"into a module", movedBlock(group, "module.fleet."+group), groupsByKey("fleet", "keep", renamed), nil},
		{"detach again", "", groupsByKey("fleet", "detach", renamed), nil},
		{"other groups without keep", removedBlock("module.fleet." + group), groupsByKey("other", "detach", two), ids},
		{"single resources", removedBlock("module.fleet.stream_processors_group.other") + singles, "# empty\n", ids},
		{"single resources into a module", movedBlock(this, "module.fleet."+this), singles, nil},
		{"groups", removedBlock("module.fleet."+this) + groupsByKey("fleet", "detach", two), "# empty\n", ids},
	} {
		if step.module != "" {
			if err := os.MkdirAll(filepath.Join(w.dir, "fleet"), 0o700); err != nil {
				t.Fatal(err)
			}
			w.writeFile("fleet/main.tf", "terraform {\n  required_providers {\n    stream = { source = \"stream-management/stream\" }\n  }\n}\n"+step.module)
		}
		if _, err := os.Stat(filepath.Join(w.dir, "fleet")); err == nil {
			step.root += "module \"fleet\" {\n  source = \"./fleet\"\n}\n"
		}
		w.writeConfig(step.root)
		w.mustRun("get")
		r := w.mustApply()
		if strings.Contains(r.text(), "Processors May Be Detached") {
			t.Errorf("%s: the plan warns: %v", step.name, r)
		}
		t.Log(step.name)
		service.WantRequests(t, updatesOf(sets(step.sent, `"p1"`))...)
		w.wantNoChanges()
	}
}

// A processor that Terraform creates has to outlive its attachment. With create_before_destroy, Terraform destroys it after the
// update that detaches it, whether it is removed or replaced.
func TestAccCreatedProcessors(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	config := func(version string, processors ...string) string {
		return fmt.Sprintf(`
resource "terraform_data" "processor" {
  for_each         = toset(%s)
  input            = "${each.key}-%s"
  triggers_replace = %q
  lifecycle {
    create_before_destroy = true
  }
}

resource "stream_processors" "this" {
  stream_id     = "cam-1"
  processor_ids = [for p in terraform_data.processor : p.output]
}
`, hclList(processors), version, version)
	}
	w := newWorkspace(t, url, config("v1", "p1", "p2"))
	w.mustApply()
	service.WantRequests(t, updateOf("cam-1", `"p1-v1", "p2-v1"`))
	for _, step := range []struct{ config, sent string }{
		{config("v1", "p1"), updateOf("cam-1", `"p1-v1"`)},
		{config("v2", "p1"), updateOf("cam-1", `"p1-v2"`)},
	} {
		w.writeConfig(step.config)
		_, after, updated := strings.Cut(w.mustApply().text(), this+": Modifications complete")
		service.WantRequests(t, step.sent)
		if !updated || !strings.Contains(after, ": Destroying...") {
			t.Errorf("no processor is destroyed after the update: %s", after)
		}
	}
}
