package provider

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// attachment is what both resources do: it decodes what the framework passes, makes a change of it, plans or applies
// the change in a session, and saves the result. The resources have the calls of Terraform, the schemas and the models.
type attachment[T any, M model[T]] struct {
	*configured
	of report.Subject
}

// model is the model of a resource in a configuration, plan or state. It is nil where there is no resource.
type model[T any] interface {
	*T
	common() *attachmentModel
	sets() session.Sets // of the streams; nil for what is not known, or null
	isRead() bool       // false if the set is null: an import has not read it, and ignore_changes may keep it so

	// planComputed plans the computed values. here says that the state is that of the streams at the deployment, if there is one.
	planComputed(state *T, here, sends bool)

	// record makes the model what the state has of the streams, and what the service reported of them.
	record(kept session.Entries, reported map[string]*streams.Stream)
}

// attachmentModel has the attributes of both resources.
type attachmentModel struct {
	OnCreate   types.String `tfsdk:"on_create"`
	OnDestroy  types.String `tfsdk:"on_destroy"`
	Triggers   types.Map    `tfsdk:"triggers"`
	Timeouts   types.Object `tfsdk:"timeouts"`
	LastEdited types.Int64  `tfsdk:"last_edited"`
	Deployment types.String `tfsdk:"deployment"`
}

func (m *attachmentModel) common() *attachmentModel { return m }

func (m *attachmentModel) detaches() bool { return m.OnDestroy.ValueString() != onDestroyKeep }

// change returns what a resource changes. Terraform passes no state to a create, and no plan to a destroy.
func (r *attachment[T, M]) change(plan, state M, found session.Marks) session.Change {
	c := session.Change{Kind: session.Edit, Group: r.of == report.SeveralStreams, Marks: found}
	if plan != nil {
		c.Want, c.Refuses = plan.sets(), plan.common().OnCreate.ValueString() == onCreateRefuse
	}
	if state != nil {
		c.Was, c.Deployment = found.Entries(state.sets()), state.common().Deployment.ValueString()
	}
	switch {
	case state == nil:
		c.Kind = session.Create
	case plan == nil:
		c.Kind, c.Detach = session.Destroy, state.common().detaches()
	default:
		c.Detach = state.common().detaches()
		if c.Group {
			c.Detach = plan.common().detaches()
		}
		c.Triggered = !plan.common().Triggers.Equal(state.common().Triggers)
	}
	c.Elsewhere = r.session.Differs(c.Deployment)
	return c
}

// Configure also says which session the other methods use.
func (r *attachment[T, M]) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.configured = configuredBy(req.ProviderData)
}

// ModifyPlan sends nothing without detect_drift.
func (r *attachment[T, M]) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	defer onPanic(ctx, &resp.Diagnostics)
	plan, state, found, ok := decode[M](ctx, &req.Plan, &req.State, req.Private, &resp.Diagnostics)
	if !ok || plan == nil && state == nil {
		return
	}
	if plan != nil && !plan.isRead() {
		resp.Diagnostics.Append(report.UnsetInState())
		return
	}
	ctx, cancel := withTimeLimit(ctx, r.of, cmp.Or(plan, state).common().Timeouts, timeouts.Value.Read)
	defer cancel()
	c := r.change(plan, state, found)
	p := r.session.Plan(ctx, c)
	resp.Diagnostics.Append(r.report.Plan(r.of, c, p)...)
	resp.Diagnostics.Append(saveMarks(ctx, p.Marks, resp.Private)...)
	if plan == nil || resp.Diagnostics.HasError() {
		return
	}
	if !c.Elsewhere && !p.Sends && req.Plan.Raw.Equal(req.State.Raw) {
		return // nothing changes
	}
	// A create has no known value even if the provider block does: a saved plan may be applied at another address, and Terraform
	// would call that a bug of the provider.
	plan.common().Deployment = types.StringUnknown()
	if c.Deployment != "" && r.session.Deployment() != "" {
		plan.common().Deployment = r.deployment()
	}
	plan.planComputed(state, !c.Elsewhere && r.session.Deployment() != "", p.Sends)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
}

