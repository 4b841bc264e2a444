package provider

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
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

// The shortcut knows each part of the schemas for which the framework may plan a change where the configuration changes
// nothing. If there is another one, look at hasDefaults and planUnchanged.
func TestUnchangedResourcesKnowTheSchemas(t *testing.T) {
	t.Parallel()
	var found []string
	var inspect func(at string, part any)
	inspect = func(at string, part any) {
		for field, value := range reflect.ValueOf(part).Fields() {
			switch field.Name {
			case "Attributes":
				for name, attribute := range value.Interface().(map[string]schema.Attribute) {
					inspect(at+"."+name, attribute)
				}
			case "Blocks", "CustomType", "Default", "PlanModifiers":
				if !value.IsZero() {
					found = append(found, at+" "+field.Name)
				}
			}
		}
	}
	for name, r := range newUnchangedServer(nil, nil).resources {
		inspect(name, r.schema)
	}
	slices.Sort(found)
	wantEqual(t, "parts", []string{
		"stream_processors.compatible_namespaces CustomType",
		"stream_processors.on_destroy Default",
		"stream_processors.processor_ids CustomType",
		"stream_processors.stream_id PlanModifiers",
		"stream_processors.timeouts CustomType",
		"stream_processors_group.on_destroy Default",
		"stream_processors_group.timeouts CustomType",
	}, found)
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
