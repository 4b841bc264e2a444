package acceptance

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Each status has its summary, attribute, number of attempts and outcome, for create, update and destroy.
func TestAccStatuses(t *testing.T) {
	t.Parallel()
	statuses := map[int]struct {
		summary   string
		attribute string // of the error; "": the resource
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
		500: {"Generic Error", "", 3, inDoubt},
		501: {"Generic Error", "", 1, notChanged},
		502: {"Bad Gateway Error", "", 3, inDoubt},
		503: {"Generic Error", "", 3, inDoubt},
		504: {"Timeout Error", "", 3, inDoubt},
	}
	faults := map[string]streamstest.Fault{}
	attempts := map[string]int{}
	for status, want := range statuses {
		id := fmt.Sprintf("s/%d", status)
		faults[id] = streamstest.Fault{Status: status, Message: fmt.Sprintf("the service says %d", status)}
		attempts[id] = want.attempts
	}
	ids := slices.Sorted(maps.Keys(faults))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service.InjectFunc(faultsByStream(faults))
	w := newWorkspace(t, url, resourceForEach(ids, `processor_ids = ["p1"]`))

	wantErrors := func(verb string) {
		t.Helper()
		got := w.applyErrors()
		for status, want := range statuses {
			id := fmt.Sprintf("s/%d", status)
			d, found := got[addressOf(id)]
			if !found || d.Summary != want.summary {
				t.Errorf("%s: summary is %q, want %q", id, d.Summary, want.summary)
			}
			if line := d.Snippet.Code; !strings.Contains(line, cmp.Or(want.attribute, "resource")) {
				t.Errorf("%s: the error is at %q, want %q", id, line, want.attribute)
			}
			wantContains(t, d.Detail, fmt.Sprintf("of stream %q could not be %s", id, verb),
				"The service said: the service says "+fmt.Sprint(status),
				fmt.Sprintf("PATCH %s/v2/streams/s%%2F%d → %d %s", url, status, status, http.StatusText(status)))
			d.wantLastLine(t, want.outcome)
			if said := strings.Contains(d.Detail, "(3 attempts)"); said != (want.attempts == 3) {
				t.Errorf("%s: the number of attempts is wrong: %s", id, d.Detail)
			}
		}
		if diff := gocmp.Diff(attempts, drainRequestCounts(service)); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	}
	wantErrors("set")
	w.wantEmptyState()
	service.InjectFunc(nil)
	w.mustApply()
	before := w.stateResources()
	service.ForgetRequests()

	service.InjectFunc(faultsByStream(faults))
	w.writeConfig(resourceForEach(ids, `processor_ids = ["p2"]`))
	wantErrors("updated")
	w.wantState(before)
	w.wantPlannedChanges(forEachAddress(ids, updatePlanned))

	service.InjectFunc(nil)
	w.mustApply()
	w.wantNoChanges()
	before = w.stateResources()
	service.ForgetRequests()

	// A destroy of a missing stream warns. All other resources stay in the state.
	service.InjectFunc(faultsByStream(faults))
	w.writeConfig(quickRetry)
	r := w.apply()
	wantResult(t, r, 1, `The processors of stream "s/503" could not be detached.`)
	wantContains(t, r.text(), `Warning: Stream Not Found: stream "s/404"`)
	if got := strings.Count(r.text(), `set on_destroy = "keep"`); got != 2 {
		t.Errorf("%d hints name keep, want those of 400 and 422: %v", got, r)
	}
	delete(before, addressOf("s/404"))
	w.wantState(before)
	service.InjectFunc(nil)
	w.mustApply()
	for _, id := range ids {
		if id != "s/404" {
			service.WantAttached(t, id)
		}
	}
}

