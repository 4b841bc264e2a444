package provider

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

var (
	_ resource.Resource                = (*processorsResource)(nil)
	_ resource.ResourceWithConfigure   = (*processorsResource)(nil)
	_ resource.ResourceWithIdentity    = (*processorsResource)(nil)
	_ resource.ResourceWithImportState = (*processorsResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*processorsResource)(nil)
	_ resource.ResourceWithMoveState   = (*processorsResource)(nil)
)

func newProcessorsResource() resource.Resource { return &processorsResource{} }

// processorsResource is stream_processors. Its schema is in processors_schema.go, its plan in
// processors_plan.go.
type processorsResource struct {
	session *session // nil while Terraform only asks for schemas or validates
}

const processorsTypeName = "stream_processors"

const defaultTimeout = 5 * time.Minute

func (r *processorsResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = processorsTypeName
}

func (r *processorsResource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.session, _ = req.ProviderData.(*session)
}

// Create saves nothing if it fails: the next apply creates again, which sends the same set. A tainted
// resource would be destroyed first.
func (r *processorsResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan *processorsModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeLimit(ctx, plan.Timeouts.Create, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}

	got, known, err := r.session.set(ctx, plan.StreamID.ValueString(), plan.processors(), false)
	if err != nil {
		resp.Diagnostics.Append(diagnoseSet(plan.StreamID.ValueString(), err, known))
		return
	}
	plan.setReported(got)
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, successorsKey, nil)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("stream_id"), plan.StreamID)...)
}

// Read sends nothing without detect_drift: the interface specifies no read, so the response to the
// last update is all that is known.
func (r *processorsResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var id types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("stream_id"), &id)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("stream_id"), id)...)
	if resp.Diagnostics.HasError() || !r.session.readsStreams() {
		return
	}
	var state *processorsModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeLimit(ctx, state.Timeouts.Read, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}

	got, err := r.session.client.ReadStream(ctx, id.ValueString())
	switch {
	case streamNotFound(err):
		resp.State.RemoveResource(ctx)
		r.session.ownership.markGone(id.ValueString())
		resp.Diagnostics.Append(streamGoneWarning(id.ValueString()))
	case err != nil:
		resp.Diagnostics.Append(diagnoseRead(id.ValueString(), err))
	default:
		state.setReported(got)
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, unconfirmedKey, nil)...)
	}
}

func (r *processorsResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state *processorsModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeLimit(ctx, plan.Timeouts.Update, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}

	if plan.LastEdited.IsUnknown() { // see planSet
		got, known, err := r.session.set(ctx, plan.StreamID.ValueString(), plan.processors(), true)
		if err != nil {
			resp.Diagnostics.Append(diagnoseUpdate(plan.StreamID.ValueString(), err, known))
			resp.Diagnostics.Append(keepState(ctx, state, known, &resp.State, resp.Private)...)
			return
		}
		plan.setReported(got)
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, unconfirmedKey, nil)...)
		resp.Diagnostics.Append(diagnoseMoved(state, plan, r.session.client.Redact)...)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("stream_id"), plan.StreamID)...)
}

func (r *processorsResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state *processorsModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	marks, diags := successors(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, successorsKey, nil)...) // a failed destroy keeps its private state
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeLimit(ctx, state.Timeouts.Delete, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}

	id, d := state.StreamID.ValueString(), state.departure()
	d.next = marks[id]
	known, err := r.session.leave(ctx, id, d)
	switch {
	case err == nil && known.abandoned != nil:
		resp.Diagnostics.Append(abandonedWarning(id, known))
	case err == nil:
	case asStreamError(err).Status == http.StatusNotFound:
		resp.Diagnostics.Append(notFoundOnDestroyWarning(id, err))
	default:
		resp.Diagnostics.Append(diagnoseDetach(id, err))
		resp.Diagnostics.Append(keepState(ctx, state, known, &resp.State, resp.Private)...)
	}
}

// ImportState sends nothing: the state holds only the id. The rest comes from a refresh with
// detect_drift, or from the response to the first update.
func (r *processorsResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("stream_id"), path.Root("stream_id"), req, resp)
	if resp.Diagnostics.HasError() {
		return
	}
	var m *processorsModel
	resp.Diagnostics.Append(resp.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := streams.CheckStreamID(m.StreamID.ValueString()); err != nil {
		resp.Diagnostics.Append(invalidImportID(m.StreamID.ValueString(), err))
		return
	}
	m.setDefaults()
	m.ID = m.StreamID
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// withTimeLimit bounds an operation by a time limit of its model, such as m.Timeouts.Create.
func withTimeLimit(ctx context.Context, limit func(context.Context, time.Duration) (time.Duration, diag.Diagnostics), diags *diag.Diagnostics) (context.Context, context.CancelFunc) {
	timeout, problems := limit(ctx, defaultTimeout)
	diags.Append(problems...)
	return context.WithTimeout(ctx, timeout)
}

// keepState keeps a resource in the state after a failed operation: with what the service reported in
// this run, or else unchanged, with a mark if the state may be untrue.
func keepState(ctx context.Context, m *processorsModel, known knowledge, state *tfsdk.State, private privateState) diag.Diagnostics {
	if known.unconfirmed {
		return private.SetKey(ctx, unconfirmedKey, []byte("true"))
	}
	if known.reported == nil {
		return nil
	}
	m.setReported(known.reported)
	diags := state.Set(ctx, m)
	diags.Append(private.SetKey(ctx, unconfirmedKey, nil)...)
	return diags
}

// privateState is the part of the framework's private state that is used here. The framework's own type
// is internal.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}
