package acceptance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// One action detaches the processors before another resource changes, and one attaches them again afterwards.
func TestAccActionTrigger(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	hcl := pauseAction + `
action "stream_set_processors" "resume" {
  config {
    stream_id     = "cam-1"
    processor_ids = [terraform_data.processor.output]
  }
}

resource "terraform_data" "processor" {
  input = "p1"
}

resource "terraform_data" "model" {
  input = "one"

  lifecycle {
    action_trigger {
      events  = [before_update]
      actions = [action.stream_set_processors.pause["cam-1"]]
    }
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.stream_set_processors.resume]
    }
  }
}
`
	w := newWorkspace(t, url, hcl)
	w.atLeast("1.14", "")
	w.mustApply()
	service.WantRequests(t, updateOf("cam-1", `"p1"`))

	w.writeConfig(strings.Replace(hcl, `"one"`, `"two"`, 1))
	w.mustApply()
	if diff := cmp.Diff([]string{updateOf("cam-1", ""), updateOf("cam-1", `"p1"`)}, service.DrainRequests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	w.mustApply()
	service.WantRequests(t)
}
