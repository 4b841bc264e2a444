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

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// attachment is what both resources do: it decodes what the framework passes, makes a change of it, plans or applies
// the change in a session, and saves the result. The rest is in the schemas and models of the resources.
type attachment[T any, M model[T]] struct {
	session *session
}

// model is the model of a resource in a configuration, plan or state. It is nil where there is no resource.
type model[T any] interface {
	*T
	common() *attachmentModel
	subject() subject
	want() sets                                            // what a plan wants of the streams
	was(marks marks) entries                               // what a state has of the streams
	leaving(state *T) (kind claims.LeaveKind, detach bool) // how an update leaves streams

	// planComputed plans the computed values. The state is nil if it says nothing of the streams. mayRedeploy says that
	// the apply may have another deployment, which is known after apply.
	planComputed(state *T, sends, mayRedeploy bool)

	// take makes the model what the state has of the streams, and what the service reported of them.
	take(kept entries, reported map[string]*streams.Stream)

	// unexpectedChanges says what an update did not promise. mask hides secrets in what the service reported.
	unexpectedChanges(before *T, mask func(string) string) diag.Diagnostics
}

// attachmentModel has the attributes of both resources.
type attachmentModel struct {
	OnCreate   types.String   `tfsdk:"on_create"`
	OnDestroy  types.String   `tfsdk:"on_destroy"`
	Triggers   types.Map      `tfsdk:"triggers"`
	Timeouts   timeouts.Value `tfsdk:"timeouts"`
	LastEdited types.Int64    `tfsdk:"last_edited"`
	Deployment types.String   `tfsdk:"deployment"`
}

func (m *attachmentModel) common() *attachmentModel { return m }

func (m *attachmentModel) detaches() bool { return m.OnDestroy.ValueString() != onDestroyKeep }

// changeOf returns what a resource changes. Terraform passes no state to a create, and no plan to a destroy.
func changeOf[T any, M model[T]](plan, state M, found marks, d deployment) change {
	c := change{kind: update, of: cmp.Or(plan, state).subject(), marks: found}
	if plan != nil {
		c.want, c.refuses = plan.want(), plan.common().OnCreate.ValueString() == onCreateRefuse
	}
	if state != nil {
		c.was, c.deployment = state.was(found), state.common().Deployment
	}
	switch {
	case state == nil:
		c.kind = create
	case plan == nil:
		c.kind, c.leaving, c.detach = destroy, claims.Destroyed, state.common().detaches()
	default:
		c.triggered = !plan.common().Triggers.Equal(state.common().Triggers)
		c.leaving, c.detach = plan.leaving(state)
	}
	d.setFormerAside(&c)
	return c
}

func (r *attachment[T, M]) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.session = providerSession(req.ProviderData)
}

// ModifyPlan sends nothing without detect_drift.
func (r *attachment[T, M]) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	plan, state, found, ok := decode[M](ctx, req.Plan, req.State, req.Private, &resp.Diagnostics)
	if !ok || plan == nil && state == nil {
		return
	}
	planned, diags := planModel(ctx, r.session, plan, state, found)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(planned.save(ctx, resp.Private)...)
	if plan != nil {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
	}
}

// planModel plans the computed values of a resource, and its marks.
func planModel[T any, M model[T]](ctx context.Context, s *session, plan, state M, found marks) (planned marks, diags diag.Diagnostics) {
	c := changeOf(plan, state, found, s.deployment)
	ctx, cancel := withTimeLimit(ctx, cmp.Or(plan, state).common().Timeouts.Read, &diags)
	defer cancel()
	sends, planned, problems := s.plan(ctx, c)
	diags.Append(problems...)
	if plan == nil || diags.HasError() {
		return planned, diags
	}
	if c.kind == redeploy {
		state = nil
	}
	deployment := &plan.common().Deployment
	updated := sends || deployment.IsUnknown() // the framework has made it unknown if the configuration changes the resource
	*deployment = s.deployment.planned(c, sends, updated)
	plan.planComputed(state, sends, updated && s.deployment == "")
	return planned, diags
}

