package server

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// This file can be deleted, with its test and its line in [New]: every result stays the same, but the
// process needs more memory. The gain is in DESIGN.md, "Performance".

// releasingServer releases the context of each call when the call ends. The framework's server keeps the
// context until the process ends, some 10 kB a call.
type releasingServer struct{ fullServer }

func (s releasingServer) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return releaseContext(ctx, req, s.fullServer.ValidateResourceConfig)
}

func (s releasingServer) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return releaseContext(ctx, req, s.fullServer.UpgradeResourceState)
}

func (s releasingServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return releaseContext(ctx, req, s.fullServer.ReadResource)
}

func (s releasingServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return releaseContext(ctx, req, s.fullServer.PlanResourceChange)
}

func (s releasingServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return releaseContext(ctx, req, s.fullServer.ApplyResourceChange)
}

func releaseContext[Req, Resp any](ctx context.Context, req Req, call func(context.Context, Req) (Resp, error)) (Resp, error) {
	c := new(releasedContext)
	c.Store(&ctx)
	background := context.Background()
	defer c.Store(&background)
	return call(c, req)
}

// releasedContext stands for another context until the call ends.
type releasedContext struct {
	atomic.Pointer[context.Context]
}

// These methods implement [context.Context].

func (c *releasedContext) Deadline() (time.Time, bool) { return (*c.Load()).Deadline() }
func (c *releasedContext) Done() <-chan struct{}       { return (*c.Load()).Done() }
func (c *releasedContext) Err() error                  { return (*c.Load()).Err() }
func (c *releasedContext) Value(key any) any           { return (*c.Load()).Value(key) }
