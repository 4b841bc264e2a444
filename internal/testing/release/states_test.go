package release

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
)

// TestAccStates applies, updates and destroys from a state of each released version. The folder of a version has:
//
//   - main.tf: the configuration. The variable "added" has processor ids that each set gets in the update.
//   - state.json: the state after its apply, an import, and operations that failed; RELEASING.md says how to record it.
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
			w, service := newWorkspace(t)
			w.Configure(clitest.ReadFile(t, filepath.Join(folder, "main.tf")))
			w.MustRun("init")
			got := ""
			for _, step := range []struct{ name, flag string }{{"apply", "-refresh=true"}, {"update", `-var=added=["c"]`}, {"destroy", "-destroy"}} {
				content := clitest.ReadFile(t, filepath.Join(folder, "state.json"))
				if step.name == "apply" {
					content = strings.ReplaceAll(content, `"attributes": {`, `"attributes": { "of_a_newer_version": ["a"],`)
				}
				w.Write("terraform.tfstate", content)
				service.ForgetRequests()
				w.MustApply(step.flag)
				var requests []string
				for _, request := range service.Requests() {
					requests = append(requests, request.String()+"\n")
				}
				slices.Sort(requests)
				got += step.name + ":\n" + strings.Join(requests, "")
			}
			if diff := cmp.Diff(clitest.ReadFile(t, filepath.Join(folder, "requests.txt")), got); diff != "" {
				t.Errorf("other requests than in requests.txt:\n%s", diff)
			}
		})
	}
}
