package acceptance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// stateIdentity returns the identity of a resource in the state.
func (w *workspace) stateIdentity(address string) map[string]any {
	w.t.Helper()
	var state struct {
		Values struct {
			RootModule struct {
				Resources []struct {
					Address  string
					Identity map[string]any
				}
			} `json:"root_module"`
		}
	}
	if err := json.Unmarshal([]byte(w.run("show", "-json").stdout), &state); err != nil {
		w.t.Fatal(err)
	}
	for _, r := range state.Values.RootModule.Resources {
		if r.Address == address {
			return r.Identity
		}
	}
	w.t.Fatalf("the state has no %s", address)
	return nil
}

// The state has the identity after every operation.
func TestAccIdentityIsKept(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1", "a/b")...)
	w := newWorkspace(t, url, cam1p1p2)
	w.atLeast("1.12", "1.12")
	wantIdentity := func(step, id string) {
		t.Helper()
		got := w.stateIdentity(this)
		if diff := cmp.Diff(map[string]any{"stream_id": id}, got); diff != "" {
			t.Errorf("identity after %s (-want +got):\n%s", step, diff)
		}
	}
	w.mustApply()
	wantIdentity("a create", "cam-1")
	w.mustApply("-refresh-only")
	wantIdentity("a refresh", "cam-1")
	w.writeConfig(strings.Replace(cam1p1p2, `"p2"`, `"p3"`, 1))
	w.mustApply()
	wantIdentity("an update", "cam-1")
	w.writeConfig(strings.Replace(cam1p1p2, `"p2"]`, "\"p3\"]\n  on_destroy = \"keep\"", 1))
	w.mustApply()
	wantIdentity("an update that sends nothing", "cam-1")
	w.writeConfig(strings.Replace(cam1p1p2, "cam-1", "a/b", 1))
	w.mustApply()
	wantIdentity("a replace", "a/b")
	w.wantNoChanges()
	w.mustRun("state", "rm", this)
	w.mustRun("import", "-no-color", this, "a/b")
	wantIdentity("an import", "a/b")
}
