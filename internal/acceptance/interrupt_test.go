package acceptance

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Ctrl-C ends requests without a response and waits before a retry, and starts no more requests. The errors say that the
// outcome is unknown.
func TestAccInterrupt(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(50)
	const atOnce = 8
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(append(ids, "waits")...)...)
	arrived, arrivals := make(chan struct{}), 0
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if arrivals++; arrivals == atOnce+1 { // the others, and the one that waits
			close(arrived)
		}
		if r.StreamID == "waits" {
			return &streamstest.Fault{Status: 503, Header: http.Header{"Retry-After": {"280"}}}
		}
		return &streamstest.Fault{Delay: time.Hour}
	})
	w := newWorkspace(t, url, providerWith(fmt.Sprintf("max_concurrent_requests = %d\n  request_timeout = \"1h\"", atOnce))+
		groupOf("this", sets(ids[5:], `"p1"`), "")+resourceForEach(ids[:5], `"p1"`)+
		providerWith(`alias = "other"`)+resourceOf("waits", "waits", `"p1"`, "provider = stream.other"))
	r := w.runInterrupted(arrived, "apply", "-auto-approve", "-input=false", "-no-color")
	wantResult(t, r, 1, "Error: Operation Interrupted", "The operation was interrupted.", "Apply again when you are ready.", inDoubt)
	if n := len(service.DrainRequests()); n != atOnce+1 {
		t.Errorf("%d requests, want %d", n, atOnce+1)
	}
	w.wantEmptyState()
	service.InjectFunc(nil)
	w.mustApply()
	w.wantNoChanges()
}

// An interrupted query fails.
func TestAccQueryInterrupt(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2")...)
	w := newWorkspace(t, url, providerWith(`detect_drift = true`))
	w.atLeast("1.14", "")
	arrived := make(chan struct{})
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if r.StreamID == "cam-2" {
			close(arrived)
			return &streamstest.Fault{Delay: time.Hour}
		}
		return nil
	})
	w.writeFile("streams.tfquery.hcl", `
list "stream_processors" "all" {
  provider = stream
  config {
    stream_ids = ["cam-1", "cam-2"]
  }
}
`)
	wantResult(t, w.runInterrupted(arrived, "query", "-no-color"), 1, "Operation Interrupted")
}

// A provider that is killed records nothing: after a return to the old configuration, the plan is empty, although the
// stream has the new set. A change of triggers sends the set again.
func TestAccKilledProvider(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	config := func(set, trigger string) string {
		return resourceOf("this", "cam-1", set, fmt.Sprintf("triggers = { repair = %q }", trigger))
	}
	w := newWorkspace(t, url, config(`"p1"`, "0"))
	w.mustApply()

	w.writeConfig(config(`"p2"`, "0"))
	cmd := w.command("apply", "-auto-approve", "-input=false")
	service.Inject(streamstest.Fault{Edit: func(*streamstest.Stream) { cli.Kill(cmd) }}) // the service has applied the update
	if err := cmd.Run(); err == nil {
		t.Fatal("the apply was not killed")
	}
	service.WantAttached(t, "cam-1", "p2")

	w.writeConfig(config(`"p1"`, "0"))
	w.wantNoChanges()
	w.writeConfig(config(`"p1"`, "1"))
	w.mustApply()
	service.WantAttached(t, "cam-1", "p1")
}
