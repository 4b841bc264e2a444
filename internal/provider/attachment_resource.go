package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
)

// attachmentResource is what both resources do. The rest is in their schemas and models.
type attachmentResource[M model[M]] struct {
	session *session // nil while Terraform only asks for schemas or validates
}

func (r *attachmentResource[M]) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.session = providerSession(req.ProviderData, &resp.Diagnostics)
}

// ModifyPlan sends nothing without detect_drift.
func (r *attachmentResource[M]) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if r.session == nil {
		return
	}
	plan, state, found, ok := decode[M](ctx, req.Plan, req.State, req.Private, &resp.Diagnostics)
	if !ok {
		return
	}
	planned, diags := planModel(ctx, r.session, plan, state, found)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(planned.save(ctx, resp.Private)...)
	if plan != *new(M) {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
	}
}

// Create saves nothing if it fails: the next apply creates again, which sends the same sets. A tainted resource would
// be destroyed first.
func (r *attachmentResource[M]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.apply(ctx, req.Plan, nil, nil, (*resource.UpdateResponse)(resp))
}

// Read sends nothing without detect_drift: the interface specifies no read, so the response to the last update is all
// that is known.
func (r *attachmentResource[M]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	_, state, marked, ok := decode[M](ctx, nil, req.State, req.Private, &resp.Diagnostics)
	if !ok || state == *new(M) {
		return
	}
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, req.State)...)
	if !r.session.readsStreams() || r.session.elsewhere(state.common().Deployment) {
		return
	}
	ctx, cancel := withTimeLimit(ctx, state.common().Timeouts.Read, &resp.Diagnostics)
	defer cancel()
	report := newReport(state.subject())
	found, gone := r.session.read(ctx, slices.Sorted(maps.Keys(state.was(marked))), marked, report)
	resp.Diagnostics.Append(report.diagnostics("The state was not changed.")...)
	if report.hasErrors() {
		return
	}
	kept := state.was(nil)
	maps.DeleteFunc(marked, func(id string, m mark) bool {
		return m.Pending != claims.Unsent || kept[id] != nil && kept[id].Pending == claims.Unsent // an imported set is known now
	})
	for id, got := range found {
		kept[id] = &claims.Entry{Set: got.ProcessorIDs}
	}
	for _, id := range gone {
		delete(kept, id)
		marked[id] = mark{Gone: true} // the plan of the apply is made by another process
	}
	if len(gone) > 0 && report.subject == ofResource {
		resp.State.RemoveResource(ctx)
		return
	}
	state.take(kept, found)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	resp.Diagnostics.Append(marked.save(ctx, resp.Private)...)
}

// Update sends what the plan says. The state takes what succeeded.
func (r *attachmentResource[M]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	r.apply(ctx, req.Plan, req.State, req.Private, resp)
}

// Delete keeps in the state what fails.
func (r *attachmentResource[M]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.apply(ctx, nil, req.State, req.Private, (*resource.UpdateResponse)(resp))
}

// apply applies a change and saves the result: without a state a create, and without a plan a destroy.
func (r *attachmentResource[M]) apply(ctx context.Context, planned, prior values, private privateState, resp *resource.UpdateResponse) {
	plan, state, found, ok := decode[M](ctx, planned, prior, private, &resp.Diagnostics)
	if !ok {
		return
	}
	result := attach(ctx, r.session, plan, state, found, &resp.Diagnostics)
	created, destroyed := state == *new(M), plan == *new(M)
	if created && result.failed || destroyed && !result.failed {
		return
	}
	deployment := r.session.deploymentValue()
	if result.failed && len(result.reported) == 0 { // the state has nothing of the deployment that is configured now
		deployment = state.common().Deployment
	}
	after, here := plan, !created && !r.session.elsewhere(state.common().Deployment)
	switch {
	case result.stays:
		after = state
	case here:
		plan.common().LastEdited = state.common().LastEdited
	default:
		plan.common().LastEdited = types.Int64Null()
	}
	after.common().Deployment = deployment
	after.take(result.kept, result.reported)
	if here && !result.failed {
		resp.Diagnostics.Append(plan.moved(state, r.session.client.Redact)...)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, after)...)
	resp.Diagnostics.Append(result.marks.save(ctx, resp.Private)...)
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, resp.State)...)
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
