package acceptance

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const (
	pauseAction = `
action "stream_set_processors" "pause" {
  config {
    stream_id     = "cam-1"
    processor_ids = []
  }
}
`
	pauseRequest = `PATCH /v2/streams/cam-1 {"processor_ids":[]}`
	invokePause  = "-invoke=action.stream_set_processors.pause"
)

func TestAccActionInvoke(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p1"}})
	w := newWorkspace(t, url, pauseAction)
	w.atLeast("1.14", "")
	w.mustRun("validate", "-no-color")
	wantResult(t, w.plan(invokePause), 2, "1 to invoke")
	service.WantRequests(t)

	service.Inject(streamstest.Fault{Status: 503, Header: map[string][]string{"Retry-After": {"0"}}})
	wantResult(t, w.mustApply(invokePause), 0,
		`Setting the processors of stream "cam-1" to []`, "Attempt 1: PATCH "+url+"/v2/streams/cam-1 → 503 Service Unavailable, next in 0s", "200 OK", "Actions: 1 invoked")
	service.WantRequests(t, pauseRequest, pauseRequest)
	service.WantAttached(t, "cam-1")

	// An apply without -invoke sends nothing, and an action has no state.
	w.mustApply()
	service.WantRequests(t)
	w.wantEmptyState()
}

func TestAccActionOfEachStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1", "cam-2")...)
	w := newWorkspace(t, url, `
action "stream_set_processors" "fleet" {
  for_each = toset(["cam-1", "cam-2"])
  config {
    stream_id     = each.key
    processor_ids = ["p1"]
  }
}
`)
	w.atLeast("1.14", "")
	w.mustApply(`-invoke=action.stream_set_processors.fleet["cam-2"]`)
	service.WantRequests(t, `PATCH /v2/streams/cam-2 {"processor_ids":["p1"]}`)
	w.mustApply(`-invoke=action.stream_set_processors.fleet`)
	service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["p1"]}`, `PATCH /v2/streams/cam-2 {"processor_ids":["p1"]}`)
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
      actions = [action.stream_set_processors.pause]
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
	const resumeRequest = `PATCH /v2/streams/cam-1 {"processor_ids":["p1"]}`
	w.mustApply()
	service.WantRequests(t, resumeRequest)
	w.wantNoChanges()

	w.writeConfig(strings.Replace(hcl, `"one"`, `"two"`, 1))
	w.mustApply()
	if diff := cmp.Diff([]string{pauseRequest, resumeRequest}, service.DrainRequests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	w.mustApply()
	service.WantRequests(t)
}

func TestAccActionFails(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	w := newWorkspace(t, url, pauseAction)
	w.atLeast("1.14", "")
	wantResult(t, w.apply(invokePause), 1,
		"Resource Not Found Error", `there is no stream "cam-1"`, "404 Not Found", notChanged)
	service.WantRequests(t, pauseRequest)

	w.writeConfig(strings.Replace(pauseAction, "[]", `[" p1 "]`, 1))
	wantResult(t, w.run("validate", "-no-color"), 1, "Invalid Attribute Value", `processor_ids: " p1 " is not a processor id`)
}

// With -invoke, Terraform applies nothing else, so it invokes an action although the provider configuration is unknown.
func TestAccActionBeforeTheProviderIsKnown(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, "", `
resource "terraform_data" "url" {
  input = "`+url+`"
}

provider "stream" {
  base_url = terraform_data.url.output
}
`+pauseAction)
	w.atLeast("1.14", "")
	wantResult(t, w.apply(invokePause), 1,
		"Provider Configuration Not Known", "Nothing was sent. "+notChanged)
	service.WantRequests(t)
	w.mustApply()
	service.WantRequests(t)
	w.mustApply(invokePause)
	service.WantRequests(t, pauseRequest)
}

// Ctrl-C ends a request that gets no response. Terraform 1.15.9 crashes if Ctrl-C comes before it has printed a message
// of the action, so the test waits for this message.
func TestAccActionIsInterrupted(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, pauseAction)
	w.atLeast("1.14", "")
	arrived, printed, both := make(chan struct{}, 10), make(chan struct{}, 10), make(chan struct{})
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		arrived <- struct{}{}
		return &streamstest.Fault{Delay: time.Minute}
	})
	w.onStdout = func(text string) {
		if strings.Contains(text, "Setting the processors") {
			printed <- struct{}{}
		}
	}
	go func() {
		defer close(both)
		<-arrived
		<-printed
	}()
	r, _ := w.runInterrupted(both, "apply", "-auto-approve", "-input=false", "-no-color", invokePause)
	wantResult(t, r, 1, "The operation was interrupted", "The stream may or may not have been changed")
	request := service.Requests()[0]
	if took := request.End.Sub(request.Start); took >= time.Minute {
		t.Errorf("the request went on for %s: %v", took, r)
	}
}
