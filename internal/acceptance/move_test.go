package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A moved block from each of the other providers sends nothing, unless the old state says that the service does not have
// the configured set.
//
// To move a resource, Terraform starts the provider that the resource comes from, and asks this provider nothing about
// the resource. So the provider of this tree stands in for the others, under their names.
func TestAccMove(t *testing.T) {
	t.Parallel()
	for source, test := range map[string]struct {
		state, resource string // the state as the provider wrote it, and its resource
		config          string
		sent            []string
	}{
		"magodo/restful": {"restful-foreach", "restful_operation.s", `
resource "stream_processors" "this" {
  for_each      = { "cam-1" = ["p1"], "cam-2" = [] }
  stream_id     = each.key
  processor_ids = each.value
}
`, nil},
		"devops-rob/terracurl": {"terracurl-redirect", "terracurl_request.s", resourceOf("this", "cam-301", `"p1", "p2"`, ""), []string{updateOf("cam-301", `"p1", "p2"`)}},
		"mastercard/restapi": {"restapi-failedupdate-norefresh", "restapi_object.s", resourceOf("this", "cam-5", `"p1", "p2"`, ""),
			[]string{updateOf("cam-5", `"p1", "p2"`)}},
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{})
			for _, id := range []string{"cam-5", "cam-301"} {
				service.Seed(streamstest.Stream{ID: id, TerminalID: "term-" + id, FragmentTypeID: "image/jpg"})
			}
			w := newWorkspace(t, url, movedBlock(test.resource, this)+test.config)
			clitest.NeedAtLeast(t, "1.8.0", "1.10.0")
			_, provider := clitest.Programs(t)
			other := t.TempDir()
			program := strings.Replace(filepath.Base(provider), "stream", filepath.Base(source), 1)
			if err := os.Symlink(provider, filepath.Join(other, program)); err != nil {
				t.Fatal(err)
			}
			sandbox, err := cli.NewOverridingSandbox(t.TempDir(), w.Program, map[string]string{cli.Source: filepath.Dir(provider), source: other})
			if err != nil {
				t.Fatal(err)
			}
			w.Setenv("TF_CLI_CONFIG_FILE=" + sandbox.Env["TF_CLI_CONFIG_FILE"])
			state, err := os.ReadFile(filepath.Join("..", "moved", "testdata", test.state+".json"))
			if err != nil {
				t.Fatal(err)
			}
			w.Write("terraform.tfstate", string(state))

			w.Apply().Want(0, fmt.Sprintf("0 added, %d changed, 0 destroyed", len(test.sent)))
			service.WantRequests(t, test.sent...)
			w.WantNoChanges()
		})
	}
}
