package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
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

// processorsResource is stream_processors.
type processorsResource struct {
	session *session // nil while Terraform only asks for schemas or validates
}

func (r *processorsResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_processors"
}

func (r *processorsResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages the whole set of processors that is attached to one stream: an update detaches every " +
			"processor that is not in `processor_ids`.",
		Attributes: map[string]schema.Attribute{
			"stream_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: streamIDDescription + " Changing this forces a new resource.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
				Validators:          streamIDRules,
			},
			"processor_ids": schema.SetAttribute{
				ElementType:         types.StringType,
				Required:            true,
				MarkdownDescription: processorIDsDescription,
				Validators:          processorIDsRules,
			},
			"on_destroy": onDestroyAttribute("What destroy does: `detach` sends an empty set; `keep` sends nothing and leaves " +
				"the processors attached."),
			"triggers": triggersAttribute("the set is"),
			"timeouts": timeoutsAttribute(),
			"id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Id of the stream, the same as `stream_id`.",
			},
			"terminal_id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Id of the terminal that the stream belongs to.",
			},
			"fragment_type_id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Id of the fragment type of the stream.",
			},
			"compatible_namespaces": schema.SetAttribute{
				ElementType:         types.StringType,
				Computed:            true,
				MarkdownDescription: "Namespaces that are compatible with the stream.",
			},
			"deployment": deploymentAttributeOfResource,
			"last_edited": schema.Int64Attribute{
				Computed:            true,
				MarkdownDescription: "Time of the last edit as the service reported it, in milliseconds since 1970-01-01 UTC.",
			},
		},
	}
}

func (r *processorsResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"stream_id": identityschema.StringAttribute{
				RequiredForImport: true,
				Description:       "Id of the stream.",
			},
		},
	}
}

func (r *processorsResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.session = providerSession(req.ProviderData, &resp.Diagnostics)
}

// ModifyPlan sends nothing without detect_drift.
func (r *processorsResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	modifyPlan[*processorsModel](ctx, r.session, req, resp)
}

// Create saves nothing if it fails: the next apply creates again, which sends the same set. A tainted resource would
// be destroyed first.
func (r *processorsResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, _, _, ok := decode[*processorsModel](ctx, req.Plan, nil, nil, &resp.Diagnostics)
	if !ok {
		return
	}
	result, failed := attach(ctx, r.session, plan, nil, nil, plan.Timeouts.Create, &resp.Diagnostics)
	if failed {
		return
	}
	plan.setReported(result.reported[plan.StreamID.ValueString()])
	plan.Deployment = r.session.deploymentValue()
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	resp.Diagnostics.Append(result.marks.save(ctx, resp.Private)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("stream_id"), plan.StreamID)...)
}

// Read sends nothing without detect_drift: the interface specifies no read, so the response to the last update is all
// that is known.
func (r *processorsResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	_, state, marked, ok := decode[*processorsModel](ctx, nil, req.State, req.Private, &resp.Diagnostics)
	if !ok || state == nil {
		return
	}
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("stream_id"), state.StreamID)...)
	if !r.session.readsStreams() || r.session.elsewhere(state.Deployment) {
		return
	}
	ctx, cancel := withTimeLimit(ctx, state.Timeouts.Read, &resp.Diagnostics)
	defer cancel()
	id := state.StreamID.ValueString()
	report := newReport(ofResource)
	found, gone := r.session.read(ctx, []string{id}, marked, report)
	resp.Diagnostics.Append(report.diagnostics("")...)
	if len(gone) > 0 {
		resp.State.RemoveResource(ctx)
	} else if got := found[id]; got != nil {
		state.setReported(got)
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
		resp.Diagnostics.Append(marks{}.save(ctx, resp.Private)...)
	}
}

// Update sends the set if the plan says so, and otherwise nothing.
func (r *processorsResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan, state, found, ok := decode[*processorsModel](ctx, req.Plan, req.State, req.Private, &resp.Diagnostics)
	if !ok {
		return
	}
	result, failed := attach(ctx, r.session, plan, state, found, plan.Timeouts.Update, &resp.Diagnostics)
	after := plan
	if failed {
		after = state
	}
	if got := result.reported[plan.StreamID.ValueString()]; got != nil {
		after.setReported(got)
	}
	if !failed {
		if !r.session.elsewhere(state.Deployment) {
			resp.Diagnostics.Append(diagnoseMoved(state, plan, r.session.client.Redact)...)
		}
		plan.Deployment = r.session.deploymentValue()
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, after)...)
	resp.Diagnostics.Append(result.marks.save(ctx, resp.Private)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("stream_id"), plan.StreamID)...)
}

// Delete keeps the resource in the state if it fails.
func (r *processorsResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	_, state, found, ok := decode[*processorsModel](ctx, nil, req.State, req.Private, &resp.Diagnostics)
	if !ok {
		return
	}
	// Terraform does not pass the identity to a destroy, and forgets it if the destroy fails without returning it.
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("stream_id"), state.StreamID)...)
	result, failed := attach(ctx, r.session, nil, state, found, state.Timeouts.Delete, &resp.Diagnostics)
	if !failed {
		return
	}
	if got := result.reported[state.StreamID.ValueString()]; got != nil {
		state.setReported(got)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	resp.Diagnostics.Append(result.marks.save(ctx, resp.Private)...)
}

// ImportState sends nothing: the state holds only the id. The rest comes from the read with detect_drift that follows, or
// from the response to the first update.
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
	if r.session != nil && r.session.deployment != "" {
		m.Deployment = r.session.deploymentValue()
	}
	if r.session.readsStreams() {
		resp.Diagnostics.Append(imported(m.ID.ValueString()).save(ctx, resp.Private)...)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}
