package acceptance

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// oddResponse is a success without the updated stream, and a part of the error that comes of it.
type oddResponse struct {
	fault streamstest.Fault
	want  string
}

func oddResponses() map[string]oddResponse {
	responses := map[string]oddResponse{
		"login page": {streamstest.Fault{
			Body: new("<html><h1>Sign in</h1></html>"), Header: http.Header{"Content-Type": {"text/html"}},
		}, "HTML page: Sign in"},
		"204":         {streamstest.Fault{Status: 204, Apply: true}, "no body"},
		"empty":       {streamstest.Fault{Body: new("")}, "no body"},
		"null":        {streamstest.Fault{Body: new("null")}, "not a JSON object"},
		"list":        {streamstest.Fault{Body: new("[]")}, "not a JSON object"},
		"binary":      {streamstest.Fault{Body: new("\xff\xfe\x00")}, "not UTF-8"},
		"acceptance":  {streamstest.Fault{Status: 202, Apply: true, Body: new(`{"message":"queued"}`)}, "queued"},
		"other id":    {streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ID = "another" }}, `describes another stream, "another"`},
		"missing all": {streamstest.Fault{Body: new("{}")}, "terminal_id is missing, fragment_type_id is missing"},
	}
	for field, kind := range map[string]string{
		"id": "a string", "terminal_id": "a string", "fragment_type_id": "a string",
		"processor_ids": "an array of strings", "last_edited": "an integer", "compatible_namespaces": "an array of strings",
	} {
		responses["no "+field] = oddResponse{streamstest.Fault{EditJSON: func(m map[string]any) { delete(m, field) }}, field + " is missing"}
		responses["null "+field] = oddResponse{streamstest.Fault{EditJSON: func(m map[string]any) { m[field] = nil }}, field + " is not " + kind}
		responses["wrong "+field] = oddResponse{streamstest.Fault{EditJSON: func(m map[string]any) { m[field] = []any{1.5} }}, field + " is not " + kind}
	}
	return responses
}

// A success without the updated stream is an error, and changes nothing in the state.
func TestAccOddResponses(t *testing.T) {
	t.Parallel()
	responses := oddResponses()
	faults, oneEach := map[string]streamstest.Fault{}, map[string]int{}
	for name, odd := range responses {
		faults[name], oneEach[name] = odd.fault, 1
	}
	ids := slices.Sorted(maps.Keys(responses))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, resourceForEach(ids, `processor_ids = ["p1"]`))

	wantErrors := func() {
		t.Helper()
		service.InjectFunc(faultsByStream(faults))
		got := w.applyErrors()
		for name, odd := range responses {
			d := got[addressOf(name)]
			wantContains(t, d.Detail, odd.want, "The response may not have come from the service")
			if d.Summary != "Unexpected Answer" || !strings.HasSuffix(d.Detail, inDoubt) {
				t.Errorf("%s: %+v", name, d)
			}
		}
		if diff := cmp.Diff(oneEach, drainRequestCounts(service)); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		service.InjectFunc(nil)
	}
	wantErrors()
	w.wantEmptyState()
	w.mustApply()
	before := w.stateResources()
	service.ForgetRequests()

	w.writeConfig(resourceForEach(ids, `processor_ids = ["p2"]`))
	wantErrors()
	w.wantState(before)
	w.wantPlannedChanges(forEachAddress(ids, updatePlanned))
	w.mustApply()
	w.wantNoChanges()
}

// A response may have more fields, another order, repetitions, and another form of a number.
func TestAccTolerableResponses(t *testing.T) {
	t.Parallel()
	faults := map[string]streamstest.Fault{
		"more fields": {EditJSON: func(m map[string]any) { m["owner"], m["nested"] = "x", map[string]any{"a": nil} }},
		"order":       {Edit: func(s *streamstest.Stream) { slices.Reverse(s.ProcessorIDs) }},
		"repetition":  {Edit: func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, s.ProcessorIDs...) }},
		"float":       {EditJSON: func(m map[string]any) { m["last_edited"] = json.Number("1.7672256e+12") }},
		"201":         {Status: 201, Apply: true},
		"text/plain":  {Header: http.Header{"Content-Type": {"text/plain"}}},
		"all empty": {Edit: func(s *streamstest.Stream) {
			s.TerminalID, s.FragmentTypeID, s.CompatibleNamespaces, s.LastEdited = "", "", nil, 0
		}},
	}
	ids := slices.Sorted(maps.Keys(faults))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service.InjectFunc(faultsByStream(faults))
	w := newWorkspace(t, url, "")
	for _, set := range []string{`["p1", "p2"]`, `["p2", "p3"]`} {
		w.writeConfig(resourceForEach(ids, "processor_ids = "+set))
		w.mustApply()
		w.wantNoChanges()
	}
	if got := w.stateResources()[addressOf("float")].AttributeValues["last_edited"]; got != 1767225600000.0 {
		t.Errorf("last_edited is %v", got)
	}
}

