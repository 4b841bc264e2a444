package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
)

// resourceRun plans and applies one resource as Terraform does: the apply is another process, which plans updates again.
type resourceRun struct {
	t        *testing.T
	provider coretest.Attributes
	state    coretest.Managed
}

func newSingleRun(t *testing.T, provider coretest.Attributes) *resourceRun {
	return &resourceRun{t, provider, coretest.Managed{Value: nullResource()}}
}

func newGroupRun(t *testing.T, provider coretest.Attributes) *resourceRun {
	return &resourceRun{t, provider, nullGroup()}
}

// null is the configuration of a destroy.
func (r *resourceRun) null() tftypes.Value { return tftypes.NewValue(r.state.Value.Type(), nil) }

func (r *resourceRun) plan(config tftypes.Value) (coretest.Managed, coretest.Diagnostics) {
	r.t.Helper()
	planned, _, diags := startProvider(r.t, r.provider).Plan(r.state, config)
	return planned, diags
}

// planAndApply returns the diagnostics of the plan and of the apply. A plan without a change is not applied.
func (r *resourceRun) planAndApply(config tftypes.Value) (planned, applied coretest.Diagnostics) {
	r.t.Helper()
	plan, planned := r.plan(config)
	if planned.Failed() || coretest.EqualValues(plan.Value, r.state.Value) {
		return planned, nil
	}
	p := startProvider(r.t, r.provider)
	if !config.IsNull() {
		var again coretest.Diagnostics
		if plan, _, again = p.Plan(r.state, config); again.Failed() {
			r.t.Fatalf("the apply cannot plan: %s", again)
		}
	}
	r.state, applied = p.Apply(r.state.Value, plan, config)
	if !r.state.Value.IsFullyKnown() {
		r.t.Fatalf("the state has unknown values: %v", coretest.FromTerraform(r.state.Value))
	}
	for _, name := range []string{"streams", "processor_ids"} {
		if want, ok := coretest.AttributesOf(config)[name]; ok && !applied.Failed() && !coretest.EqualValues(coretest.AttributesOf(r.state.Value)[name], want) {
			r.t.Fatalf("after a success, %s in the state differs from the configuration", name)
		}
	}
	return planned, applied
}

// apply returns the diagnostics of the apply. The plan must succeed.
func (r *resourceRun) apply(config tftypes.Value) coretest.Diagnostics {
	r.t.Helper()
	planned, applied := r.planAndApply(config)
	if planned.Failed() {
		r.t.Fatalf("plan: %s", planned)
	}
	return applied
}

func (r *resourceRun) mustApply(config tftypes.Value) {
	r.t.Helper()
	if diags := r.apply(config); diags.Failed() {
		r.t.Fatalf("apply: %s", diags)
	}
}

// mustApply plans and applies one change, and returns the state.
func mustApply(t *testing.T, provider coretest.Attributes, prior coretest.Managed, config tftypes.Value) coretest.Managed {
	t.Helper()
	r := &resourceRun{t, provider, prior}
	r.mustApply(config)
	return r.state
}

func (r *resourceRun) wantNoChanges(config tftypes.Value) {
	r.t.Helper()
	if plan, diags := r.plan(config); len(diags) > 0 || !coretest.EqualValues(plan.Value, r.state.Value) {
		r.t.Fatalf("the plan has changes: %v %s", coretest.FromTerraform(plan.Value), diags)
	}
}

// refresh reads the resource into the state.
func (r *resourceRun) refresh() (diags coretest.Diagnostics) {
	r.t.Helper()
	r.state, diags = startProvider(r.t, r.provider).Read(r.state)
	return diags
}

// attribute is a value in the state.
func (r *resourceRun) attribute(name string) any {
	return coretest.FromTerraform(coretest.AttributesOf(r.state.Value)[name])
}

// single makes a configuration of a single resource. The processors may be unknown.
func single(id, processors any) tftypes.Value {
	return resourceValue(coretest.Attributes{"stream_id": id, "processor_ids": processors})
}

// cam1 is a configuration of stream cam-1.
func cam1(processors ...string) tftypes.Value {
	return single("cam-1", append([]string{}, processors...))
}
