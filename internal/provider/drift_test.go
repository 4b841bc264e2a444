package provider

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Reads: with detect_drift, which the deployment must offer, and their absence without it.

// detecting is a root module that reads, with the given resources. One attempt: a fault is what is looked at.
func detecting(resources string) string {
	return `
provider "stream" {
  detect_drift = true
  retry        = { max_attempts = 1 }
}
` + resources
}

const (
	cam1p1p2 = `
resource "stream_processors" "this" {
  stream_id     = "cam-1"
  processor_ids = ["p1", "p2"]
}
`
	getCam1   = "GET /v2/streams/cam-1"
	patchCam1 = `PATCH /v2/streams/cam-1 {"processor_ids":["p1","p2"]}`
)

// wantEnd fails the test unless a command ended with this exit code and said all of this.
func wantEnd(t *testing.T, r result, code int, says ...string) {
	t.Helper()
	if r.code != code {
		t.Fatalf("the exit code is not %d: %v", code, r)
	}
	wantIn(t, r.text(), says...)
}

// stateFile is the state as it is on disk.
func (w *workspace) stateFile() string {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

func TestAccDriftIsShownAndMended(t *testing.T) {
	t.Parallel()
	service, url := newService(t, streamstest.Options{ServeGet: true}, seedStreams("cam-1")...)
	w := newWorkspace(t, url, detecting(cam1p1p2))
	w.mustApply()
	service.ForgetRequests()
	w.wantNoChanges()
	wantSent(t, service, getCam1)

	service.Seed(streamstest.Stream{ID: "cam-1", TerminalID: "terminal-9", ProcessorIDs: []string{"p2", "stranger"}})
	change := w.changes()["stream_processors.this"]
	if change == nil || !change.Actions.Update() {
		t.Fatalf("the plan is %+v, want an update", change)
	}
	before, after := change.Before.(map[string]any), change.After.(map[string]any)
	if diff := cmp.Diff([]any{"p2", "stranger"}, before["processor_ids"]); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"p1", "p2"}, after["processor_ids"]); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
	if before["terminal_id"] != "terminal-9" || after["terminal_id"] != "terminal-9" {
		t.Errorf("terminal_id is %v, then %v, want what was read", before["terminal_id"], after["terminal_id"])
	}
	wantSent(t, service, getCam1)

	w.mustApply("-refresh-only")
	wantSent(t, service, getCam1)
	got := w.resources()["stream_processors.this"].AttributeValues["processor_ids"]
	if diff := cmp.Diff([]any{"p2", "stranger"}, got); diff != "" {
		t.Errorf("state after a refresh (-want +got):\n%s", diff)
	}

	w.mustApply()
	wantSent(t, service, getCam1, patchCam1)
	wantAttached(t, service, "cam-1", "p1", "p2")
	w.wantNoChanges()
}

// Only what the service computes has changed: there is nothing to mend.
func TestAccDriftOfComputedValuesIsNoChange(t *testing.T) {
	t.Parallel()
	service, url := newService(t, streamstest.Options{ServeGet: true}, seedStreams("cam-1")...)
	w := newWorkspace(t, url, detecting(cam1p1p2))
	w.mustApply()
	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p2", "p1"}, CompatibleNamespaces: []string{"new"}})
	w.wantNoChanges()
}

func TestAccDriftByEnvironment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		variable, provider string
		want               []string
	}{
		"unset":                       {"", "", nil},
		"true":                        {"true", "", []string{getCam1}},
		"1":                           {"1", "", []string{getCam1}},
		"false":                       {"false", "", nil},
		"the configuration beats it":  {"true", "detect_drift = false", nil},
		"the configuration beats it ": {"false", "detect_drift = true", []string{getCam1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := newService(t, streamstest.Options{ServeGet: true}, seedStreams("cam-1")...)
			w := newWorkspace(t, url, "provider \"stream\" {\n"+test.provider+"\n}\n"+cam1p1p2)
			w.setenv("STREAM_DETECT_DRIFT", test.variable)
			if r := w.plan(); r.code != 2 {
				t.Fatalf("plan: %v", r)
			}
			wantSent(t, service, test.want...)
		})
	}
}

