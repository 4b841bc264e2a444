package acceptance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// groupOf is a group with these streams, and other attributes.
func groupOf(name string, streams map[string]string, others string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "resource \"stream_processors_group\" %q {\n  streams = {\n", name)
	for _, id := range slices.Sorted(maps.Keys(streams)) {
		fmt.Fprintf(&b, "    %s = [%s]\n", hclString(id), streams[id])
	}
	fmt.Fprintf(&b, "  }\n%s\n}\n", others)
	return b.String()
}

func providerWith(body string) string { return "provider \"stream\" {\n  " + body + "\n}\n" }

// sets gives streams one set.
func sets(ids []string, set string) map[string]string {
	streams := map[string]string{}
	for _, id := range ids {
		streams[id] = set
	}
	return streams
}

// stateStreams returns the sets of a group in the state, by stream, or nil.
func (w *workspace) stateStreams(address string) map[string]string {
	w.t.Helper()
	r, ok := w.stateResources()[address]
	if !ok {
		return nil
	}
	found := map[string]string{}
	for id, set := range r.AttributeValues["streams"].(map[string]any) {
		var quoted []string
		for _, processor := range set.([]any) {
			quoted = append(quoted, fmt.Sprintf("%q", processor))
		}
		found[id] = strings.Join(quoted, ", ")
	}
	return found
}

func (w *workspace) wantStreams(address string, want map[string]string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.stateStreams(address)); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", address, diff)
	}
}

// updatesOf are the requests that give streams their sets.
func updatesOf(streams map[string]string) []string {
	var lines []string
	for id, set := range streams {
		lines = append(lines, fmt.Sprintf(`PATCH /v2/streams/%s {"processor_ids":[%s]}`, id, strings.ReplaceAll(set, ", ", ",")))
	}
	return lines
}

const group = "stream_processors_group.this"

// An update of a group sends what differs, a reordered configuration nothing, and a destroy all.
func TestAccGroup(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(4)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, "")
	streams := sets(ids, `"p1", "p2"`)
	apply := func(others string, want map[string]string) {
		t.Helper()
		w.writeConfig(groupOf("this", streams, others))
		w.mustApply()
		service.WantRequests(t, updatesOf(want)...)
		w.wantNoChanges()
		w.wantStreams(group, streams)
	}
	apply("", streams)
	w.writeConfig(strings.ReplaceAll(groupOf("this", streams, ""), `"p1", "p2"`, `"p2", "p1", "p2"`))
	w.wantNoChanges()
	streams["cam-2"] = `"p3"`
	apply("", map[string]string{"cam-2": `"p3"`})
	delete(streams, "cam-3")
	apply("", map[string]string{"cam-3": ""})
	delete(streams, "cam-2")
	apply(`on_destroy = "keep"`, nil)
	service.WantAttached(t, "cam-2", "p3")
	apply(`triggers = { a = "b" }`, streams)
	w.writeConfig("")
	w.mustApply()
	service.WantRequests(t, updatesOf(sets(slices.Collect(maps.Keys(streams)), ""))...)
	w.wantEmptyState()
}