// An operation that succeeds after two failed attempts prints no error.
func TestAccRetries(t *testing.T) {
	t.Parallel()
	faults := map[string]streamstest.Fault{
		"reset before": {ResetBefore: true},
		"reset after":  {ResetAfter: true},
		"cut body":     {Truncate: true},
	}
	for _, status := range []int{408, 429, 500, 502, 503, 504} {
		faults[fmt.Sprint(status)] = streamstest.Fault{Status: status}
	}
	faults["429 with Retry-After"] = streamstest.Fault{Status: 429, Header: http.Header{"Retry-After": {"0"}}}
	ids := slices.Sorted(maps.Keys(faults))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, "")
	for _, processor := range []string{"p1", "p2"} { // create, update
		seen := map[string]int{}
		service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
			fault := faults[r.StreamID]
			if seen[r.StreamID]++; seen[r.StreamID] > 2 {
				return nil
			}
			return &fault
		})
		w.writeConfig(resourceForEach(ids, fmt.Sprintf("processor_ids = [%q]", processor)))
		w.mustApply()
		counts := drainRequestCounts(service)
		for _, id := range ids {
			if counts[id] != 3 {
				t.Errorf("%s: %d requests, want 3", id, counts[id])
			}
			service.WantAttached(t, id, processor)
		}
		w.wantNoChanges()
	}
}

func TestAccRedirects(t *testing.T) {
	t.Parallel()
	elsewhere, there := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("301", "302", "303", "307", "308")...)
	faults := map[string]streamstest.Fault{}
	want := map[string]int{}
	for _, status := range []int{301, 302, 303, 307, 308} {
		id := fmt.Sprint(status)
		faults[id] = streamstest.Fault{Status: status, Header: http.Header{"Location": {there + "/v2/streams/" + id}}}
		want[id] = 1
	}
	ids := slices.Sorted(maps.Keys(faults))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service.InjectFunc(faultsByStream(faults))
	w := newWorkspace(t, url, resourceForEach(ids, `processor_ids = ["p1"]`))
	got := w.applyErrors()
	for id := range faults {
		wantContains(t, got[addressOf(id)].Detail, "redirects are never followed", "Location: "+there+"/v2/streams/"+id, "base_url")
	}
	if diff := gocmp.Diff(want, drainRequestCounts(service)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	elsewhere.WantRequests(t)
	w.wantEmptyState()
}

// An update fails after the service has applied it, and the configuration goes back to what the state says: the next
// apply sends the old set, although the configuration and the state agree.
func TestAccUnknownOutcome(t *testing.T) {
	t.Parallel()
	faults := map[string]streamstest.Fault{
		"reset": {ResetAfter: true},
		"cut":   {Truncate: true},
		"500":   {Status: 500, Apply: true},
		"504":   {Status: 504, Apply: true},
		"login": {Body: new("<html>Sign in</html>"), Header: http.Header{"Content-Type": {"text/html"}}},
		"204":   {Status: 204, Apply: true},
	}
	ids := slices.Sorted(maps.Keys(faults))
	first, second := resourceForEach(ids, `processor_ids = ["p1"]`), resourceForEach(ids, `processor_ids = ["p2"]`)

	for name, change := range map[string]string{"update": second, "destroy": quickRetry} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
			w := newWorkspace(t, url, first)
			w.mustApply()
			before := w.stateResources()

			service.InjectFunc(faultsByStream(faults))
			w.writeConfig(change)
			if r := w.apply(); r.code != 1 || strings.Count(r.text(), inDoubt) != len(ids) {
				t.Fatalf("apply: %v", r)
			}
			w.wantState(before)
			service.InjectFunc(nil)
			service.ForgetRequests()

			w.writeConfig(first)
			w.wantPlannedChanges(forEachAddress(ids, updatePlanned))
			_, diags := w.diagnostics("plan")
			if len(diags) != len(ids) {
				t.Errorf("want a warning for each of %q, got %+v", ids, diags)
			}
			for _, d := range diags {
				wantContains(t, d.Summary, "Outcome of an Earlier Operation Unknown")
			}
			service.WantRequests(t)

			// A later failure with a known outcome does not settle the unknown one.
			service.InjectFunc(func(streamstest.Request) *streamstest.Fault { return &streamstest.Fault{Status: 403} })
			w.apply()
			service.InjectFunc(nil)
			w.wantPlannedChanges(forEachAddress(ids, updatePlanned))

			w.mustApply()
			for _, id := range ids {
				service.WantAttached(t, id, "p1")
			}
			w.wantNoChanges()
			w.wantState(before, ignoreLastEdited())
		})
	}
}
