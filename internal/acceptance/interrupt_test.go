package acceptance

import (
	"net/http"
	"sync"
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
			if r.code == 0 || took > 15*time.Second {
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
