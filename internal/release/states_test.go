package release

import (
	"bytes"
	stdcmp "cmp"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

var record = flag.Bool("record", false, "write the state of each folder that has none to the test data")

// TestAccStates applies, updates and destroys from a state of each released version. The folder of a version has:
//
//   - main.tf: the configuration. The variable "added" has processor ids that each set gets in the update.
//   - state.json: the state after its apply; see recordState.
//   - requests.txt: the requests of an apply without a change, of the update, and of a destroy, each from this state.
//
// Before the apply, the state gets an attribute as from a newer version, which this version has to ignore.
func TestAccStates(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(filepath.Join("testdata", "states", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no states: %v", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			write(t, w.path("main.tf"), read(t, filepath.Join(folder, "main.tf")))
			w.run(t, "init")
			state := filepath.Join(folder, "state.json")
			if _, err := os.Stat(state); err != nil && *record {
				recordState(t, w)
				write(t, state, read(t, w.path("terraform.tfstate")))
			}
			var got strings.Builder
			for _, step := range []struct{ name, flag string }{{"apply", ""}, {"update", `-var=added=["c"]`}, {"destroy", "-destroy"}} {
				content := read(t, state)
				if step.name == "apply" {
					content = strings.ReplaceAll(content, `"attributes": {`, `"attributes": { "of_a_newer_version": ["a"],`)
				}
				write(t, w.path("terraform.tfstate"), content)
				w.service.ForgetRequests()
				args := []string{"apply", "-auto-approve", step.flag}
				out := w.run(t, slices.DeleteFunc(args, func(arg string) bool { return arg == "" })...)
				var requests []string
				for _, request := range w.service.Requests() {
					requests = append(requests, request.String()+"\n")
				}
				slices.Sort(requests)
				got.WriteString(step.name + ":\n" + strings.Join(requests, ""))
				if step.name == "apply" && len(requests) == 0 && !strings.Contains(out, "No changes.") {
					t.Errorf("the apply changed something:\n%s", out)
				}
			}
			if diff := cmp.Diff(read(t, filepath.Join(folder, "requests.txt")), got.String()); diff != "" {
				t.Errorf("other requests than in requests.txt:\n%s", diff)
			}
		})
	}
}

// recordState applies a configuration. Then stream_processors.imported is imported, the outcome of an update of cam-4 and
// of cam-8 in a group remains unknown, and the set of cam-10 cannot be sent again.
func recordState(t *testing.T, w *workspace) {
	t.Helper()
	var out bytes.Buffer
	run := func(args ...string) error { return w.sandbox.Run(t.Context(), w.dir, &out, args...) }
	if err := stdcmp.Or(
		run("apply", "-auto-approve", "-var=run=0"),
		run("state", "rm", "stream_processors.imported"),
		run("import", "stream_processors.imported", "cam-3"),
	); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	w.service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		switch r.StreamID {
		case "cam-4", "cam-8":
			return &streamstest.Fault{ResetAfter: true}
		case "cam-10":
			return &streamstest.Fault{Status: 403}
		}
		return nil
	})
	if err := run("apply", "-auto-approve", `-var=added=["c"]`, "-target=stream_processors.unknown",
		"-target=stream_processors_group.unknown", "-target=stream_processors_group.unsent"); err == nil {
		t.Fatalf("the outcome of each update is known:\n%s", &out)
	}
	w.service.InjectFunc(nil)
}