// read refreshes a state. It reports whether the service knows none of the streams any more. imports is who reads after an import.
func (r *attachment[T, M]) read(
	ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse, imports report.Reader,
) (gone bool) {
	defer onPanic(ctx, &resp.Diagnostics)
	_, state, found, ok := decode[M](ctx, nil, &req.State, req.Private, &resp.Diagnostics)
	if !ok || state == nil {
		return false
	}
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, req.State)...)
	if deployment := &state.common().Deployment; deployment.IsNull() { // moved, or imported while it was not known
		*deployment = r.deployment()
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("deployment"), *deployment)...)
	}
	if r.session.Differs(state.common().Deployment.ValueString()) {
		return false
	}
	ctx, cancel := withTimeLimit(ctx, r.of, state.common().Timeouts, timeouts.Value.Read)
	defer cancel()
	was := found.Entries(state.sets())
	read := r.session.Refresh(ctx, was, found)
	by := report.Refresh
	if read.OfImport {
		by = imports
	}
	resp.Diagnostics.Append(r.report.Reads(r.of, len(was), read.Findings, by)...)
	if resp.Diagnostics.HasError() {
		return false
	}
	if r.session.ReadRefusal() == 0 { // otherwise, the state stays as it is
		state.record(read.Kept, read.Reported)
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	}
	resp.Diagnostics.Append(saveMarks(ctx, read.Marks, resp.Private)...)
	return len(read.Kept) == 0
}

// apply applies a plan, which is nil for a destroy, to a state, which is nil for a create. The responses of the framework are the same.
func (r *attachment[T, M]) apply(
	ctx context.Context, limit timeLimit, planned *tfsdk.Plan, prior *tfsdk.State, resp *resource.UpdateResponse,
) {
	defer onPanic(ctx, &resp.Diagnostics)
	plan, state, found, ok := decode[M](ctx, planned, prior, resp.Private, &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := withTimeLimit(ctx, r.of, cmp.Or(plan, state).common().Timeouts, limit)
	defer cancel()
	c := r.change(plan, state, found)
	done := r.session.Apply(ctx, c)
	resp.Diagnostics.Append(r.report.Apply(ctx, r.of, c, done)...)
	if state == nil && done.Failed() || plan == nil && !done.Failed() {
		return // nothing is in the state
	}
	after := plan
	switch {
	case done.KeepState:
		after = state
	case state != nil && !c.Elsewhere:
		plan.common().LastEdited = state.common().LastEdited
	default:
		plan.common().LastEdited = types.Int64Null()
	}
	if done.Failed() && len(done.Reported) == 0 { // the state has nothing of the deployment that is configured
		after.common().Deployment = state.common().Deployment
	} else {
		after.common().Deployment = r.deployment()
	}
	after.record(done.Kept, done.Reported)
	resp.Diagnostics.Append(resp.State.Set(ctx, after)...)
	resp.Diagnostics.Append(saveMarks(ctx, done.Marks, resp.Private)...)
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, resp.State)...)
}

// onPanic, which is deferred, makes a panic an error of one call. Otherwise the process would end, and the results of other calls, whose
// requests were sent, would be lost.
func onPanic(ctx context.Context, diags *diag.Diagnostics) {
	if cause := recover(); cause != nil {
		diags.Append(report.Bug(ctx, session.Recovered(cause)))
	}
}

// decode reads what Terraform passes to a call. It reports false if it cannot.
func decode[M any](
	ctx context.Context, plan *tfsdk.Plan, state *tfsdk.State, private privateState, diags *diag.Diagnostics,
) (p, s M, found session.Marks, ok bool) {
	if plan != nil {
		diags.Append(plan.Get(ctx, &p)...)
	}
	if state != nil {
		diags.Append(state.Get(ctx, &s)...)
	}
	return p, s, readMarks(ctx, private), !diags.HasError()
}

// newModel returns the model of an imported, moved or listed resource. on_destroy is what an empty configuration plans,
// so that the next plan shows no update.
func newModel[M any](ctx context.Context, state *tfsdk.State) (m M) {
	diags := state.SetAttribute(ctx, path.Root("on_destroy"), onDestroyDetach)
	diags.Append(state.Get(ctx, &m)...)
	if diags.HasError() {
		panic(diags) // the model does not fit its schema
	}
	return m
}

// setIdentity sets the identity of a resource in the state. A group has none. Terraform does not pass the identity to a
// destroy, and forgets it if the destroy fails without returning it.
func setIdentity(ctx context.Context, identity *tfsdk.ResourceIdentity, state tfsdk.State) (diags diag.Diagnostics) {
	if identity == nil {
		return nil
	}
	var id types.String
	diags.Append(state.GetAttribute(ctx, path.Root("stream_id"), &id)...)
	diags.Append(identity.SetAttribute(ctx, path.Root("stream_id"), id)...)
	return diags
}
