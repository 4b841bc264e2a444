package acceptance

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func TestAccMoveSendsNothing(t *testing.T) {
	t.Parallel()
	for state, from := range map[string]string{
		"restful-simple":          "restful_operation",
		"restful-v0.13.3-heredoc": "restful_operation",
		"restful-sensitiveoutput": "restful_operation",
		"restapi-objectid":        "restapi_object",
		"restapi-sensitive":       "restapi_object",
		"terracurl-simple":        "terracurl_request",
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			service, url := newMovedService(t)
			w := newMovedWorkspace(t, url, state, movedFrom(from, "cam-1", `["p2", "p1"]`))
			wantResult(t, w.plan(), 2, from+".s has moved to stream_processors.this", "Plan: 0 to add, 0 to change, 0 to destroy.")
			w.mustApply()
			w.wantNoChanges()
			service.WantRequests(t)

			w.writeConfig(movedFrom(from, "cam-1", `["p3", "p1"]`))
			wantResult(t, w.mustApply(), 0, "0 added, 1 changed, 0 destroyed")
			service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["p1","p3"]}`)
		})
	}
}

// The old state says that the service does not have the configured set: the apply of the move sends the set.
func TestAccMoveMendsTheSet(t *testing.T) {
	t.Parallel()
	for state, move := range map[string]struct{ from, id string }{
		"restful-redirect":               {"restful_operation", "cam-301"},
		"terracurl-redirect":             {"terracurl_request", "cam-301"},
		"restapi-failedupdate-norefresh": {"restapi_object", "cam-5"},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			service, url := newMovedService(t)
			w := newMovedWorkspace(t, url, state, movedFrom(move.from, move.id, `["p1", "p2"]`))
			wantResult(t, w.plan(), 2, "will be updated in-place", "Plan: 0 to add, 1 to change, 0 to destroy.")
			service.WantRequests(t)
			w.mustApply()
			service.WantRequests(t, `PATCH /v2/streams/`+move.id+` {"processor_ids":["p1","p2"]}`)
			w.wantNoChanges()
		})
	}
}

func TestAccMoveForEach(t *testing.T) {
	t.Parallel()
	service, url := newMovedService(t)
	w := newMovedWorkspace(t, url, "restful-foreach", `
moved {
  from = restful_operation.s
  to   = stream_processors.this
}

resource "stream_processors" "this" {
  for_each      = { "cam-1" = ["p1"], "cam-2" = [] }
  stream_id     = each.key
  processor_ids = each.value
}
`)
	wantResult(t, w.plan(), 2, "Plan: 0 to add, 0 to change, 0 to destroy.")
	w.mustApply()
	w.wantNoChanges()
	service.WantRequests(t)
}

// A taint moves too, unseen by the provider. The plan shows the replacement, and untaint before the move prevents it.
func TestAccMoveTainted(t *testing.T) {
	t.Parallel()
	service, url := newMovedService(t)
	w := newMovedWorkspace(t, url, "restful-tainted", movedFrom("restful_operation", "cam-1", `["p1", "p2"]`))
	wantResult(t, w.plan(), 2, "stream_processors.this is tainted, so", "Plan: 1 to add, 0 to change, 1 to destroy.")
	service.WantRequests(t)
	w.mustApply()
	service.WantRequests(t,
		`PATCH /v2/streams/cam-1 {"processor_ids":[]}`,
		`PATCH /v2/streams/cam-1 {"processor_ids":["p1","p2"]}`,
	)
	w.wantNoChanges()
}

// An error leaves the state unchanged.
func TestAccMoveRefused(t *testing.T) {
	t.Parallel()
	service, url := newMovedService(t)
	w := newMovedWorkspace(t, url, "restful-ephemeralbody", movedFrom("restful_operation", "cam-1", `["p1"]`))
	before := w.readFile("terraform.tfstate")
	wantResult(t, w.apply(), 1, "Error: Resource Cannot Be Moved", "its request body has no processor_ids", `id = "cam-1"`)
	if diff := cmp.Diff(before, w.readFile("terraform.tfstate")); diff != "" {
		t.Errorf("state (-before +after):\n%s", diff)
	}
	service.WantRequests(t)
}

// movedFrom is a configuration that moves the resource "s" of another type.
func movedFrom(from, id, processorIDs string) string {
	return fmt.Sprintf(`
moved {
  from = %s.s
  to   = stream_processors.this
}

resource "stream_processors" "this" {
  stream_id     = %q
  processor_ids = %s
}
`, from, id, processorIDs)
}

// newMovedService starts a service that has the streams of movedStates.
func newMovedService(t *testing.T) (*streamstest.Service, string) {
	t.Helper()
	var seed []streamstest.Stream
	for _, id := range []string{"cam-1", "cam-2", "cam-5", "cam-301"} {
		seed = append(seed, streamstest.Stream{ID: id, TerminalID: "term-" + id, FragmentTypeID: "image/jpg"})
	}
	return streamstest.Start(t, streamstest.Options{}, seed...)
}

// movedStates has states as other providers wrote them, each after an apply on a stand-in service.
const movedStates = "../provider/testdata/moved"

// newMovedWorkspace makes a workspace with a state from movedStates and a configuration that moves its resource.
//
// To move a resource, Terraform starts the provider that the resource comes from, and asks this provider nothing about
// the resource. So the provider of this tree stands in for the others, under their names.
func newMovedWorkspace(t *testing.T, url, state, hcl string) *workspace {
	t.Helper()
	w := newWorkspace(t, url, hcl)
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
	content, err := os.ReadFile(filepath.Join(movedStates, state+".json"))
	if err != nil {
		t.Fatal(err)
	}
	w.writeFile("terraform.tfstate", string(content))
	return w
}
