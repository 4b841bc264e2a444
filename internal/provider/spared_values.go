package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// This file can be deleted, with its test and its line in [NewServer]: every result stays the same, only slower. The
// gain is in DESIGN.md, "Performance".

// sparingServer spares the framework values that change no result, because the framework walks each value several times.
type sparingServer struct{ fullServer }

func withSparedValues(server tfprotov6.ProviderServer) tfprotov6.ProviderServer {
	if full, ok := server.(fullServer); ok {
		return sparingServer{full}
	}
	return server
}

// PlanResourceChange passes a configuration without the streams of a group: the planned value has them, and the
// framework only looks for computed values that the configuration does not have.
func (s sparingServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if req.TypeName == "stream_processors_group" {
		spared := *req
		spared.Config = withoutStreams(ctx, req.Config)
		req = &spared
	}
	return s.fullServer.PlanResourceChange(ctx, req)
}

// ApplyResourceChange passes no configuration: the resources apply the plan.
func (s sparingServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	spared := *req
	spared.Config = nil
	return s.fullServer.ApplyResourceChange(ctx, &spared)
}

// withoutStreams returns a configuration that it does not know as it is.
func withoutStreams(ctx context.Context, config *tfprotov6.DynamicValue) *tfprotov6.DynamicValue {
	typ := schemaOf(newGroupResource()).Type().TerraformType(ctx)
	value, err := config.Unmarshal(typ)
	var attributes map[string]tftypes.Value
	if err != nil || value.As(&attributes) != nil || value.IsNull() {
		return config
	}
	attributes["streams"] = tftypes.NewValue(attributes["streams"].Type(), nil)
	spared, err := tfprotov6.NewDynamicValue(typ, tftypes.NewValue(typ, attributes))
	if err != nil {
		return config
	}
	return &spared
}
