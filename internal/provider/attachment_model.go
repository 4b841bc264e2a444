package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
)

// attachmentModel has the attributes of both resources.
type attachmentModel struct {
	OnDestroy  types.String   `tfsdk:"on_destroy"`
	Triggers   types.Map      `tfsdk:"triggers"`
	Timeouts   timeouts.Value `tfsdk:"timeouts"`
	LastEdited types.Int64    `tfsdk:"last_edited"`
	Deployment types.String   `tfsdk:"deployment"`
}

// common returns the attributes of both resources.
func (m *attachmentModel) common() *attachmentModel { return m }

// setDefaults gives an imported or moved resource the values that an empty configuration plans, so that the next plan
// shows no update.
func (m *attachmentModel) setDefaults() { m.OnDestroy = types.StringValue(onDestroyDetach) }

func (m *attachmentModel) detaches() bool { return m.OnDestroy.ValueString() != onDestroyKeep }

// model is the model of a resource: a pointer, which is nil where there is no resource.
type model[M any] interface {
	comparable
	common() *attachmentModel
	subject() subject
	change(state M, found marks) change
	planComputed(state M, s *session, sends bool)
}

// decode reads what Terraform passes to a call. It reports false if it cannot.
func decode[M any](ctx context.Context, plan, state values, private privateState, diags *diag.Diagnostics) (p, s M, m marks, ok bool) {
	if plan != nil {
		diags.Append(plan.Get(ctx, &p)...)
	}
	if state != nil {
		diags.Append(state.Get(ctx, &s)...)
	}
	m, problems := readMarks(ctx, private)
	diags.Append(problems...)
	return p, s, m, !diags.HasError()
}

// values is a plan or a state.
type values interface {
	Get(ctx context.Context, target any) diag.Diagnostics
}

// modifyPlan plans a resource. It sends nothing without detect_drift.
func modifyPlan[M model[M]](ctx context.Context, s *session, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if s == nil {
		return
	}
	plan, state, found, ok := decode[M](ctx, req.Plan, req.State, req.Private, &resp.Diagnostics)
	if !ok {
		return
	}
	planned, diags := planModel(ctx, s, plan, state, found)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(planned.save(ctx, resp.Private)...)
	if plan != *new(M) {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
	}
}

// planModel plans the computed values of a resource, and its marks. plan is nil for a destroy, state for a create.
func planModel[M model[M]](ctx context.Context, s *session, plan, state M, found marks) (planned marks, diags diag.Diagnostics) {
	var none M
	if plan == none && state == none {
		return found, nil
	}
	c, any := plan.change(state, found), plan
	if plan == none {
		any = state
	}
	if state != none && s.elsewhere(state.common().Deployment) {
		leaves := plan == none || c.leaving == claims.Replaced && len(c.leaves()) > 0
		diags.Append(s.planElsewhere(&c, state.common().Deployment, leaves, plan != none)...)
		if diags.HasError() {
			return found, diags
		}
		state = none
	}
	ctx, cancel := withTimeLimit(ctx, any.common().Timeouts.Read, &diags)
	defer cancel()
	report := newReport(any.subject())
	sends, planned := s.plan(ctx, c, report)
	diags.Append(report.diagnostics("Nothing was sent.")...)
	if plan != none {
		plan.planComputed(state, s, sends)
		if c.create { // a saved plan may be applied with another address
			plan.common().Deployment = types.StringUnknown()
		}
	}
	return planned, diags
}
