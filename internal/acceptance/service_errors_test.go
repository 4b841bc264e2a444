package acceptance

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A failure is what the service does to each request on one stream, and what the error then says.
type failure struct {
	fault     streamstest.Fault
	summary   string
	attribute string // of the error; "": the resource
	attempts  int
	lastLine  string
	want      string
}

func failures(elsewhere string) map[string]failure {
	return map[string]failure{
		"400": {streamstest.Fault{Status: 400}, "Bad Request Error", "processor_ids", 1, notChanged, "injected: 400 Bad Request"},
		"401": {streamstest.Fault{Status: 401}, "Authentication Error", "", 1, notChanged, "The request carried a bearer token from STREAM_TOKEN"},
		"403": {streamstest.Fault{Status: 403}, "Unauthorized Error", "", 1, notChanged, "injected: 403 Forbidden"},
		"404": {streamstest.Fault{Status: 404}, "Resource Not Found Error", "stream_id", 1, notChanged, "injected: 404 Not Found"},
		"404-proxy": {streamstest.Fault{Status: 404, Body: new("404 page not found\n")},
			"Resource Not Found Error", "stream_id", 1, notChanged, "The response may not have come from the service"},
		"302": {streamstest.Fault{Status: 302, Header: http.Header{"Location": {elsewhere}}},
			"Redirect Refused", "", 1, notChanged, "redirects are never followed. PATCH"},
		"500":   {streamstest.Fault{Status: 500, Apply: true, Message: "out of cheese"}, "Generic Error", "", 2, inDoubt, "The service said: out of cheese"},
		"502":   {streamstest.Fault{Status: 502}, "Bad Gateway Error", "", 2, inDoubt, "injected: 502 Bad Gateway"},
		"504":   {streamstest.Fault{Status: 504}, "Timeout Error", "", 2, inDoubt, "injected: 504 Gateway Timeout"},
		"reset": {streamstest.Fault{ResetAfter: true}, "Connection Failed", "", 2, inDoubt, "→ no response"},
		"page":  {streamstest.Fault{Body: new("<html>Sign in</html>")}, "Unexpected Answer", "", 1, inDoubt, "The response may not have come from the service"},
		"merged": {streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, "p9") }},
			"Unexpected Answer", "", 1, "", "merged the set instead of replacing it"},
	}
}

