package provider

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// This file can be deleted, with its test and its line in [NewServer]: every result stays the same, only
// slower. The gain is in DESIGN.md, "Performance".

// fastPath handles a refresh that reads nothing, and the plan of an update without diagnostics, itself. The
// framework handles every other call.
type fastPath struct {
	fullServer
	session func() *session // the configured session, or nil
}

// withFastPath returns the server itself if the resource's schema is not the one that this file was written for.
func withFastPath(server tfprotov6.ProviderServer, r resource.Resource, session func() *session) tfprotov6.ProviderServer {
	full, ok := server.(fullServer)
	fast := &fastPath{full, session}
	if !ok || !hidesNothing(fast, server) || !writtenFor(r) {
		return server
	}
	return fast
}

func (f *fastPath) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	if f.handles(req.TypeName, req.Private) && !f.session().readsStreams() {
		if state := decodeModel(req.CurrentState); state != nil && known(state.StreamID) {
			return &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, NewIdentity: identity(state.StreamID)}, nil
		}
	}
	return f.fullServer.ReadResource(ctx, req)
}

// PlanResourceChange lets the framework repeat a plan that has diagnostics: planning an instance twice
// is the same as planning it once.
func (f *fastPath) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if f.handles(req.TypeName, req.PriorPrivate) {
		if planned := f.plan(ctx, req); planned != nil {
			return &tfprotov6.PlanResourceChangeResponse{PlannedState: planned, PlannedIdentity: req.PriorIdentity}, nil
		}
	}
	return f.fullServer.PlanResourceChange(ctx, req)
}

func (f *fastPath) handles(typeName string, private []byte) bool {
	return typeName == processorsTypeName && len(private) == 0 && f.session() != nil
}

// plan returns nil unless the plan is an update, or no change, without diagnostics.
func (f *fastPath) plan(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) *tfprotov6.DynamicValue {
	config, state, planned := decodeModel(req.Config), decodeModel(req.PriorState), decodeModel(req.ProposedNewState)
	if config == nil || state == nil || planned == nil || state.StreamID.IsNull() || !planned.StreamID.Equal(state.StreamID) {
		return nil
	}
	if config.OnDestroy.IsNull() {
		planned.setDefaults()
	}
	if _, diags := f.session().planSet(ctx, planned, state, false); diags != nil {
		return nil
	}
	return encodeObject(processorsTypes().object, planned)
}

func identity(id types.String) *tfprotov6.ResourceIdentityData {
	typ := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"stream_id": tftypes.String}}
	values := map[string]tftypes.Value{"stream_id": tftypes.NewValue(tftypes.String, id.ValueString())}
	return &tfprotov6.ResourceIdentityData{IdentityData: encodeObject(typ, values)}
}

// decodeModel returns an empty model for null, and nil for a value that is not of the resource's type.
func decodeModel(value *tfprotov6.DynamicValue) *processorsModel {
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
func encodeObject(typ tftypes.Type, value any) *tfprotov6.DynamicValue {
	encoded, err := tfprotov6.NewDynamicValue(typ, tftypes.NewValue(typ, value))
	if err != nil {
		return nil
	}
	return &encoded
}

// writtenFor reports whether the resource has exactly the schema that plan and ReadResource stand for.
func writtenFor(r resource.Resource) bool {
	optional, computed := schema.StringAttribute{Optional: true}, schema.StringAttribute{Computed: true}
	want := schema.Schema{Attributes: map[string]schema.Attribute{
		"stream_id":     schema.StringAttribute{Required: true, PlanModifiers: []planmodifier.String{replaceIfChanged}},
		"processor_ids": schema.SetAttribute{Required: true, ElementType: types.StringType},
		"on_destroy":    schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(onDestroyDetach)},
		"triggers":      schema.MapAttribute{Optional: true, ElementType: types.StringType},
		"timeouts": schema.SingleNestedAttribute{
			Optional: true, CustomType: timeoutsType(),
			Attributes: map[string]schema.Attribute{"create": optional, "read": optional, "update": optional, "delete": optional},
		},
		"id": computed, "terminal_id": computed, "fragment_type_id": computed,
		"compatible_namespaces": schema.SetAttribute{Computed: true, ElementType: types.StringType},
		"last_edited":           schema.Int64Attribute{Computed: true},
	}}
	var got resource.SchemaResponse
	r.Schema(context.Background(), resource.SchemaRequest{}, &got)
	return outline(got.Schema) == outline(want)
}

// outline writes a schema or an attribute with all of its fields, and with the addresses of its functions. It
// leaves out descriptions, and validators: the framework validates.
func outline(part any) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%T{", part)
	for field, value := range reflect.Indirect(reflect.ValueOf(part)).Fields() {
		switch field.Name {
		case "Description", "MarkdownDescription", "DeprecationMessage", "Validators":
		case "Attributes":
			attributes, _ := reflect.TypeAssert[map[string]schema.Attribute](value)
			for _, name := range slices.Sorted(maps.Keys(attributes)) {
				fmt.Fprintf(&text, "%s: %s", name, outline(attributes[name]))
			}
		default:
			fmt.Fprintf(&text, "%s: %#v, ", field.Name, value)
		}
	}
	return text.String() + "}\n"
}