func TestAccDriftPlanOfACreateLooksOnce(t *testing.T) {
	t.Parallel()
	service, url := newService(t, streamstest.Options{ServeGet: true},
		streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p1", "other\x1b[2J", "stranger"}},
		streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"p1"}},
		streamstest.Stream{ID: "cam-3"},
	)
	w := newWorkspace(t, url, detecting(`
resource "stream_processors" "this" {
  for_each      = toset(["cam-1", "cam-2", "cam-3"])
  stream_id     = each.key
  processor_ids = ["p1", "p2"]
}
`))
	r := w.plan()
	if r.code != 2 {
		t.Fatalf("plan: %v", r)
	}
	wantSent(t, service, getCam1, "GET /v2/streams/cam-2", "GET /v2/streams/cam-3")
	wantEnd(t, r, 2, "Warning: Processors Will Be Detached",
		`Stream "cam-1" has processors that are not in processor_ids, and the create detaches them: ["other\x1b[2J", "stranger"].`)
	if n := strings.Count(r.text(), "Processors Will Be Detached"); n != 1 {
		t.Errorf("%d warnings, want 1, for cam-1: %v", n, r)
	}

	w.mustApply()
	for _, id := range []string{"cam-1", "cam-2", "cam-3"} {
		wantAttached(t, service, id, "p1", "p2")
	}
	w.wantNoChanges()
}

