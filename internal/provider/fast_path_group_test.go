package provider

import (
	"context"
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"

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
		fast := &process{t: t, server: newGroupServer(true)}
		framework := &process{t: t, server: newGroupServer(false)}
		for _, p := range []*process{fast, framework} {
			p.configure(attributes{"base_url": url})
		}
		for range rapid.IntRange(1, 3).Draw(t, "groups") {
			is, wanted := drawBlock(t, "g"), drawBlock(t, "g")
			if chance(t, 70, "no change") {
				wanted = is
				if chance(t, 30, "default") {
					wanted.onDestroy = ""
				}
			}
			config := wanted.configValue(!chance(t, 20, "known after apply"))
			was := attributesOf(is.configValue(true))
			was["last_edited"] = tftypes.NewValue(tftypes.Number, 7)
			if was["on_destroy"].IsNull() {
				was["on_destroy"] = tftypes.NewValue(tftypes.String, onDestroyDetach)
			}
			prior := tftypes.NewValue(config.Type(), was)
			read := tfprotov6.ReadResourceRequest{TypeName: groupTypeName, CurrentState: dynamicValue(prior)}
			var private []byte
			if chance(t, 10, "unconfirmed") {
				private = []byte(`{"unconfirmed":"eyJzMSI6InVuY29uZmlybWVkIn0="}`)
			}
			plan := tfprotov6.PlanResourceChangeRequest{
				TypeName: groupTypeName, PriorState: dynamicValue(prior), ProposedNewState: dynamicValue(proposedState(prior, config)),
				Config: dynamicValue(config), PriorPrivate: private,
			}
			if equalValues(prior, proposedState(prior, config)) {
				plan.ProposedNewState = plan.PriorState // Terraform encodes equal values alike
				unchanged++
			}
			wantRead, err := framework.server.ReadResource(t.Context(), &read)
			framework.must(err)
			gotRead, err := fast.server.ReadResource(t.Context(), &read)
			fast.must(err)
			if !equalValues(decodeAs(t, config.Type(), gotRead.NewState), decodeAs(t, config.Type(), wantRead.NewState)) {
				t.Fatalf("the refresh changes %v", fromTerraform(prior))
			}
			wantPlan, err := framework.server.PlanResourceChange(t.Context(), &plan)
			framework.must(err)
			gotPlan, err := fast.server.PlanResourceChange(t.Context(), &plan)
			fast.must(err)
			got, want := decodeAs(t, config.Type(), gotPlan.PlannedState), decodeAs(t, config.Type(), wantPlan.PlannedState)
			gotPlan.PlannedState, wantPlan.PlannedState = nil, nil
			if !equalValues(got, want) || !reflect.DeepEqual(gotPlan, wantPlan) {
				t.Fatalf("the plan is %v %+v, want %v %+v", fromTerraform(got), gotPlan, fromTerraform(want), wantPlan)
			}
		}
	})
	if unchanged == 0 {
		t.Fatal("no plan was without changes")
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
