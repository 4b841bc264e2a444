package provider

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
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

func (m *attachmentModel) detaches() bool { return m.OnDestroy.ValueString() != onDestroyKeep }

// model is the model of a resource: a pointer, which is nil where there is no resource.
type model[M any] interface {
	comparable
	common() *attachmentModel
	subject() subject
	was(marks marks) entries
	change(state M, found marks) change

	// planComputed plans the computed values. The state is nil if it says nothing of the streams. mayMove says that the
	// apply may move the resource to a deployment that is not known yet.
	planComputed(state M, sends, mayMove bool)

	// take makes the model what the state has of the streams, and what the service reported of them.
	take(kept entries, reported map[string]*streams.Stream)

	// moved reports that the service moved a stream during an update.
	moved(before M, mask func(string) string) diag.Diagnostics
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
		m = readMarks(ctx, private)
	}
	return p, s, m, !diags.HasError()
}

// values is a plan or a state.
type values interface {
	Get(ctx context.Context, target any) diag.Diagnostics
}

// newModel returns the model of an imported, moved or listed resource. on_destroy is what an empty configuration plans,
// so that the next plan shows no update.
func newModel[M any](ctx context.Context, of interface {
	values
	SetAttribute(ctx context.Context, at path.Path, value any) diag.Diagnostics
}, diags *diag.Diagnostics) (m M, ok bool) {
	diags.Append(of.SetAttribute(ctx, path.Root("on_destroy"), onDestroyDetach)...)
	diags.Append(of.Get(ctx, &m)...)
	return m, !diags.HasError()
}

// attach applies a change.
func attach[M model[M]](ctx context.Context, s *session, plan, state M, found marks, diags *diag.Diagnostics) applied {
	var none M
	c, m := plan.change(state, found), cmp.Or(plan, state)
	limit := m.common().Timeouts.Update
	if state == none {
		limit = m.common().Timeouts.Create
	} else if plan == none {
		limit = m.common().Timeouts.Delete
	}
	former := applied{kept: c.was, marks: found.lasting(), failed: true, stays: true} // the state of the former deployment
	if state != none && s.elsewhere(state.common().Deployment) {
		// Terraform does not ask for a plan of the destroy of a tainted or replaced object.
		if plan == none && c.detach {
			diags.Append(otherDeploymentError(state.common().Deployment.ValueString(), s.deployment))
			return former
		}
		c.move()
	}
	ctx, cancel := withTimeLimit(ctx, limit, diags)
	defer cancel()
	report := newReport(m.subject())
	result := s.apply(ctx, c, report)
	result.failed = report.hasErrors()
	result.stays = result.failed && !c.partial
	if result.failed && c.moves && report.changed == 0 {
		result = former
	}
	diags.Append(report.diagnostics(nowInState(c, report))...)
	return result
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
		// What the resource leaves is at the deployment of the state, where nothing is sent.
		former := state.common().Deployment.ValueString()
		leaves := plan == none || c.leaving == claims.Replaced && len(c.leaves()) > 0
		if leaves && c.detach {
			return found, diag.Diagnostics{otherDeploymentError(former, s.deployment)}
		}
		if plan != none {
			diags.Append(deploymentChangedWarning(former, s.deployment))
		}
		c.move()
		state = none
	}
	ctx, cancel := withTimeLimit(ctx, m.common().Timeouts.Read, &diags)
	defer cancel()
	report := newReport(m.subject())
	sends, planned := s.plan(ctx, c, report)
	diags.Append(report.diagnostics("Nothing was sent.")...)
	if plan == none {
		return planned, diags
	}
	deployment := &plan.common().Deployment
	updates := sends || deployment.IsUnknown() // the framework has made it unknown if the configuration changes the resource
	*deployment = s.deploymentValue()
	switch {
	case c.moves:
	case c.create, sends && state.common().Deployment.IsNull():
		*deployment = types.StringUnknown() // the apply of a saved plan may have another address, or nothing to send
	case !updates:
		*deployment = state.common().Deployment
	}
	plan.planComputed(state, sends, updates && s.deployment == "")
	return planned, diags
}
