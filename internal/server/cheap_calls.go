package server

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
)

// This file can be deleted, with its test, its line in [New], and linear_states.go of package provider with the calls of
// passState: every result stays the same, but calls need more memory and time. DESIGN.md, "Performance", has the gains.

// cheapServer releases the context of each call when the call ends: the framework's server keeps contexts until the
// process ends, some 10 kB a call. States go around the framework, which would compare all elements of their sets.
type cheapServer struct{ fullServer }

func (s cheapServer) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return call(ctx, req, s.fullServer.ValidateResourceConfig)
}

func (s cheapServer) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return call(ctx, req, s.fullServer.UpgradeResourceState)
}

func (s cheapServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return call(ctx, req, s.fullServer.PlanResourceChange)
}

func (s cheapServer) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return call(ctx, req, s.fullServer.ReadDataSource)
}

func (s cheapServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return call(ctx, req, s.fullServer.ReadResource)
}

func (s cheapServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return call(ctx, req, s.fullServer.ApplyResourceChange)
}

func call[Req, Resp any](ctx context.Context, req Req, method func(context.Context, Req) (Resp, error)) (Resp, error) {
	left := new(tfprotov6.DynamicValue)
	ctx = context.WithValue(ctx, provider.LeftState{}, left)
	c := new(releasedContext)
	c.Store(&ctx)
	defer c.Store(new(context.Background()))

	resp, err := method(c, req)
	if err != nil || left.MsgPack == nil {
		return resp, err
	}
	switch resp := any(resp).(type) {
	case *tfprotov6.ReadDataSourceResponse:
		resp.State = left
	case *tfprotov6.ReadResourceResponse:
		resp.NewState = left
	case *tfprotov6.ApplyResourceChangeResponse:
		resp.NewState = left
	}
	return resp, nil
}

// releasedContext is a [context.Context] that stands for another one until the call ends.
type releasedContext struct {
	atomic.Pointer[context.Context]
}

func (c *releasedContext) Deadline() (time.Time, bool) { return (*c.Load()).Deadline() }
func (c *releasedContext) Done() <-chan struct{}       { return (*c.Load()).Done() }
func (c *releasedContext) Err() error                  { return (*c.Load()).Err() }
func (c *releasedContext) Value(key any) any           { return (*c.Load()).Value(key) }
