package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
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
		wantError(t, diags, "Set Not Known to the State")
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

// A change that sends nothing keeps all computed values, also beside ignore_changes of one of them, which Terraform allows with a
// warning.
func TestIgnoredComputedValues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		null   tftypes.Value
		config func(others coretest.Attributes) tftypes.Value
	}{
		"single": {nullResource(), func(others coretest.Attributes) tftypes.Value {
			return resourceValue(merge(coretest.Attributes{"stream_id": "s000", "processor_ids": []string{"p1"}}, others))
		}},
		"group": {nullGroup().Value, func(others coretest.Attributes) tftypes.Value { return group(sameSet(1, "p1"), others) }},
	} {
		for _, ignored := range []string{"deployment", "last_edited"} {
			service, r := startRun(t, test.null, nil, streamstest.Streams("s000")...)
			r.mustApply(test.config(nil))
			service.ForgetRequests()
			before := coretest.AttributesOf(r.state.Value)
			for _, others := range []coretest.Attributes{
				{"on_destroy": "keep"}, {"on_create": "replace"}, {"timeouts": coretest.Attributes{"read": "1m"}},
			} {
				r.mustApply(r.ignoring(test.config(others), ignored))
				for _, attribute := range []string{"id", "terminal_id", "fragment_type_id", "compatible_namespaces", "last_edited", "deployment"} {
					if was, has := before[attribute]; has {
						wantAttribute(t, r.state, attribute, coretest.FromTerraform(was))
					}
				}
			}
			if service.WantRequests(t); t.Failed() {
				t.Fatalf("%s, ignore_changes = [%s]", name, ignored)
			}
			r.mustApply(r.ignoring(test.config(coretest.Attributes{"triggers": map[string]string{"t": "1"}}), ignored))
			service.WantRequests(t, patches(sameSet(1, "p1"))...)
		}
	}
}
