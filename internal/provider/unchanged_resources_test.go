package provider

import (
	"context"
	"maps"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
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
			return resourceValue(merge(coretest.Attributes{"stream_id": streamID, "processor_ids": processors}, others))
		},
		coretest.GroupName: func(streamID, processors any, others coretest.Attributes) tftypes.Value {
			a := coretest.Attributes{"streams": tftypes.UnknownValue}
			if id, ok := streamID.(string); ok {
				a["streams"] = coretest.Attributes{id: processors}
			}
			return coretest.ToTerraform(groupSchema().ValueType(), merge(a, others))
		},
	} {
		set := []string{"p1", "p2"}
		usual := config("cam-1", set, nil)
		null := coretest.Managed{Value: tftypes.NewValue(usual.Type(), nil)}
		state := mustApply(t, standard, null, usual)
		keep := config("cam-1", set, coretest.Attributes{"on_destroy": "keep"})
		kept, marked, otherIdentity := mustApply(t, standard, null, keep), state, state
		marked.Private = []byte(`{"marks":"eyJjYW0tMSI6eyJwZW5kaW5nIjoidW5jb25maXJtZWQifX0="}`)
		otherIdentity.Identity = mustApply(t, standard, null, config("cam-2", set, nil)).Identity
		cases := map[string]struct {
			prior    coretest.Managed
			config   tftypes.Value
			provider coretest.Attributes
			departs  bool // another resource leaves the stream
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
			"on_destroy stays":     {prior: kept, config: keep, read: true},
			"on_destroy dropped":   {prior: kept, config: usual, read: true},
			"another deployment":   {prior: state, config: usual, provider: coretest.Attributes{"deployment": "other"}, read: true},
			"deployment not known": {prior: state, config: usual, provider: coretest.Attributes{"base_url": tftypes.UnknownValue}, answered: true, read: true},
			"a departure":          {prior: state, config: usual, departs: true, read: true},
			"detect_drift":         {prior: state, config: usual, provider: coretest.Attributes{"detect_drift": true}, answered: true},
			"no identity":          {prior: coretest.Managed{Value: state.Value}, config: usual, answered: true, read: true},
			"marked":               {prior: marked, config: usual},
			"other identity":       {prior: otherIdentity, config: usual, answered: true, read: typeName == coretest.GroupName}, // it has none
		}
		if typeName == coretest.SingleName {
			edited := coretest.AttributesOf(state.Value)
			edited["id"] = tftypes.NewValue(tftypes.String, "another")
			unchanged := cases["unchanged"]
			unchanged.prior.Value, unchanged.answered = tftypes.NewValue(usual.Type(), edited), false
			cases["id edited in the state"] = unchanged
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
				process.Configure(merge(standard, tc.provider))
				if tc.departs {
					process.Plan(state, null.Value)
				}
				framework.reads, framework.plans = 0, 0
				var refreshed []any
				if !tc.prior.Value.IsNull() {
					again, diags := process.Read(tc.prior)
					refreshed = []any{coretest.FromTerraform(again.Value), coretest.Marks(again.Private), decodeIdentity(t, again.Identity), diags.String()}
				}
				read := framework.reads == 0 && refreshed != nil
				planned, replace, diags := process.Plan(tc.prior, tc.config)
				responses = append(responses, []any{
					refreshed, coretest.FromTerraform(planned.Value), coretest.Marks(planned.Private), decodeIdentity(t, planned.Identity), replace, diags.String(),
				})
				if answered := framework.plans == 0; shortcut && (read != tc.read || answered != tc.answered) {
					t.Errorf("%s, %s: answered by the shortcut: read %t, plan %t", typeName, name, read, answered)
				}
			}
			wantEqual(t, typeName+", "+name+": with the shortcut", responses[0], responses[1])
		}
	}
}

// The shortcut leaves to the framework what a schema plans where nothing changes, and values that the model does not have.
func TestUnchangedResourcesOfOtherSchemas(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	provider := coretest.Attributes{"base_url": url}
	state := mustApply(t, provider, coretest.Managed{Value: nullResource()}, cam1("p1"))
	limits := map[string]string{"create": "", "read": "", "update": "", "delete": ""}
	keep := schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(onDestroyKeep)}
	for name, attributes := range map[string]map[string]schema.Attribute{
		"the same": nil,
		"default of another type": {"triggers": schema.MapAttribute{
			Optional: true, Computed: true, ElementType: types.StringType, Default: mapdefault.StaticValue(types.MapNull(types.StringType)),
		}},
		"default within an attribute": {"timeouts": schema.SingleNestedAttribute{
			Optional: true, CustomType: timeoutsAttribute(limits).GetType().(timeouts.Type),
			Attributes: map[string]schema.Attribute{"create": keep, "read": keep, "update": keep, "delete": keep},
		}},
		"plan modifier": {"terminal_id": schema.StringAttribute{
			Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		}},
		"another value": {"region": schema.StringAttribute{Computed: true}},
	} {
		p, r := &streamProvider{}, &extendedResource{attributes: attributes}
		framework := &countingServer{fullServer: providerserver.NewProtocol6(p)().(fullServer)}
		newProcess(t, framework).Configure(provider)
		server := unchangedServer{framework, p, map[string]unchangedResource{}}
		server.add(coretest.SingleName, r, planUnchanged[processorsModel])
		var resp resource.SchemaResponse
		r.Schema(ctx, resource.SchemaRequest{}, &resp)
		values := coretest.AttributesOf(state.Value)
		if attributes["region"] != nil {
			values["region"] = tftypes.NewValue(tftypes.String, "eu")
		}
		same := coretest.DynamicValue(tftypes.NewValue(resp.Schema.Type().TerraformType(ctx), values))
		if _, err := server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
			TypeName: coretest.SingleName, Config: same, PriorState: same, ProposedNewState: same,
		}); err != nil {
			t.Fatal(err)
		}
		if answered := framework.plans == 0; answered != (attributes == nil) {
			t.Errorf("%s: answered by the shortcut: %t", name, answered)
		}
	}
}

// extendedResource is stream_processors with other attributes.
type extendedResource struct {
	processorsResource
	attributes map[string]schema.Attribute
}

func (r *extendedResource) Schema(ctx context.Context, req resource.SchemaRequest, resp *resource.SchemaResponse) {
	r.processorsResource.Schema(ctx, req, resp)
	maps.Copy(resp.Schema.Attributes, r.attributes)
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
