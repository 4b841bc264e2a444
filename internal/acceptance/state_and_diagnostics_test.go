package acceptance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stateObject is a managed resource in the state.
type stateObject struct {
	Tainted    bool
	Attributes map[string]any
	Identity   map[string]any
}

// state reads the state file, because each run of the CLI takes half a second. It returns the managed resources by address.
func (w *workspace) state() map[string]stateObject {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]stateObject{}
	} else if err != nil {
		w.t.Fatal(err)
	}
	var file struct {
		Resources []struct {
			Mode, Type, Name string
			Instances        []struct {
				IndexKey   any `json:"index_key"`
				Status     string
				Attributes map[string]any
				Identity   map[string]any
			}
		}
	}
	if err := json.Unmarshal(content, &file); err != nil {
		w.t.Fatal(err)
	}
	objects := map[string]stateObject{}
	for _, r := range file.Resources {
		for _, i := range r.Instances {
			address := r.Type + "." + r.Name
			switch key := i.IndexKey.(type) {
			case string:
				address += fmt.Sprintf("[%q]", key)
			case float64:
				address += fmt.Sprintf("[%d]", int(key))
			}
			if r.Mode == "managed" {
				objects[address] = stateObject{i.Status == "tainted", i.Attributes, i.Identity}
			}
		}
	}
	return objects
}

// wantState fails the test unless the state has exactly these values of one attribute, by address.
func (w *workspace) wantState(attribute string, want map[string]any) {
	w.t.Helper()
	got := map[string]any{}
	for address, object := range w.state() {
		got[address] = object.Attributes[attribute]
		if object.Tainted {
			w.t.Errorf("%s is tainted", address)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("%s in the state (-want +got):\n%s", attribute, diff)
	}
}

// wantEmptyState fails the test if the state has a resource.
func (w *workspace) wantEmptyState() {
	w.t.Helper()
	if objects := w.state(); len(objects) > 0 {
		w.t.Errorf("the state has %v", objects)
	}
}

// list is a list or a set in a state.
func list(values ...string) []any {
	all := []any{}
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

// The last line of an error: what is true of the stream now.
const (
	notChanged = "The stream was not changed."
	inDoubt    = "The stream may or may not have been changed; apply again: sending the same set twice is safe."
)

// diagnostic is an error or a warning in the JSON output of a command.
type diagnostic struct {
	Severity string
	Summary  string
	Detail   string
	Address  string
	Snippet  struct {
		Context string // the block
		Code    string // the line of the attribute, or the first line of the block
	}
}

// wantLastLine fails the test unless the detail of a diagnostic ends with this line.
func (d diagnostic) wantLastLine(t *testing.T, line string) {
	t.Helper()
	if !strings.HasSuffix(d.Detail, line) {
		t.Errorf("the last line is not %q: %s: %s", line, d.Summary, d.Detail)
	}
}

// diagnostics runs a command with -json and returns its errors and warnings.
func (w *workspace) diagnostics(command string, args ...string) (result, []diagnostic) {
	w.t.Helper()
	r := w.run(append([]string{command, "-json"}, args...)...)
	var diags []diagnostic
	for stdout := json.NewDecoder(strings.NewReader(r.stdout)); stdout.More(); {
		var message struct {
			Diagnostic  *diagnostic  // apply and plan: many messages, some with a diagnostic
			Diagnostics []diagnostic // validate: one message
		}
		if err := stdout.Decode(&message); err != nil {
			w.t.Fatalf("%s printed text that is not JSON: %v\n%v", command, err, r)
		}
		if message.Diagnostic != nil {
			diags = append(diags, *message.Diagnostic)
		}
		diags = append(diags, message.Diagnostics...)
	}
	return r, slices.DeleteFunc(diags, func(d diagnostic) bool {
		return d.Summary == "Provider development overrides are in effect"
	})
}

// applyErrors runs an apply that must fail, and returns its errors by address: one for each resource.
func (w *workspace) applyErrors(args ...string) map[string]diagnostic {
	w.t.Helper()
	r, diags := w.diagnostics("apply", append([]string{"-auto-approve"}, args...)...)
	if r.code != 1 {
		w.t.Fatalf("apply: %v", r)
	}
	byAddress := map[string]diagnostic{}
	for _, d := range diags {
		if d.Severity != "error" {
			continue
		}
		if other, twice := byAddress[d.Address]; twice {
			w.t.Errorf("two errors for one resource: %+v and %+v", other, d)
		}
		byAddress[d.Address] = d
	}
	return byAddress
}
