package provider

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// After failed runs, two resources can be in the state with one stream. A destroy of one then sends the set of
// the other. If that fails, the next plan must not find the mark of this one: the other resource may be gone.
func TestFailedDestroyKeepsNoMark(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	provider := attributes{"base_url": url, "retry": attributes{"max_attempts": 1}}
	stays := resourceValue(attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
	goes := resourceValue(attributes{"stream_id": "cam-1", "processor_ids": []string{"p2"}})
	create := startProvider(t, provider)
	none := managed{value: nullResource()}
	planned, _, _ := create.plan(none, stays, stays)
	first, diags := create.apply(none.value, planned, stays)
	if diags.failed() {
		t.Fatal(diags)
	}
	create = startProvider(t, provider)
	planned, _, _ = create.plan(none, goes, goes)
	second, diags := create.apply(none.value, planned, goes)
	if diags.failed() {
		t.Fatal(diags)
	}

	plan := startProvider(t, provider)
	if _, _, diags := plan.plan(first, stays, proposedState(first.value, stays)); diags.failed() {
		t.Fatal(diags)
	}
	planned, _, diags = plan.plan(second, none.value, none.value)
	if diags.failed() || !strings.Contains(string(planned.private), successorsKey) {
		t.Fatalf("the plan of the destroy has no mark: %s, %s", planned.private, diags)
	}
	service.Inject(streamstest.Fault{Status: http.StatusInternalServerError})
	failed, diags := startProvider(t, provider).apply(second.value, planned, none.value)
	if !diags.failed() || failed.value.IsNull() {
		t.Fatalf("the destroy did not fail: %s", diags)
	}
	if private := string(failed.private); strings.Contains(private, successorsKey) || !strings.Contains(private, unconfirmedKey) {
		t.Errorf("private state: %s", private)
	}
}
