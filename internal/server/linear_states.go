package server

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
)

// linearServer passes states around the framework, which would compare each element of a set with every other one: a create with
// 5,000 processors would take two minutes, after the request was sent. It looks for values that a custom type calls equal; no
// type here does that. A set type with a comparison of its own is not enough: 4 seconds, because whole states are compared, too.
type linearServer struct{ fullServer }

func (s linearServer) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	ctx, left := provider.WithState(ctx)
	resp, err := s.fullServer.ReadDataSource(ctx, req)
	if err == nil {
		err = encode(left, &resp.State)
	}
	return resp, err
}

func (s linearServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	ctx, left := provider.WithState(ctx)
	resp, err := s.fullServer.ReadResource(ctx, req)
	if err == nil {
		err = encode(left, &resp.NewState)
	}
	return resp, err
}

func (s linearServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	ctx, left := provider.WithState(ctx)
	resp, err := s.fullServer.ApplyResourceChange(ctx, req)
	if err == nil {
		err = encode(left, &resp.NewState)
	}
	return resp, err
}

// encode encodes the state that a call left, if any.
func encode(left *tfsdk.State, state **tfprotov6.DynamicValue) error {
	if left.Schema == nil {
		return nil
	}
	encoded, err := tfprotov6.NewDynamicValue(left.Raw.Type(), left.Raw)
	*state = &encoded
	return err
}
