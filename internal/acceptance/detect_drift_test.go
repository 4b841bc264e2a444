package acceptance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// An apply restores the configured processors.
func TestAccDriftIsShownAndMended(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, withDetectDrift(cam1p1p2))
	w.mustApply()
	service.ForgetRequests()
	w.wantNoChanges()
	service.WantRequests(t, getCam1)

	service.Seed(streamstest.Stream{ID: "cam-1", TerminalID: "terminal-9", ProcessorIDs: []string{"p2", "stranger"}})
	change := w.plannedChanges()[this]
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
	service.WantRequests(t, getCam1)

	w.mustApply("-refresh-only")
	service.WantRequests(t, getCam1)
	got := w.stateResources()[this].AttributeValues["processor_ids"]
	if diff := cmp.Diff([]any{"p2", "stranger"}, got); diff != "" {
		t.Errorf("state after a refresh (-want +got):\n%s", diff)
	}

	w.mustApply()
	service.WantRequests(t, getCam1, patchCam1)
	service.WantAttached(t, "cam-1", "p1", "p2")
	w.wantNoChanges()
}

// Only computed values have changed: the plan is empty.
func TestAccDriftOfComputedValuesIsNoChange(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, withDetectDrift(cam1p1p2))
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
		"unset":                            {"", "", nil},
		"true":                             {"true", "", []string{getCam1}},
		"1":                                {"1", "", []string{getCam1}},
		"false":                            {"false", "", nil},
		"true, false in the configuration": {"true", "detect_drift = false", nil},
		"false, true in the configuration": {"false", "detect_drift = true", []string{getCam1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
			w := newWorkspace(t, url, "provider \"stream\" {\n"+test.provider+"\n}\n"+cam1p1p2)
			w.setenv("STREAM_DETECT_DRIFT", test.variable)
			wantResult(t, w.plan(), 2)
			service.WantRequests(t, test.want...)
		})
	}
}

func TestAccDriftPlanOfACreateReadsOnce(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true},
		streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p1", "other\x1b[2J", "stranger"}},
		streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"p1"}},
		streamstest.Stream{ID: "cam-3"},
	)
	w := newWorkspace(t, url, withDetectDrift(`
resource "stream_processors" "this" {
  for_each      = toset(["cam-1", "cam-2", "cam-3"])
  stream_id     = each.key
  processor_ids = ["p1", "p2"]
}
`))
	r := w.plan()
	service.WantRequests(t, getCam1, "GET /v2/streams/cam-2", "GET /v2/streams/cam-3")
	wantResult(t, r, 2, "Warning: Processors Will Be Detached",
		`Will Be Detached: stream "cam-1"`,
		`The stream has processors that are not in processor_ids, and the create detaches them: ["other\x1b[2J", "stranger"].`)
	if n := strings.Count(r.text(), "Processors Will Be Detached"); n != 1 {
		t.Errorf("%d warnings, want 1, for cam-1: %v", n, r)
	}

	w.mustApply()
	for _, id := range []string{"cam-1", "cam-2", "cam-3"} {
		service.WantAttached(t, id, "p1", "p2")
	}
	w.wantNoChanges()
}

