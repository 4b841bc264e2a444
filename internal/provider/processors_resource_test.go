package provider

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func TestAccCreateSendsOnePatchAStream(t *testing.T) {
	t.Parallel()
	ids := []string{"a/b", "ü x", "%2e%2e", "q?x=1#f", "...", "cam-1", `"\`}
	service, url := newService(t, streamstest.Options{}, seedStreams(ids...)...)
	w := newWorkspace(t, url, `
resource "stream_processors" "this" {
  for_each      = toset(["a/b", "ü x", "%2e%2e", "q?x=1#f", "...", "cam-1", "\"\\"])
  stream_id     = each.key
  processor_ids = ["p2", "p1"]
}
`)
	w.mustApply()
	wantSent(t, service,
		`PATCH /v2/streams/a%2Fb {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/%C3%BC%20x {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/%252e%252e {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/q%3Fx=1%23f {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/... {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/cam-1 {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/%22%5C {"processor_ids":["p1","p2"]}`,
	)
	for _, id := range ids {
		wantAttached(t, service, id, "p1", "p2")
	}
	w.wantNoChanges()
	wantSent(t, service)
}
