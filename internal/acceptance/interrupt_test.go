package acceptance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Ctrl-C ends a request or a wait, and the error says that the outcome is unknown.
func TestAccInterrupt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault    streamstest.Fault
		provider string
	}{
		"no response":  {streamstest.Fault{Delay: time.Hour}, `provider "stream" {}`},
		"long backoff": {streamstest.Fault{Status: 503}, `provider "stream" { retry = { min_backoff = "4m" } }`},
		"Retry-After": {
			streamstest.Fault{Status: 503, Header: http.Header{"Retry-After": {"200"}}}, `provider "stream" {}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
			arrived := make(chan struct{})
			var once sync.Once
			service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
				once.Do(func() { close(arrived) })
				return &test.fault
			})
			w := newWorkspace(t, url, test.provider+`
resource "stream_processors" "this" {
  stream_id     = "cam"
  processor_ids = ["p1"]
}
`)
			r, took := w.runInterrupted(arrived, "apply", "-auto-approve", "-input=false", "-no-color")
			if r.code == 0 || took > 8*time.Second {
				t.Errorf("the apply ended after %s: %v", took, r)
			}
			wantContains(t, r.text(), "could not be set", inDoubt)
			if test.fault.Status == 0 { // otherwise the error may say what the response was
				wantContains(t, r.text(), "Error: Operation Interrupted", "The operation was interrupted.", "→ no response", "Apply again when you are ready.")
			}
			if n := drainRequestCounts(service)["cam"]; n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
			w.wantEmptyState()
			service.InjectFunc(nil)
			w.mustApply()
			w.wantNoChanges()
		})
	}
}

// After Ctrl-C, the requests under way get their responses, and nothing new starts: the state and the service agree on
// each stream, and no outcome is unknown.
func TestAccInterruptedFleet(t *testing.T) {
	t.Parallel()
	const streamCount = 100
	service, url := streamstest.Start(t, streamstest.Options{Latency: time.Second}, streamstest.Streams(fleetIDs(streamCount)...)...)
	arrived := make(chan struct{})
	var arrivals atomic.Int32
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		if arrivals.Add(1) == 25 {
			close(arrived)
		}
		return nil
	})
	w := newWorkspace(t, url, fleet(streamCount))
	r, took := w.runInterrupted(arrived, "apply", "-auto-approve", "-input=false", "-no-color")
	if r.code == 0 || took > 8*time.Second {
		t.Errorf("the apply ended after %s: %v", took, r)
	}
	if strings.Contains(r.text(), inDoubt) {
		t.Errorf("an outcome is unknown: %v", r)
	}
	requests := service.Requests()
	if len(requests) < 25 || len(requests) > 40 {
		t.Errorf("%d requests", len(requests))
	}
	for _, request := range requests {
		if request.Status != http.StatusOK {
			t.Errorf("no response to %s", request)
		}
	}
	resources, applied := w.stateResources(), 0
	for i, id := range fleetIDs(streamCount) {
		stream, _ := service.Stream(id)
		isApplied := slices.Equal(stream.ProcessorIDs, []string{"p1"})
		if isApplied {
			applied++
		}
		address := fmt.Sprintf("stream_processors.this[%d]", i)
		if _, inState := resources[address]; inState != isApplied {
			t.Errorf("%s: in the state: %t, applied: %t", address, inState, isApplied)
		}
	}
	if applied < 25 || applied == streamCount {
		t.Errorf("%d streams were applied", applied)
	}
	w.mustApply()
	w.wantNoChanges()
}

// The same for an action: its response counts.
func TestAccInterruptedAction(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{Latency: 2 * time.Second}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, `
action "stream_set_processors" "this" {
  config {
    stream_id     = "cam-1"
    processor_ids = ["p1"]
  }
}
`)
	w.atLeast("1.14.0", "")
	arrived := make(chan struct{})
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		close(arrived)
		return nil
	})
	r, took := w.runInterrupted(arrived, "apply", "-auto-approve", "-input=false", "-no-color", "-invoke=action.stream_set_processors.this")
	if took > 8*time.Second || strings.Contains(r.text(), inDoubt) || strings.Contains(r.text(), "could not be set") {
		t.Errorf("the action ended after %s: %v", took, r)
	}
	service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["p1"]}`)
	service.WantAttached(t, "cam-1", "p1")
}
