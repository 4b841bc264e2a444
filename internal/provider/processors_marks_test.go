package provider

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// After failed runs, two resources can be in the state with one stream. A destroy of one then sends the set of
// the other. If that fails, the next plan must not find the mark of this one: the other resource may be gone.
func TestFailedDestroyKeepsNoMark(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	provider := coretest.Attributes{"base_url": url, "retry": coretest.Attributes{"max_attempts": 1}}
	stays := resourceValue(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
	goes := resourceValue(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p2"}})
	create := startProvider(t, provider)
	none := coretest.Managed{Value: nullResource()}
	planned, _, _ := create.Plan(none, stays)
	first, diags := create.Apply(none.Value, planned, stays)
	if diags.Failed() {
		t.Fatal(diags)
	}
	create = startProvider(t, provider)
	planned, _, _ = create.Plan(none, goes)
	second, diags := create.Apply(none.Value, planned, goes)
	if diags.Failed() {
		t.Fatal(diags)
	}

	plan := startProvider(t, provider)
	if _, _, diags := plan.Plan(first, stays); diags.Failed() {
		t.Fatal(diags)
	}
	planned, _, diags = plan.Plan(second, none.Value)
	if diags.Failed() || !strings.Contains(string(planned.Private), successorsKey) {
		t.Fatalf("the plan of the destroy has no mark: %s, %s", planned.Private, diags)
	}
	service.Inject(streamstest.Fault{Status: http.StatusInternalServerError})
	failed, diags := startProvider(t, provider).Apply(second.Value, planned, none.Value)
	if !diags.Failed() || failed.Value.IsNull() {
		t.Fatalf("the destroy did not fail: %s", diags)
	}
	if private := string(failed.Private); strings.Contains(private, successorsKey) || !strings.Contains(private, unconfirmedKey) {
		t.Errorf("private state: %s", private)
	}
}
