package provider

import (
	"context"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A refresh and a plan have the same response with and without the shortcut.
func TestUnchangedResources(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1", "cam-2")...)
	standard := coretest.Attributes{"base_url": url}
	for typeName, config := range map[string]func(streamID, processors any, others coretest.Attributes) tftypes.Value{
		coretest.SingleName: func(streamID, processors any, others coretest.Attributes) tftypes.Value {
			a := coretest.Attributes{"stream_id": streamID, "processor_ids": processors}
			maps.Copy(a, others)
			return resourceValue(a)
		},
		coretest.GroupName: func(streamID, processors any, others coretest.Attributes) tftypes.Value {
			a := coretest.Attributes{"streams": tftypes.UnknownValue}
			if id, ok := streamID.(string); ok {
				a["streams"] = coretest.Attributes{id: processors}
			}
			maps.Copy(a, others)
			return coretest.ToTerraform(groupSchema().ValueType(), a)
		},
	} {
		set := []string{"p1", "p2"}
		usual := config("cam-1", set, nil)
		null := coretest.Managed{Value: tftypes.NewValue(usual.Type(), nil)}
		state := mustApply(t, standard, null, usual)
		kept := coretest.Attributes{"on_destroy": "keep"}
		cases := map[string]struct {
			prior    coretest.Managed
			config   tftypes.Value
			provider coretest.Attributes
			departs  bool // another resource of the run leaves the stream
			read     bool // answered by the shortcut
			answered bool // the plan is
		}{
			"unchanged":            {prior: state, config: usual, answered: true, read: true},
			"changed":              {prior: state, config: config("cam-1", []string{"p2"}, nil), read: true},
			"other stream":         {prior: state, config: config("cam-2", set, nil), read: true},
			"other trigger":        {prior: state, config: config("cam-1", set, coretest.Attributes{"triggers": map[string]string{"t": "1"}}), read: true},
			"other time limit":     {prior: state, config: config("cam-1", set, coretest.Attributes{"timeouts": coretest.Attributes{"read": "1m"}}), read: true},
			"unknown stream":       {prior: state, config: config(tftypes.UnknownValue, set, nil), read: true},
			"unknown set":          {prior: state, config: config("cam-1", tftypes.UnknownValue, nil), read: true},
			"unknown processor":    {prior: state, config: config("cam-1", []any{"p1", tftypes.UnknownValue}, nil), read: true},
			"create":               {prior: null, config: usual},
			"destroy":              {prior: state, config: null.Value, read: true},
			"nothing to nothing":   {prior: null, config: null.Value},
			"on_destroy stays":     {prior: mustApply(t, standard, null, config("cam-1", set, kept)), config: config("cam-1", set, kept), read: true},
			"on_destroy dropped":   {prior: mustApply(t, standard, null, config("cam-1", set, kept)), config: usual, read: true},
			"another deployment":   {prior: state, config: usual, provider: coretest.Attributes{"base_url": url, "deployment": "other"}, read: true},
			"deployment not known": {prior: state, config: usual, provider: coretest.Attributes{"base_url": tftypes.UnknownValue}, answered: true, read: true},
			"a departure":          {prior: state, config: usual, departs: true, read: true},
		}
		withDrift := cases["unchanged"]
		withDrift.provider, withDrift.read = coretest.Attributes{"base_url": url, "detect_drift": true}, false
		cases["detect_drift"] = withDrift
		withoutIdentity := cases["unchanged"]
		withoutIdentity.prior.Identity = nil
		cases["no identity"] = withoutIdentity
		marked := cases["unchanged"]
		marked.prior.Private, marked.read, marked.answered = []byte(`{"marks":"eyJjYW0tMSI6eyJwZW5kaW5nIjoidW5jb25maXJtZWQifX0="}`), false, false
		cases["marked"] = marked
		if typeName == coretest.SingleName {
			edited := state
			values := maps.Clone(coretest.AttributesOf(state.Value))
			values["id"] = tftypes.NewValue(tftypes.String, "another")
			edited.Value = tftypes.NewValue(usual.Type(), values)
			unchanged := cases["unchanged"]
			unchanged.prior, unchanged.answered = edited, false
			cases["id edited in the state"] = unchanged
			other := cases["unchanged"]
			other.prior.Identity, other.read = mustApply(t, standard, null, config("cam-2", set, nil)).Identity, false
			cases["identity of another stream"] = other
		}
		for name, tc := range cases {
			var responses []any
			for _, shortcut := range []bool{false, true} {
				p := &streamProvider{}
				framework := &countingServer{fullServer: providerserver.NewProtocol6(p)().(fullServer)}
				server := fullServer(framework)
				if shortcut {
					server = newUnchangedServer(framework, p)
				}
				process := newProcess(t, server)
				process.Configure(orElse(tc.provider, standard))
				if tc.departs {
					process.Plan(state, null.Value)
				}
				framework.reads, framework.plans = 0, 0
				var refreshed []any
				if !tc.prior.Value.IsNull() {
					again, diags := process.Read(tc.prior)
					refreshed = []any{coretest.FromTerraform(again.Value), string(again.Private), decodeIdentity(t, again.Identity), diags.String()}
				}
				read := framework.reads == 0 && refreshed != nil
				planned, replace, diags := process.Plan(tc.prior, tc.config)
				responses = append(responses, []any{
					refreshed, coretest.FromTerraform(planned.Value), string(planned.Private), decodeIdentity(t, planned.Identity), replace, diags.String(),
				})
				if answered := framework.plans == 0; shortcut && (read != tc.read || answered != tc.answered) {
					t.Errorf("%s, %s: answered by the shortcut: read %t, plan %t", typeName, name, read, answered)
				}
			}
			if diff := cmp.Diff(responses[0], responses[1]); diff != "" {
				t.Errorf("%s, %s: without and with the shortcut:\n%s", typeName, name, diff)
			}
		}
	}
}

// The shortcut leaves to the framework what a schema plans where nothing changes.
func TestUnchangedResourcesOfOtherSchemas(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	provider := coretest.Attributes{"base_url": url}
	config := coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}}
	state := mustApply(t, provider, coretest.Managed{Value: nullResource()}, resourceValue(config))
	limits := map[string]string{"create": "", "read": "", "update": "", "delete": ""}
	noTriggers := types.MapValueMust(types.StringType, map[string]attr.Value{})
	keep := schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(onDestroyKeep)}
	for name, tc := range map[string]struct {
		attributes map[string]schema.Attribute // other ones than those of the resource
		prior      map[string]tftypes.Value    // other values in the state
		answered   bool                        // by the shortcut
	}{
		"same schema":              {answered: true},
		"default not in the state": {attributes: map[string]schema.Attribute{"on_destroy": keep}},
		"default in the state": {
			attributes: map[string]schema.Attribute{"on_destroy": keep},
			prior:      map[string]tftypes.Value{"on_destroy": tftypes.NewValue(tftypes.String, onDestroyKeep)},
			answered:   true,
		},
		"default of another type": {attributes: map[string]schema.Attribute{"triggers": schema.MapAttribute{
			Optional: true, Computed: true, ElementType: types.StringType, Default: mapdefault.StaticValue(noTriggers),
		}}},
		"default within an attribute": {attributes: map[string]schema.Attribute{"timeouts": schema.SingleNestedAttribute{
			Optional: true, CustomType: timeoutsAttribute(limits).GetType().(timeouts.Type),
			Attributes: map[string]schema.Attribute{"create": keep, "read": keep, "update": keep, "delete": keep},
		}}},
		"plan modifier": {attributes: map[string]schema.Attribute{
			"terminal_id": schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{unknownAgain{}}},
		}},
		"another computed value": {
			attributes: map[string]schema.Attribute{"region": schema.StringAttribute{Computed: true}},
			prior:      map[string]tftypes.Value{"region": tftypes.NewValue(tftypes.String, "eu")},
		},
	} {
		var planned [2]any
		for i, shortcut := range []bool{false, true} {
			p := &streamProvider{}
			r := &extendedResource{attributes: tc.attributes}
			framework := &countingServer{fullServer: providerserver.NewProtocol6(extendedProvider{p, r})().(fullServer)}
			server := unchangedServer{framework, p, map[string]unchangedResource{}}
			if shortcut {
				server.add(coretest.SingleName, r, planUnchanged[processorsModel])
			}
			process := &coretest.Process{T: t, Server: server, Schemas: coretest.SchemasOf(framework)}
			process.Configure(provider)
			typ := process.Schemas.ResourceSchemas[coretest.SingleName].ValueType()
			values := maps.Clone(coretest.AttributesOf(state.Value))
			maps.Copy(values, tc.prior)
			prior := coretest.Managed{Value: tftypes.NewValue(typ, values)}
			plan, replace, diags := process.Plan(prior, coretest.ToTerraform(typ, config))
			planned[i] = []any{coretest.FromTerraform(plan.Value), replace, diags.String()}
			if answered := framework.plans == 0; shortcut && answered != tc.answered {
				t.Errorf("%s: answered by the shortcut: %t", name, answered)
			}
		}
		if diff := cmp.Diff(planned[0], planned[1]); diff != "" {
			t.Errorf("%s: without and with the shortcut:\n%s", name, diff)
		}
	}
}

