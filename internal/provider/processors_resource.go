package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/moved"
	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

var (
	_ resource.ResourceWithConfigure   = (*processorsResource)(nil)
	_ resource.ResourceWithIdentity    = (*processorsResource)(nil)
	_ resource.ResourceWithImportState = (*processorsResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*processorsResource)(nil)
	_ resource.ResourceWithMoveState   = (*processorsResource)(nil)
)

func newProcessorsResource() resource.Resource {
	return &processorsResource{attachment[processorsModel, *processorsModel]{of: report.OneStream}}
}

type processorsResource struct {
	attachment[processorsModel, *processorsModel]
}

type processorsModel struct {
	attachmentModel
	streamModel
}

// streamModel has the attributes of one stream in the resource and in the data source.
type streamModel struct {
	StreamID             types.String `tfsdk:"stream_id"`
	ProcessorIDs         types.Set    `tfsdk:"processor_ids"`
	ID                   types.String `tfsdk:"id"`
	TerminalID           types.String `tfsdk:"terminal_id"`
	FragmentTypeID       types.String `tfsdk:"fragment_type_id"`
	CompatibleNamespaces types.Set    `tfsdk:"compatible_namespaces"`
}

func (m *streamModel) record(s *streams.Stream) {
	m.ID = types.StringValue(s.ID)
	m.TerminalID = types.StringValue(s.TerminalID)
	m.FragmentTypeID = types.StringValue(s.FragmentTypeID)
	m.ProcessorIDs = stringSet(s.ProcessorIDs.IDs())
	m.CompatibleNamespaces = stringSet(s.CompatibleNamespaces)
}

// sets has no stream if its id is known after apply.
func (m *processorsModel) sets() session.Sets {
	if m.StreamID.IsUnknown() || m.StreamID.IsNull() {
		return nil
	}
	return session.Sets{m.StreamID.ValueString(): knownSet(m.ProcessorIDs)}
}

func (m *processorsModel) isRead() bool { return !m.ProcessorIDs.IsNull() }

func (m *processorsModel) planComputed(state *processorsModel, here, sends bool) {
	m.ID = m.StreamID
	m.TerminalID, m.FragmentTypeID = types.StringUnknown(), types.StringUnknown()
	m.CompatibleNamespaces, m.LastEdited = types.SetUnknown(types.StringType), types.Int64Unknown()
	switch {
	case state == nil || !m.StreamID.Equal(state.StreamID): // a new stream
	case !here:
		m.ID = orUnknown(state.ID)
	case sends: // an update has no reason to change where a stream belongs, but an imported state does not know it yet
		m.ID, m.TerminalID, m.FragmentTypeID = orUnknown(state.ID), orUnknown(state.TerminalID), orUnknown(state.FragmentTypeID)
	default:
		m.ID, m.TerminalID, m.FragmentTypeID = state.ID, state.TerminalID, state.FragmentTypeID
		m.CompatibleNamespaces, m.LastEdited = state.CompatibleNamespaces, state.LastEdited
	}
}

func orUnknown(s types.String) types.String {
	if s.IsNull() {
		return types.StringUnknown()
	}
	return s
}

func (m *processorsModel) record(_ session.Entries, reported map[string]*streams.Stream) {
	if s := reported[m.StreamID.ValueString()]; s != nil {
		m.streamModel.record(s)
		m.LastEdited = types.Int64Value(s.LastEdited)
	}
}

func (r *processorsResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = singleName
}

func (r *processorsResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	streamID := streamIDAttribute
	streamID.MarkdownDescription += " Changing this forces a new resource, and so does an id that is known after apply."
	streamID.PlanModifiers = []planmodifier.String{stringplanmodifier.RequiresReplace()}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages the whole set of processors that is attached to one stream: an update detaches every " +
			"processor that is not in `processor_ids`.",
		Attributes: attachmentAttributes(defaultTimeout, map[string]schema.Attribute{
			"stream_id":        streamID,
			"processor_ids":    processorIDsAttribute,
			"id":               computedString(idDescription),
			"terminal_id":      computedString(terminalIDDescription),
			"fragment_type_id": computedString(fragmentTypeIDDescription),
			"compatible_namespaces": computedSet(namespacesDescription + " Each update makes them known after apply, so plans " +
				"with `for_each` over them fail. Use `for_each` over namespaces that you name."),
		}),
	}
}

