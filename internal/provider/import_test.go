package provider

import (
	"fmt"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// An import sends nothing and knows nothing but the id. What follows is one update in place.
func TestAccImport(t *testing.T) {
	t.Parallel()
	const imported = "update compatible_namespaces fragment_type_id last_edited terminal_id"
	for name, how := range map[string]struct {
		config           string
		command          bool
		terraform1, tofu string // the first version that has it
	}{
		"command":  {"", true, "1.0.0", "1.6.0"},
		"id":       {`id = "a/b c"`, false, "1.5.0", "1.6.0"},
		"identity": {`identity = { stream_id = "a/b c" }`, false, "1.12.0", "1.12.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{},
				streamstest.Stream{ID: "a/b c", TerminalID: "t-5", ProcessorIDs: []string{"p1", "p9"}})
			resource := one("stream_id = \"a/b c\"\nprocessor_ids = [\"p1\", \"p2\"]\non_destroy = \"keep\"")
			w := newWorkspace(t, url, resource)
			w.atLeast(how.terraform1, how.tofu)
			if how.command {
				if r := w.run("import", "-no-color", "-input=false", this, "a/b c"); r.code != 0 {
					t.Fatalf("import: %v", r)
				}
				if got := w.resources()[this].AttributeValues; got["stream_id"] != "a/b c" || got["id"] != "a/b c" || got["processor_ids"] != nil {
					t.Errorf("the state has %v", got)
				}
			} else {
				w.write(resource + fmt.Sprintf("import {\n  to = %s\n  %s\n}\n", this, how.config))
			}
			w.wantPlanned(map[string]string{this: imported})
			service.WantRequests(t)
			w.mustApply("tfplan")
			service.WantRequests(t, `PATCH /v2/streams/a%2Fb%20c {"processor_ids":["p1","p2"]}`)
			if got := w.resources()[this].AttributeValues; got["terminal_id"] != "t-5" || got["on_destroy"] != "keep" {
				t.Errorf("the state has %v", got)
			}
			w.wantNoChanges()
		})
	}
}

// An imported resource that is destroyed before it was applied is one like any other.
func TestAccImportThenDestroy(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p1"}})
	w := newWorkspace(t, url, one("stream_id = \"cam\"\nprocessor_ids = [\"p1\"]"))
	w.run("import", "-no-color", this, "cam")
	w.mustApply("-destroy")
	service.WantRequests(t, `PATCH /v2/streams/cam {"processor_ids":[]}`)
}

func TestAccImportRefused(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	w := newWorkspace(t, url, one("stream_id = \"cam\"\nprocessor_ids = []"))
	for id, says := range map[string]string{
		"":     "must not be empty",
		".":    `must not be "."`,
		"..":   `must not be ".."`,
		" cam": "must not begin or end with white space",
		"a\tb": "must not contain control characters",
	} {
		r := w.run("import", "-no-color", "-input=false", this, id)
		if r.code == 0 {
			t.Errorf("import %q: %v", id, r)
		}
		wantIn(t, r.text(), says, "cannot be imported")
	}
	if left := w.resources(); len(left) > 0 {
		t.Errorf("the state has %v", left)
	}
	service.WantRequests(t)
}
