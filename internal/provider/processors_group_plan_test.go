package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Each invalid id is reported at the key of its stream.
func TestGroupValidation(t *testing.T) {
	t.Parallel()
	p := startProvider(t, coretest.Attributes{"base_url": "http://127.0.0.1:1"})
	config := coretest.ToTerraform(groupSchema().ValueType(), coretest.Attributes{"on_destroy": "drop", "streams": coretest.Attributes{
		"ok": []string{}, " cam": []string{"p1"}, "..": []string{"p1"}, "cam-1": []string{"p1", " p2", ""},
		"cam-2": nil, "cam-3": []any{nil, "p1"}, "late": tftypes.UnknownValue, "later": []any{tftypes.UnknownValue},
	}})
	diags := p.Validate(config)
	want := map[string][]string{
		" cam": {"Invalid Attribute Value"}, "..": {"Invalid Attribute Value"}, "cam-1": {"Invalid Attribute Value", "Invalid Attribute Value"},
		"cam-2": {"Missing Attribute Value"}, "cam-3": {"Missing Attribute Value"}, "": {"Invalid Attribute Value Match"},
	}
	if diff := cmp.Diff(want, errorsAt(diags)); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{
		`streams[" cam"]: " cam" is not a stream id: it must not begin or end with white space.`,
		`streams["cam-1"]: " p2" is not a processor id: it must not begin or end with white space.`,
		`streams["cam-3"]: a processor id must not be null.`,
	} {
		if !strings.Contains(diags.String(), text) {
			t.Errorf("no %q in\n%s", text, diags)
		}
	}
}

// Sets that are known after apply are no problem, and neither is an unknown map.
func TestGroupUnknown(t *testing.T) {
	t.Parallel()
	streams := sameSet(2, "p1")
	service, url := streamstest.Start(t, streamstest.Options{}, seeds(streams)...)
	provider := coretest.Attributes{"base_url": url}
	unknownSet := coretest.ToTerraform(groupSchema().ValueType(), coretest.Attributes{"streams": coretest.Attributes{"s000": []string{"p1"}, "s001": tftypes.UnknownValue}})
	unknownMap := coretest.ToTerraform(groupSchema().ValueType(), coretest.Attributes{"streams": tftypes.UnknownValue})
	r := newGroupRun(t, provider)
	for _, late := range []tftypes.Value{unknownSet, unknownMap} {
		plan, diags := r.plan(late)
		if len(diags) > 0 || coretest.FromTerraform(coretest.AttributesOf(plan.Value)["last_edited"]) != tftypes.UnknownValue {
			t.Errorf("%s: %v", diags, coretest.FromTerraform(plan.Value))
		}
	}
	config := group(streams, nil)
	r.mustApply(config)
	service.ForgetRequests()
	for _, late := range []tftypes.Value{unknownSet, unknownMap} {
		if _, diags := r.plan(late); len(diags) > 0 {
			t.Error(diags)
		}
		r.wantNoChanges(config) // what the apply finds, if the values turn out to be the same
	}
	service.WantRequests(t)
}

// Two resources with different sets for a stream are a conflict at the stream's key.
func TestGroupConflict(t *testing.T) {
	t.Parallel()
	p := startProvider(t, coretest.Attributes{"base_url": "http://127.0.0.1:1"})
	one, other := group(sameSet(3, "p1"), nil), group(map[string][]string{"s001": {"p2"}, "s002": {"p1"}}, nil)
	if _, _, diags := p.Plan(nullGroup(), one); len(diags) > 0 {
		t.Fatal(diags)
	}
	_, _, diags := p.Plan(nullGroup(), other)
	if diff := cmp.Diff(map[string][]string{"s001": {"Conflicting Processor Sets"}}, errorsAt(diags)); diff != "" {
		t.Error(diff)
	}
	config := resourceValue(coretest.Attributes{"stream_id": "s001", "processor_ids": []string{"p2"}})
	if _, _, diags := p.Plan(coretest.Managed{Value: nullResource()}, config); !strings.Contains(diags.String(), "Conflicting Processor Sets") {
		t.Error(diags)
	}
}

// With detect_drift, a refresh reads each stream, and the plan of a create reads the streams that it takes over.
func TestGroupDrift(t *testing.T) {
	t.Parallel()
	streams := sameSet(3, "p1")
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, seeds(streams)...)
	service.Seed(streamstest.Stream{ID: "s000", ProcessorIDs: []string{"p9"}})
	r := newGroupRun(t, coretest.Attributes{"base_url": url, "detect_drift": true})
	config := group(streams, nil)
	planned, _ := r.planAndApply(config)
	if len(planned) != 1 || planned[0].Summary != `Processors Will Be Detached: stream "s000"` {
		t.Errorf("the plan of a create says %s", planned)
	}
	service.Seed(streamstest.Stream{ID: "s001", ProcessorIDs: []string{"p2"}})
	service.Remove("s002")
	service.ForgetRequests()
	var diags coretest.Diagnostics
	if r.state, diags = startProvider(t, r.provider).Read(r.state); len(diags) != 1 || diags[0].Summary != `Stream Is Gone: stream "s002"` {
		t.Errorf("the refresh says %s", diags)
	}
	service.WantRequests(t, "GET /v2/streams/s000", "GET /v2/streams/s001", "GET /v2/streams/s002")
	r.wantStreams(map[string][]string{"s000": {"p1"}, "s001": {"p2"}})
	config = group(without(streams, "s002"), nil)
	r.mustApply(config)
	service.WantRequests(t, patches(map[string][]string{"s001": {"p1"}})...)

	// A stream that does not exist is an error of the plan. A refresh that fails keeps the state.
	config = group(with(streams, "other", "p1"), nil)
	planned, _ = r.planAndApply(config)
	want := map[string][]string{"s002": {"Resource Not Found Error"}, "other": {"Resource Not Found Error"}}
	if diff := cmp.Diff(want, errorsAt(planned)); diff != "" {
		t.Error(diff)
	}
	refuse(service, map[string]streamstest.Fault{"s000": {Status: 403}})
	after, diags := startProvider(t, r.provider).Read(r.state)
	if diff := cmp.Diff(map[string][]string{"s000": {"Unauthorized Error"}, "": {"Streams Failed"}}, errorsAt(diags)); diff != "" {
		t.Error(diff)
	}
	if !coretest.EqualValues(after.Value, r.state.Value) {
		t.Error("a failed refresh changes the state")
	}
}
