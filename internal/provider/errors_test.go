package provider

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// The last line of each error: what is now true of the stream.
const (
	notChanged = "The stream was not changed."
	inDoubt    = "The stream may or may not have been changed; apply again: sending the same set twice is safe."
	changed    = "The stream was changed."
)

// faults breaks the requests on each stream in its own way, for ever.
func faults(byStream map[string]streamstest.Fault) func(streamstest.Request) *streamstest.Fault {
	return func(r streamstest.Request) *streamstest.Fault {
		if fault, ok := byStream[r.StreamID]; ok {
			return &fault
		}
		return nil
	}
}

// asked counts the requests on each stream since the last look.
func asked(service *streamstest.Service) map[string]int {
	counts := map[string]int{}
	for _, r := range service.Requests() {
		counts[r.StreamID]++
	}
	service.ForgetRequests()
	return counts
}

// errorsByAddress runs an apply that must fail, with one error a resource.
func errorsByAddress(w *workspace, args ...string) map[string]complaint {
	w.t.Helper()
	r, complaints := w.complaints("apply", append([]string{"-auto-approve"}, args...)...)
	if r.code != 1 {
		w.t.Fatalf("apply: %v", r)
	}
	byAddress := map[string]complaint{}
	for _, p := range complaints {
		if p.Severity != "error" {
			continue
		}
		if other, twice := byAddress[p.Address]; twice {
			w.t.Errorf("two errors for one resource: %+v and %+v", other, p)
		}
		byAddress[p.Address] = p
	}
	return byAddress
}

// wantUntouched fails the test unless the state is as before: the same values, nothing tainted.
func wantUntouched(w *workspace, before any) {
	w.t.Helper()
	if diff := cmp.Diff(before, any(w.resources())); diff != "" {
		w.t.Errorf("the state has changed (-before +after):\n%s", diff)
	}
}

func TestAccStatuses(t *testing.T) {
	t.Parallel()
	statuses := map[int]struct {
		summary   string
		attribute string // where the error stands
		attempts  int
		outcome   string
	}{
		400: {"Bad Request Error", "processor_ids", 1, notChanged},
		401: {"Authentication Error", "", 1, notChanged},
		403: {"Unauthorized Error", "", 1, notChanged},
		404: {"Resource Not Found Error", "stream_id", 1, notChanged},
		408: {"Timeout Error", "", 3, inDoubt},
		409: {"Bad Request Error", "processor_ids", 1, notChanged},
		418: {"Bad Request Error", "processor_ids", 1, notChanged},
		422: {"Bad Request Error", "processor_ids", 1, notChanged},
		429: {"Bad Request Error", "processor_ids", 3, notChanged},
		500: {"Error", "", 3, inDoubt},
		501: {"Error", "", 1, notChanged},
		502: {"Bad Gateway Error", "", 3, inDoubt},
		503: {"Error", "", 3, inDoubt},
		504: {"Timeout Error", "", 3, inDoubt},
	}
	broken := map[string]streamstest.Fault{}
	attempts := map[string]int{}
	for status, want := range statuses {
		id := fmt.Sprintf("s/%d", status)
		broken[id] = streamstest.Fault{Status: status, Message: fmt.Sprintf("the service says %d", status)}
		attempts[id] = want.attempts
	}
	ids := slices.Sorted(maps.Keys(broken))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service.InjectFunc(faults(broken))
	w := newWorkspace(t, url, many(ids, `processor_ids = ["p1"]`))

	wantErrors := func(doing string) {
		t.Helper()
		got := errorsByAddress(w)
		for status, want := range statuses {
			id := fmt.Sprintf("s/%d", status)
			p, found := got[each(id)]
			if !found || p.Summary != want.summary {
				t.Errorf("%s: summary is %q, want %q", id, p.Summary, want.summary)
			}
			if place := p.Snippet.Code; want.attribute != "" && !strings.Contains(place, want.attribute) || want.attribute == "" && !strings.Contains(place, "resource") {
				t.Errorf("%s: the error stands at %q, want %q", id, place, want.attribute)
			}
			wantIn(t, p.Detail, fmt.Sprintf("of stream %q could not be %s", id, doing),
				"The service said: the service says "+fmt.Sprint(status),
				fmt.Sprintf("PATCH %s/v2/streams/s%%2F%d → %d %s", url, status, status, http.StatusText(status)))
			if !strings.HasSuffix(p.Detail, "\n\n"+want.outcome) {
				t.Errorf("%s: the last line is not %q: %s", id, want.outcome, p.Detail)
			}
			if more := strings.Contains(p.Detail, "(3 attempts)"); more != (want.attempts == 3) {
				t.Errorf("%s: the number of attempts is wrong: %s", id, p.Detail)
			}
		}
		if diff := cmp.Diff(attempts, asked(service)); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	}
	wantErrors("set")
	if left := w.resources(); len(left) > 0 {
		t.Errorf("a failed create is in the state: %v", left)
	}
	service.InjectFunc(nil)
	w.mustApply()
	before := w.resources()
	service.ForgetRequests()

	service.InjectFunc(faults(broken))
	w.write(many(ids, `processor_ids = ["p2"]`))
	wantErrors("updated")
	wantUntouched(w, before)
	w.wantPlanned(all(ids, updatePlanned))

	service.InjectFunc(nil)
	w.mustApply()
	w.wantNoChanges()
	before = w.resources()
	service.ForgetRequests()

	// A destroy: what is missing is gone, all else stays.
	service.InjectFunc(faults(broken))
	w.write(quick)
	r := w.apply()
	if r.code != 1 || strings.Contains(r.text(), "says 404") {
		t.Errorf("destroy: %v", r)
	}
	wantIn(t, r.text(), `The processors of stream "s/503" could not be detached.`)
	delete(before, each("s/404"))
	wantUntouched(w, before)
	service.InjectFunc(nil)
	w.mustApply()
	for _, id := range ids {
		if id != "s/404" {
			service.WantAttached(t, id)
		}
	}
}

