package acceptance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"
)

// What wantPlannedChanges says of changes: an attribute is named if its value is known after apply.
const (
	createPlanned               = "create compatible_namespaces fragment_type_id last_edited terminal_id"
	replacePlanned              = "replace compatible_namespaces fragment_type_id last_edited terminal_id"
	updatePlanned               = "update compatible_namespaces last_edited"
	updateWithoutRequestPlanned = "update"
)

// wantNoChanges fails the test unless a plan finds nothing to do.
func (w *workspace) wantNoChanges() {
	w.t.Helper()
	if r := w.plan(); r.code != 0 {
		w.t.Fatalf("plan is not empty: %v", r)
	}
}

// plannedChanges plans into the file tfplan and returns the changes by address, no-ops left out.
func (w *workspace) plannedChanges() map[string]*tfjson.Change {
	w.t.Helper()
	if r := w.plan("-out=tfplan"); r.code == 1 {
		w.t.Fatalf("plan: %v", r)
	}
	var plan tfjson.Plan
	if err := json.Unmarshal([]byte(w.run("show", "-json", "tfplan").stdout), &plan); err != nil {
		w.t.Fatal(err)
	}
	changes := map[string]*tfjson.Change{}
	for _, c := range plan.ResourceChanges {
		if !c.Change.Actions.NoOp() {
			changes[c.Address] = c.Change
		}
	}
	return changes
}

// wantPlannedChanges fails the test unless a plan into the file tfplan has exactly these changes, by address, such as
// "update last_edited": an update after which last_edited alone is not known.
func (w *workspace) wantPlannedChanges(want map[string]string) {
	w.t.Helper()
	got := map[string]string{}
	for address, change := range w.plannedChanges() {
		got[address] = describeChange(change)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("planned changes (-want +got):\n%s", diff)
	}
}

func describeChange(change *tfjson.Change) string {
	var attributes []string
	unknown, _ := change.AfterUnknown.(map[string]any)
	for name, is := range unknown {
		if strings.Contains(fmt.Sprint(is), "true") { // the whole value, or an element
			attributes = append(attributes, name)
		}
	}
	slices.Sort(attributes)
	action := "replace"
	if !change.Actions.Replace() {
		action = string(change.Actions[0])
	}
	return strings.Join(append([]string{action}, attributes...), " ")
}

// stateResources returns the resources in the state, by address.
func (w *workspace) stateResources() map[string]*tfjson.StateResource {
	w.t.Helper()
	resources := map[string]*tfjson.StateResource{}
	if _, err := os.Stat(filepath.Join(w.dir, "terraform.tfstate")); errors.Is(err, os.ErrNotExist) {
		return resources
	}
	var state tfjson.State
	if err := json.Unmarshal([]byte(w.run("show", "-json").stdout), &state); err != nil {
		w.t.Fatal(err)
	}
	if state.Values == nil {
		return resources
	}
	for _, r := range state.Values.RootModule.Resources {
		resources[r.Address] = r
	}
	return resources
}

// wantState fails the test unless the state has exactly these resources, with the same values and none tainted.
func (w *workspace) wantState(want map[string]*tfjson.StateResource, options ...cmp.Option) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.stateResources(), options...); diff != "" {
		w.t.Errorf("state (-want +got):\n%s", diff)
	}
}

// wantEmptyState fails the test if the state has a resource.
func (w *workspace) wantEmptyState() {
	w.t.Helper()
	if resources := w.stateResources(); len(resources) > 0 {
		w.t.Errorf("the state has %v", resources)
	}
}

// ignoreLastEdited makes wantState ignore the attribute last_edited.
func ignoreLastEdited() cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool {
		key, ok := p.Last().(cmp.MapIndex)
		return ok && key.Key().String() == "last_edited"
	}, cmp.Ignore())
}