// Three streams of 500 fail in a create, an update and a destroy.
func TestAccGroupPartialFailures(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(500)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	bad := func() {
		service.InjectFunc(faultsByStream(map[string]streamstest.Fault{
			"cam-7": {Status: http.StatusForbidden}, "cam-42": {Status: http.StatusBadRequest, Message: "no such processor"}, "cam-321": {ResetAfter: true},
		}))
	}
	before, after := sets(ids, `"p1"`), sets(ids, `"p2"`)
	w := newWorkspace(t, url, providerWith("retry = { max_attempts = 1 }")+groupOf("this", before, ""))
	wantErrors := func(what, now string) {
		t.Helper()
		r, diags := w.diagnostics("apply", "-auto-approve")
		if r.code != 1 || len(diags) != 4 {
			t.Fatalf("%s: %v", what, r)
		}
		for i, id := range []string{"cam-321", "cam-42", "cam-7"} {
			wantContains(t, diags[i].Detail, fmt.Sprintf("stream %q", id))
		}
		wantContains(t, diags[1].Detail, "The service said: no such processor")
		if diags[3].Summary != "Streams Failed" || !strings.HasSuffix(diags[3].Detail, now) {
			t.Errorf("%s: the last error is %q: %s", what, diags[3].Summary, diags[3].Detail)
		}
	}

	bad()
	wantErrors("create", "The group is not in the state. The next apply sends all of its sets.")
	service.WantRequests(t, updatesOf(before)...)
	w.wantEmptyState()
	service.InjectFunc(nil)
	w.mustApply()
	service.WantRequests(t, updatesOf(before)...)
	w.wantNoChanges()

	w.writeConfig(providerWith("retry = { max_attempts = 1 }") + groupOf("this", after, ""))
	bad()
	wantErrors("update", "The state has what succeeded. The next plan shows the rest.")
	service.WantRequests(t, updatesOf(after)...)
	succeeded := maps.Clone(after)
	for _, id := range []string{"cam-7", "cam-42", "cam-321"} {
		succeeded[id] = `"p1"`
	}
	w.wantStreams(group, succeeded)
	service.InjectFunc(nil)
	w.mustApply()
	service.WantRequests(t, updatesOf(map[string]string{"cam-7": `"p2"`, "cam-42": `"p2"`, "cam-321": `"p2"`})...)
	w.wantNoChanges()

	w.writeConfig(providerWith("retry = { max_attempts = 1 }"))
	bad()
	wantErrors("destroy", "The state has only the streams that failed.")
	service.WantRequests(t, updatesOf(sets(ids, ""))...)
	w.wantStreams(group, map[string]string{"cam-7": `"p2"`, "cam-42": `"p2"`, "cam-321": `"p2"`})
	service.InjectFunc(nil)
	w.mustApply()
	service.WantRequests(t, updatesOf(sets([]string{"cam-7", "cam-42", "cam-321"}, ""))...)
	w.wantEmptyState()
}

// Streams move between groups, and between groups and single resources, in one apply each.
func TestAccGroupHandover(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "b", "c")...)
	w := newWorkspace(t, url, "")
	single := func(id, set string) string {
		return fmt.Sprintf("resource \"stream_processors\" %q {\n  stream_id = %q\n  processor_ids = [%s]\n}\n", id, id, set)
	}
	for i, step := range []struct{ config, a, b string }{
		{groupOf("x", map[string]string{"a": `"p1"`, "b": `"p2"`}, "") + groupOf("y", map[string]string{"c": `"p1"`}, ""), "p1", "p2"},
		{groupOf("x", map[string]string{"a": `"p1"`}, "") + groupOf("y", map[string]string{"b": `"p2"`, "c": `"p1"`}, ""), "p1", "p2"},
		{groupOf("x", map[string]string{"b": `"p3"`}, "") + groupOf("y", map[string]string{"a": `"p1"`, "c": `"p1"`}, ""), "p1", "p3"},
		{groupOf("z", map[string]string{"a": `"p1"`, "b": `"p3"`, "c": `"p1"`}, ""), "p1", "p3"},
		{groupOf("z", map[string]string{"c": `"p1"`}, "") + single("a", `"p4"`) + single("b", `"p3"`), "p4", "p3"},
		{groupOf("z", map[string]string{"a": `"p4"`, "b": `"p3"`, "c": `"p1"`}, ""), "p4", "p3"},
	} {
		w.writeConfig(step.config)
		service.ForgetRequests()
		r := w.mustApply()
		for _, request := range service.DrainRequests() {
			if strings.Contains(request, "[]") && !strings.Contains(r.text(), "Processors May Be Detached for a Moment") {
				t.Errorf("step %d: %s was sent without a warning", i, request)
			}
		}
		service.WantAttached(t, "a", step.a)
		service.WantAttached(t, "b", step.b)
		service.WantAttached(t, "c", "p1")
		w.wantNoChanges()
	}
}

