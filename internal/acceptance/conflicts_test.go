package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A plan that gives a stream two sets is an error.
func TestAccConflictAtPlan(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam", "other")...)
	owner := `
resource "stream_processors" "owner" {
  stream_id     = "cam"
  processor_ids = ["p1", "p2"]
}
`
	rivals := map[string]string{
		"resource": `
resource "stream_processors" "rival" {
  stream_id     = "cam"
  processor_ids = ["p3"]
}
`,
		"subset": `
resource "stream_processors" "rival" {
  stream_id     = "cam"
  processor_ids = ["p1"]
}
`,
		"empty set": `
resource "stream_processors" "rival" {
  stream_id     = "cam"
  processor_ids = []
}
`,
		"instance": `
resource "stream_processors" "rival" {
  for_each      = { a = "p4", b = "p5" }
  stream_id     = "cam"
  processor_ids = [each.value]
}
`,
	}
	w := newWorkspace(t, url, "")
	wantConflicts := func() {
		t.Helper()
		for name, rival := range rivals {
			w.writeConfig(owner + rival)
			r, diags := w.diagnostics("plan")
			if r.code != 1 || len(diags) == 0 {
				t.Fatalf("%s: %v", name, r)
			}
			for _, d := range diags {
				wantContains(t, d.Summary, "Conflicting Processor Sets")
				wantContains(t, d.Detail, `stream "cam"`, "Nothing was sent")
				wantContains(t, d.Snippet.Code, "processor_ids")
				if !strings.HasSuffix(d.Detail, notChanged) {
					t.Errorf("%s: the detail does not end with %q: %s", name, notChanged, d.Detail)
				}
			}
			if name == "resource" {
				wantContains(t, diags[0].Detail, `["p1", "p2"]`, `["p3"]`)
			}
		}
		w.apply()
		service.WantRequests(t)
	}
	wantConflicts() // between new resources

	w.writeConfig(owner)
	w.mustApply()
	service.ForgetRequests()
	wantConflicts() // with an existing resource

	// One resource may take the stream over from another.
	w.writeConfig(rivals["resource"])
	w.mustApply()
	service.WantAttached(t, "cam", "p3")
	w.wantNoChanges()
}

// Two sets for a stream that are known after apply are an error during the apply, after one of them has been sent.
func TestAccConflictAtApply(t *testing.T) {
	t.Parallel()
	const knownAfterApply = `
resource "terraform_data" "late" {
  input = { stream = "cam", set = ["p2"] }
}
`
	for name, rival := range map[string]string{
		"unknown set": `
resource "stream_processors" "rival" {
  stream_id     = "cam"
  processor_ids = terraform_data.late.output.set
  depends_on    = [stream_processors.owner]
}
`,
		"unknown stream": `
resource "stream_processors" "rival" {
  stream_id     = terraform_data.late.output.stream
  processor_ids = ["p2"]
  depends_on    = [stream_processors.owner]
}
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
			w := newWorkspace(t, url, knownAfterApply+rival+`
resource "stream_processors" "owner" {
  stream_id     = "cam"
  processor_ids = ["p1"]
}
`)
			r, diags := w.diagnostics("apply", "-auto-approve")
			if r.code != 1 || len(diags) != 1 || diags[0].Summary != "Conflicting Processor Sets" {
				t.Errorf("want one conflict: %v", r)
			}
			if requests := service.DrainRequests(); len(requests) != 1 {
				t.Errorf("want one request, got %q", requests)
			}
			// The last sentence and the state have the set that the service has.
			stream, _ := service.Stream("cam")
			wantContains(t, diags[0].Detail, fmt.Sprintf(`The service reports that the stream now has %s.`, hclList(stream.ProcessorIDs)))
			for address, r := range w.stateResources() {
				if ids := r.AttributeValues["processor_ids"]; ids != nil && fmt.Sprint(ids) != fmt.Sprint(stream.ProcessorIDs) {
					t.Errorf("%s has %v in the state, the service has %v", address, ids, stream.ProcessorIDs)
				}
			}
			wantResult(t, w.plan(), 1, "Conflicting Processor Sets") // now both sets are known
		})
	}
}
