package provider

import (
	"context"
	"maps"
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// newGroupServer returns a server of its own, with or without the fast path for groups.
func newGroupServer(fast bool) tfprotov6.ProviderServer {
	p := &streamProvider{version: "test"}
	server := providerserver.NewProtocol6(p)()
	if fast {
		return withGroupFastPath(server, newGroupResource(), p.currentSession)
	}
	return server
}

// TestGroupFastPath compares the responses for random groups with those of the framework alone. Several groups of one
// process may share streams.
func TestGroupFastPath(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{})
	unchanged := 0
	rapid.Check(t, func(t *rapid.T) {
		fast := newProcess(t, newGroupServer(true))
		framework := newProcess(t, newGroupServer(false))
		for _, p := range []*coretest.Process{fast, framework} {
			p.Configure(coretest.Attributes{"base_url": url})
		}
		for range rapid.IntRange(1, 3).Draw(t, "groups") {
			is, wanted := drawGroup(t), drawGroup(t)
			if rapid.Bool().Draw(t, "no change") {
				wanted = maps.Clone(is)
			}
			if rapid.Bool().Draw(t, "default") {
				delete(wanted, "on_destroy")
			}
			config := coretest.ToTerraform(groupSchema().ValueType(), wanted)
			was := coretest.AttributesOf(coretest.ToTerraform(groupSchema().ValueType(), is))
			was["last_edited"] = tftypes.NewValue(tftypes.Number, 7)
			if was["on_destroy"].IsNull() {
				was["on_destroy"] = tftypes.NewValue(tftypes.String, onDestroyDetach)
			}
			if rapid.IntRange(0, 4).Draw(t, "known after apply") == 4 {
				values := coretest.AttributesOf(config)
				values["streams"] = tftypes.NewValue(was["streams"].Type(), tftypes.UnknownValue)
				config = tftypes.NewValue(config.Type(), values)
			}
			prior := tftypes.NewValue(config.Type(), was)
			read := tfprotov6.ReadResourceRequest{TypeName: groupTypeName, CurrentState: coretest.DynamicValue(prior)}
			var private []byte
			if rapid.IntRange(0, 9).Draw(t, "unconfirmed") == 9 {
				private = []byte(`{"unconfirmed":"eyJzMSI6InVuY29uZmlybWVkIn0="}`)
			}
			plan := tfprotov6.PlanResourceChangeRequest{
				TypeName: groupTypeName, PriorState: coretest.DynamicValue(prior), ProposedNewState: coretest.DynamicValue(coretest.ProposedState(groupSchema(), prior, config)),
				Config: coretest.DynamicValue(config), PriorPrivate: private,
			}
			if coretest.EqualValues(prior, coretest.ProposedState(groupSchema(), prior, config)) {
				plan.ProposedNewState = plan.PriorState // Terraform encodes equal values alike
				unchanged++
			}
			wantRead, err := framework.Server.ReadResource(t.Context(), &read)
			must(t, err)
			gotRead, err := fast.Server.ReadResource(t.Context(), &read)
			must(t, err)
			if !coretest.EqualValues(coretest.DecodeAs(t, config.Type(), gotRead.NewState), coretest.DecodeAs(t, config.Type(), wantRead.NewState)) {
				t.Fatalf("the refresh changes %v", coretest.FromTerraform(prior))
			}
			wantPlan, err := framework.Server.PlanResourceChange(t.Context(), &plan)
			must(t, err)
			gotPlan, err := fast.Server.PlanResourceChange(t.Context(), &plan)
			must(t, err)
			got, want := coretest.DecodeAs(t, config.Type(), gotPlan.PlannedState), coretest.DecodeAs(t, config.Type(), wantPlan.PlannedState)
			gotPlan.PlannedState, wantPlan.PlannedState = nil, nil
			if !coretest.EqualValues(got, want) || !reflect.DeepEqual(gotPlan, wantPlan) {
				t.Fatalf("the plan is %v %+v, want %v %+v", coretest.FromTerraform(got), gotPlan, coretest.FromTerraform(want), wantPlan)
			}
		}
	})
	if unchanged == 0 {
		t.Fatal("no plan was without changes")
	}
}

func must(t coretest.Failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("the server failed: %v", err)
	}
}

// drawGroup draws a configuration of a group.
func drawGroup(t *rapid.T) coretest.Attributes {
	id := rapid.SampledFrom([]string{"s1", "s2", "s3", "s4"})
	set := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"p1", "p2", "p3"}), 0, 3, rapid.ID[string])
	return coretest.Attributes{
		"streams":    rapid.MapOfN(id, set, 0, 4).Draw(t, "streams"),
		"on_destroy": rapid.SampledFrom([]any{nil, onDestroyDetach, onDestroyKeep}).Draw(t, "on_destroy"),
		"triggers":   rapid.SampledFrom([]any{nil, map[string]string{"t": "1"}}).Draw(t, "triggers"),
	}
}

func TestGroupFastPathFailsClosed(t *testing.T) {
	t.Parallel()
	if _, ok := newGroupServer(true).(*groupFastPath); !ok {
		t.Error("the fast path is not used for the group's own schema")
	}
	variant := &variantGroup{newGroupResource(), func(s *schema.Schema) {
		s.Attributes["new"] = schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("x")}
	}}
	server := providerserver.NewProtocol6(&streamProvider{version: "test"})()
	if _, ok := withGroupFastPath(server, variant, nil).(*groupFastPath); ok {
		t.Error("the fast path is used for a schema with another attribute")
	}
}

// variantGroup is the group with another schema.
type variantGroup struct {
	resource.Resource
	edit func(*schema.Schema)
}

func (v *variantGroup) Schema(ctx context.Context, req resource.SchemaRequest, resp *resource.SchemaResponse) {
	v.Resource.Schema(ctx, req, resp)
	v.edit(&resp.Schema)
}