// Two failures, then success: three requests, and nobody notices.
func TestAccRetries(t *testing.T) {
	t.Parallel()
	broken := map[string]streamstest.Fault{
		"reset before": {ResetBefore: true},
		"reset after":  {ResetAfter: true},
		"cut body":     {Truncate: true},
	}
	for _, status := range []int{408, 429, 500, 502, 503, 504} {
		broken[fmt.Sprint(status)] = streamstest.Fault{Status: status}
	}
	broken["429 with Retry-After"] = streamstest.Fault{Status: 429, Header: http.Header{"Retry-After": {"0"}}}
	ids := slices.Sorted(maps.Keys(broken))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, "")
	for _, processor := range []string{"p1", "p2"} { // create, update
		seen := map[string]int{}
		service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
			fault := broken[r.StreamID]
			if seen[r.StreamID]++; seen[r.StreamID] > 2 {
				return nil
			}
			return &fault
		})
		w.write(many(ids, fmt.Sprintf("processor_ids = [%q]", processor)))
		w.mustApply()
		for id, n := range asked(service) {
			if n != 3 {
				t.Errorf("%s: %d requests, want 3", id, n)
			}
			service.WantAttached(t, id, processor)
		}
		w.wantNoChanges()
	}
}

func TestAccRedirects(t *testing.T) {
	t.Parallel()
	elsewhere, there := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("301", "302", "303", "307", "308")...)
	broken := map[string]streamstest.Fault{}
	want := map[string]int{}
	for _, status := range []int{301, 302, 303, 307, 308} {
		id := fmt.Sprint(status)
		broken[id] = streamstest.Fault{Status: status, Header: http.Header{"Location": {there + "/v2/streams/" + id}}}
		want[id] = 1
	}
	ids := slices.Sorted(maps.Keys(broken))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service.InjectFunc(faults(broken))
	w := newWorkspace(t, url, many(ids, `processor_ids = ["p1"]`))
	got := errorsByAddress(w)
	for id := range broken {
		wantIn(t, got[each(id)].Detail, "redirect, which is never followed", "Location: "+there+"/v2/streams/"+id, "base_url")
	}
	if diff := cmp.Diff(want, asked(service)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	elsewhere.WantRequests(t)
	if left := w.resources(); len(left) > 0 {
		t.Errorf("a redirected create is in the state: %v", left)
	}
}

// An update that was cut after the service took it. To take it back must reach the service, although
// neither configuration nor state differ any more.
func TestAccUnknownOutcome(t *testing.T) {
	t.Parallel()
	broken := map[string]streamstest.Fault{
		"reset": {ResetAfter: true},
		"cut":   {Truncate: true},
		"500":   {Status: 500, Apply: true},
		"504":   {Status: 504, Apply: true},
		"login": {Body: new("<html>Sign in</html>"), Header: http.Header{"Content-Type": {"text/html"}}},
		"204":   {Status: 204, Apply: true},
	}
	ids := slices.Sorted(maps.Keys(broken))
	first, second := many(ids, `processor_ids = ["p1"]`), many(ids, `processor_ids = ["p2"]`)

	for name, change := range map[string]string{"update": second, "destroy": quick} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
			w := newWorkspace(t, url, first)
			w.mustApply()
			before := w.resources()

			service.InjectFunc(faults(broken))
			w.write(change)
			if r := w.apply(); r.code != 1 || strings.Count(r.text(), inDoubt) != len(ids) {
				t.Fatalf("apply: %v", r)
			}
			wantUntouched(w, before)
			service.InjectFunc(nil)
			service.ForgetRequests()

			w.write(first)
			w.wantPlanned(all(ids, updatePlanned))
			_, complaints := w.complaints("plan")
			if len(complaints) != len(ids) {
				t.Errorf("want a warning for each of %q, got %+v", ids, complaints)
			}
			for _, p := range complaints {
				wantIn(t, p.Summary, "Outcome of an Earlier Operation Unknown")
			}
			service.WantRequests(t)

			// A failure that is sure does not settle what was unsure.
			service.InjectFunc(func(streamstest.Request) *streamstest.Fault { return &streamstest.Fault{Status: 403} })
			w.apply()
			service.InjectFunc(nil)
			w.wantPlanned(all(ids, updatePlanned))

			w.mustApply()
			for _, id := range ids {
				service.WantAttached(t, id, "p1")
			}
			w.wantNoChanges()
			wantUntouchedButEdited(t, before, w)
		})
	}
}

