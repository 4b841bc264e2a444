package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
)

var (
	_ resource.Resource                = (*groupResource)(nil)
	_ resource.ResourceWithConfigure   = (*groupResource)(nil)
	_ resource.ResourceWithImportState = (*groupResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*groupResource)(nil)
)

func newGroupResource() resource.Resource { return &groupResource{} }

// groupResource is stream_processors_group.
type groupResource struct {
	session *session // nil while Terraform only asks for schemas or validates
}

func (r *groupResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_processors_group"
}

func (r *groupResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages the whole set of processors of each of many streams: for fleets of more than about a " +
			"thousand streams.",
		Attributes: map[string]schema.Attribute{
			"streams": schema.MapAttribute{
				ElementType: types.SetType{ElemType: types.StringType},
				Required:    true,
				MarkdownDescription: "The ids of the processors to attach to each stream, by stream id. An update sends only the sets " +
					"that differ. The rules for the ids are those of `stream_processors`.",
				Validators: []validator.Map{checkedGroup{}},
			},
			"on_destroy": onDestroyAttribute("What happens to a stream when the group is destroyed, or when the stream is removed from " +
				"`streams`: `detach` sends an empty set; `keep` sends nothing and leaves the processors attached."),
			"triggers":   triggersAttribute("all sets are"),
			"timeouts":   timeoutsAttribute(),
			"deployment": deploymentAttributeOfResource,
			"last_edited": schema.Int64Attribute{
				Computed: true,
				MarkdownDescription: "Time of the latest edit that the service reported for a stream of the group, in milliseconds " +
					"since 1970-01-01 UTC.",
			},
		},
	}
}

func (r *groupResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.session = providerSession(req.ProviderData, &resp.Diagnostics)
}

// ModifyPlan sends nothing without detect_drift. last_edited becomes unknown if the apply changes anything, because
// Terraform would not apply a group without a change.
func (r *groupResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	modifyPlan[*groupModel](ctx, r.session, req, resp)
}

// Create saves nothing if a stream fails: the next apply sends all sets again. A tainted group would be destroyed first.
func (r *groupResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, _, _, ok := decode[*groupModel](ctx, req.Plan, nil, nil, &resp.Diagnostics)
	if !ok {
		return
	}
	result, failed := attach(ctx, r.session, plan, nil, nil, plan.Timeouts.Create, &resp.Diagnostics)
	if failed {
		return
	}
	plan.LastEdited, plan.Deployment = types.Int64Null(), r.session.deploymentValue()
	plan.setEdited(result.reported)
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	resp.Diagnostics.Append(result.marks.save(ctx, resp.Private)...)
}

// Read sends nothing without detect_drift, as that of stream_processors.
func (r *groupResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if !r.session.readsStreams() {
		return
	}
	_, state, marks, ok := decode[*groupModel](ctx, nil, req.State, req.Private, &resp.Diagnostics)
	if !ok || state == nil {
		return
	}
	if r.session.elsewhere(state.Deployment) {
		return
	}
	ctx, cancel := withTimeLimit(ctx, state.Timeouts.Read, &resp.Diagnostics)
	defer cancel()
	report := newReport(ofGroup)
	kept := state.was(marks)
	found, gone := r.session.read(ctx, slices.Sorted(maps.Keys(kept)), marks, report)
	resp.Diagnostics.Append(report.diagnostics("The state was not changed.")...)
	if report.hasErrors() {
		return
	}
	maps.DeleteFunc(marks, func(_ string, m mark) bool { return m.Pending != claims.Unsent })
	for id, got := range found {
		kept[id] = claims.Entry{Set: got.ProcessorIDs}
	}
	for _, id := range gone {
		delete(kept, id)
		marks[id] = mark{Gone: true} // the plan of the apply is made by another process
	}
	state.setStreams(kept)
	state.setEdited(found)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	resp.Diagnostics.Append(marks.save(ctx, resp.Private)...)
}

// Update sends what the plan says. The state takes what succeeded.
func (r *groupResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan, state, found, ok := decode[*groupModel](ctx, req.Plan, req.State, req.Private, &resp.Diagnostics)
	if !ok {
		return
	}
	result, _ := attach(ctx, r.session, plan, state, found, plan.Timeouts.Update, &resp.Diagnostics)
	if !result.former {
		plan.LastEdited, plan.Deployment = state.LastEdited, r.session.deploymentValue()
		if r.session.elsewhere(state.Deployment) {
			plan.LastEdited = types.Int64Null()
		}
		if result.sentNone {
			plan.Deployment = state.Deployment
		}
		plan.setEdited(result.reported)
		plan.setStreams(result.kept)
		state = plan
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	resp.Diagnostics.Append(result.marks.save(ctx, resp.Private)...)
}

// Delete leaves the streams in the state that fail.
func (r *groupResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	_, state, found, ok := decode[*groupModel](ctx, nil, req.State, req.Private, &resp.Diagnostics)
	if !ok {
		return
	}
	result, failed := attach(ctx, r.session, nil, state, found, state.Timeouts.Delete, &resp.Diagnostics)
	if failed {
		state.setStreams(result.kept)
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
		resp.Diagnostics.Append(result.marks.save(ctx, resp.Private)...)
	}
}
