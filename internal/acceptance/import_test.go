package acceptance

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// importBlock imports by an id, or by the identity.
func importBlock(name, how string) string {
	return fmt.Sprintf("import {\n  to = stream_processors.%s\n  %s\n}\n", name, how)
}

// An import by command, id or identity sends nothing and knows nothing but the id. The next apply sends the configured set
// in place, and a destroy right after the import detaches.
func TestAccImport(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{},
		streamstest.Stream{ID: "a/b c", TerminalID: "t-5", ProcessorIDs: []string{"p9"}}, streamstest.Stream{ID: "cam-2"}, streamstest.Stream{ID: "cam-3"})
	command := resourceOf("command", "a/b c", `"p1"`, `on_destroy = "keep"`)
	w := newWorkspace(t, url, command)
	w.atLeast("1.5", "1.6")
	byIdentity := `id = "cam-3"`
	if cli.AtLeast(t, "1.12", "1.12") {
		byIdentity = `identity = { stream_id = "cam-3" }`
	}
	w.mustRun("import", "-no-color", "-input=false", "stream_processors.command", "a/b c")
	w.wantState("stream_id", map[string]any{"stream_processors.command": "a/b c"})
	w.wantState("processor_ids", map[string]any{"stream_processors.command": nil})

	config := command + resourceOf("id", "cam-2", `"p2"`, "") + resourceOf("identity", "cam-3", `"p3"`, "")
	w.writeConfig(config + importBlock("id", `id = "cam-2"`) + importBlock("identity", byIdentity))
	wantResult(t, w.plan("-out=tfplan"), 2, "2 to import, 0 to add, 3 to change, 0 to destroy")
	service.WantRequests(t)
	w.mustApply("tfplan")
	service.WantRequests(t, updateOf("a%2Fb%20c", `"p1"`), updateOf("cam-2", `"p2"`), updateOf("cam-3", `"p3"`))
	imported := w.state()
	if got := imported["stream_processors.command"].Attributes; got["terminal_id"] != "t-5" || got["on_destroy"] != "keep" {
		t.Errorf("the state has %v", got)
	}
	for address, object := range imported {
		if identity := object.Identity; identity != nil || cli.AtLeast(t, "1.12", "1.12") {
			if diff := cmp.Diff(map[string]any{"stream_id": object.Attributes["stream_id"]}, identity); diff != "" {
				t.Errorf("identity of %s (-want +got):\n%s", address, diff)
			}
		}
	}
	w.wantNoChanges()

	w.writeConfig(config)
	w.mustRun("state", "rm", "stream_processors.id")
	w.mustRun("import", "-no-color", "stream_processors.id", "cam-2")
	w.mustApply("-destroy", "-target=stream_processors.id")
	service.WantRequests(t, updateOf("cam-2", ""))
}