func (r *processorsResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"stream_id": identityschema.StringAttribute{RequiredForImport: true, Description: "Id of the stream."},
		},
	}
}

// Create sends the set. It saves nothing if it fails: the next apply creates again, which sends the same set. A tainted resource
// would be destroyed first.
func (r *processorsResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.apply(ctx, timeouts.Value.Create, &req.Plan, nil, (*resource.UpdateResponse)(resp))
}

// Read sends nothing without detect_drift: the interface specifies no read, so the response to the last update is all that is
// known.
func (r *processorsResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if gone := r.read(ctx, req, resp, report.Import); gone {
		resp.State.RemoveResource(ctx)
	}
}

// Update sends the set, unless only on_create, on_destroy or timeouts have changed. It is an error if the stream has another terminal or
// fragment type than the plan promised. The state has the new one, so that the error comes once.
func (r *processorsResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	r.apply(ctx, timeouts.Value.Update, &req.Plan, &req.State, resp)
	if resp.Diagnostics.HasError() {
		return
	}
	var planned, now processorsModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	resp.Diagnostics.Append(resp.State.Get(ctx, &now)...)
	compare := func(name string, was, is types.String) {
		if !was.IsUnknown() && !was.Equal(is) {
			resp.Diagnostics.Append(report.UnexpectedChange(
				now.StreamID.ValueString(), name, r.session.Redact(was.String()), r.session.Redact(is.String())))
		}
	}
	compare("terminal_id", planned.TerminalID, now.TerminalID)
	compare("fragment_type_id", planned.FragmentTypeID, now.FragmentTypeID)
}

// Delete sends the empty set, or nothing with on_destroy = "keep", or where another resource has the stream.
func (r *processorsResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.apply(ctx, timeouts.Value.Delete, nil, &req.State, (*resource.UpdateResponse)(resp))
}

// ImportState sends nothing: the state holds only the id. The rest comes from the read with detect_drift that follows,
// or from the response to the first update.
func (r *processorsResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("stream_id"), path.Root("stream_id"), req, resp)
	m := newModel[*processorsModel](ctx, &resp.State)
	resp.Diagnostics.Append(streamIDRule.problems(path.Root("stream_id"), types.StringValue(m.StreamID.ValueString()))...)
	if resp.Diagnostics.HasError() {
		return
	}
	m.ID, m.Deployment = m.StreamID, r.deployment()
	if !r.session.DetectsDrift() {
		resp.Diagnostics.Append(r.report.ImportNotRead()...)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(saveMarks(ctx, r.session.Imported(r.importsByCommand()), resp.Private)...)
}

func (r *processorsResource) MoveState(context.Context) []resource.StateMover {
	return []resource.StateMover{moveOwn[processorsModel, *processorsModel](singleName), {StateMover: moveState}, cannotMoveTo(singleName)}
}

func moveState(ctx context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse) {
	if !moved.CanRead(req.SourceTypeName, req.SourceProviderAddress) {
		return
	}
	found, err := moved.Read(req.SourceTypeName, req.SourceSchemaVersion, req.SourceRawState.JSON)
	id := types.StringPointerValue(found.ID)
	if err != nil {
		resp.Diagnostics.Append(cannotMoveRequest(req.SourceTypeName, id.ValueString(), err))
		return
	}
	m := newModel[*processorsModel](ctx, &resp.TargetState)
	m.StreamID, m.ID = id, id
	if found.ProcessorIDs != nil {
		m.ProcessorIDs = stringSet(found.ProcessorIDs.IDs())
	}
	if found.CompatibleNamespaces != nil {
		m.CompatibleNamespaces = stringSet(found.CompatibleNamespaces.IDs())
	}
	m.TerminalID = types.StringPointerValue(found.TerminalID)
	m.FragmentTypeID = types.StringPointerValue(found.FragmentTypeID)
	m.LastEdited = types.Int64PointerValue((*int64)(found.LastEdited))
	resp.Diagnostics.Append(resp.TargetState.Set(ctx, m)...)
	resp.Diagnostics.Append(setIdentity(ctx, resp.TargetIdentity, resp.TargetState)...)
}
