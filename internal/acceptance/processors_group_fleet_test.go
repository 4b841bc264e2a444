package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// The example of a fleet with 2,000 streams: a change of the file sends what differs, and another order of its lines
// nothing.
func TestAccExampleOfAFleet(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(2001)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newExample(t, "fleet")
	w.setenv("STREAM_BASE_URL", url)
	lines := make([]string, 2000)
	for i := range lines {
		lines[i] = fmt.Sprintf("%s: [p1, p2]", ids[i])
	}
	apply := func(want ...string) result {
		t.Helper()
		w.writeFile("streams.yaml", strings.Join(lines, "\n")+"\n")
		r := w.mustApply()
		service.WantRequests(t, want...)
		return r
	}
	apply(updatesOf(sets(ids[:2000], `"p1", "p2"`))...)

	lines = append([]string{"cam-2001: [p3]"}, lines...)
	apply(updatesOf(map[string]string{"cam-2001": `"p3"`})...)
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "cam-1000:") })
	apply(updatesOf(map[string]string{"cam-1000": ""})...)
	slices.Reverse(lines)
	apply()

	// Another group key: the groups are created again under new names. Nothing is emptied without a warning.
	config := w.readFile("main.tf")
	renamed := strings.Replace(config, "substr(sha256(id), 0, 1) => id...", `"group-${substr(sha256(id), 0, 1)}" => id...`, 1)
	if renamed == config {
		t.Fatal("the example has no such key any more")
	}
	w.writeConfig(renamed)
	r := w.mustApply()
	emptied := 0
	for _, request := range service.DrainRequests() {
		if strings.Contains(request, "[]") {
			emptied++
		}
	}
	if emptied > 0 && !strings.Contains(r.text(), "Processors May Be Detached for a Moment") {
		t.Errorf("%d streams were emptied without a warning", emptied)
	}
	for _, id := range ids[:999] {
		service.WantAttached(t, id, "p1", "p2")
	}
	w.wantNoChanges()
}

// Ctrl-C ends the requests of a group that are under way, and starts no more.
func TestAccGroupInterrupt(t *testing.T) {
	t.Parallel()
	const atOnce = 8
	ids := fleetIDs(100)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	arrived := make(chan struct{})
	count := 0
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		if count++; count == atOnce {
			close(arrived)
		}
		return &streamstest.Fault{Delay: time.Hour}
	})
	w := newWorkspace(t, url, providerWith(fmt.Sprintf("max_concurrent_requests = %d", atOnce))+groupOf("this", sets(ids, `"p1"`), ""))
	r, _ := w.runInterrupted(arrived, "apply", "-auto-approve", "-input=false", "-no-color")
	if r.code == 0 {
		t.Errorf("no error: %v", r)
	}
	wantContains(t, r.text(), "Streams Failed", "streams may or may not have been changed", "The group is not in the state.")
	if n := len(service.Requests()); n != atOnce {
		t.Errorf("%d requests, want %d", n, atOnce)
	}
	w.wantEmptyState()
	service.InjectFunc(nil)
	w.mustApply()
	w.wantNoChanges()
}

// With detect_drift, a plan shows what changed outside Terraform, and a stream that is gone leaves the group.
func TestAccGroupDrift(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(3)
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, withDetectDrift(groupOf("this", sets(ids, `"p1"`), "")))
	w.mustApply()
	service.Seed(streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"p9"}})
	service.Remove("cam-3")
	service.ForgetRequests()
	wantResult(t, w.plan(), 2, `Stream Is Gone: stream "cam-3"`, `Create Will Fail: stream "cam-3"`, `"p9"`)
	w.writeConfig(withDetectDrift(groupOf("this", sets(ids[:2], `"p1"`), "")))
	w.mustApply()
	service.WantAttached(t, "cam-2", "p1")
	w.wantNoChanges()
	w.wantStreams(group, sets(ids[:2], `"p1"`))
}
