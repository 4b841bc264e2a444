package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
)

// singleRun plans and applies one stream_processors as Terraform does.
type singleRun struct {
	t        *testing.T
	provider coretest.Attributes
	state    coretest.Managed
}

func newSingleRun(t *testing.T, provider coretest.Attributes) *singleRun {
	return &singleRun{t, provider, coretest.Managed{Value: nullResource()}}
}

// plan returns the planned resource and its diagnostics; nil plans the destroy.
func (r *singleRun) plan(config coretest.Attributes) (coretest.Managed, coretest.Diagnostics) {
	r.t.Helper()
	planned, _, diags := startProvider(r.t, r.provider).Plan(r.state, valueOrNull(config))
	return planned, diags
}

// apply returns the diagnostics of the apply; the plan must succeed.
func (r *singleRun) apply(config coretest.Attributes) coretest.Diagnostics {
	r.t.Helper()
	p := startProvider(r.t, r.provider)
	planned, _, diags := p.Plan(r.state, valueOrNull(config))
	if diags.Failed() {
		r.t.Fatalf("plan: %s", diags)
	}
	r.state, diags = p.Apply(r.state.Value, planned, valueOrNull(config))
	return diags
}

func (r *singleRun) mustApply(config coretest.Attributes) {
	r.t.Helper()
	if diags := r.apply(config); diags.Failed() {
		r.t.Fatalf("apply: %s", diags)
	}
}

// refresh reads the resource into the state.
func (r *singleRun) refresh() (diags coretest.Diagnostics) {
	r.t.Helper()
	r.state, diags = startProvider(r.t, r.provider).Read(r.state)
	return diags
}

// attribute is a value in the state.
func (r *singleRun) attribute(name string) any {
	return coretest.FromTerraform(coretest.AttributesOf(r.state.Value)[name])
}

func valueOrNull(config coretest.Attributes) tftypes.Value {
	if config == nil {
		return nullResource()
	}
	return resourceValue(config)
}

// cam1 is a configuration of stream cam-1.
func cam1(processors ...string) coretest.Attributes {
	return coretest.Attributes{"stream_id": "cam-1", "processor_ids": append([]string{}, processors...)}
}
