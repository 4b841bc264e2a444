package clitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/google/go-cmp/cmp"
)

// Object is a managed resource in the state.
type Object struct {
	Status     string // "tainted" or ""
	Attributes map[string]any
	IndexKey   any `json:"index_key"`
}

// State returns the managed resources by address. It reads the file, because each run of a CLI takes half a second.
func (w *Workspace) State() map[string]Object {
	w.t.Helper()
	var file struct {
		Resources []struct {
			Mode, Type, Name string
			Instances        []Object
		}
	}
	content, err := os.ReadFile(w.Path("terraform.tfstate"))
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	objects := map[string]Object{}
	for _, r := range file.Resources {
		for _, object := range r.Instances {
			address := r.Type + "." + r.Name
			if object.IndexKey != nil {
				address += fmt.Sprintf("[%q]", object.IndexKey)
			}
			if r.Mode == "managed" {
				objects[address] = object
			}
		}
	}
	return objects
}

// WantState fails the test unless the state has exactly these values of one attribute, by address, and no tainted resource.
func (w *Workspace) WantState(attribute string, want map[string]any) {
	w.t.Helper()
	got := map[string]any{}
	for address, object := range w.State() {
		got[address] = object.Attributes[attribute]
		if object.Status != "" {
			w.t.Errorf("%s is %s", address, object.Status)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("%s in the state (-want +got):\n%s", attribute, diff)
	}
}

// WantEmptyState fails the test if the state has a resource.
func (w *Workspace) WantEmptyState() { w.t.Helper(); w.WantState("id", map[string]any{}) }

// List is a list or a set in a state.
func List(values ...string) []any {
	all := []any{}
	for _, v := range values {
		all = append(all, v)
	}
	return all
}
