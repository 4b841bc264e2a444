package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// This file can be deleted, with its test and its line in [NewServer]: every result stays the same, only slower. The
// gain is in DESIGN.md, "Performance".

// unchangedGroups answers the plan of a group whose proposed value equals the prior one, if the same plan as for every
// other group has nothing to say. The framework walks such a group several times.
type unchangedGroups struct {
	fullServer
	session func() *session // the configured session, or nil
	typ     attr.Type
}

func withUnchangedGroups(server tfprotov6.ProviderServer, p *streamProvider) tfprotov6.ProviderServer {
	full, ok := server.(fullServer)
	if !ok {
		return server
	}
	var resp resource.SchemaResponse
	new(groupResource).Schema(context.Background(), resource.SchemaRequest{}, &resp)
	return unchangedGroups{full, func() *session { return p.session }, resp.Schema.Type()}
}

func (u unchangedGroups) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if req.TypeName == "stream_processors_group" && len(req.PriorPrivate) == 0 && u.session() != nil && u.unchanged(ctx, req) {
		return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.PriorState}, nil
	}
	return u.fullServer.PlanResourceChange(ctx, req) // to plan an instance twice is the same as to plan it once
}

// unchanged plans a group as the framework would, if nothing is to be done. It reports false for whatever it does not know.
func (u unchangedGroups) unchanged(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) bool {
	typ := u.typ.TerraformType(ctx)
	prior, err := req.PriorState.Unmarshal(typ)
	if err != nil || prior.IsNull() {
		return false
	}
	if proposed, err := req.ProposedNewState.Unmarshal(typ); err != nil || !proposed.Equal(prior) {
		return false
	}
	state := u.model(ctx, prior)
	// Without on_destroy in the configuration, the proposed value has the prior one, and the framework plans the default.
	if state == nil || state.OnDestroy.ValueString() != onDestroyDetach {
		return false
	}
	plan := *state
	planned, diags := u.session().planGroup(ctx, &plan, state, nil)
	return len(planned) == 0 && len(diags) == 0 && plan.LastEdited.Equal(state.LastEdited) && plan.Deployment.Equal(state.Deployment)
}

// model returns nil if a group has other attributes than this file was written for.
func (u unchangedGroups) model(ctx context.Context, value tftypes.Value) *groupModel {
	decoded, err := u.typ.ValueFromTerraform(ctx, value)
	object, ok := decoded.(types.Object)
	attributes := object.Attributes()
	if err != nil || !ok || len(attributes) != 6 {
		return nil
	}
	var m groupModel
	var found [6]bool
	m.Streams, found[0] = attributes["streams"].(types.Map)
	m.OnDestroy, found[1] = attributes["on_destroy"].(types.String)
	m.Triggers, found[2] = attributes["triggers"].(types.Map)
	m.Timeouts, found[3] = attributes["timeouts"].(timeouts.Value)
	m.LastEdited, found[4] = attributes["last_edited"].(types.Int64)
	m.Deployment, found[5] = attributes["deployment"].(types.String)
	if found != [...]bool{true, true, true, true, true, true} {
		return nil
	}
	return &m
}
