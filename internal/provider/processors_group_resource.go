package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

var (
	_ resource.ResourceWithConfigure   = (*groupResource)(nil)
	_ resource.ResourceWithImportState = (*groupResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*groupResource)(nil)
	_ resource.ResourceWithMoveState   = (*groupResource)(nil)
)

func newGroupResource() resource.Resource {
	return &groupResource{attachment[groupModel, *groupModel]{of: report.SeveralStreams}}
}

type groupResource struct {
	attachment[groupModel, *groupModel]
}

type groupModel struct {
	attachmentModel

	Streams types.Map `tfsdk:"streams"`
}

func (m *groupModel) sets() session.Sets {
	if m.Streams.IsUnknown() || m.Streams.IsNull() {
		return nil
	}
	sets := session.Sets{}
	for id, v := range m.Streams.Elements() {
		set, _ := v.(types.Set) // the schema has no other elements
		sets[id] = knownSet(set)
	}
	return sets
}

// isRead holds for every group: an import without reads is refused.
func (*groupModel) isRead() bool { return true }

// planComputed makes last_edited unknown if the apply sends anything: Terraform applies no group without a change.
func (m *groupModel) planComputed(state *groupModel, here, sends bool) {
	m.LastEdited = types.Int64Unknown()
	if state != nil && here && !sends {
		m.LastEdited = state.LastEdited
	}
}

func (m *groupModel) record(kept session.Entries, reported map[string]*streams.Stream) {
	values := make(map[string]attr.Value, len(kept))
	for id, entry := range kept {
		values[id] = stringSet(entry.Set.IDs())
	}
	m.Streams = types.MapValueMust(stringSetType, values)
	for _, s := range reported {
		m.LastEdited = types.Int64Value(max(m.LastEdited.ValueInt64(), s.LastEdited))
	}
}

func (r *groupResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = groupName
}

func (r *groupResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages the sets of processors of many streams, for fleets of more than about a thousand " +
			"streams.",
		Attributes: attachmentAttributes(defaultGroupTimeout, map[string]schema.Attribute{
			"streams": schema.MapAttribute{
				ElementType: stringSetType,
				Required:    true,
				MarkdownDescription: "The ids of the processors to attach to each stream, by stream id. An update sends only the sets " +
					"that differ. The rules for the ids are those of `stream_processors`.",
				Validators: []validator.Map{checkedMap{streamIDRule, processorIDRule}},
			},
		}),
	}
}

// Create sends the set of each stream. If one fails, it saves nothing: Terraform would taint a group that is in the state.
func (r *groupResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.apply(ctx, timeouts.Value.Create, &req.Plan, nil, (*resource.UpdateResponse)(resp))
}

// Read sends nothing without detect_drift. A group whose streams are all gone stays in the state, without streams.
func (r *groupResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	r.read(ctx, req, resp, report.GroupImport)
}

// Update sends the sets that differ, and leaves the streams that are no longer in the map. The state records what succeeded.
func (r *groupResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	r.apply(ctx, timeouts.Value.Update, &req.Plan, &req.State, resp)
}

// Delete leaves all streams. The state keeps those that fail.
func (r *groupResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.apply(ctx, timeouts.Value.Delete, nil, &req.State, (*resource.UpdateResponse)(resp))
}

// ImportState sends nothing: the read with detect_drift that follows reads each stream.
func (r *groupResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resp.Diagnostics.Append(report.CannotRead(r.session.ReadRefusal(), report.GroupImport)...)
	if resp.Diagnostics.HasError() {
		return
	}
	ids, err := parseStreamIDs(req.ID)
	if err != nil {
		resp.Diagnostics.AddError("Invalid Stream IDs", fmt.Sprintf("The id of the import is wrong: %s. Write a list of stream ids in JSON, "+
			"or one id on each line.", err))
		return
	}
	kept := session.Entries{}
	for _, id := range ids {
		kept[id] = &claims.Entry{}
	}
	m := newModel[*groupModel](ctx, &resp.State)
	m.record(kept, nil)
	m.Deployment = r.deployment()
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(saveMarks(ctx, r.session.Imported(r.importsByCommand()), resp.Private)...)
}

func (r *groupResource) MoveState(context.Context) []resource.StateMover {
	return []resource.StateMover{moveOwn[groupModel, *groupModel](groupName), cannotMoveTo(groupName)}
}

// parseStreamIDs reads stream ids: a list in JSON, or one id on each line. The text may begin with a byte order mark.
func parseStreamIDs(text string) ([]string, error) {
	var ids []string
	if text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")); strings.HasPrefix(text, "[") {
		if err := json.Unmarshal([]byte(text), &ids); err != nil {
			return nil, fmt.Errorf("it is no list of texts in JSON: %w", err)
		}
	} else {
		for line := range strings.Lines(text) {
			if id := strings.TrimSpace(line); id != "" {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("it has no stream id")
	}
	for _, id := range ids {
		if err := streams.CheckStreamID(id); err != nil {
			return nil, fmt.Errorf("%q is not a stream id: it %w", id, err)
		}
	}
	return ids, nil
}
