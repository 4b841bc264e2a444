package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
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

type processorsResource struct {
	session *session // nil while only schemas and configurations are looked at
}

const processorsTypeName = "stream_processors"

// Values of on_destroy.
const (
	onDestroyDetach = "detach"
	onDestroyKeep   = "keep"
)

const defaultTimeout = 5 * time.Minute

// Keys of the private state. Neither is there in the state of a resource that is as it should be.
const (
	// unconfirmedKey marks a state that the service may have left behind: an update or a destroy
	// failed, but may have taken effect. Until an answer settles it, each plan sends the set again.
	unconfirmedKey = "unconfirmed"
	// keptKey marks, from plan to apply, a destroy that must not change the stream, because another
	// resource relies on it. Its value is that one's set.
	keptKey = "kept"
)

func (r *processorsResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = processorsTypeName
}

func (r *processorsResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The set of processors that is attached to one stream. The set is managed as a whole: what is " +
			"attached beside it gets detached by the next update.",
		Attributes: map[string]schema.Attribute{
			"stream_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: streamIDDescription + " Another id makes Terraform replace the resource.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
				Validators:          streamIDRules,
			},
			"processor_ids": schema.SetAttribute{
				ElementType:         types.StringType,
				Required:            true,
				MarkdownDescription: "Ids of the processors to attach, in any order. An empty set detaches all of them.",
				Validators:          processorIDsRules,
			},
			"on_destroy": schema.StringAttribute{
				Optional: true,
				Computed: true,
				Default:  stringdefault.StaticString(onDestroyDetach),
				MarkdownDescription: "What a destroy does: `detach` sends an empty set, `keep` sends nothing and leaves the " +
					"processors attached. A destroy goes by the value that was applied last. Default: `detach`.",
				Validators: onDestroyRules,
			},
			"triggers": schema.MapAttribute{
				ElementType:         types.StringType,
				Optional:            true,
				MarkdownDescription: "Any values; when one changes, the set is sent again, in place. Default: none.",
			},
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
			"last_edited": schema.Int64Attribute{
				Computed:            true,
				MarkdownDescription: "Time of the last edit as the service reported it, in milliseconds since 1970-01-01 UTC.",
			},
		},
	}
}

// timeoutsAttribute is the framework's own, but for the validators: those accept a negative limit, and
// do not say which limit they refuse.
func timeoutsAttribute() schema.Attribute {
	limit := func(doing string) schema.Attribute {
		return schema.StringAttribute{
			Optional: true,
			MarkdownDescription: fmt.Sprintf(
				"Time limit for %s, retries included, as a duration such as `30s` or `10m`. Default: `5m`.", doing),
			Validators: []validator.String{checked("a time limit", checkTimeout)},
		}
	}
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Time limits of the operations. Default: `5m` each.",
		CustomType: timeouts.Type{ObjectType: types.ObjectType{AttrTypes: map[string]attr.Type{
			"create": types.StringType,
			"read":   types.StringType,
			"update": types.StringType,
			"delete": types.StringType,
		}}},
		Attributes: map[string]schema.Attribute{
			"create": limit("creating"),
			"read":   limit("reading (only with `detect_drift`)"),
			"update": limit("updating"),
			"delete": limit("destroying"),
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

func (r *processorsResource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.session, _ = req.ProviderData.(*session)
}

// ModifyPlan shows what a change will do, and takes note of it for the rest of the run.
func (r *processorsResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if r.session == nil {
		return
	}
	var plan, state *processorsModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if req.Plan.Raw.IsNull() {
		r.planDestroy(ctx, state, resp)
		return
	}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	unconfirmed, diags := req.Private.GetKey(ctx, unconfirmedKey)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := r.session.plan(plan, state, unconfirmed != nil); err != nil {
		resp.Diagnostics.Append(diagnose("", err))
		return
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, plan.object())...)

	created := req.State.Raw.IsNull()
	switch {
	case created && r.session.reads() && known(plan.StreamID):
		resp.Diagnostics.Append(r.lookBeforeCreate(ctx, plan)...)
	case created:
	case !plan.StreamID.Equal(state.StreamID):
		r.planDestroy(ctx, state, resp) // Terraform will not ask about this half of a replacement again
	case unconfirmed != nil && plan.repeats(state):
		resp.Diagnostics.AddWarning("Outcome of an Earlier Operation Unknown", fmt.Sprintf(
			"An update or destroy of stream %q failed in a way that leaves open whether it took effect, so the stream may "+
				"not be as the state says. The plan is to send its set again.", state.StreamID.ValueString()))
	}
}

// plan decides whether a set will be sent, and shows it in the planned resource: last_edited is unknown
// then, and only then. Create and Update go by that. The state is empty before a create.
func (s *session) plan(planned, state *processorsModel, unconfirmed bool) error {
	if known(planned.StreamID) && fullyKnown(planned.ProcessorIDs) {
		if err := s.ownership.claimSet(planned.StreamID.ValueString(), planned.processors()); err != nil {
			return err
		}
	}
	planned.ID = planned.StreamID
	planned.TerminalID, planned.FragmentTypeID = types.StringUnknown(), types.StringUnknown()
	planned.CompatibleNamespaces, planned.LastEdited = types.SetUnknown(types.StringType), types.Int64Unknown()
	if !planned.StreamID.Equal(state.StreamID) {
		return nil
	}
	if planned.repeats(state) && !unconfirmed && s.ownership.keep(state.StreamID.ValueString()) {
		planned.TerminalID, planned.FragmentTypeID = state.TerminalID, state.FragmentTypeID
		planned.CompatibleNamespaces, planned.LastEdited = state.CompatibleNamespaces, state.LastEdited
		return nil
	}
	// An update leaves a stream where it is. An imported state does not know where that is.
	if !state.TerminalID.IsNull() {
		planned.TerminalID = state.TerminalID
	}
	if !state.FragmentTypeID.IsNull() {
		planned.FragmentTypeID = state.FragmentTypeID
	}
	return nil
}

// planDestroy marks a destroy whose stream another resource relies on.
func (r *processorsResource) planDestroy(ctx context.Context, state *processorsModel, resp *resource.ModifyPlanResponse) {
	if kept := r.session.ownership.release(state.StreamID.ValueString(), state.leaves()); kept != nil {
		value, _ := json.Marshal(kept) // texts always encode
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, keptKey, value)...)
	}
}

