package provider

import (
	"cmp"
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
	if private != nil {
		found, problems := readMarks(ctx, private)
		diags.Append(problems...)
		m = found
	}
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

// attach applies a change: without a state a create, and without a plan a destroy. failed says that diags has an error.
func attach[M model[M]](ctx context.Context, s *session, plan, state M, found marks, limit timeLimit, diags *diag.Diagnostics) (result applied, failed bool) {
	var none M
	c, m := plan.change(state, found), cmp.Or(plan, state)
	if state != none && s.elsewhere(state.common().Deployment) {
		// Terraform does not ask for a plan of the destroy of a tainted or replaced object.
		if plan == none && c.detach {
			diags.Append(otherDeploymentError(state.common().Deployment.ValueString(), s.deployment))
			return applied{kept: c.was, marks: found.lasting()}, true
		}
		c.move()
	}
	ctx, cancel := withTimeLimit(ctx, limit, diags)
	defer cancel()
	report := newReport(m.subject())
	result = s.apply(ctx, c, report)
	if result.sentNone = report.hasErrors() && report.changed == 0; result.sentNone && c.moves {
		result = applied{sentNone: true, former: true, marks: found.lasting()}
	}
	diags.Append(report.diagnostics(nowInState(c, report))...)
	return result, report.hasErrors()
}

// nowInState says what a failed change leaves in the state of a group.
func nowInState(c change, r *report) string {
	switch {
	case c.create && r.mayHaveAttached():
		return "The group is not in the state. The next apply sends all of its sets. Until then, what was attached stays attached, " +
			"and a destroy detaches nothing."
	case c.create:
		return "The group is not in the state. The next apply sends all of its sets."
	case c.leaving == claims.Destroyed:
		return "The state has only the streams that failed."
	case c.moves && r.changed == 0:
		return "The state is still that of the former deployment."
	}
	return "The state has what succeeded. The next plan shows the rest."
}

// planModel plans the computed values of a resource, and its marks. plan is nil for a destroy, state for a create.
func planModel[M model[M]](ctx context.Context, s *session, plan, state M, found marks) (planned marks, diags diag.Diagnostics) {
	var none M
	if plan == none && state == none {
		return found, nil
	}
	c, m := plan.change(state, found), cmp.Or(plan, state)
	if state != none && s.elsewhere(state.common().Deployment) {
		leaves := plan == none || c.leaving == claims.Replaced && len(c.leaves()) > 0
		diags.Append(s.planElsewhere(&c, state.common().Deployment, leaves, plan != none)...)
		if diags.HasError() {
			return found, diags
		}
		state = none
	}
	ctx, cancel := withTimeLimit(ctx, m.common().Timeouts.Read, &diags)
	defer cancel()
	report := newReport(m.subject())
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