// If an id is known after apply, the plan reads no stream or compares no set, and succeeds.
func TestAccDriftPlanOfACreateWithUnknownValues(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true},
		streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p9"}}, streamstest.Stream{ID: "cam-2"})
	w := newWorkspace(t, url, withDetectDrift(`
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
	service.WantRequests(t, getCam1)
	// During the apply all values are known, and Terraform plans each create again.
	wantResult(t, w.mustApply(), 0, "Will Be Detached")
	service.WantAttached(t, "cam-1", "p1", "p2")
	service.WantAttached(t, "cam-2", "p1")
}

func TestAccDriftPlanOfAReplaceReadsTheNewStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2")...)
	w := newWorkspace(t, url, withDetectDrift(cam1p1p2))
	w.mustApply()
	service.ForgetRequests()
	w.writeConfig(withDetectDrift(strings.Replace(cam1p1p2, "cam-1", "cam-2", 1)))
	wantResult(t, w.plan(), 2)
	service.WantRequests(t, getCam1, "GET /v2/streams/cam-2")
}

func TestAccDriftMissingStreamFailsThePlan(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true})
	w := newWorkspace(t, url, withDetectDrift(cam1p1p2))
	wantResult(t, w.plan(), 1, "Error: Resource Not Found Error", `stream_id = "cam-1"`, `there is no stream "cam-1"`, "404")
	service.WantRequests(t, getCam1)
}

func TestAccDriftForgetsAStreamThatIsGone(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, withDetectDrift(cam1p1p2))
	w.mustApply()
	service.Remove("cam-1")
	service.ForgetRequests()

	// The stream blocks neither a plan nor a destroy.
	wantResult(t, w.plan(), 2, `Warning: Stream Is Gone: stream "cam-1"`, `Warning: Create Will Fail: stream "cam-1"`)
	service.WantRequests(t, getCam1, getCam1)
	wantResult(t, w.plan("-refresh=false"), 0)
	service.WantRequests(t)
	w.mustRun("destroy", "-auto-approve", "-no-color")
	w.wantEmptyState()

	service.Seed(streamstest.Stream{ID: "cam-1"})
	w.mustApply()
	service.Remove("cam-1")
	wantResult(t, w.apply(), 1, "Create Will Fail", "Error: Resource Not Found Error", notChanged)
	w.wantEmptyState()

	service.Seed(streamstest.Stream{ID: "cam-1"})
	service.ForgetRequests()
	w.mustApply()
	if got := service.DrainRequests(); !slices.Contains(got, patchCam1) {
		t.Errorf("the stream is back, but the requests are %q", got)
	}
}

// Every failed read fails the plan and keeps the state, except for the "not found" of the service itself.
func TestAccDriftFailedReads(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	html := http.Header{"Content-Type": {"text/html"}}
	for name, test := range map[string]struct {
		fault   streamstest.Fault
		want    []string
		noRoute bool // the service has no read: the error names detect_drift
	}{
		"405":                  {streamstest.Fault{Status: 405}, []string{"Bad Request Error", "405"}, true},
		"501":                  {streamstest.Fault{Status: 501}, []string{"Error: Generic Error", "501"}, true},
		"404 without a body":   {streamstest.Fault{Status: 404, Body: text("")}, []string{"Resource Not Found Error", "404"}, true},
		"404 of a web server":  {streamstest.Fault{Status: 404, Body: text("<h1>Not Found</h1>"), Header: html}, []string{"the documented form: HTML page: Not Found"}, true},
		"404 of a framework":   {streamstest.Fault{Status: 404, Body: text(`{"Message":"No HTTP resource"}`)}, []string{"No HTTP resource"}, true},
		"404, message no text": {streamstest.Fault{Status: 404, Body: text(`{"message":null}`)}, []string{"404"}, true},
		"302": {streamstest.Fault{Status: 302, Header: http.Header{"Location": {"https://login.example.com"}}},
			[]string{"Redirect Refused", "302", "https://login.example.com"}, true},
		"a page":          {streamstest.Fault{Body: text("<html>Welcome"), Header: html}, []string{"Unexpected Answer", "not a JSON object", "HTML page: Welcome"}, true},
		"nothing":         {streamstest.Fault{Status: 204}, []string{"204", "has no body"}, true},
		"a wrapped one":   {streamstest.Fault{Body: text(`{"data":{"id":"cam-1"}}`)}, []string{"id is missing", "processor_ids is missing"}, true},
		"another stream":  {streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ID = "cam-7" }}, []string{"another stream", "cam-7"}, true},
		"null processors": {streamstest.Fault{EditJSON: func(o map[string]any) { o["processor_ids"] = nil }}, []string{"processor_ids is not an array"}, true},
		"401":             {streamstest.Fault{Status: 401, Message: "who are you"}, []string{"Authentication Error", "who are you"}, false},
		"403":             {streamstest.Fault{Status: 403, Message: "not yours"}, []string{"Unauthorized Error", "not yours"}, false},
		"500":             {streamstest.Fault{Status: 500, Message: "out of cheese"}, []string{"out of cheese"}, false},
		"503":             {streamstest.Fault{Status: 503, Message: "busy"}, []string{"busy"}, false},
		"a cut response":  {streamstest.Fault{Truncate: true}, []string{"Connection Failed", "incomplete"}, false},
		"no response":     {streamstest.Fault{ResetBefore: true}, []string{"Connection Failed", "no response"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
			w := newWorkspace(t, url, withDetectDrift(cam1p1p2))
			wantRefused := func(r result) {
				t.Helper()
				wantResult(t, r, 1, append(test.want, `Stream "cam-1" could not be read`, notChanged)...)
				if named := strings.Contains(r.text(), "detect_drift = false"); named != test.noRoute {
					t.Errorf("the error names detect_drift: %t, want %t: %v", named, test.noRoute, r)
				}
				service.WantRequests(t, getCam1)
			}
			fault := func(r streamstest.Request) *streamstest.Fault {
				if r.Method == http.MethodGet {
					return &test.fault
				}
				return nil
			}

			service.InjectFunc(fault)
			wantRefused(w.plan()) // of a create
			service.InjectFunc(nil)
			w.mustApply()
			before := w.readFile("terraform.tfstate")
			service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p3"}})
			service.ForgetRequests()

			service.InjectFunc(fault)
			wantRefused(w.plan())
			wantRefused(w.apply())
			wantRefused(w.apply("-refresh-only"))
			wantRefused(w.run("refresh", "-no-color"))
			if after := w.readFile("terraform.tfstate"); after != before {
				t.Errorf("the state has changed:\n%s", cmp.Diff(before, after))
			}

			service.InjectFunc(nil)
			w.mustApply()
			service.WantAttached(t, "cam-1", "p1", "p2")
		})
	}
}

// If the service has no read, detect_drift fails the plan and keeps the state of an existing resource.
func TestAccDriftOnAServiceWithoutIt(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, cam1p1p2)
	w.mustApply()
	before := w.readFile("terraform.tfstate")
	service.ForgetRequests()
	w.writeConfig(withDetectDrift(cam1p1p2))
	wantResult(t, w.plan(), 1, "405", "detect_drift = false", "STREAM_DETECT_DRIFT", "interface document does not specify")
	if after := w.readFile("terraform.tfstate"); after != before {
		t.Errorf("the state has changed:\n%s", cmp.Diff(before, after))
	}
}

// Without detect_drift, the CLI sends nothing but updates, and nothing at all where there is nothing to change.
func TestAccNoReadsUnlessAsked(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2")...)
	w := newWorkspace(t, url, cam1p1p2)
	mustRunSilently := func(args ...string) {
		t.Helper()
		w.mustRun(args...)
		if got := service.DrainRequests(); len(got) > 0 {
			t.Errorf("%s sent %q", strings.Join(args, " "), got)
		}
	}

	mustRunSilently("validate", "-no-color")
	mustRunSilently("providers", "schema", "-json")
	mustRunSilently("plan", "-no-color")
	mustRunSilently("plan", "-no-color", "-out=tfplan")
	mustRunSilently("show", "-json", "tfplan")
	w.mustRun("apply", "-no-color", "tfplan")
	service.WantRequests(t, patchCam1)

	mustRunSilently("plan", "-no-color")
	mustRunSilently("apply", "-no-color", "-auto-approve")
	mustRunSilently("plan", "-no-color", "-refresh-only")
	mustRunSilently("apply", "-no-color", "-auto-approve", "-refresh-only")
	mustRunSilently("refresh", "-no-color")
	mustRunSilently("plan", "-no-color", "-destroy")
	mustRunSilently("plan", "-no-color", "-replace=stream_processors.this")
	mustRunSilently("show", "-json")
	mustRunSilently("state", "list")
	mustRunSilently("state", "show", this)
	mustRunSilently("state", "pull")
	mustRunSilently("output", "-json")
	mustRunSilently("graph")
	mustRunSilently("taint", this)
	mustRunSilently("untaint", this)
	mustRunSilently("state", "mv", this, "stream_processors.that")
	mustRunSilently("state", "mv", "stream_processors.that", this)
	console := w.command("console")
	console.Stdin = strings.NewReader("stream_processors.this.terminal_id\n")
	if out, err := console.CombinedOutput(); err != nil || !strings.Contains(string(out), `"terminal-1"`) {
		t.Errorf("console: %v\n%s", err, out)
	}
	mustRunSilently("state", "rm", this)
	mustRunSilently("import", "-no-color", this, "cam-1")
	mustRunSilently("plan", "-no-color")
	w.mustApply()
	service.WantRequests(t, patchCam1)
	w.mustRun("destroy", "-no-color", "-auto-approve")
	service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":[]}`)

	w.writeConfig(cam1p1p2 + `
import {
  to = stream_processors.other
  id = "cam-2"
}

resource "stream_processors" "other" {
  stream_id     = "cam-2"
  processor_ids = ["p1"]
}
`)
	mustRunSilently("plan", "-no-color")
	w.mustApply()
	service.WantRequests(t, patchCam1, `PATCH /v2/streams/cam-2 {"processor_ids":["p1"]}`)
}

// The read timeout of a resource bounds its read.
func TestAccDriftReadTimeout(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
	hcl := withDetectDrift(strings.Replace(cam1p1p2, "\n}", "\n  timeouts = { read = \"%s\" }\n}", 1))
	w := newWorkspace(t, url, fmt.Sprintf(hcl, "1m"))
	w.mustApply()
	w.writeConfig(fmt.Sprintf(hcl, "200ms"))
	w.mustApply()
	service.Configure(func(o *streamstest.Options) { o.Latency = time.Minute })
	wantResult(t, w.plan(), 1, "Timeout Error", "did not finish within its time limit")
}
