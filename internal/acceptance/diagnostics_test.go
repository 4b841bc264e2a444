package acceptance

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// The last line of an error: what is true of the stream now.
const (
	notChanged = "The stream was not changed."
	inDoubt    = "The stream may or may not have been changed; apply again: sending the same set twice is safe."
	changed    = "The stream was changed."
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
	if !strings.HasSuffix(d.Detail, "\n\n"+line) {
		t.Errorf("the last line is not %q: %s", line, d.Detail)
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