// Ids that are not known yet: no stream can be read, or no set compared, and nothing fails for it.
func TestAccDriftPlanOfACreateWithUnknownValues(t *testing.T) {
	t.Parallel()
	service, url := newService(t, streamstest.Options{ServeGet: true},
		streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p9"}}, streamstest.Stream{ID: "cam-2"})
	w := newWorkspace(t, url, detecting(`
resource "terraform_data" "p1" {
  input = "p1"
}

resource "terraform_data" "cam" {
  input = "cam-2"
}

resource "stream_processors" "set" {
  stream_id     = "cam-1"
  processor_ids = ["p2", terraform_data.p1.output]
}

resource "stream_processors" "stream" {
  stream_id     = terraform_data.cam.output
  processor_ids = ["p1"]
}
`))
	if r := w.plan(); r.code != 2 || strings.Contains(r.text(), "Will Be Detached") {
		t.Fatalf("plan: %v", r)
	}
	wantSent(t, service, getCam1)
	// While it is applied, all is known, and Terraform plans each create once more.
	if r := w.mustApply(); !strings.Contains(r.text(), "Will Be Detached") {
		t.Errorf("nothing says that p9 is detached: %v", r)
	}
	wantAttached(t, service, "cam-1", "p1", "p2")
	wantAttached(t, service, "cam-2", "p1")
}

func TestAccDriftPlanOfAReplaceLooksAtTheNewStream(t *testing.T) {
	t.Parallel()
	service, url := newService(t, streamstest.Options{ServeGet: true}, seedStreams("cam-1", "cam-2")...)
	w := newWorkspace(t, url, detecting(cam1p1p2))
	w.mustApply()
	service.ForgetRequests()
	w.write(detecting(strings.Replace(cam1p1p2, "cam-1", "cam-2", 1)))
	if r := w.plan(); r.code != 2 {
		t.Fatalf("plan: %v", r)
	}
	wantSent(t, service, getCam1, "GET /v2/streams/cam-2")
}

func TestAccDriftMissingStreamFailsThePlan(t *testing.T) {
	t.Parallel()
	service, url := newService(t, streamstest.Options{ServeGet: true})
	w := newWorkspace(t, url, detecting(cam1p1p2))
	wantEnd(t, w.plan(), 1, "Error: Resource Not Found Error", `stream_id = "cam-1"`, `there is no stream "cam-1"`, "404")
	wantSent(t, service, getCam1)
}

func TestAccDriftForgetsAStreamThatIsGone(t *testing.T) {
	t.Parallel()
	service, url := newService(t, streamstest.Options{ServeGet: true}, seedStreams("cam-1")...)
	w := newWorkspace(t, url, detecting(cam1p1p2))
	w.mustApply()
	service.Remove("cam-1")
	service.ForgetRequests()

	wantEnd(t, w.plan(), 1, "Warning: Stream Is Gone", "Error: Resource Not Found Error")
	wantSent(t, service, getCam1, getCam1)
	wantEnd(t, w.apply("-refresh-only"), 0, "Warning: Stream Is Gone", `no stream "cam-1" any more`)
	if left := w.resources(); len(left) != 0 {
		t.Fatalf("the state still has %v", left)
	}

	service.Seed(streamstest.Stream{ID: "cam-1"})
	service.ForgetRequests()
	w.mustApply()
	if got := sent(service); !slices.Contains(got, patchCam1) {
		t.Errorf("the stream is back, but the requests are %q", got)
	}
}

// Whatever a read is answered, short of the service's own "not found", no plan comes of it and no
// state is lost.
func TestAccDriftBadAnswers(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	html := http.Header{"Content-Type": {"text/html"}}
	for name, test := range map[string]struct {
		fault   streamstest.Fault
		want    []string
		noRoute bool // detect_drift is the cause
	}{
		"405":                  {streamstest.Fault{Status: 405}, []string{"Bad Request Error", "405"}, true},
		"501":                  {streamstest.Fault{Status: 501}, []string{"Error: Error", "501"}, true},
		"404 without a body":   {streamstest.Fault{Status: 404, Body: text("")}, []string{"Resource Not Found Error", "404"}, true},
		"404 of a web server":  {streamstest.Fault{Status: 404, Body: text("<h1>Not Found</h1>"), Header: html}, []string{"<h1>Not Found</h1>"}, true},
		"404 of a framework":   {streamstest.Fault{Status: 404, Body: text(`{"Message":"No HTTP resource"}`)}, []string{"No HTTP resource"}, true},
		"404, message no text": {streamstest.Fault{Status: 404, Body: text(`{"message":null}`)}, []string{"404"}, true},
		"302": {streamstest.Fault{Status: 302, Header: http.Header{"Location": {"https://login.example.com"}}},
			[]string{"302", "https://login.example.com"}, true},
		"a page":          {streamstest.Fault{Body: text("<html>Welcome"), Header: html}, []string{"not a JSON object", "<html>Welcome"}, true},
		"nothing":         {streamstest.Fault{Status: 204}, []string{"204", "has no body"}, true},
		"a wrapped one":   {streamstest.Fault{Body: text(`{"data":{"id":"cam-1"}}`)}, []string{"id is missing", "processor_ids is missing"}, true},
		"another stream":  {streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ID = "cam-7" }}, []string{"another stream", "cam-7"}, true},
		"null processors": {streamstest.Fault{EditJSON: func(o map[string]any) { o["processor_ids"] = nil }}, []string{"processor_ids is not an array"}, true},
		"401":             {streamstest.Fault{Status: 401, Message: "who are you"}, []string{"Authentication Error", "who are you"}, false},
		"403":             {streamstest.Fault{Status: 403, Message: "not yours"}, []string{"Unauthorized Error", "not yours"}, false},
		"500":             {streamstest.Fault{Status: 500, Message: "out of cheese"}, []string{"out of cheese"}, false},
		"503":             {streamstest.Fault{Status: 503, Message: "busy"}, []string{"busy"}, false},
		"a cut answer":    {streamstest.Fault{Truncate: true}, []string{"the response is incomplete"}, false},
		"no answer":       {streamstest.Fault{ResetBefore: true}, []string{"no answer"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := newService(t, streamstest.Options{ServeGet: true}, seedStreams("cam-1")...)
			w := newWorkspace(t, url, detecting(cam1p1p2))
			refused := func(r result) {
				t.Helper()
				wantEnd(t, r, 1, append(test.want, `Stream "cam-1" could not be read`, "The stream was not changed.")...)
				if named := strings.Contains(r.text(), "detect_drift = false"); named != test.noRoute {
					t.Errorf("the error names detect_drift: %t, want %t: %v", named, test.noRoute, r)
				}
				wantSent(t, service, getCam1)
			}
			fault := func(r streamstest.Request) *streamstest.Fault {
				if r.Method == http.MethodGet {
					return &test.fault
				}
				return nil
			}

			service.InjectFunc(fault)
			refused(w.plan()) // a create
			service.InjectFunc(nil)
			w.mustApply()
			before := w.stateFile()
			service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p3"}})
			service.ForgetRequests()

			service.InjectFunc(fault)
			refused(w.plan())
			refused(w.apply())
			refused(w.apply("-refresh-only"))
			refused(w.run("refresh", "-no-color"))
			if after := w.stateFile(); after != before {
				t.Errorf("the state has changed:\n%s", cmp.Diff(before, after))
			}

			service.InjectFunc(nil)
			w.mustApply()
			wantAttached(t, service, "cam-1", "p1", "p2")
		})
	}
}