// A response with another set is an error. The stream was changed, and the state says to what.
func TestAccAnotherSet(t *testing.T) {
	t.Parallel()
	responses := map[string]struct {
		edit    func(*streamstest.Stream)
		want    []string // in the error
		inState []any    // processor_ids after an update from p1 to p2, p3
	}{
		"fewer": {func(s *streamstest.Stream) { s.ProcessorIDs = s.ProcessorIDs[:1] },
			[]string{`did not attach ["p3"]`}, []any{"p2"}},
		"none": {func(s *streamstest.Stream) { s.ProcessorIDs = nil },
			[]string{`did not attach ["p2", "p3"]`}, []any{}},
		"more": {func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, "p9") },
			[]string{`additional processors ["p9"]`, "merged the set instead of replacing it"}, []any{"p2", "p3", "p9"}},
		"others": {func(s *streamstest.Stream) { s.ProcessorIDs = []string{"p8"} },
			[]string{`did not attach ["p2", "p3"]`, `additional processors ["p8"]`}, []any{"p8"}},
	}
	faults, oneEach := map[string]streamstest.Fault{}, map[string]int{}
	for name, response := range responses {
		faults[name], oneEach[name] = streamstest.Fault{Edit: response.edit}, 1
	}
	ids := slices.Sorted(maps.Keys(responses))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, resourceForEach(ids, `processor_ids = ["p2", "p3"]`))
	reported := map[string]string{
		"fewer": `["p2"]`, "none": `[]`, "more": `["p2", "p3", "p9"]`, "others": `["p8"]`,
	}
	wantErrors := func() {
		t.Helper()
		service.InjectFunc(faultsByStream(faults))
		got := w.applyErrors()
		for name, response := range responses {
			d := got[addressOf(name)]
			wantContains(t, d.Detail, append(response.want, "may merge sets")...)
			d.wantLastLine(t, "The service reports that the stream now has "+reported[name]+".")
		}
		if diff := cmp.Diff(oneEach, drainRequestCounts(service)); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		service.InjectFunc(nil)
	}
	wantErrors()
	w.wantEmptyState()
	w.writeConfig(resourceForEach(ids, `processor_ids = ["p1"]`))
	w.mustApply()
	service.ForgetRequests()

	w.writeConfig(resourceForEach(ids, `processor_ids = ["p2", "p3"]`))
	wantErrors()
	resources := w.stateResources()
	for name, response := range responses {
		r := resources[addressOf(name)]
		if diff := cmp.Diff(response.inState, r.AttributeValues["processor_ids"]); diff != "" || r.Tainted {
			t.Errorf("%s: tainted %t, processor_ids in the state (-want +got):\n%s", name, r.Tainted, diff)
		}
	}
	w.wantPlannedChanges(forEachAddress(ids, updatePlanned))
	w.mustApply()
	w.wantNoChanges()
}

// On a service that merges sets, an update can add processors, but neither replace nor detach them.
func TestAccMergingService(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{Merge: true}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p0"}})
	config := func(set string) string { return oneResource("stream_id = \"cam\"\nprocessor_ids = " + set) }
	w := newWorkspace(t, url, config(`["p1"]`))
	wantResult(t, w.apply(), 1, `The service reports additional processors ["p0"]`, "merged",
		`The service reports that the stream now has ["p0", "p1"].`)
	w.wantEmptyState()

	w.writeConfig(config(`["p0", "p1"]`))
	w.mustApply()
	w.wantNoChanges()
	w.writeConfig(config(`["p0", "p1", "p2"]`))
	w.mustApply()
	w.writeConfig(config(`["p2"]`))
	wantResult(t, w.apply(), 1, `The service reports additional processors ["p0", "p1"]`,
		`The service reports that the stream now has ["p0", "p1", "p2"].`)

	wantResult(t, w.apply("-destroy"), 1, "could not be detached", `additional processors ["p0", "p1", "p2"]`, `on_destroy = "keep"`)
	if got := w.stateResources()[this].AttributeValues["processor_ids"]; !cmp.Equal(got, []any{"p0", "p1", "p2"}) {
		t.Errorf("the state has %v", got)
	}
	w.writeConfig(oneResource("stream_id = \"cam\"\nprocessor_ids = [\"p0\", \"p1\", \"p2\"]\non_destroy = \"keep\""))
	w.mustApply()
	w.mustApply("-destroy")
}

// The provider reports once that a stream has moved to another terminal; then the state has the new values.
func TestAccRelocatedStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
	config := `
resource "stream_processors" "this" {
  stream_id     = "cam"
  processor_ids = [%q]
}
output "place" {
  value = "${stream_processors.this.terminal_id} ${stream_processors.this.fragment_type_id}"
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, "p1"))
	w.mustApply()
	service.Seed(streamstest.Stream{ID: "cam", TerminalID: "terminal-2", FragmentTypeID: "video", ProcessorIDs: []string{"p1"}})
	w.writeConfig(fmt.Sprintf(config, "p2"))
	r, diags := w.diagnostics("apply", "-auto-approve")
	if r.code != 1 || len(diags) != 2 {
		t.Fatalf("apply: %v", r)
	}
	for _, d := range diags {
		wantContains(t, d.Detail, `from "`, `to "`, `stream "cam"`)
		d.wantLastLine(t, changed)
	}
	service.WantAttached(t, "cam", "p2")
	service.ForgetRequests()
	state := w.stateResources()[this]
	if got := state.AttributeValues; got["terminal_id"] != "terminal-2" || got["fragment_type_id"] != "video" || state.Tainted {
		t.Errorf("the state has %v", got)
	}
	w.mustApply() // the output
	w.wantNoChanges()
	service.WantRequests(t)
}
