package acceptance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A failure is what the service does to each request on one stream, and what the error then says.
type failure struct {
	fault    streamstest.Fault
	summary  string
	code     string // the line of the configuration that the error shows, behind its number
	says     string
	lastLine string // what is true of the stream now
}

const (
	notChanged = "The stream was not changed."
	unknown    = "The stream may or may not have been changed; apply again: sending the same set twice is safe."
	reported   = "The service reports that the stream now has [%s, \"p9\"]."
)

var failures = map[string]failure{
	"400": {streamstest.Fault{Status: 400}, "Bad Request Error", ": processor_ids = ", "injected: 400 Bad Request", notChanged},
	"403": {streamstest.Fault{Status: 403}, "Unauthorized Error", ": resource ", "injected: 403 Forbidden", notChanged},
	"404": {streamstest.Fault{Status: 404}, "Resource Not Found Error", ": stream_id = ", "injected: 404 Not Found", notChanged},
	"500": {streamstest.Fault{Status: 500, Apply: true, Message: "out of cheese"},
		"Generic Error", ": resource ", "The service said: out of cheese", unknown},
	"reset": {streamstest.Fault{ResetAfter: true}, "Connection Failed", ": resource ", "→ no response", unknown},
	"merged": {streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, "p9") }},
		"Unexpected Answer", ": resource ", "merged the set instead of replacing it", reported},
}

var ofResource = regexp.MustCompile(`with stream_processors\.this\["(\w+)"\]`)

// A failed create is not in the state, a failed update changes nothing in the state but to what the service reported, and a
// failed destroy keeps the resource. What may have been applied is sent again, also if the configuration goes back.
func TestAccErrors(t *testing.T) {
	t.Parallel()
	ids := slices.Sorted(maps.Keys(failures))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, "")
	breakService := func() {
		service.InjectFunc(func(r streamstest.Request) *streamstest.Fault { fault := failures[r.StreamID].fault; return &fault })
	}
	mend := func() { service.InjectFunc(nil); service.ForgetRequests() }
	configure := func(resources string) {
		w.Configure(providerWith(`retry = { max_attempts = 2, min_backoff = "1ms", max_backoff = "1ms" }`) + resources)
	}
	wantErrors := func(verb, set string) {
		t.Helper()
		breakService()
		configure(resourceForEach(ids, set, ""))
		found := strings.Split(w.Apply().Want(1).Stderr, "\nError: ")[1:]
		if len(found) != len(ids) {
			t.Errorf("not one error for each resource: %q", found)
		}
		for _, text := range found {
			text = cli.Unwrap(text)
			id := ofResource.FindStringSubmatch(text)[1]
			want := failures[id]
			streamstest.WantText(t, text, want.summary+" with "+addressOf(id), want.code, fmt.Sprintf("of stream %q could not be %s", id, verb),
				"PATCH "+url+"/v2/streams/"+id, want.says)
			if lastLine := strings.Replace(want.lastLine, "%s", set, 1); !strings.HasSuffix(text, lastLine) {
				t.Errorf("the last line is not %q: %s", lastLine, text)
			}
		}
	}

	wantErrors("set", `"p1"`)
	w.WantEmptyState()
	mend()
	w.MustApply()

	wantErrors("updated", `"p2"`)
	want := map[string]any{}
	for _, id := range ids {
		want[addressOf(id)] = clitest.List("p1")
	}
	want[addressOf("merged")] = clitest.List("p2", "p9")
	w.WantState("processor_ids", want)
	mend()

	configure(resourceForEach(ids, `"p1"`, ""))
	w.Plan("-out=tfplan").Want(2,
		`Outcome of an Earlier Operation Unknown: stream "500"`, `Outcome of an Earlier Operation Unknown: stream "reset"`)
	w.MustApply("tfplan")
	service.WantRequests(t, updatesOf(sets([]string{"500", "reset", "merged"}, `"p1"`))...)

	configure("")
	breakService()
	w.Apply().Want(1, `The processors of stream "500" could not be detached.`,
		`Warning: Stream Not Found: stream "404"`, `set on_destroy = "keep"`)
	want[addressOf("merged")] = clitest.List("p9")
	delete(want, addressOf("404"))
	w.WantState("processor_ids", want)
}
