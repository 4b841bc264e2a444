package acceptance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func TestAccCreateSendsOnePatchAStream(t *testing.T) {
	t.Parallel()
	ids := []string{"a/b", "ü x", "%2e%2e", "q?x=1#f", "...", "cam-1", `"\`}
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, `
resource "stream_processors" "this" {
  for_each      = toset(["a/b", "ü x", "%2e%2e", "q?x=1#f", "...", "cam-1", "\"\\"])
  stream_id     = each.key
  processor_ids = ["p2", "p1"]
}
`)
	w.mustApply()
	service.WantRequests(t,
		`PATCH /v2/streams/a%2Fb {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/%C3%BC%20x {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/%252e%252e {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/q%3Fx=1%23f {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/... {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/cam-1 {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/%22%5C {"processor_ids":["p1","p2"]}`,
	)
	for _, id := range ids {
		service.WantAttached(t, id, "p1", "p2")
	}
	w.wantNoChanges()
	service.WantRequests(t)
}

// TestAccChanges makes each change that a user can make, one after the other.
func TestAccChanges(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
	w := newWorkspace(t, url, "")
	for _, step := range []struct {
		name       string
		attributes string
		planned    string   // "": no change
		sets       []string // processor_ids in the requests
	}{
		{"create", `processor_ids = ["p2", "p1"]`, createPlanned, []string{`["p1","p2"]`}},
		{"reordered", `processor_ids = ["p1", "p2"]`, "", nil},
		{"repeated", `processor_ids = ["p1", "p2", "p1"]`, "", nil},
		{"defaults spelled out", `
			processor_ids = ["p1", "p2"]
			on_destroy    = "detach"
			triggers      = null
			timeouts      = null`, "", nil},
		{"another id", `processor_ids = ["p1", "p3"]`, updatePlanned, []string{`["p1","p3"]`}},
		{"none of the old ids", `processor_ids = ["p4"]`, updatePlanned, []string{`["p4"]`}},
		{"on_destroy alone", `
			processor_ids = ["p4"]
			on_destroy    = "keep"`, updateWithoutRequestPlanned, nil},
		{"timeouts alone", `
			processor_ids = ["p4"]
			on_destroy    = "keep"
			timeouts      = { update = "10m" }`, updateWithoutRequestPlanned, nil},
		{"on_destroy and timeouts removed", `processor_ids = ["p4"]`, updateWithoutRequestPlanned, nil},
		{"a trigger", `
			processor_ids = ["p4"]
			triggers      = { version = "1" }`, updatePlanned, []string{`["p4"]`}},
		{"another value of the trigger", `
			processor_ids = ["p4"]
			triggers      = { version = "2" }`, updatePlanned, []string{`["p4"]`}},
		{"no trigger", `processor_ids = ["p4"]`, updatePlanned, []string{`["p4"]`}},
		{"the empty set", `processor_ids = []`, updatePlanned, []string{`[]`}},
		{"all at once", `
			processor_ids = ["p5"]
			on_destroy    = "keep"
			triggers      = { version = "3" }
			timeouts      = { delete = "1m" }`, updatePlanned, []string{`["p5"]`}},
	} {
		w.writeConfig(oneResource("stream_id = \"cam\"\n" + step.attributes))
		want := map[string]string{}
		if step.planned != "" {
			want[this] = step.planned
		}
		var requests []string
		for _, set := range step.sets {
			requests = append(requests, `PATCH /v2/streams/cam {"processor_ids":`+set+`}`)
		}
		t.Log(step.name)
		w.wantPlannedChanges(want)
		service.WantRequests(t)
		w.mustApply("tfplan")
		service.WantRequests(t, requests...)
	}
	w.wantNoChanges()
}

// An apply takes the computed values from the response.
func TestAccComputedValues(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{
		ID: "cam", TerminalID: "t-9", FragmentTypeID: "f-9", LastEdited: 1767225600000,
		CompatibleNamespaces: []string{"b", "a", "b"},
	})
	service.Configure(func(o *streamstest.Options) { o.KeepLastEdited = true })
	w := newWorkspace(t, url, oneResource(`
  stream_id     = "cam"
  processor_ids = []
`))
	wantComputed := func(namespaces []any, edited float64) {
		t.Helper()
		state := w.stateResources()[this].AttributeValues
		for name, want := range map[string]any{
			"id": "cam", "terminal_id": "t-9", "fragment_type_id": "f-9", "compatible_namespaces": namespaces, "last_edited": edited,
		} {
			if diff := cmp.Diff(want, state[name]); diff != "" {
				t.Errorf("%s in the state (-want +got):\n%s", name, diff)
			}
		}
	}
	w.mustApply()
	wantComputed([]any{"a", "b"}, 1767225600000)

	service.Seed(streamstest.Stream{ID: "cam", LastEdited: 1767225600001, CompatibleNamespaces: []string{}})
	w.wantNoChanges() // the provider does not read
	w.writeConfig(oneResource(`
  stream_id     = "cam"
  processor_ids = ["p1"]
`))
	w.mustApply()
	wantComputed([]any{}, 1767225600001)
	w.wantNoChanges()
}

// A change of stream_id leaves the old stream as on_destroy says, and then updates the new one.
func TestAccChangedStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "b", "c", "d")...)
	config := `
resource "stream_processors" "detach" {
  stream_id     = %q
  processor_ids = ["p1"]
}
resource "stream_processors" "keep" {
  stream_id     = %q
  processor_ids = ["p2"]
  on_destroy    = "keep"
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, "a", "b"))
	w.mustApply()
	service.ForgetRequests()

	w.writeConfig(fmt.Sprintf(config, "c", "d"))
	w.wantPlannedChanges(map[string]string{"stream_processors.detach": replacePlanned, "stream_processors.keep": replacePlanned})
	service.WantRequests(t)
	w.mustApply("tfplan")
	var inOrder []string
	for _, r := range service.Requests() {
		if r.StreamID != "d" {
			inOrder = append(inOrder, r.String())
		}
	}
	if diff := cmp.Diff([]string{
		`PATCH /v2/streams/a {"processor_ids":[]} → 200`,
		`PATCH /v2/streams/c {"processor_ids":["p1"]} → 200`,
	}, inOrder); diff != "" {
		t.Errorf("requests in order (-want +got):\n%s", diff)
	}
	service.WantRequests(t,
		`PATCH /v2/streams/a {"processor_ids":[]}`,
		`PATCH /v2/streams/c {"processor_ids":["p1"]}`,
		`PATCH /v2/streams/d {"processor_ids":["p2"]}`,
	)
	service.WantAttached(t, "a")
	service.WantAttached(t, "b", "p2")
	w.wantNoChanges()
}

// Each destroy detaches as on_destroy was last applied. A missing stream is no error, and a 404 that the service did not
// send is a warning.
func TestAccDestroy(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("detach", "keep", "changed", "gone", "lost")...)
	config := `
resource "stream_processors" "this" {
  for_each      = toset(["detach", "keep", "changed", "gone", "lost"])
  stream_id     = each.key
  processor_ids = ["p1"]
  on_destroy    = %s
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, `each.key == "keep" ? "keep" : null`))
	w.mustApply()
	w.writeConfig(fmt.Sprintf(config, `endswith(each.key, "e") || each.key == "changed" ? "keep" : "detach"`))
	w.mustApply("-target=" + addressOf("changed"))
	service.ForgetRequests()

	service.Remove("gone")
	page := "404 page not found\n"
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if r.StreamID == "lost" {
			return &streamstest.Fault{Status: http.StatusNotFound, Body: &page}
		}
		return nil
	})
	w.writeConfig("")
	r, diags := w.diagnostics("apply", "-auto-approve")
	if r.code != 0 {
		t.Fatalf("apply: %v", r)
	}
	service.WantRequests(t,
		`PATCH /v2/streams/detach {"processor_ids":[]}`,
		`PATCH /v2/streams/gone {"processor_ids":[]}`,
		`PATCH /v2/streams/lost {"processor_ids":[]}`,
	)
	service.WantAttached(t, "detach")
	service.WantAttached(t, "keep", "p1")
	service.WantAttached(t, "changed", "p1")
	slices.SortFunc(diags, func(a, b diagnostic) int { return strings.Compare(a.Summary, b.Summary) })
	if len(diags) != 2 {
		t.Fatalf("want two warnings, one for each 404; got %+v", diags)
	}
	for i, want := range []struct{ id, text string }{
		{"gone", "The service does not know this stream at this address"}, {"lost", "404 page not found"},
	} {
		if d := diags[i]; d.Severity != "warning" || d.Summary != fmt.Sprintf("Stream Not Found: stream %q", want.id) {
			t.Errorf("want a warning about %q, got %+v", want.id, d)
		}
		wantContains(t, diags[i].Detail, want.text, "check base_url")
		diags[i].wantLastLine(t, notChanged)
	}
	w.wantEmptyState()
}

// Values of other resources are known after apply.
func TestAccUnknownAtPlan(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "b", "c")...)
	config := `
resource "terraform_data" "ids" {
  input = { a = "a", set = ["p1", "%[1]s"], one = "%[1]s" }
}
resource "stream_processors" "stream" {
  stream_id     = terraform_data.ids.output.a
  processor_ids = ["p1"]
}
resource "stream_processors" "set" {
  stream_id     = "b"
  processor_ids = terraform_data.ids.output.set
}
resource "stream_processors" "element" {
  stream_id     = "c"
  processor_ids = ["p1", terraform_data.ids.output.one]
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, "p2"))
	w.wantPlannedChanges(map[string]string{
		"terraform_data.ids":        "create id output",
		"stream_processors.stream":  "create compatible_namespaces fragment_type_id id last_edited stream_id terminal_id",
		"stream_processors.set":     "create compatible_namespaces fragment_type_id last_edited processor_ids terminal_id",
		"stream_processors.element": "create compatible_namespaces fragment_type_id last_edited processor_ids terminal_id",
	})
	w.mustApply("tfplan")
	service.WantAttached(t, "a", "p1")
	service.WantAttached(t, "b", "p1", "p2")
	service.WantAttached(t, "c", "p1", "p2")
	w.wantNoChanges()
	service.ForgetRequests()

	w.writeConfig(fmt.Sprintf(config, "p3"))
	w.mustApply("-target=stream_processors.set", "-target=stream_processors.element")
	service.WantRequests(t,
		`PATCH /v2/streams/b {"processor_ids":["p1","p3"]}`,
		`PATCH /v2/streams/c {"processor_ids":["p1","p3"]}`,
	)
	w.wantNoChanges()
}

// The output does not show sensitive values.
func TestAccSensitiveValues(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("hush-1")...)
	config := `
variable "stream" {
  default   = "hush-1"
  sensitive = true
}
variable "ids" {
  default   = ["hush-2", %q]
  sensitive = true
}
resource "stream_processors" "this" {
  stream_id     = var.stream
  processor_ids = var.ids
  triggers      = { ids = join(",", var.ids) }
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, "hush-3"))
	for _, last := range []string{"hush-3", "hush-4"} {
		w.writeConfig(fmt.Sprintf(config, last))
		r := w.mustApply()
		if strings.Contains(r.text(), "hush-2") || strings.Contains(r.text(), last) {
			t.Errorf("a sensitive value is shown: %v", r)
		}
		service.WantRequests(t, `PATCH /v2/streams/hush-1 {"processor_ids":["hush-2","`+last+`"]}`)
		w.wantNoChanges()
	}
}
