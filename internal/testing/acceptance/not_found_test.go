package acceptance

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// leavingAll has two streams in each way to leave a stream, and more. Those of "destroyed" are left by a destroy, and the others with
// changed = true. Of two streams, the service itself does not know "own" any more.
const leavingAll = `
variable "changed" {
  default = false
}
locals {
  names = ["own", "gateway"]
  new   = var.changed ? "-new" : ""
}
resource "stream_processors" "removed" {
  for_each      = toset(var.changed ? [] : local.names)
  stream_id     = "removed-${each.key}"
  processor_ids = ["p1"]
}
resource "stream_processors" "replaced" {
  for_each      = toset(local.names)
  stream_id     = "replaced-${each.key}${local.new}"
  processor_ids = ["p1"]
}
resource "stream_processors" "first" {
  for_each      = toset(local.names)
  stream_id     = "first-${each.key}${local.new}"
  processor_ids = ["p1"]
  lifecycle {
    create_before_destroy = true
  }
}
resource "stream_processors_group" "this" {
  streams = { for id in concat(["kept"], var.changed ? [] : formatlist("dropped-%s", local.names)) : id => ["p1"] }
}
resource "stream_processors" "destroyed" {
  for_each      = toset(local.names)
  stream_id     = "destroyed-${each.key}"
  processor_ids = ["p1"]
}
resource "stream_processors" "updated" {
  stream_id     = "updated"
  processor_ids = [var.changed ? "p2" : "p1"]
}
`

// While a gateway has no route, nothing that leaves a stream is taken as done, in whichever way it leaves; only the 404 of the service is.
// The rest of the run is kept, and the next apply detaches what is left. It needs clitest for several runs of one folder, and for what
// remains in the state. TestNotFoundByAnother has each form of such a 404, with and without detect_drift.
func TestAccNotFoundByGateway(t *testing.T) {
	t.Parallel()
	ways, ids := []string{"removed", "replaced", "first", "dropped", "destroyed"}, []string{"kept", "updated"}
	for _, way := range ways {
		ids = append(ids, way+"-own", way+"-own-new", way+"-gateway", way+"-gateway-new")
	}
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, providerWith("detect_drift = true\n  retry = { max_attempts = 1 }")+leavingAll)
	w.Setenv("TF_VAR_changed=false")
	w.MustApply()
	noRoute := func(ways ...string) {
		service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
			way, name, _ := strings.Cut(r.StreamID, "-")
			switch {
			case r.Method != http.MethodPatch || !slices.Contains(ways, way):
			case name == "own":
				return &streamstest.Fault{Status: http.StatusNotFound}
			case name == "gateway":
				return &streamstest.Fault{Status: http.StatusNotFound, Body: new("<html><h1>404 Not Found</h1></html>")}
			}
			return nil
		})
	}

	w.Setenv("TF_VAR_changed=true")
	noRoute(ways[:4]...)
	failed := w.Apply().Want(1, "Warning: Stream Not Found", "check base_url", "terraform state rm", `set on_destroy = "keep" in the group`)
	wantNotFounds(t, failed, 4)
	for _, way := range ways {
		service.WantAttached(t, way+"-gateway", "p1")
	}
	service.WantAttached(t, "updated", "p2")
	wantInState(t, w, `stream_processors.removed["gateway"]`, `stream_processors.replaced["gateway"]`, `stream_processors.replaced["own"]`,
		`stream_processors.first["gateway"]`, `stream_processors.first["own"]`, `stream_processors.destroyed["gateway"]`,
		`stream_processors.destroyed["own"]`, group, "stream_processors.updated")
	noRoute()
	w.MustApply()
	for _, way := range ways[:4] {
		service.WantAttached(t, way+"-gateway")
	}
	w.Plan().Want(0)

	noRoute("destroyed")
	failed = w.Run("destroy", "-auto-approve").Want(1, "Warning: Stream Not Found", "terraform state rm")
	wantNotFounds(t, failed, 1)
	service.WantAttached(t, "destroyed-gateway", "p1")
	wantInState(t, w, `stream_processors.destroyed["gateway"]`)
	noRoute()
	w.MustRun("destroy", "-auto-approve")
	service.WantAttached(t, "destroyed-gateway")
	wantInState(t, w)
}

// wantInState expects exactly these addresses in the state.
func wantInState(t *testing.T, w *clitest.Workspace, want ...string) {
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
