package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// An import sends nothing, and the state has nothing but the id. The next apply updates the stream in place.
func TestAccImport(t *testing.T) {
	t.Parallel()
	const imported = "update compatible_namespaces fragment_type_id last_edited terminal_id"
	for name, how := range map[string]struct {
		config          string
		command         bool
		terraform, tofu string // the oldest version that has it
	}{
		"command":  {"", true, "1.0.0", "1.6.0"},
		"id":       {`id = "a/b c"`, false, "1.5.0", "1.6.0"},
		"identity": {`identity = { stream_id = "a/b c" }`, false, "1.12.0", "1.12.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{},
				streamstest.Stream{ID: "a/b c", TerminalID: "t-5", ProcessorIDs: []string{"p1", "p9"}})
			resource := oneResource("stream_id = \"a/b c\"\nprocessor_ids = [\"p1\", \"p2\"]\non_destroy = \"keep\"")
			w := newWorkspace(t, url, resource)
			w.atLeast(how.terraform, how.tofu)
			if how.command {
				w.mustRun("import", "-no-color", "-input=false", this, "a/b c")
				if got := w.stateResources()[this].AttributeValues; got["stream_id"] != "a/b c" || got["id"] != "a/b c" || got["processor_ids"] != nil {
					t.Errorf("the state has %v", got)
				}
			} else {
				w.writeConfig(resource + fmt.Sprintf("import {\n  to = %s\n  %s\n}\n", this, how.config))
			}
			w.wantPlannedChanges(map[string]string{this: imported})
			service.WantRequests(t)
			w.mustApply("tfplan")
			service.WantRequests(t, `PATCH /v2/streams/a%2Fb%20c {"processor_ids":["p1","p2"]}`)
			if got := w.stateResources()[this].AttributeValues; got["terminal_id"] != "t-5" || got["on_destroy"] != "keep" {
				t.Errorf("the state has %v", got)
			}
			w.wantNoChanges()
		})
	}
}

// A destroy right after an import detaches the processors.
func TestAccImportThenDestroy(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p1"}})
	w := newWorkspace(t, url, oneResource("stream_id = \"cam\"\nprocessor_ids = [\"p1\"]"))
	w.mustRun("import", "-no-color", this, "cam")
	w.mustApply("-destroy")
	service.WantRequests(t, `PATCH /v2/streams/cam {"processor_ids":[]}`)
}

func TestAccImportRefused(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	w := newWorkspace(t, url, oneResource("stream_id = \"cam\"\nprocessor_ids = []"))
	for id, want := range map[string]string{
		"":     "must not be empty",
		".":    `must not be "."`,
		"..":   `must not be ".."`,
		" cam": "must not begin or end with white space",
		"a\tb": "must not contain control characters",
	} {
		wantResult(t, w.run("import", "-no-color", "-input=false", this, id), 1, want, "cannot be imported")
	}
	w.wantEmptyState()
	service.WantRequests(t)
}

// With detect_drift, each way to import reads the stream, and the next plan is empty.
func TestAccImportReads(t *testing.T) {
	t.Parallel()
	byBlock := func(how string) string { return "import {\n  to = stream_processors.this\n  " + how + "\n}\n" }
	for name, test := range map[string]struct {
		block           string // "": by command
		terraform, tofu string // the oldest version that has it
	}{
		"command":  {"", "1.0", "1.6"},
		"id":       {byBlock(`id = "cam-1"`), "1.5", "1.6"},
		"identity": {byBlock(`identity = { stream_id = "cam-1" }`), "1.12", "1.12"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{ServeGet: true},
				streamstest.Stream{ID: "cam-1", TerminalID: "terminal-5", ProcessorIDs: []string{"p2", "p1"}})
			w := newWorkspace(t, url, withDetectDrift(cam1p1p2))
			w.atLeast(test.terraform, test.tofu)
			if test.block == "" {
				w.mustRun("import", "-no-color", this, "cam-1")
			} else {
				w.writeConfig(test.block + withDetectDrift(cam1p1p2))
				wantResult(t, w.plan(), 2, "1 to import, 0 to add, 0 to change")
				service.WantRequests(t, getCam1)
				w.mustApply()
			}
			service.WantRequests(t, getCam1)
			w.wantNoChanges()
			service.WantRequests(t, getCam1)
			values := w.stateResources()[this].AttributeValues
			if values["id"] != "cam-1" || values["terminal_id"] != "terminal-5" {
				t.Errorf("the state is %v", values)
			}
		})
	}
}

func TestAccImportOfAMissingStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true})
	w := newWorkspace(t, url, withDetectDrift(cam1p1p2))
	wantResult(t, w.run("import", "-no-color", this, "cam-1"), 1, "non-existent remote object")
	service.WantRequests(t, getCam1)
	w.wantEmptyState()
}

func TestAccGenerateConfig(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true},
		streamstest.Stream{ID: `a/"b" ${c}`, ProcessorIDs: []string{"p2", "p1", "%{x}"}}, streamstest.Stream{ID: "cam-2"})
	// Terraform 1.16.0-rc2 generates a configuration only with this argument. Every CLI accepts the argument then, and
	// refuses it once there is a configuration.
	const provider = "provider = stream"
	blocks := `
import {
  to = stream_processors.one
  id = "a/\"b\" $${c}"
  ` + provider + `
}

import {
  to = stream_processors.empty
  id = "cam-2"
  ` + provider + `
}
`
	w := newWorkspace(t, url, blocks)
	w.atLeast("1.5", "1.6")

	// Without a read the set is unknown, and the generated configuration is not valid.
	wantResult(t, w.plan("-generate-config-out=unread.tf"), 1, "Missing Configuration for Required Attribute", "processor_ids")
	wantContains(t, w.readFile("unread.tf"), "processor_ids = null")
	service.WantRequests(t)
	w.removeFile("unread.tf")

	w.setenv("STREAM_DETECT_DRIFT", "true")
	wantResult(t, w.plan("-generate-config-out=generated.tf"), 2, "2 to import, 0 to add, 0 to change, 0 to destroy")
	w.writeConfig(strings.ReplaceAll(blocks, provider, ""))
	w.mustRun("validate", "-no-color")
	w.mustApply()
	w.wantNoChanges()
	for _, line := range service.DrainRequests() {
		if !strings.HasPrefix(line, "GET ") {
			t.Errorf("sent %s", line)
		}
	}
	service.WantAttached(t, `a/"b" ${c}`, "%{x}", "p1", "p2")
}
