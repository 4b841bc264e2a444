package server

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// This file can be deleted, with its test and its line in [New]: every result stays the same, but calls need more memory.
// DESIGN.md, "Performance", has the gain.

// releasingServer releases the context of each call for a resource when the call ends: the framework's server keeps contexts until the
// process ends, some 10 kB a call.
type releasingServer struct{ fullServer }

func (s releasingServer) ValidateResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return call(ctx, req, s.fullServer.ValidateResourceConfig)
}

func (s releasingServer) UpgradeResourceState(
	ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest,
) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return call(ctx, req, s.fullServer.UpgradeResourceState)
}

func (s releasingServer) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	return call(ctx, req, s.fullServer.PlanResourceChange)
}

func (s releasingServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return call(ctx, req, s.fullServer.ReadResource)
}

func (s releasingServer) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return call(ctx, req, s.fullServer.ApplyResourceChange)
}

func call[Req, Resp any](ctx context.Context, req Req, method func(context.Context, Req) (Resp, error)) (Resp, error) {
	c := new(releasedContext)
	c.Store(&ctx)
	defer c.Store(new(context.Background()))
	return method(c, req)
}

// releasedContext is a [context.Context] that stands for another one until the call ends.
type releasedContext struct {
	atomic.Pointer[context.Context]
}

func (c *releasedContext) Deadline() (time.Time, bool) { return (*c.Load()).Deadline() }
func (c *releasedContext) Done() <-chan struct{}       { return (*c.Load()).Done() }
func (c *releasedContext) Err() error                  { return (*c.Load()).Err() }
func (c *releasedContext) Value(key any) any           { return (*c.Load()).Value(key) }