// lookBeforeCreate reads the stream that a create is going to take over.
func (r *processorsResource) lookBeforeCreate(ctx context.Context, plan *processorsModel) diag.Diagnostics {
	timeout, diags := plan.Timeouts.Read(ctx, defaultTimeout)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	id := plan.StreamID.ValueString()
	found, err := r.session.client.ReadStream(ctx, id)
	if err != nil {
		diags.Append(diagnoseRead(id, err))
		return diags
	}
	if !fullyKnown(plan.ProcessorIDs) {
		return diags
	}
	wanted := plan.processors()
	lost := slices.DeleteFunc(found.ProcessorIDs.IDs(), func(id string) bool { return slices.Contains(wanted, id) })
	if len(lost) > 0 {
		diags.AddAttributeWarning(path.Root("processor_ids"), "Processors Will Be Detached", fmt.Sprintf(
			"Stream %q has processors that are not in processor_ids, and the create detaches them: %s. Add them to "+
				"processor_ids to keep them. If another configuration manages them, let only one manage the stream.",
			id, listed(lost)))
	}
	return diags
}

func (r *processorsResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	if diags, tried := ctx.Value(createdKey{}).(diag.Diagnostics); tried {
		resp.Diagnostics = diags
		return
	}
	var plan *processorsModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(r.session.create(ctx, plan)...)
	if resp.Diagnostics.HasError() {
		return // and save nothing: the next apply just sends again
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, plan.object())...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identityOf(plan.StreamID))...)
}

// createdKey finds, in the context of a create, what came of it if it has been tried already.
type createdKey struct{}

// create sends the set of a planned resource, which becomes what the service reports.
func (s *session) create(ctx context.Context, plan *processorsModel) diag.Diagnostics {
	timeout, diags := plan.Timeouts.Create(ctx, defaultTimeout)
	if diags.HasError() {
		return diags
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	got, _, err := s.set(ctx, plan.StreamID.ValueString(), plan.processors(), false)
	if err != nil {
		diags.Append(diagnose(fmt.Sprintf("the processors of stream %q could not be set", plan.StreamID.ValueString()), err))
		return diags
	}
	plan.take(got)
	return diags
}

// Read sends nothing without detect_drift: the interface document specifies no read, so the answer
// to the last update is the best that is known.
func (r *processorsResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var id types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("stream_id"), &id)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("stream_id"), id)...)
	if resp.Diagnostics.HasError() || !r.session.reads() {
		return
	}
	var state *processorsModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := state.Timeouts.Read(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	got, err := r.session.client.ReadStream(ctx, state.StreamID.ValueString())
	if err != nil {
		if missing(err) {
			resp.State.RemoveResource(ctx)
			resp.Diagnostics.AddWarning("Stream Is Gone", fmt.Sprintf(
				"The service knows no stream %q any more, so it was removed from the state.", state.StreamID.ValueString()))
			return
		}
		resp.Diagnostics.Append(diagnoseRead(state.StreamID.ValueString(), err))
		return
	}
	state.take(got)
	resp.Diagnostics.Append(resp.State.Set(ctx, state.object())...)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, unconfirmedKey, nil)...)
}