// Create saves nothing if it fails: the next apply creates again, which sends the same sets. A tainted resource would
// be destroyed first.
func (r *attachment[T, M]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.apply(ctx, req.Plan, nil, nil, (*resource.UpdateResponse)(resp))
}

// Read sends nothing without detect_drift: the interface specifies no read, so the response to the last update is all
// that is known.
func (r *attachment[T, M]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	_, state, found, ok := decode[M](ctx, nil, req.State, req.Private, &resp.Diagnostics)
	if !ok || state == nil {
		return
	}
	defer passState(ctx, &resp.State)
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, req.State)...)
	if r.session.deployment.differs(state.common().Deployment) {
		return
	}
	if r.session.noteShared(state.was(nil), found) {
		resp.Diagnostics.Append(found.save(ctx, resp.Private)...)
	}
	if !r.session.readsStreams() {
		return
	}
	ctx, cancel := withTimeLimit(ctx, state.common().Timeouts.Read, &resp.Diagnostics)
	defer cancel()
	read, diags := r.session.refresh(ctx, state.subject(), state.was(nil), found)
	resp.Diagnostics.Append(diags...)
	switch {
	case diags.HasError():
	case state.subject() == ofOneStream && len(read.kept) == 0:
		resp.State.RemoveResource(ctx)
	default:
		state.take(read.kept, read.reported)
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
		resp.Diagnostics.Append(read.marks.save(ctx, resp.Private)...)
	}
}

// Update sends what the plan says. The state takes what succeeded.
func (r *attachment[T, M]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	r.apply(ctx, req.Plan, req.State, req.Private, resp)
}

// Delete keeps in the state what fails.
func (r *attachment[T, M]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.apply(ctx, nil, req.State, req.Private, (*resource.UpdateResponse)(resp))
}

func (r *attachment[T, M]) apply(ctx context.Context, planned, prior values, private privateState, resp *resource.UpdateResponse) {
	plan, state, found, ok := decode[M](ctx, planned, prior, private, &resp.Diagnostics)
	if !ok {
		return
	}
	c := changeOf(plan, state, found, r.session.deployment)
	limit := cmp.Or(plan, state).common().Timeouts.Update
	switch {
	case state == nil:
		limit = plan.common().Timeouts.Create
	case plan == nil:
		limit = state.common().Timeouts.Delete
	}
	ctx, cancel := withTimeLimit(ctx, limit, &resp.Diagnostics)
	defer cancel()
	done, diags := r.session.apply(ctx, c)
	resp.Diagnostics.Append(diags...)
	if state == nil && done.failed || plan == nil && !done.failed {
		return // nothing is in the state
	}
	after := plan
	switch {
	case done.keepState:
		after = state
	case c.kind == update:
		plan.common().LastEdited = state.common().LastEdited
	default:
		plan.common().LastEdited = types.Int64Null()
	}
	after.common().Deployment = r.session.deployment.applied(c, done)
	after.take(done.kept, done.reported)
	if c.kind == update && !done.failed {
		resp.Diagnostics.Append(plan.unexpectedChanges(state, r.session.client.Redact)...)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, after)...)
	resp.Diagnostics.Append(done.marks.save(ctx, resp.Private)...)
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, resp.State)...)
	passState(ctx, &resp.State)
}

type values interface {
	Get(ctx context.Context, target any) diag.Diagnostics
}

// decode reads what Terraform passes to a call. It reports false if it cannot.
func decode[M any](ctx context.Context, plan, state values, private privateState, diags *diag.Diagnostics) (p, s M, found marks, ok bool) {
	if plan != nil {
		diags.Append(plan.Get(ctx, &p)...)
	}
	if state != nil {
		diags.Append(state.Get(ctx, &s)...)
	}
	if private != nil {
		found = readMarks(ctx, private)
	}
	return p, s, found, !diags.HasError()
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
