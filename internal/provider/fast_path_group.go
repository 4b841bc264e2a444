package provider

import (
	"bytes"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// This file can be deleted before fast_path.go, with its test and its line in [NewServer]: every result stays
// the same, only slower. The gain is in DESIGN.md, "Performance".

// groupFastPath handles the refresh of a group that reads nothing, and the plan of a group without changes,
// itself. The framework handles every other call.
type groupFastPath struct {
	fullServer
	session func() *session // the configured session, or nil
	object  tftypes.Type
}

// withGroupFastPath returns the server itself if the group's schema is not the one that this file was written for.
func withGroupFastPath(server tfprotov6.ProviderServer, r resource.Resource, session func() *session) tfprotov6.ProviderServer {
	want := schema.Schema{Attributes: map[string]schema.Attribute{
		"streams":     schema.MapAttribute{Required: true, ElementType: types.SetType{ElemType: types.StringType}},
		"on_destroy":  schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(onDestroyDetach)},
		"triggers":    schema.MapAttribute{Optional: true, ElementType: types.StringType},
		"timeouts":    timeoutsAttribute(),
		"last_edited": schema.Int64Attribute{Computed: true},
	}}
	var got resource.SchemaResponse
	r.Schema(context.Background(), resource.SchemaRequest{}, &got)
	full, ok := server.(fullServer)
	fast := &groupFastPath{full, session, got.Schema.Type().TerraformType(context.Background())}
	if !ok || !hidesNothing(fast, server) || outline(got.Schema) != outline(want) {
		return server
	}
	return fast
}

func (f *groupFastPath) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	if f.handles(req.TypeName, req.Private) && !f.session().readsStreams() {
		return &tfprotov6.ReadResourceResponse{NewState: req.CurrentState}, nil
	}
	return f.fullServer.ReadResource(ctx, req)
}

// PlanResourceChange lets the framework repeat a plan with changes: planning an instance twice is the same as
// planning it once.
func (f *groupFastPath) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if f.handles(req.TypeName, req.PriorPrivate) && f.unchanged(ctx, req) {
		return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.ProposedNewState}, nil
	}
	return f.fullServer.PlanResourceChange(ctx, req)
}

func (f *groupFastPath) handles(typeName string, private []byte) bool {
	return typeName == groupTypeName && len(private) == 0 && f.session() != nil
}

// unchanged plans a group, and reports whether the plan has neither changes nor diagnostics.
func (f *groupFastPath) unchanged(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) bool {
	if !bytes.Equal(req.PriorState.MsgPack, req.ProposedNewState.MsgPack) {
		return false
	}
	state, sets, ok := f.decode(req.PriorState)
	if !ok || len(sets) > largeGroup {
		return false
	}
	// The proposed state has the old on_destroy if the configuration has none; the framework plans the default.
	if !state["on_destroy"].Equal(tftypes.NewValue(tftypes.String, onDestroyDetach)) {
		return false
	}
	for _, id := range sets.ids() {
		if send, _, diags := f.session().planStream(ctx, id, sets.known(id), true, false); send || diags != nil {
			return false
		}
	}
	return true
}

// decode returns the attributes of a group that exists, and its sets.
func (f *groupFastPath) decode(value *tfprotov6.DynamicValue) (group map[string]tftypes.Value, sets groupSets, ok bool) {
	object, err := value.Unmarshal(f.object)
	var elements map[string]tftypes.Value
	if err != nil || object.As(&group) != nil || group == nil || group["streams"].As(&elements) != nil {
		return nil, nil, false
	}
	sets = groupSets{}
	for id, set := range elements {
		var processors []tftypes.Value
		if set.As(&processors) != nil {
			return nil, nil, false
		}
		ids := make([]string, len(processors))
		for i, processor := range processors {
			if processor.As(&ids[i]) != nil {
				return nil, nil, false
			}
		}
		sets[id] = streams.NewProcessorSet(ids...)
	}
	return group, sets, true
}
