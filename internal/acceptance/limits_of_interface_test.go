package acceptance

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// triggered has one resource with a trigger.
func triggered(processor, trigger string) string {
	return fmt.Sprintf(`
provider "stream" {
  request_timeout = "1s"
  retry           = { max_attempts = 2, min_backoff = "1ms", max_backoff = "1ms" }
}

resource "stream_processors" "this" {
  stream_id     = "cam-1"
  processor_ids = [%q]
  triggers      = { repair = %q }
}
`, processor, trigger)
}

// A provider that is killed records nothing: after a return to the old configuration, the plan is empty, although the
// stream has the new set. A change of triggers sends the set again.
func TestAccKilledProvider(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, triggered("p1", "0"))
	w.mustApply()

	w.writeConfig(triggered("p2", "0"))
	cmd := w.command("apply", "-auto-approve", "-input=false")
	var once sync.Once
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		once.Do(func() { cli.Kill(cmd) })
		return nil // the service applies the update
	})
	if err := cmd.Run(); err == nil {
		t.Fatal("the apply was not killed")
	}
	service.InjectFunc(nil)
	service.WantAttached(t, "cam-1", "p2")

	w.writeConfig(triggered("p1", "0"))
	w.wantNoChanges()
	w.writeConfig(triggered("p1", "1"))
	w.mustApply()
	service.WantAttached(t, "cam-1", "p1")
	w.wantNoChanges()
}

// An attempt that a gateway holds back may take effect after the retry that replaced it and after a later update. A
// change of triggers sends the set again.
func TestAccLateAttempt(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, triggered("p1", "0"))
	service.Inject(streamstest.Fault{Delay: time.Hour}) // the gateway keeps the first attempt
	w.mustApply()
	w.writeConfig(triggered("p2", "0"))
	w.mustApply()
	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p1"}}) // and delivers it now
	w.wantNoChanges()

	w.writeConfig(triggered("p2", "1"))
	w.mustApply()
	service.WantAttached(t, "cam-1", "p2")
}

// With the address of another region, a destroy detaches nothing, and says so.
func TestAccDestroyAtAnotherAddress(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1", "cam-2")...)
	_, elsewhere := streamstest.Start(t, streamstest.Options{})
	w := newWorkspace(t, url, resourceForEach([]string{"cam-1", "cam-2"}, `processor_ids = ["p1"]`))
	w.mustApply()
	w.setenv("STREAM_BASE_URL", elsewhere)
	r, diags := w.diagnostics("apply", "-auto-approve", "-destroy")
	if r.code != 0 || len(diags) != 2 {
		t.Fatalf("want a warning for each stream: %v", r)
	}
	for _, d := range diags {
		if !strings.HasPrefix(d.Summary, `Stream Not Found: stream "cam-`) {
			t.Errorf("summary %q", d.Summary)
		}
		wantContains(t, d.Detail, "does not know this stream at this address", "check base_url", "PATCH "+elsewhere)
		d.wantLastLine(t, notChanged)
	}
	service.WantAttached(t, "cam-1", "p1")
}

// The service responds with the old set to an update: the last line is what it reported.
func TestAccIgnoredUpdate(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, cam1p1)
	w.mustApply()
	service.Inject(streamstest.Fault{Status: 200}) // the stream as it is
	w.writeConfig(cam1p1p2)
	d := w.applyErrors()[this]
	if d.Summary != "Unexpected Answer" {
		t.Errorf("summary %q", d.Summary)
	}
	wantContains(t, d.Detail, `The service did not attach ["p2"]`)
	d.wantLastLine(t, `The service reports that the stream now has ["p1"].`)
	w.mustApply()
	w.wantNoChanges()
}

// Terraform merges warnings with equal summaries, so each stream has its own.
func TestAccTakeoversWarnOneByOne(t *testing.T) {
	t.Parallel()
	var seed []streamstest.Stream
	for i, id := range fleetIDs(5) {
		seed = append(seed, streamstest.Stream{ID: id, ProcessorIDs: []string{fmt.Sprintf("old-%d", i)}})
	}
	_, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, seed...)
	r := newWorkspace(t, url, withDetectDrift(fleet(5))).plan()
	for i, id := range fleetIDs(5) {
		wantResult(t, r, 2, fmt.Sprintf("Warning: Processors Will Be Detached: stream %q", id), fmt.Sprintf(`detaches them: ["old-%d"].`, i))
	}
	if strings.Contains(r.text(), "more similar warning") {
		t.Errorf("merged: %v", r)
	}
}
