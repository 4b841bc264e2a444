package acceptance

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A moved block from each of the other providers sends nothing, unless the old state says that the service does not have
// the configured set.
func TestAccMove(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	for _, id := range []string{"cam-1", "cam-2", "cam-5", "cam-301"} {
		service.Seed(streamstest.Stream{ID: id, TerminalID: "term-" + id, FragmentTypeID: "image/jpg"})
	}
	w := newMovedWorkspace(t, url, map[string]string{
		"foreach": "restful-foreach", "redirect": "terracurl-redirect", "failed": "restapi-failedupdate-norefresh",
	}, `
resource "stream_processors" "foreach" {
  for_each      = { "cam-1" = ["p1"], "cam-2" = [] }
  stream_id     = each.key
  processor_ids = each.value
}
`+resourceOf("redirect", "cam-301", `"p1", "p2"`, "")+resourceOf("failed", "cam-5", `"p1", "p2"`, ""))
	r := w.plan("-out=tfplan")
	wantResult(t, r, 2, "restful_operation.foreach[\"cam-1\"] has moved to stream_processors.foreach[\"cam-1\"]", "Plan: 0 to add, 2 to change, 0 to destroy.")
	service.WantRequests(t)
	w.mustApply("tfplan")
	service.WantRequests(t, updateOf("cam-301", `"p1", "p2"`), updateOf("cam-5", `"p1", "p2"`))
	w.wantNoChanges()

	w.writeConfig(strings.Replace(w.readFile("main.tf"), `["p1"]`, `["p3"]`, 1))
	wantResult(t, w.mustApply(), 0, "0 added, 1 changed, 0 destroyed")
	service.WantRequests(t, updateOf("cam-1", `"p3"`))
}

// movedStates has states as other providers wrote them, each after an apply on a stand-in service.
const movedStates = "../provider/testdata/moved"

// newMovedWorkspace makes a workspace with a state from movedStates for each name, and a configuration for the resources
// of these names.
//
// To move a resource, Terraform starts the provider that the resource comes from, and asks this provider nothing about
// the resource. So the provider of this tree stands in for the others, under their names.
func newMovedWorkspace(t *testing.T, url string, states map[string]string, hcl string) *workspace {
	t.Helper()
	w := newWorkspace(t, url, "")
	w.atLeast("1.8.0", "1.10.0")
	_, provider := cli.ForTest(t)
	dirs := map[string]string{cli.Source: filepath.Dir(provider)}
	for _, source := range []string{"magodo/restful", "mastercard/restapi", "devops-rob/terracurl"} {
		dirs[source] = t.TempDir()
		program := strings.Replace(filepath.Base(provider), "stream", filepath.Base(source), 1)
		if err := os.Symlink(provider, filepath.Join(dirs[source], program)); err != nil {
			t.Fatal(err)
		}
	}
	sandbox, err := cli.NewOverridingSandbox(w.dir, w.sandbox.Program, dirs)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(sandbox.Env, w.sandbox.Env)
	w.sandbox = sandbox
	for name, resourceType := range w.writeMovedState(states) {
		hcl += fmt.Sprintf("moved {\n  from = %s.%s\n  to   = stream_processors.%[2]s\n}\n", resourceType, name)
	}
	w.writeConfig(hcl)
	return w
}

// writeMovedState writes a state with a resource of each name, and returns their types.
func (w *workspace) writeMovedState(states map[string]string) (types map[string]string) {
	w.t.Helper()
	types = map[string]string{}
	var state map[string]any
	var resources []any
	for name, file := range states {
		content, err := os.ReadFile(filepath.Join(movedStates, file+".json"))
		if err != nil {
			w.t.Fatal(err)
		}
		state = nil
		if err := json.Unmarshal(content, &state); err != nil {
			w.t.Fatal(err)
		}
		r := state["resources"].([]any)[0].(map[string]any)
		r["name"] = name
		types[name] = r["type"].(string)
		resources = append(resources, r)
	}
	state["resources"] = resources
	content, err := json.Marshal(state)
	if err != nil {
		w.t.Fatal(err)
	}
	w.writeFile("terraform.tfstate", string(content))
	return types
}
