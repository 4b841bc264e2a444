package acceptance

import (
	"fmt"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// importBlock imports by an id, or by the identity.
func importBlock(name, how string) string {
	return fmt.Sprintf("import {\n  to = stream_processors.%s\n  %s\n}\n", name, how)
}

// An import by command, id or identity sends nothing and knows nothing but the id. The next apply sends the configured set
// in place.
func TestAccImport(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{},
		streamstest.Stream{ID: "a/b c", TerminalID: "t-5", ProcessorIDs: []string{"p9"}}, streamstest.Stream{ID: "cam-2"}, streamstest.Stream{ID: "cam-3"})
	command := resourceOf("command", "a/b c", `"p1"`, `on_destroy = "keep"`)
	w := newWorkspace(t, url, command)
	clitest.NeedAtLeast(t, "1.5", "1.6")
	byIdentity := `id = "cam-3"`
	if clitest.AtLeast(t, "1.12", "1.12") {
		byIdentity = `identity = { stream_id = "cam-3" }`
	}
	w.MustRun("import", "stream_processors.command", "a/b c")
	w.WantState("stream_id", map[string]any{"stream_processors.command": "a/b c"})
	w.WantState("processor_ids", map[string]any{"stream_processors.command": nil})

	w.Configure(command + resourceOf("id", "cam-2", `"p2"`, "") + resourceOf("identity", "cam-3", `"p3"`, "") +
		importBlock("id", `id = "cam-2"`) + importBlock("identity", byIdentity))
	w.Plan("-out=tfplan").Want(2, "2 to import, 0 to add, 3 to change, 0 to destroy")
	service.WantRequests(t)
	w.MustApply("tfplan")
	service.WantRequests(t, updateOf("a%2Fb%20c", `"p1"`), updateOf("cam-2", `"p2"`), updateOf("cam-3", `"p3"`))
	if got := w.State()["stream_processors.command"].Attributes; got["terminal_id"] != "t-5" || got["on_destroy"] != "keep" {
		t.Errorf("the state has %v", got)
	}
	w.WantNoChanges()
}
