package acceptance

import (
	"fmt"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A data source reads in the plan; if it depends on a change or its id is known after apply, then after the change.
func TestAccDataSources(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2")...)
	config := func(processor string) string {
		return providerWith("detect_drift = true") + resourceOf("this", "cam-1", fmt.Sprintf("%q", processor), "") + `
resource "terraform_data" "id" {
  input = "cam-2"
}

data "stream_processors" "changed" {
  stream_id  = "cam-1"
  depends_on = [stream_processors.this]
}

data "stream_processors_group" "all" {
  stream_ids = ["cam-1", terraform_data.id.output]
  depends_on = [stream_processors.this]
}

check "stranger" {
  data "stream_processors" "now" {
    stream_id = "cam-2"
  }
  assert {
    condition     = !contains(data.stream_processors.now.processor_ids, "stranger")
    error_message = "cam-2 has a stranger."
  }
}

output "attached" {
  value = "${one(data.stream_processors.changed.processor_ids)} ${jsonencode(data.stream_processors_group.all.streams)}"
}
`
	}
	w := newWorkspace(t, url, config("p1"))
	clitest.NeedAtLeast(t, "1.5", "1.6")
	w.Plan("-out=tfplan").Want(2, "data.stream_processors.changed will be read during apply",
		"data.stream_processors_group.all will be read during apply")
	service.WantRequests(t, "GET /v2/streams/cam-1", "GET /v2/streams/cam-2") // for the create, and for the check
	w.MustApply("tfplan").Want(0, `attached = "p1 {\"cam-1\":[\"p1\"],\"cam-2\":[]}"`)

	w.Configure(config("p2"))
	service.Seed(streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"stranger"}})
	w.MustApply().Want(0, "Warning: Check block assertion failed", "cam-2 has a stranger.",
		`attached = "p2 {\"cam-1\":[\"p2\"],\"cam-2\":[\"stranger\"]}"`)
}
