package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A moved block from a resource of another provider changes and sends nothing.
//
// To move a resource, Terraform starts the provider that the resource comes from, and asks this provider nothing about
// the resource. So the provider of this tree stands in for the other, under its name.
//
// The test needs clitest for the state file.
func TestAccMove(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	w := newWorkspace(t, url, movedBlock("restful_operation.s", this)+`
resource "stream_processors" "this" {
  for_each      = { "cam-1" = ["p1"], "cam-2" = [] }
  stream_id     = each.key
  processor_ids = each.value
}
`)
	clitest.NeedAtLeast(t, "1.8.0", "1.10.0")
	_, provider := clitest.Programs(t)
	other := t.TempDir()
	if err := os.Symlink(provider, filepath.Join(other, strings.Replace(filepath.Base(provider), "stream", "restful", 1))); err != nil {
		t.Fatal(err)
	}
	providers := map[string]string{cli.Source: filepath.Dir(provider), "magodo/restful": other}
	sandbox, err := cli.NewOverridingSandbox(t.TempDir(), w.Program, providers)
	if err != nil {
		t.Fatal(err)
	}
	w.Setenv("TF_CLI_CONFIG_FILE=" + sandbox.Env["TF_CLI_CONFIG_FILE"])
	w.Write("terraform.tfstate", clitest.ReadFile(t, filepath.Join("..", "moved", "testdata", "restful-foreach.json")))

	w.Apply().Want(0, "0 added, 0 changed, 0 destroyed")
	w.WantNoChanges()
	service.WantRequests(t)
}
