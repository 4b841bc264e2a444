package acceptance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// foreignNotFounds are 404s that do not come from the service, by form.
var foreignNotFounds = map[string]streamstest.Fault{
	"text":  {Body: new("404 page not found\n")},
	"page":  {Body: new("<html><h1>404 Not Found</h1></html>"), Header: http.Header{"Content-Type": {"text/html"}}},
	"empty": {Body: new("")},
	"other": {Body: new(`{"detail":"Not Found"}`)},
	"cut":   {Truncate: true},
}

// While a gateway has no route, nothing that leaves a stream is taken as done, in whichever way it leaves and whichever form the
// 404 has; only the 404 of the service is. The rest of the run is kept, and the next apply detaches what is left. It needs
// clitest for several runs of one folder, and for what remains in the state.
func TestAccNotFoundByGateway(t *testing.T) {
	t.Parallel()
	for _, drift := range []bool{false, true} {
		t.Run(fmt.Sprintf("detect_drift=%t", drift), func(t *testing.T) {
			t.Parallel()
			notFoundByGateway(t, drift)
		})
	}
}

// leavingAll has a stream for each form in each way to leave a stream, and more. Those of "destroyed" are left by a destroy, and
// the others with changed = true.
const leavingAll = `
variable "changed" {
  default = false
}
locals {
  new = var.changed ? "-new" : ""
}
resource "stream_processors" "removed" {
  for_each      = toset(var.changed ? [] : local.forms)
  stream_id     = "removed-${each.key}"
  processor_ids = ["p1"]
}
resource "stream_processors" "replaced" {
  for_each      = toset(local.forms)
  stream_id     = "replaced-${each.key}${local.new}"
  processor_ids = ["p1"]
}
resource "stream_processors" "first" {
  for_each      = toset(local.forms)
  stream_id     = "first-${each.key}${local.new}"
  processor_ids = ["p1"]
  lifecycle {
    create_before_destroy = true
  }
}
resource "stream_processors_group" "this" {
  streams = { for id in concat(["kept"], var.changed ? [] : formatlist("dropped-%s", local.forms)) : id => ["p1"] }
}
resource "stream_processors" "destroyed" {
  for_each      = toset(local.forms)
  stream_id     = "destroyed-${each.key}"
  processor_ids = ["p1"]
}
resource "stream_processors" "updated" {
  stream_id     = "updated"
  processor_ids = [var.changed ? "p2" : "p1"]
}
`

func notFoundByGateway(t *testing.T, drift bool) {
	foreign := slices.Sorted(maps.Keys(foreignNotFounds))
	forms, ways := append([]string{"own"}, foreign...), []string{"removed", "replaced", "first", "dropped", "destroyed"}
	ids := []string{"kept", "updated"}
	for _, way := range ways {
		for _, form := range forms {
			ids = append(ids, way+"-"+form, way+"-"+form+"-new")
		}
	}
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, providerWith(fmt.Sprintf("detect_drift = %t\n  retry = { max_attempts = 1 }", drift))+
		"locals {\n  forms = "+hcl(forms)+"\n}\n"+leavingAll)
	w.Setenv("TF_VAR_changed=false")
	w.MustApply()
	noRoute := func(ways ...string) {
		service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
			way, form, _ := strings.Cut(r.StreamID, "-")
			fault := foreignNotFounds[form] // none for that of the service
			if fault.Status = http.StatusNotFound; r.Method == http.MethodPatch && slices.Contains(ways, way) && slices.Contains(forms, form) {
				return &fault
			}
			return nil
		})
	}
	wantAttached := func(way string, set ...string) {
		t.Helper()
		for _, form := range foreign {
			service.WantAttached(t, way+"-"+form, set...)
		}
	}

	w.Setenv("TF_VAR_changed=true")
	noRoute(ways[:4]...)
	failed := w.Apply().Want(1, "Warning: Stream Not Found", "check base_url", "terraform state rm", `set on_destroy = "keep" in the group`,
		"0 of 5 changes succeeded.")
	wantNotFounds(t, failed, 3*len(foreign)+1) // one of the group
	for _, way := range ways {
		wantAttached(way, "p1")
	}
	service.WantAttached(t, "updated", "p2")
	wantInState(t, w, slices.Concat(instances("removed", foreign), instances("replaced", forms), instances("first", forms),
		instances("destroyed", forms), []string{group, "stream_processors.updated"}))
	noRoute()
	w.MustApply()
	for _, way := range ways[:4] {
		wantAttached(way)
	}
	w.Plan().Want(0)

	noRoute("destroyed")
	failed = w.Run("destroy", "-auto-approve").Want(1, "Warning: Stream Not Found", "terraform state rm")
	wantNotFounds(t, failed, len(foreign))
	wantAttached("destroyed", "p1")
	wantInState(t, w, instances("destroyed", foreign))
	noRoute()
	w.MustRun("destroy", "-auto-approve")
	wantAttached("destroyed")
	wantInState(t, w, nil)
}

// instances are the addresses of instances of a resource.
func instances(name string, keys []string) (addresses []string) {
	for _, key := range keys {
		addresses = append(addresses, fmt.Sprintf("stream_processors.%s[%q]", name, key))
	}
	return addresses
}

// wantInState expects exactly these addresses in the state.
func wantInState(t *testing.T, w *clitest.Workspace, want []string) {
	t.Helper()
	got := strings.Fields(w.MustRun("state", "list").Stdout)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the state has\n%q\nwant\n%q", got, want)
	}
}

// wantNotFounds expects errors of 404s, and no others.
func wantNotFounds(t *testing.T, r clitest.Result, want int) {
	t.Helper()
	if got := strings.Count(r.Stderr, "Error: "); got != want || strings.Count(r.Stderr, "Error: Resource Not Found Error") != want ||
		strings.Count(r.Stderr, "The stream was not changed.") != want {
		t.Errorf("want %d errors about streams that were not changed: %v", want, r)
	}
}
