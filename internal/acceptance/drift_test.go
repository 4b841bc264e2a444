package acceptance

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/clitest"
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
	w.MustApply()
	service.ForgetRequests()

	// Only computed values have changed.
	service.Seed(streamstest.Stream{ID: "cam-1", TerminalID: "terminal-9", ProcessorIDs: []string{"p1"}, CompatibleNamespaces: []string{"new"}})
	w.WantNoChanges()
	service.WantRequests(t, reads...)

	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"stranger"}}, streamstest.Stream{ID: "cam-2"})
	service.Remove("cam-3")
	w.MustApply("-refresh-only")
	service.WantRequests(t, reads...)
	w.WantState("processor_ids", map[string]any{this: clitest.List("stranger"), group: nil})
	w.WantState("streams", map[string]any{this: nil, group: map[string]any{"cam-2": clitest.List()}})

	w.Configure(withGroup("cam-2"))
	w.Plan().Want(2, `"stranger"`, "0 to add, 2 to change, 0 to destroy")
	w.MustApply()
	service.WantAttached(t, "cam-1", "p1")
	service.WantAttached(t, "cam-2", "p1")

	// A stream that is gone blocks neither a plan nor a destroy.
	service.Remove("cam-1")
	w.Plan().Want(2, `Warning: Stream Is Gone: stream "cam-1"`, `Warning: Create Will Fail: stream "cam-1"`)
	w.MustApply("-destroy")
	w.WantEmptyState()
}
