package release

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"
)

var record = flag.String("record", "", "write the state of this `version` to the test data")

// TestAccStates plans on a state of each released version. The plan has no changes.
func TestAccStates(t *testing.T) {
	t.Parallel()
	skipWithoutAcc(t)
	const states = "testdata/states"
	if *record != "" {
		w := newWorkspace(t, installFrom(newMirror(t, releaseOf(t, "0.1.0"))), source)
		write(t, w.path("main.tf"), read(t, filepath.Join(states, *record+".tf")))
		w.mustRun("init")
		w.mustRun("apply", "-auto-approve")
		write(t, filepath.Join(states, *record+".json"), read(t, w.path("terraform.tfstate")))
	}
	recorded, err := filepath.Glob(filepath.Join(states, "*.json"))
	if err != nil || len(recorded) == 0 {
		t.Fatalf("no states: %v", err)
	}
	for _, path := range recorded {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, installFrom(newMirror(t, releaseOf(t, "0.1.0"))), source)
			write(t, w.path("main.tf"), read(t, strings.TrimSuffix(path, ".json")+".tf"))
			write(t, w.path("terraform.tfstate"), read(t, path))
			w.mustRun("init")
			w.mustRun("plan", "-detailed-exitcode")
			w.mustRun("plan", "-detailed-exitcode", "-refresh=false")
			if requests := w.service.Requests(); len(requests) != 0 {
				t.Errorf("the plans sent %v", requests)
			}
		})
	}
}
