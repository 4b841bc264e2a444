package provider

import (
	"bytes"
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// This file can be deleted, with its test and its line in [NewServer]: every result stays the same, only slower. The
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

type object = map[string]tftypes.Value

func newUnchangedServer(server fullServer, p *streamProvider) unchangedServer {
	u := unchangedServer{server, p, map[string]unchangedResource{}}
	u.add("stream_processors", newProcessorsResource(), planUnchanged[processorsModel])
	u.add("stream_processors_group", newGroupResource(), planUnchanged[groupModel])
	return u
}

func (u unchangedServer) add(name string, of resource.Resource, plan func(context.Context, *session, tfsdk.State) bool) {
	ctx, resp := context.Background(), resource.SchemaResponse{}
	of.Schema(ctx, resource.SchemaRequest{}, &resp)
	u.resources[name] = unchangedResource{resp.Schema, resp.Schema.Type().TerraformType(ctx), plan}
}

func (u unchangedServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	r, ok := u.resources[req.TypeName]
	if !ok || len(req.Private) > 0 || u.provider.session == nil || u.provider.session.readsStreams() {
		return u.fullServer.ReadResource(ctx, req)
	}
	_, attributes, ok := r.decode(req.CurrentState)
	identity := identityOf(attributes)
	if !ok || req.CurrentIdentity != nil && (identity == nil || !bytes.Equal(identity.IdentityData.MsgPack, req.CurrentIdentity.IdentityData.MsgPack)) {
		return u.fullServer.ReadResource(ctx, req)
	}
	if !u.provider.session.readUnshared(attributes) {
		return u.fullServer.ReadResource(ctx, req)
	}
	return &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, NewIdentity: identity}, nil
}

func (u unchangedServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	r, ok := u.resources[req.TypeName]
	if !ok || len(req.PriorPrivate) > 0 || u.provider.session == nil {
		return u.fullServer.PlanResourceChange(ctx, req)
	}
	state, attributes, ok := r.decode(req.PriorState)
	unchanged := ok && reflect.DeepEqual(req.ProposedNewState, req.PriorState) && hasDefaults(attributes)
	if !unchanged || !r.plan(ctx, u.provider.session, state) {
		return u.fullServer.PlanResourceChange(ctx, req) // to plan an instance twice is the same as to plan it once
	}
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.PriorState, PlannedIdentity: req.PriorIdentity}, nil
}

// readUnshared registers the read of a state, as the framework would, unless a stream has been read before: then the state
// gets a mark.
func (s *session) readUnshared(attributes object) bool {
	var id, deployed *string
	var group map[string]tftypes.Value
	_, _, _ = attributes["stream_id"].As(&id), attributes["streams"].As(&group), attributes["deployment"].As(&deployed)
	ids := slices.Collect(maps.Keys(group))
	if id != nil {
		ids = append(ids, *id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	read := func(id string) bool { return s.stream(id).rules.Reads() > 0 }
	if s.deployment.differs(types.StringPointerValue(deployed)) {
		return true // of other streams
	}
	if slices.ContainsFunc(ids, read) {
		return false
	}
	for _, id := range ids {
		s.stream(id).rules.Read()
	}
	return true
}

// decode reports false for no value, and for one of another form.
func (r unchangedResource) decode(value *tfprotov6.DynamicValue) (state tfsdk.State, attributes object, ok bool) {
	decoded, err := value.Unmarshal(r.typ)
	ok = err == nil && !decoded.IsNull() && decoded.As(&attributes) == nil
	return tfsdk.State{Raw: decoded, Schema: r.schema}, attributes, ok
}

// hasDefaults reports whether a state has the only default. Where the configuration has no value, the proposed value is
// the prior one, and the framework plans the default.
func hasDefaults(attributes object) bool {
	var onDestroy *string
	return attributes["on_destroy"].As(&onDestroy) == nil && onDestroy != nil && *onDestroy == onDestroyDetach
}

// planUnchanged plans a resource as the framework would, if nothing is to be done.
func planUnchanged[T any, M model[T]](ctx context.Context, s *session, values tfsdk.State) bool {
	var state T
	if values.Get(ctx, &state).HasError() {
		return false
	}
	plan := state
	planned, diags := planModel[T, M](ctx, s, &plan, &state, nil)
	return len(planned) == 0 && len(diags) == 0 && reflect.DeepEqual(plan, state)
}

// identityOf returns nil for a group. A text always encodes.
func identityOf(attributes object) *tfprotov6.ResourceIdentityData {
	typ := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"stream_id": tftypes.String}}
	if attributes["stream_id"].IsNull() {
		return nil
	}
	encoded, _ := tfprotov6.NewDynamicValue(typ, tftypes.NewValue(typ, object{"stream_id": attributes["stream_id"]}))
	return &tfprotov6.ResourceIdentityData{IdentityData: &encoded}
}
