package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// ignoring is a configuration of the resource of a run after ignore_changes.
func (r *resourceRun) ignoring(config tftypes.Value, ignored ...string) tftypes.Value {
	s := resourceSchema()
	if config.Type().Equal(groupSchema().ValueType()) {
		s = groupSchema()
	}
	return coretest.Ignored(s, r.state.Value, config, ignored...)
}

// A set that the state does not have, and that ignore_changes keeps so, is an error of the plan. Without ignore_changes, or with a
// read, the plan succeeds.
func TestIgnoredSetThatIsNotKnown(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), nil, streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p9"}})
	r.state, _ = startProvider(t, r.provider).ImportState(coretest.SingleName, "cam-1")
	r.refresh()
	config := cam1("p1")
	for _, ignored := range []string{"processor_ids", "all"} {
		_, diags := r.plan(r.ignoring(config, ignored))
		wantError(t, diags, "Set Not Known to the State: processor_ids: ignore_changes keeps")
		streamstest.WantText(t, diags.String(), "detect_drift = true", "apply once", "Nothing was sent by this operation. The stream was not changed.")
		wantEqual(t, "path", `AttributeName("processor_ids")`, diags[0].Attribute.String())
	}
	unread := r.state
	r.mustApply(r.ignoring(config, "on_destroy"))
	service.WantRequests(t, patches(map[string][]string{"cam-1": {"p1"}})...)
	r.mustApply(r.ignoring(cam1("p2"), "processor_ids"))
	service.WantRequests(t)

	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p9"}})
	r.provider, r.state = merge(r.provider, detectDrift), unread
	r.refresh()
	service.ForgetRequests()
	r.mustApply(r.ignoring(config, "processor_ids"))
	wantAttribute(t, r.state, "processor_ids", []string{"p9"})
}

// A state that was moved from another provider's type of the same name may lack any value.
func TestIgnoredSetOfAGroup(t *testing.T) {
	t.Parallel()
	_, r := startRun(t, nullGroup().Value, nil, seeds(sameSet(2))...)
	r.mustApply(group(sameSet(2, "p1"), nil))
	values := coretest.AttributesOf(r.state.Value)
	for at, streams := range map[string]any{
		`AttributeName("streams")`:                          nil,
		`AttributeName("streams").ElementKeyString("s001")`: coretest.Attributes{"s000": []string{"p1"}, "s001": nil},
	} {
		values["streams"] = coretest.ToTerraform(values["streams"].Type(), streams)
		r.state.Value = tftypes.NewValue(r.state.Value.Type(), values)
		_, diags := r.plan(r.ignoring(group(sameSet(2, "p2"), nil), "streams"))
		wantError(t, diags, "Set Not Known to the State: streams")
		wantEqual(t, "path", at, diags[0].Attribute.String())
	}
}
