package acceptance

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// With detect_drift, a plan reads each stream once, shows what changed outside Terraform, and an apply mends it.
func TestAccDrift(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2", "cam-3")...)
	config := providerWith("detect_drift = true") + resourceOf("this", "cam-1", `"p1"`, "")
	withGroup := func(ids ...string) string { return config + groupOf("this", sets(ids, `"p1"`), "") }
	reads := []string{"GET /v2/streams/cam-1", "GET /v2/streams/cam-2", "GET /v2/streams/cam-3"}
	w := newWorkspace(t, url, withGroup("cam-2", "cam-3"))
	w.mustApply()
	service.ForgetRequests()

	// Only computed values have changed.
	service.Seed(streamstest.Stream{ID: "cam-1", TerminalID: "terminal-9", ProcessorIDs: []string{"p1"}, CompatibleNamespaces: []string{"new"}})
	w.wantNoChanges()
	service.WantRequests(t, reads...)

	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"stranger"}}, streamstest.Stream{ID: "cam-2"})
	service.Remove("cam-3")
	w.mustApply("-refresh-only")
	service.WantRequests(t, reads...)
	w.wantState("processor_ids", map[string]any{this: list("stranger"), group: nil})
	w.wantState("streams", map[string]any{this: nil, group: map[string]any{"cam-2": list()}})

	w.writeConfig(withGroup("cam-2"))
	wantResult(t, w.plan(), 2, `"stranger"`, "0 to add, 2 to change, 0 to destroy")
	w.mustApply()
	service.WantAttached(t, "cam-1", "p1")
	service.WantAttached(t, "cam-2", "p1")

	// A failed read keeps the state: this service has no read.
	before := w.readFile("terraform.tfstate")
	service.Configure(func(o *streamstest.Options) { o.ServeGet = false })
	wantResult(t, w.apply("-refresh-only"), 1, `Stream "cam-1" could not be read`, "405", "detect_drift = false",
		"STREAM_DETECT_DRIFT", "interface document does not specify", notChanged)
	if after := w.readFile("terraform.tfstate"); after != before {
		t.Errorf("the state has changed: %s", after)
	}

	// A stream that is gone blocks neither a plan nor a destroy.
	service.Configure(func(o *streamstest.Options) { o.ServeGet = true })
	service.Remove("cam-1")
	wantResult(t, w.plan(), 2, `Warning: Stream Is Gone: stream "cam-1"`, `Warning: Create Will Fail: stream "cam-1"`)
	w.mustRun("destroy", "-auto-approve", "-no-color")
	w.wantEmptyState()
}
