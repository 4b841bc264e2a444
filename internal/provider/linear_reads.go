package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// linearServer passes what a read found around the framework, which would compare each element of a set with every
// other one, for minutes if the service reports 10,000, and beyond any time limit. It looks for values that a custom
// type calls equal; no type here does that.
type linearServer struct{ fullServer }

// readState is the key of the state that a read found, in the context of the call.
type readState struct{}

func (s linearServer) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	var found tfsdk.State
	resp, err := s.fullServer.ReadDataSource(context.WithValue(ctx, readState{}, &found), req)
	if found.Schema != nil && err == nil {
		resp.State, err = encode(found)
	}
	return resp, err
}

func (s linearServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	var found tfsdk.State
	resp, err := s.fullServer.ReadResource(context.WithValue(ctx, readState{}, &found), req)
	if found.Schema != nil && err == nil {
		resp.NewState, err = encode(found)
	}
	return resp, err
}

func encode(state tfsdk.State) (*tfprotov6.DynamicValue, error) {
	encoded, err := tfprotov6.NewDynamicValue(state.Raw.Type(), state.Raw)
	return &encoded, err
}

// setState sets the state of a read, for linearServer. The framework gets an empty one.
func setState(ctx context.Context, state *tfsdk.State, m any) diag.Diagnostics {
	diags := state.Set(ctx, m)
	if found, ok := ctx.Value(readState{}).(*tfsdk.State); ok && !diags.HasError() {
		*found = *state
		state.RemoveResource(ctx)
	}
	return diags
}