func (r *processorsResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state *processorsModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := plan.Timeouts.Update(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if !plan.LastEdited.IsUnknown() {
		resp.Diagnostics.Append(resp.State.Set(ctx, plan.object())...) // nothing that the service needs to know
		resp.Diagnostics.Append(resp.Identity.Set(ctx, identityOf(plan.StreamID))...)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	got, uncertain, err := r.session.set(ctx, plan.StreamID.ValueString(), plan.processors(), true)
	if err != nil {
		resp.Diagnostics.Append(diagnose(fmt.Sprintf("the processors of stream %q could not be updated", plan.StreamID.ValueString()), err))
		resp.Diagnostics.Append(retain(ctx, state, got, uncertain, &resp.State, resp.Private)...)
		return
	}
	plan.take(got)
	resp.Diagnostics.Append(resp.State.Set(ctx, plan.object())...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identityOf(plan.StreamID))...)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, unconfirmedKey, nil)...)
	resp.Diagnostics.Append(relocated(state, plan)...)
}

func (r *processorsResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state *processorsModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := state.Timeouts.Delete(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	var kept []string
	if value, _ := req.Private.GetKey(ctx, keptKey); value != nil {
		_ = json.Unmarshal(value, &kept) // planDestroy wrote it
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	id := state.StreamID.ValueString()
	last, uncertain, err := r.session.leave(ctx, id, state.processors(), state.leaves(), kept)
	switch {
	case err == nil:
	case missing(err):
	case asStreamError(err).Status == http.StatusNotFound:
		resp.Diagnostics.AddWarning("Stream Not Found", fmt.Sprintf(
			"Stream %q counts as gone, because the answer to its destroy was 404 Not Found. But the answer did not have the "+
				"form of the service's own errors: if the stream should still be there, check base_url.\n\n%s",
			id, exchanged(asStreamError(err))))
	default:
		resp.Diagnostics.Append(diagnoseDetach(id, err))
		resp.Diagnostics.Append(retain(ctx, state, last, uncertain, &resp.State, resp.Private)...)
	}
}

// ImportState sends nothing: the state holds the id, and the rest comes from a read (with
// detect_drift) or from the answer to the first update.
func (r *processorsResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("stream_id"), path.Root("stream_id"), req, resp)
	var id types.String
	resp.Diagnostics.Append(resp.State.GetAttribute(ctx, path.Root("stream_id"), &id)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := streams.CheckStreamID(id.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("stream_id"), "Invalid Stream ID",
			fmt.Sprintf("%q cannot be imported: a stream id %s.", id.ValueString(), err))
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("on_destroy"), onDestroyDetach)...)
}

// retain makes the state of a resource whose operation failed say what is known of its stream: what
// the service reported in this run, or else what it was before, with a mark if that is in doubt.
func retain(ctx context.Context, m *processorsModel, last *streams.Stream, uncertain bool, state *tfsdk.State, private privateState) diag.Diagnostics {
	if uncertain {
		return private.SetKey(ctx, unconfirmedKey, []byte("true"))
	}
	if last == nil {
		return nil
	}
	m.take(last)
	diags := state.Set(ctx, m.object())
	diags.Append(private.SetKey(ctx, unconfirmedKey, nil)...)
	return diags
}

// privateState is the part of the framework's private state, an internal type, that is needed here.
type privateState interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// relocated reports, once, that an update came back from another place: the plan had promised the
// old one to whatever depends on it.
func relocated(before, after *processorsModel) diag.Diagnostics {
	var diags diag.Diagnostics
	for name, values := range map[string][2]types.String{
		"terminal_id":      {before.TerminalID, after.TerminalID},
		"fragment_type_id": {before.FragmentTypeID, after.FragmentTypeID},
	} {
		if old, now := values[0], values[1]; !old.IsNull() && !old.Equal(now) {
			diags.AddAttributeError(path.Root(name), "Unexpected Change of the Stream", fmt.Sprintf(
				"The processors of stream %q were set, but its %s has changed from %s to %s outside of Terraform. The state "+
					"has the new value. Apply again, so that what depends on it sees it too.\n\n%s",
				after.StreamID.ValueString(), name, old, now, outcome(streams.Changed)))
		}
	}
	return diags
}

// missing reports whether the service itself said that there is no such stream. A 404 of another form
// may come from whatever is in between, and be about the route.
func missing(err error) bool {
	e := asStreamError(err)
	return e.Status == http.StatusNotFound && e.Documented
}