// wantUntouchedButEdited is wantUntouched after updates that set what had been set before.
func wantUntouchedButEdited(t *testing.T, before any, w *workspace) {
	t.Helper()
	ignore := cmp.FilterPath(func(p cmp.Path) bool {
		key, ok := p.Last().(cmp.MapIndex)
		return ok && key.Key().String() == "last_edited"
	}, cmp.Ignore())
	if diff := cmp.Diff(before, any(w.resources()), ignore); diff != "" {
		t.Errorf("the state has changed (-before +after):\n%s", diff)
	}
}

// Ctrl-C ends what may take long, and says what is known.
func TestAccInterrupt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault    streamstest.Fault
		provider string
	}{
		"hanging request": {streamstest.Fault{Delay: time.Hour}, `provider "stream" {}`},
		"long backoff":    {streamstest.Fault{Status: 503}, `provider "stream" { retry = { min_backoff = "4m" } }`},
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
				return &c.fault
			})
			w := newWorkspace(t, url, c.provider+`
resource "stream_processors" "this" {
  stream_id     = "cam"
  processor_ids = ["p1"]
}
`)
			r, took := w.interrupted(arrived, "apply", "-auto-approve", "-input=false", "-no-color")
			if r.code == 0 || took > 15*time.Second {
				t.Errorf("the apply ended after %s: %v", took, r)
			}
			wantIn(t, r.text(), "could not be set", inDoubt)
			if c.fault.Status == 0 { // else the answer may be there first, and is the better news
				wantIn(t, r.text(), "The operation was interrupted.", "→ no answer")
			}
			if n := asked(service)["cam"]; n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
			if left := w.resources(); len(left) > 0 {
				t.Errorf("the state has %v", left)
			}
			service.InjectFunc(nil)
			w.mustApply()
			w.wantNoChanges()
		})
	}
}

// request_timeout bounds an attempt, timeouts all of them.
func TestAccTimeouts(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("attempt", "create", "update", "delete", "asked")...)
	config := `
provider "stream" {
  request_timeout = "1m"
}
provider "stream" {
  alias           = "impatient"
  request_timeout = "100ms"
  retry           = { max_attempts = 2, min_backoff = "1ms", max_backoff = "5ms" }
}
resource "stream_processors" "attempt" {
  provider      = stream.impatient
  stream_id     = "attempt"
  processor_ids = %[1]s
}
resource "stream_processors" "asked" {
  stream_id     = "asked"
  processor_ids = %[1]s
}
resource "stream_processors" "this" {
  for_each      = toset(["create", "update", "delete"])
  stream_id     = each.key
  processor_ids = %[1]s
  timeouts      = { (each.key) = "300ms" }
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, `["p1"]`))
	hangs := streamstest.Fault{Delay: time.Hour}
	service.InjectFunc(faults(map[string]streamstest.Fault{
		"attempt": hangs,
		"create":  hangs,
		"asked":   {Status: 503, Message: "come back later", Header: http.Header{"Retry-After": {"3600"}}},
	}))
	got := errorsByAddress(w)
	if len(got) != 3 {
		t.Errorf("want three errors, got %+v", got)
	}
	for address, says := range map[string]string{
		"stream_processors.attempt": "The service did not answer within 100ms.",
		each("create"):              "The operation did not end within its time limit.",
		"stream_processors.asked":   "The service asked to wait 1h0m0s, longer than the operation may take.",
	} {
		wantIn(t, got[address].Detail, says, inDoubt)
	}
	if got := got["stream_processors.attempt"].Summary; got != "Timeout Error" {
		t.Errorf("the summary is %q", got)
	}
	if diff := cmp.Diff(map[string]int{"attempt": 2, "create": 1, "asked": 1, "update": 1, "delete": 1}, asked(service)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	service.InjectFunc(nil)
	w.mustApply()

	service.InjectFunc(faults(map[string]streamstest.Fault{"update": hangs}))
	w.write(fmt.Sprintf(config, `["p2"]`))
	got = errorsByAddress(w)
	wantIn(t, got[each("update")].Detail, "The operation did not end within its time limit.", inDoubt)
	service.InjectFunc(nil)
	w.mustApply()
	w.wantNoChanges()

	service.InjectFunc(faults(map[string]streamstest.Fault{"delete": hangs}))
	got = errorsByAddress(w, "-destroy") // whose errors have no address
	wantIn(t, got[""].Detail, `of stream "delete"`, "The operation did not end within its time limit.", inDoubt)
	service.InjectFunc(nil)
	w.mustApply("-destroy")
	service.WantAttached(t, "delete")
}