// From 1,000 single resources to groups by a removed block: each set is sent once more, and nothing is emptied.
func TestAccGroupFromSingleResources(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(1000)
	var seed []streamstest.Stream
	for _, id := range ids {
		seed = append(seed, streamstest.Stream{ID: id, ProcessorIDs: []string{"p1"}})
	}
	service, url := streamstest.Start(t, streamstest.Options{}, seed...)
	w := newWorkspace(t, url, "")
	w.atLeast("1.7", "1.7")
	w.writeFile("terraform.tfstate", stateOfSingleResources(ids))
	locals := "locals {\n  streams = { for i in range(1000) : \"cam-${i + 1}\" => [\"p1\"] }\n}\n"
	w.writeConfig(locals + `
removed {
  from = stream_processors.this
  lifecycle {
    destroy = false
  }
}

resource "stream_processors_group" "this" {
  for_each = { for id in keys(local.streams) : substr(sha256(id), 0, 1) => id... }
  streams  = { for id in each.value : id => local.streams[id] }
}
`)
	w.mustApply()
	service.WantRequests(t, updatesOf(sets(ids, `"p1"`))...)
	w.wantNoChanges()
	if n := len(w.stateResources()); n != 16 {
		t.Errorf("the state has %d resources, want 16 groups", n)
	}
}

// stateOfSingleResources is the state after an apply of stream_processors.this with for_each, which takes much longer
// than to write it.
func stateOfSingleResources(ids []string) string {
	var instances []string
	for _, id := range ids {
		instances = append(instances, fmt.Sprintf(`{
      "index_key": %[1]q, "schema_version": 0, "identity_schema_version": 0, "identity": {"stream_id": %[1]q},
      "attributes": {
        "stream_id": %[1]q, "id": %[1]q, "processor_ids": ["p1"], "on_destroy": "detach", "triggers": null, "timeouts": null,
        "terminal_id": "terminal-1", "fragment_type_id": "image-jpg", "compatible_namespaces": [], "last_edited": 1
      }
    }`, id))
	}
	return `{
  "version": 4, "terraform_version": "1.5.0", "serial": 1, "lineage": "00000000-0000-0000-0000-000000000000", "outputs": {},
  "resources": [{
    "mode": "managed", "type": "stream_processors", "name": "this",
    "provider": "provider[\"registry.terraform.io/` + cli.Source + `\"]",
    "instances": [` + strings.Join(instances, ",") + `]
  }]
}`
}

// max_concurrent_requests limits the requests of all resources together.
func TestAccMaxConcurrentRequests(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(40)
	const latency = 50 * time.Millisecond
	service, url := streamstest.Start(t, streamstest.Options{Latency: latency}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, providerWith("max_concurrent_requests = 4")+
		groupOf("a", sets(ids[:20], `"p1"`), "")+groupOf("b", sets(ids[20:39], `"p1"`), "")+`
resource "stream_processors" "one" {
  stream_id     = "cam-40"
  processor_ids = ["p1"]
}
`)
	w.mustApply()
	requests := service.Requests()
	if len(requests) != len(ids) {
		t.Fatalf("%d requests, want %d", len(requests), len(ids))
	}
	// Each request is under way for at least the latency, so a fifth one cannot arrive before the first one has ended.
	for i, r := range requests[4:] {
		if after := r.Start.Sub(requests[i].Start); after < latency*9/10 {
			t.Errorf("request %d arrived %s after request %d", i+4, after, i)
		}
	}
}

// An invalid id and a conflict are errors of the plan, at the key of the stream.
func TestAccGroupPlanErrors(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "b")...)
	w := newWorkspace(t, url, groupOf("x", map[string]string{"a": `"p1"`, "..": `"p1"`, "b": `"p1", " "`}, ""))
	wantResult(t, w.plan(), 1, `".." is not a stream id`, `streams["b"]: " " is not a processor id`)
	w.writeConfig(groupOf("x", map[string]string{"a": `"p1"`, "b": `"p1"`}, "") + groupOf("y", map[string]string{"b": `"p2"`}, ""))
	wantResult(t, w.plan(), 1, "Conflicting Processor Sets", `Two resources set the processors of stream "b"`)
	w.writeConfig(`
resource "stream_processors_group" "x" {
  streams = { for i in range(1001) : "s${i}" => [] }
}
`)
	wantResult(t, w.plan(), 2, "Warning: Large Group", "for_each")
	service.WantRequests(t)
}
