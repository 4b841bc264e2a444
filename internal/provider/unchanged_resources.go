package provider

import (
	"context"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// This file can be deleted, with its test and its line in [NewServer]: every result stays the same, only slower. The
// gain is in DESIGN.md, "Performance".

// unchangedServer answers the plan of a resource whose proposed value equals the prior one, if the same plan as for
// every other resource has nothing to say. The framework walks such a resource several times.
type unchangedServer struct {
	fullServer
	session   func() *session // the configured session, or nil
	unchanged map[string]func(context.Context, *session, *tfprotov6.PlanResourceChangeRequest) bool
}

func withUnchangedResources(server tfprotov6.ProviderServer, p *streamProvider) tfprotov6.ProviderServer {
	full, ok := server.(fullServer)
	if !ok {
		return server
	}
	return unchangedServer{full, func() *session { return p.session },
		map[string]func(context.Context, *session, *tfprotov6.PlanResourceChangeRequest) bool{
			"stream_processors":       unchanged[*processorsModel](newProcessorsResource()),
			"stream_processors_group": unchanged[*groupModel](newGroupResource()),
		}}
}

func (u unchangedServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	unchanged := u.unchanged[req.TypeName]
	if unchanged != nil && len(req.PriorPrivate) == 0 && u.session() != nil && unchanged(ctx, u.session(), req) {
		return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.PriorState, PlannedIdentity: req.PriorIdentity}, nil
	}
	return u.fullServer.PlanResourceChange(ctx, req) // to plan an instance twice is the same as to plan it once
}

// unchanged returns a function that plans a resource as the framework would, if nothing is to be done. It reports
// false for whatever it does not know.
func unchanged[M model[M]](r resource.Resource) func(context.Context, *session, *tfprotov6.PlanResourceChangeRequest) bool {
	var resp resource.SchemaResponse
	r.Schema(context.Background(), resource.SchemaRequest{}, &resp)
	typ := resp.Schema.Type().TerraformType(context.Background())
	return func(ctx context.Context, s *session, req *tfprotov6.PlanResourceChangeRequest) bool {
		prior, err := req.PriorState.Unmarshal(typ)
		if err != nil || prior.IsNull() {
			return false
		}
		if proposed, err := req.ProposedNewState.Unmarshal(typ); err != nil || !proposed.Equal(prior) {
			return false
		}
		var state, plan M
		value := tfsdk.State{Raw: prior, Schema: resp.Schema}
		// Without on_destroy in the configuration, the proposed value has the prior one, and the framework plans the default.
		if value.Get(ctx, &state).HasError() || value.Get(ctx, &plan).HasError() || state.common().OnDestroy.ValueString() != onDestroyDetach {
			return false
		}
		planned, diags := planModel(ctx, s, plan, state, nil)
		return len(planned) == 0 && len(diags) == 0 && reflect.DeepEqual(plan, state)
	}
}
