package provider

import (
	"bytes"
	"context"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// This file can be deleted, with its test and its line in [NewServerWithDial]: every result stays the same, only slower. The
// gain is in DESIGN.md, "Performance".

// unchangedServer answers two calls about a resource without marks, which the framework walks several times: a refresh
// without detect_drift, and a plan whose proposed value equals the prior one, if the same plan as for every other
// resource has nothing to say. What it does not know, it leaves to the framework.
type unchangedServer struct {
	fullServer
	provider  *streamProvider
	resources map[string]unchangedResource
}

type unchangedResource struct {
	schema schema.Schema
	typ    tftypes.Type
	plan   func(ctx context.Context, s *session, state tfsdk.State) (unchanged bool)
}

func newUnchangedServer(server fullServer, p *streamProvider) unchangedServer {
	return unchangedServer{server, p, map[string]unchangedResource{
		"stream_processors":       newUnchanged[processorsModel](newProcessorsResource()),
		"stream_processors_group": newUnchanged[groupModel](newGroupResource()),
	}}
}

func newUnchanged[T any, M model[T]](r resource.Resource) unchangedResource {
	ctx := context.Background()
	var resp resource.SchemaResponse
	r.Schema(ctx, resource.SchemaRequest{}, &resp)
	return unchangedResource{resp.Schema, resp.Schema.Type().TerraformType(ctx), planUnchanged[T, M]}
}

func (u unchangedServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	r, known := u.resources[req.TypeName]
	if !known || len(req.Private) > 0 || u.provider.session == nil || u.provider.session.readsStreams() {
		return u.fullServer.ReadResource(ctx, req)
	}
	state, ok := r.decode(req.CurrentState)
	identity := identityOf(state)
	if !ok || req.CurrentIdentity != nil && (identity == nil || !bytes.Equal(identity.IdentityData.MsgPack, req.CurrentIdentity.IdentityData.MsgPack)) {
		return u.fullServer.ReadResource(ctx, req)
	}
	return &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, NewIdentity: identity}, nil
}

func (u unchangedServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	r, known := u.resources[req.TypeName]
	if !known || len(req.PriorPrivate) > 0 || u.provider.session == nil {
		return u.fullServer.PlanResourceChange(ctx, req)
	}
	state, ok := r.decode(req.PriorState)
	proposed, alsoOK := r.decode(req.ProposedNewState)
	if !ok || !alsoOK || !proposed.Raw.Equal(state.Raw) || !r.plan(ctx, u.provider.session, state) {
		return u.fullServer.PlanResourceChange(ctx, req) // to plan an instance twice is the same as to plan it once
	}
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.PriorState, PlannedIdentity: req.PriorIdentity}, nil
}

// decode reports false for no value, and for one of another form.
func (r unchangedResource) decode(value *tfprotov6.DynamicValue) (tfsdk.State, bool) {
	decoded, err := value.Unmarshal(r.typ)
	return tfsdk.State{Raw: decoded, Schema: r.schema}, err == nil && !decoded.IsNull()
}

// planUnchanged plans a resource as the framework would, if nothing is to be done.
func planUnchanged[T any, M model[T]](ctx context.Context, s *session, values tfsdk.State) bool {
	var state, plan M
	if values.Get(ctx, &state).HasError() || values.Get(ctx, &plan).HasError() {
		return false
	}
	// Without on_destroy in the configuration, the proposed value has the prior one, and the framework plans the default.
	if state.common().OnDestroy.ValueString() != onDestroyDetach {
		return false
	}
	planned, diags := planModel(ctx, s, plan, state, nil)
	return len(planned) == 0 && len(diags) == 0 && reflect.DeepEqual(plan, state)
}

// identityOf returns nil for a group, and for a state that is not readable.
func identityOf(state tfsdk.State) *tfprotov6.ResourceIdentityData {
	typ := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"stream_id": tftypes.String}}
	attributes := map[string]tftypes.Value{}
	if state.Raw.As(&attributes) != nil || attributes["stream_id"].IsNull() {
		return nil
	}
	encoded, err := tfprotov6.NewDynamicValue(typ, tftypes.NewValue(typ, map[string]tftypes.Value{"stream_id": attributes["stream_id"]}))
	if err != nil {
		return nil
	}
	return &tfprotov6.ResourceIdentityData{IdentityData: &encoded}
}