// A failed create is not in the state, a failed update changes nothing in the state but to what the service reported, and a
// failed destroy keeps the resource. What may have been applied is sent again, also if the configuration goes back.
func TestAccErrors(t *testing.T) {
	t.Parallel()
	there, elsewhere := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("302")...)
	cases := failures(elsewhere + "/v2/streams/302")
	ids := slices.Sorted(maps.Keys(cases))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, "")
	w.setenv("STREAM_TOKEN", "t0ken")
	configure := func(set string) {
		resources := ""
		if set != "" {
			resources = resourceForEach(ids, set)
		}
		w.writeConfig(providerWith(`retry = { max_attempts = 2, min_backoff = "1ms", max_backoff = "1ms" }`) + resources)
	}
	breakService := func() {
		service.ForgetRequests()
		faults := map[string]streamstest.Fault{}
		for id, c := range cases {
			faults[id] = c.fault
		}
		service.InjectFunc(faultsByStream(faults))
	}
	mend := func() { service.InjectFunc(nil); service.ForgetRequests() }
	wantErrors := func(verb, set string) {
		t.Helper()
		got, attempts := w.applyErrors(), map[string]int{}
		for _, r := range service.Requests() {
			attempts[r.StreamID]++
		}
		for id, c := range cases {
			d := got[addressOf(id)]
			// An operation that fails while nothing else works makes one attempt: which one does depends on the order of the responses.
			attempted := attempts[id] > 0 == (c.attempts > 0) && attempts[id] <= c.attempts
			if d.Summary != c.summary || !strings.Contains(d.Snippet.Code, cmp.Or(c.attribute, "resource")) || !attempted {
				t.Errorf("%s: the summary is %q, at %q, after %d attempts", id, d.Summary, d.Snippet.Code, attempts[id])
			}
			wantContains(t, strings.ReplaceAll(strings.Join(strings.Fields(d.Detail), " "), "", ""), fmt.Sprintf("of stream %q could not be %s", id, verb), "PATCH "+url+"/v2/streams/"+id, cmp.Or(c.fault.Header.Get("Location"), "."), c.want)
			d.wantLastLine(t, cmp.Or(c.lastLine, fmt.Sprintf(`The service reports that the stream now has [%s, "p9"].`, set)))
		}
	}

	configure(`"p1"`)
	breakService()
	wantErrors("set", `"p1"`)
	w.wantEmptyState()
	mend()
	w.mustApply()

	configure(`"p2"`)
	breakService()
	wantErrors("updated", `"p2"`)
	want := map[string]any{}
	for _, id := range ids {
		want[addressOf(id)] = list("p1")
	}
	want[addressOf("merged")] = list("p2", "p9")
	w.wantState("processor_ids", want)
	there.WantRequests(t)
	mend()

	configure(`"p1"`)
	doubtful := map[string]string{"500": `"p1"`, "502": `"p1"`, "504": `"p1"`, "reset": `"p1"`, "page": `"p1"`}
	_, diags := w.diagnostics("plan")
	if len(diags) != len(doubtful) {
		t.Errorf("want a warning for each of %v, got %+v", doubtful, diags)
	}
	for _, d := range diags {
		wantContains(t, d.Summary, "Outcome of an Earlier Operation Unknown")
	}
	w.mustApply()
	doubtful["merged"] = `"p1"`
	service.WantRequests(t, updatesOf(doubtful)...)

	configure("")
	breakService()
	r := w.apply()
	wantResult(t, r, 1, `The processors of stream "500" could not be detached.`, `Warning: Stream Not Found: stream "404"`, `Warning: Stream Not Found: stream "404-proxy"`, `set on_destroy = "keep"`)
	want[addressOf("merged")] = list("p9")
	delete(want, addressOf("404"))
	delete(want, addressOf("404-proxy"))
	w.wantState("processor_ids", want)
}

// Operations that succeed after failed attempts print no error. The log has one line at DEBUG for each attempt.
func TestAccRetry(t *testing.T) {
	t.Parallel()
	const past = "Wed, 21 Oct 2015 07:28:00 GMT"
	faults := map[string]streamstest.Fault{
		"date":  {Status: 503, Header: http.Header{"Retry-After": {past}}},
		"429":   {Status: 429, Header: http.Header{"Retry-After": {"0"}}},
		"reset": {ResetAfter: true},
		"cut":   {Truncate: true},
	}
	ids := slices.Sorted(maps.Keys(faults))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	seen := map[string]int{}
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if seen[r.StreamID]++; seen[r.StreamID] > 2 {
			return nil
		}
		fault := faults[r.StreamID]
		return &fault
	})
	w := newWorkspace(t, url, providerWith(`retry = { min_backoff = "7ms", max_backoff = "7ms" }`)+resourceForEach(ids, `"p1"`))
	w.setenvs("TF_LOG_PROVIDER=DEBUG", "TF_LOG_PATH="+filepath.Join(w.dir, "log"))
	w.mustApply()

	var waits []string
	for line := range strings.Lines(w.readFile("log")) {
		if !strings.Contains(line, ": stream service request: ") {
			continue
		}
		if !strings.Contains(line, "[DEBUG] provider.") || !strings.Contains(line, "duration_ms=") || !strings.Contains(line, "url="+url+"/v2/streams/") {
			t.Errorf("the line of an attempt: %s", line)
		}
		waits = append(waits, regexp.MustCompile(`next_in=\S+|$`).FindString(line))
	}
	slices.Sort(waits)
	want := slices.Concat(slices.Repeat([]string{""}, 4), slices.Repeat([]string{"next_in=0s"}, 4), slices.Repeat([]string{"next_in=7ms"}, 4))
	if diff := gocmp.Diff(want, waits); diff != "" {
		t.Errorf("attempts in the log (-want +got):\n%s", diff)
	}
	for _, id := range ids {
		service.WantAttached(t, id, "p1")
	}
}
