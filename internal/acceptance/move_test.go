package acceptance

import (
	"path/filepath"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A moved block from a resource of another provider changes and sends nothing. The test needs clitest for the state file.
//
// To move a resource, Terraform starts the provider that the resource comes from, and asks this provider nothing about
// the resource. So the provider of this tree stands in for the other, under its name.
func TestAccMove(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	w := newWorkspace(t, url, "")
	if !clitest.AtLeast(t, "1.8", "1.10") {
		t.Skip("the CLI moves no resource to another type")
	}
	w.Write("terraform.tfstate", clitest.ReadFile(t, filepath.Join("..", "moved", "testdata", "restful-foreach.json")))
	w.Configure(`
moved {
  from = restful_operation.s
  to   = stream_processors.this
}

resource "stream_processors" "this" {
  for_each      = { "cam-1" = ["p1"], "cam-2" = [] }
  stream_id     = each.key
  processor_ids = each.value
}
`)
	w.MustRun("init")
	w.Apply().Want(0, "0 added, 0 changed, 0 destroyed")
	w.Plan().Want(0)
	service.WantRequests(t)
}
