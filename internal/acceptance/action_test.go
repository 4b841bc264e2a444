package acceptance

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const pauseAction = `
action "stream_set_processors" "pause" {
  for_each = toset(["cam-1", "cam-2"])
  config {
    stream_id     = each.key
    processor_ids = []
  }
}
`

// An action sends one set and prints each attempt. It has no state, and a plan sends nothing.
func TestAccAction(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, pauseAction)
	w.atLeast("1.14", "")
	const invoke = "-invoke=action.stream_set_processors.pause"
	wantResult(t, w.plan(invoke), 2, "2 to invoke")
	service.WantRequests(t)

	service.Inject(streamstest.Fault{Status: 503, Header: map[string][]string{"Retry-After": {"0"}}})
	wantResult(t, w.mustApply(invoke+`["cam-1"]`), 0, `Setting the processors of stream "cam-1" to []`,
		"Attempt 1: PATCH "+url+"/v2/streams/cam-1 → 503 Service Unavailable, next in 0s", "200 OK", "Actions: 1 invoked")
	service.WantRequests(t, updateOf("cam-1", ""), updateOf("cam-1", ""))
	wantResult(t, w.apply(invoke+`["cam-2"]`), 1, "Resource Not Found Error", `there is no stream "cam-2"`, "404 Not Found", notChanged)
	service.WantRequests(t, updateOf("cam-2", ""))

	w.mustApply()
	service.WantRequests(t)
	w.wantEmptyState()
}
