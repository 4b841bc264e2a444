package provider

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// This file can be deleted, with its tests and its line in [NewServer]: every result stays the same, only
// slower. The gains of each part are in DESIGN.md, "Performance".

// fastPath answers a refresh that reads nothing, and the plan of an update without diagnostics, itself. The
// framework answers every other call, and all calls if the schema is not the one that this file was written for.
type fastPath struct {
	fullServer
	session  func() *session // the configured session, or nil
	resource resource.Resource
}

func withFastPath(server tfprotov6.ProviderServer, r resource.Resource, session func() *session) tfprotov6.ProviderServer {
	full, ok := server.(fullServer)
	fast := &fastPath{full, session, r}
	if !ok || !hidesNothing(fast, server) {
		return server
	}
	if !writtenFor(r) {
		fast.resource = nil
	}
	return fast
}

// The framework's server keeps the context of each call until the process ends, some 10 kB a call. These
// methods give it contexts that are empty when the call has ended.

func (f *fastPath) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return releaseContext(ctx, req, f.fullServer.ValidateResourceConfig)
}

func (f *fastPath) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return releaseContext(ctx, req, f.fullServer.UpgradeResourceState)
}

func (f *fastPath) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return releaseContext(ctx, req, f.fullServer.ApplyResourceChange)
}

func (f *fastPath) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	if f.answers(req.TypeName, req.Private) && !f.session().readsStreams() {
		if state := decodeObject(req.CurrentState); state != nil && known(state.StreamID) {
			identity := encodeObject(identityValue(state.StreamID))
			tflog.Trace(ctx, "refresh without the framework")
			return &tfprotov6.ReadResourceResponse{
				NewState: req.CurrentState, NewIdentity: &tfprotov6.ResourceIdentityData{IdentityData: identity},
			}, nil
		}
	}
	return releaseContext(ctx, req, f.fullServer.ReadResource)
}

// PlanResourceChange lets the framework repeat a plan that has diagnostics: planning an instance twice
// is the same as planning it once.
func (f *fastPath) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if f.answers(req.TypeName, req.PriorPrivate) {
		if planned := f.plan(ctx, req); planned != nil {
			tflog.Trace(ctx, "plan without the framework")
			return &tfprotov6.PlanResourceChangeResponse{PlannedState: planned, PlannedIdentity: req.PriorIdentity}, nil
		}
	}
	return releaseContext(ctx, req, f.fullServer.PlanResourceChange)
}

func (f *fastPath) answers(typeName string, private []byte) bool {
	return f.resource != nil && typeName == processorsTypeName && len(private) == 0 && f.session() != nil
}

// plan returns nil unless the plan is an update, or no change, without diagnostics.
func (f *fastPath) plan(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) *tfprotov6.DynamicValue {
	config, state, planned := decodeObject(req.Config), decodeObject(req.PriorState), decodeObject(req.ProposedNewState)
	if config == nil || state == nil || planned == nil || state.StreamID.IsNull() || !planned.StreamID.Equal(state.StreamID) {
		return nil
	}
	if config.OnDestroy.IsNull() {
		planned.setDefaults()
	}
	if _, diags := f.session().planSet(ctx, planned, state, false); diags != nil {
		return nil
	}
	value, err := planned.ToTerraform5Value()
	if err != nil {
		return nil
	}
	return encodeObject(tftypes.NewValue(processorsTypes().object, value))
}