// extendedProvider is the provider with another resource.
type extendedProvider struct {
	*streamProvider
	resource resource.Resource
}

func (p extendedProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return p.resource }}
}

// extendedResource is stream_processors with other attributes, which its model does not know.
type extendedResource struct {
	processorsResource
	attributes map[string]schema.Attribute
}

func (r *extendedResource) Schema(ctx context.Context, req resource.SchemaRequest, resp *resource.SchemaResponse) {
	r.processorsResource.Schema(ctx, req, resp)
	maps.Copy(resp.Schema.Attributes, r.attributes)
}

func (r *extendedResource) ModifyPlan(context.Context, resource.ModifyPlanRequest, *resource.ModifyPlanResponse) {
	// The framework plans alone.
}

// unknownAgain makes a value known after apply.
type unknownAgain struct{}

func (unknownAgain) Description(context.Context) string         { return "" }
func (unknownAgain) MarkdownDescription(context.Context) string { return "" }

func (unknownAgain) PlanModifyString(_ context.Context, _ planmodifier.StringRequest, r *planmodifier.StringResponse) {
	r.PlanValue = types.StringUnknown()
}

// countingServer counts what the framework handles.
type countingServer struct {
	fullServer
	reads, plans int
}

func (s *countingServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	s.reads++
	return s.fullServer.ReadResource(ctx, req)
}

func (s *countingServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	s.plans++
	return s.fullServer.PlanResourceChange(ctx, req)
}

func orElse(config, standard coretest.Attributes) coretest.Attributes {
	if config == nil {
		return standard
	}
	return config
}