// Where the service has no read, a stream that was created before detect_drift was turned on is not
// lost either.
func TestAccDriftOnAServiceWithoutIt(t *testing.T) {
	t.Parallel()
	service, url := newService(t, streamstest.Options{}, seedStreams("cam-1")...)
	w := newWorkspace(t, url, cam1p1p2)
	w.mustApply()
	before := w.stateFile()
	service.ForgetRequests()
	w.write(detecting(cam1p1p2))
	wantEnd(t, w.plan(), 1, "405", "detect_drift = false", "STREAM_DETECT_DRIFT", "interface document does not specify")
	if after := w.stateFile(); after != before {
		t.Errorf("the state has changed:\n%s", cmp.Diff(before, after))
	}
}

// Without detect_drift, no command of the CLI sends anything but an update, and those that change
// nothing send nothing.
func TestAccNoReadsUnlessAsked(t *testing.T) {
	t.Parallel()
	service, url := newService(t, streamstest.Options{ServeGet: true}, seedStreams("cam-1", "cam-2")...)
	w := newWorkspace(t, url, cam1p1p2)
	silent := func(args ...string) {
		t.Helper()
		r := w.run(args...)
		if r.code != 0 {
			t.Fatalf("%s: %v", strings.Join(args, " "), r)
		}
		if got := sent(service); len(got) > 0 {
			t.Errorf("%s sent %q", strings.Join(args, " "), got)
		}
	}

	silent("validate", "-no-color")
	silent("providers", "schema", "-json")
	silent("plan", "-no-color")
	silent("plan", "-no-color", "-out=tfplan")
	silent("show", "-json", "tfplan")
	if r := w.run("apply", "-no-color", "tfplan"); r.code != 0 {
		t.Fatalf("apply: %v", r)
	}
	wantSent(t, service, patchCam1)

	silent("plan", "-no-color")
	silent("apply", "-no-color", "-auto-approve")
	silent("plan", "-no-color", "-refresh-only")
	silent("apply", "-no-color", "-auto-approve", "-refresh-only")
	silent("refresh", "-no-color")
	silent("plan", "-no-color", "-destroy")
	silent("plan", "-no-color", "-replace=stream_processors.this")
	silent("show", "-json")
	silent("state", "list")
	silent("state", "show", "stream_processors.this")
	silent("state", "pull")
	silent("output", "-json")
	silent("graph")
	silent("taint", "stream_processors.this")
	silent("untaint", "stream_processors.this")
	silent("state", "mv", "stream_processors.this", "stream_processors.that")
	silent("state", "mv", "stream_processors.that", "stream_processors.this")
	console := w.command("console")
	console.Stdin = strings.NewReader("stream_processors.this.terminal_id\n")
	if out, err := console.CombinedOutput(); err != nil || !strings.Contains(string(out), `"terminal-1"`) {
		t.Errorf("console: %v\n%s", err, out)
	}
	silent("state", "rm", "stream_processors.this")
	silent("import", "-no-color", "stream_processors.this", "cam-1")
	silent("plan", "-no-color")
	w.mustApply()
	wantSent(t, service, patchCam1)
	if r := w.run("destroy", "-no-color", "-auto-approve"); r.code != 0 {
		t.Fatalf("destroy: %v", r)
	}
	wantSent(t, service, `PATCH /v2/streams/cam-1 {"processor_ids":[]}`)

	w.write(cam1p1p2 + `
import {
  to = stream_processors.other
  id = "cam-2"
}

resource "stream_processors" "other" {
  stream_id     = "cam-2"
  processor_ids = ["p1"]
}
`)
	silent("plan", "-no-color")
	w.mustApply()
	wantSent(t, service, patchCam1, `PATCH /v2/streams/cam-2 {"processor_ids":["p1"]}`)
}

// A read that is known to work, and the time limit that goes for it.
func TestAccDriftReadTimeout(t *testing.T) {
	t.Parallel()
	service, url := newService(t, streamstest.Options{ServeGet: true}, seedStreams("cam-1")...)
	hcl := detecting(strings.Replace(cam1p1p2, "\n}", "\n  timeouts = { read = \"%s\" }\n}", 1))
	w := newWorkspace(t, url, fmt.Sprintf(hcl, "1m"))
	w.mustApply()
	w.write(fmt.Sprintf(hcl, "200ms")) // nothing for the service to know, but the state has it then
	w.mustApply()
	service.Configure(func(o *streamstest.Options) { o.Latency = time.Minute })
	wantEnd(t, w.plan(), 1, "Timeout Error", "did not finish within its time limit")
}