// writtenFor reports whether the resource has exactly the schemas that plan and ReadResource stand for.
// Descriptions and validators do not matter: the framework validates.
func writtenFor(r resource.Resource) bool {
	optional := schema.StringAttribute{Optional: true}
	computed := schema.StringAttribute{Computed: true}
	want := map[string]schema.Attribute{
		"stream_id": schema.StringAttribute{
			Required: true, PlanModifiers: []planmodifier.String{replaceIfChanged},
		},
		"processor_ids": schema.SetAttribute{Required: true, ElementType: types.StringType},
		"on_destroy": schema.StringAttribute{
			Optional: true, Computed: true, Default: stringdefault.StaticString(onDestroyDetach),
		},
		"triggers": schema.MapAttribute{Optional: true, ElementType: types.StringType},
		"timeouts": schema.SingleNestedAttribute{
			Optional: true, CustomType: timeoutsType(),
			Attributes: map[string]schema.Attribute{"create": optional, "read": optional, "update": optional, "delete": optional},
		},
		"id": computed, "terminal_id": computed, "fragment_type_id": computed,
		"compatible_namespaces": schema.SetAttribute{Computed: true, ElementType: types.StringType},
		"last_edited":           schema.Int64Attribute{Computed: true},
	}
	var got resource.SchemaResponse
	r.Schema(context.Background(), resource.SchemaRequest{}, &got)
	is := got.Schema
	is.Description, is.MarkdownDescription, is.DeprecationMessage = "", "", ""
	is.Attributes = withoutTexts(is.Attributes)
	_, validates := r.(resource.ResourceWithValidateConfig)
	_, hasValidators := r.(resource.ResourceWithConfigValidators)
	// The Go syntax of a value has all of its fields, and the addresses of its functions.
	return !validates && !hasValidators && fmt.Sprintf("%#v", is) == fmt.Sprintf("%#v", schema.Schema{Attributes: want})
}

// withoutTexts copies attributes without their descriptions and validators.
func withoutTexts(attributes map[string]schema.Attribute) map[string]schema.Attribute {
	bare := map[string]schema.Attribute{}
	for name, attribute := range attributes {
		bare[name] = attribute
		if reflect.TypeOf(attribute).Kind() != reflect.Struct {
			continue
		}
		fields := reflect.New(reflect.TypeOf(attribute)).Elem()
		fields.Set(reflect.ValueOf(attribute))
		for _, text := range []string{"Description", "MarkdownDescription", "DeprecationMessage", "Validators"} {
			if field := fields.FieldByName(text); field.IsValid() {
				field.SetZero()
			}
		}
		if nested, ok := attribute.(schema.SingleNestedAttribute); ok {
			fields.FieldByName("Attributes").Set(reflect.ValueOf(withoutTexts(nested.Attributes)))
		}
		bare[name], _ = reflect.TypeAssert[schema.Attribute](fields)
	}
	return bare
}

// decodeObject returns an empty model for null, and nil for a value that is not of the resource's type.
func decodeObject(value *tfprotov6.DynamicValue) *processorsModel {
	if value == nil {
		return nil
	}
	m := new(processorsModel)
	object, err := value.Unmarshal(processorsTypes().object)
	if err != nil || m.FromTerraform5Value(object) != nil {
		return nil
	}
	return m
}

// encodeObject returns nil if the value cannot be encoded.
func encodeObject(value tftypes.Value) *tfprotov6.DynamicValue {
	encoded, err := tfprotov6.NewDynamicValue(value.Type(), value)
	if err != nil {
		return nil
	}
	return &encoded
}

func identityValue(id types.String) tftypes.Value {
	typ := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"stream_id": tftypes.String}}
	return tftypes.NewValue(typ, map[string]tftypes.Value{"stream_id": tftypes.NewValue(tftypes.String, id.ValueString())})
}

func releaseContext[Req, Resp any](ctx context.Context, req Req, call func(context.Context, Req) (Resp, error)) (Resp, error) {
	c := &releasedContext{ctx: ctx}
	defer c.release()
	return call(c, req)
}

// releasedContext stands for another context until release.
type releasedContext struct {
	mu  sync.RWMutex
	ctx context.Context
}

func (c *releasedContext) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ctx = context.Background()
}

func (c *releasedContext) current() context.Context {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.ctx
}

// These methods implement [context.Context].

func (c *releasedContext) Deadline() (time.Time, bool) { return c.current().Deadline() }
func (c *releasedContext) Done() <-chan struct{}       { return c.current().Done() }
func (c *releasedContext) Err() error                  { return c.current().Err() }
func (c *releasedContext) Value(key any) any           { return c.current().Value(key) }
