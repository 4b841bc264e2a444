package acceptance

import (
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Resources that are renamed without moved blocks, and whose sets are known after apply, empty no stream unless the plan
// has warned about this stream.
func TestAccRenameWithUnknownSets(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(10)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, resourceForEach(ids, `"p1"`))
	w.mustApply()
	service.ForgetRequests()
	renamed := strings.Replace(resourceForEach(ids, ""), `"this"`, `"renamed"`, 1)
	w.writeConfig(strings.Replace(renamed, "[]", "terraform_data.late.output", 1) +
		"resource \"terraform_data\" \"late\" {\n  input = [\"p1\"]\n}\n")
	plan := w.mustRun("plan", "-out=plan", "-no-color")
	w.mustApply("plan")
	if emptied := emptiedWithoutWarning(service, plan); len(emptied) > 0 {
		t.Errorf("%q were emptied, and the plan did not warn: %v", emptied, plan)
	}
	for _, id := range ids {
		service.WantAttached(t, id, "p1")
	}
	w.wantNoChanges()
}

// A stream that an update adds to a group, with an unknown outcome, is detached when it is removed again.
func TestAccAddedStreamWithUnknownOutcome(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam", "new")...)
	before, after := map[string]string{"cam": `"p1"`}, map[string]string{"cam": `"p1"`, "new": `"z"`}
	once := providerWith("retry = { max_attempts = 1 }")
	w := newWorkspace(t, url, once+groupOf("this", before, ""))
	w.mustApply()
	service.InjectFunc(faultsByStream(map[string]streamstest.Fault{"new": {ResetAfter: true}}))
	w.writeConfig(once + groupOf("this", after, ""))
	wantResult(t, w.apply(), 1, "may or may not have been changed")
	service.WantAttached(t, "new", "z")
	service.InjectFunc(nil)
	service.ForgetRequests()
	w.writeConfig(once + groupOf("this", before, ""))
	w.mustApply()
	service.WantRequests(t, updateOf("new", ""))
	w.wantNoChanges()
}

// With detect_drift, a stream that is gone does not keep the others of its group from being sent.
func TestAccGoneStreamOfAGroup(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(3)
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams(ids...)...)
	drift := providerWith("detect_drift = true")
	w := newWorkspace(t, url, drift+groupOf("this", sets(ids, `"p1"`), ""))
	w.mustApply()
	service.Remove("cam-2")
	w.writeConfig(drift + groupOf("this", sets(ids, `"p2"`), ""))
	wantResult(t, w.apply(), 1, `Create Will Fail: stream "cam-2"`, "Resource Not Found Error", "2 streams have their planned sets.")
	service.WantAttached(t, "cam-1", "p2")
	service.WantAttached(t, "cam-3", "p2")
}
