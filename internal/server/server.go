// Package server serves the provider: it wraps the framework's server, so that an interrupt ends a session cleanly, and
// calls need less memory.
package server

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
)

// New returns a constructor of the server, as [tf6server.Serve] expects it. The host may be nil: see [provider.New].
func New(version string, host *provider.Host) func() tfprotov6.ProviderServer {
	return func() tfprotov6.ProviderServer {
		framework, _ := providerserver.NewProtocol6(provider.New(version, host))().(fullServer)
		return &stoppingServer{fullServer: releasingServer{framework}}
	}
}

// fullServer has all methods of the framework's server, so that a wrapper hides none of them.
type fullServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
	tfprotov6.StateStoreServer
}

// stoppingServer ends a session cleanly when Terraform is interrupted: no operation starts any more, and
// the client lets attempts end for a moment (see package requests).
type stoppingServer struct {
	fullServer
	events  sync.RWMutex // read-locked by each running action and list
	stopped atomic.Bool
}

// ConfigureProvider begins a session. A provider that runs for a debugger serves several.
func (s *stoppingServer) ConfigureProvider(
	ctx context.Context, req *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	s.stopped.Store(false)
	return s.fullServer.ConfigureProvider(ctx, req)
}

func (s *stoppingServer) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return s.fullServer.ApplyResourceChange(s.unlessStopped(ctx), req)
}

func (s *stoppingServer) InvokeAction(
	ctx context.Context, req *tfprotov6.InvokeActionRequest,
) (*tfprotov6.InvokeActionServerStream, error) {
	stream, err := s.fullServer.InvokeAction(s.unlessStopped(ctx), req)
	if err == nil {
		stream.Events = holdStop(s, stream.Events)
	}
	return stream, err
}

func (s *stoppingServer) ListResource(
	ctx context.Context, req *tfprotov6.ListResourceRequest,
) (*tfprotov6.ListResourceServerStream, error) {
	stream, err := s.fullServer.ListResource(s.unlessStopped(ctx), req)
	if err == nil {
		stream.Results = holdStop(s, stream.Results)
	}
	return stream, err
}

// holdStop makes StopProvider wait for the end of events.
func holdStop[E any](s *stoppingServer, events iter.Seq[E]) iter.Seq[E] {
	return func(push func(E) bool) {
		s.events.RLock()
		defer s.events.RUnlock()
		events(push)
	}
}

// unlessStopped returns a context that is cancelled if the session has been interrupted.
func (s *stoppingServer) unlessStopped(ctx context.Context) context.Context {
	if !s.stopped.Load() {
		return ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// StopProvider interrupts all operations, and waits until actions and lists have ended: the protocol server
// drops later events, and Terraform would take an interrupted action or query for a success.
func (s *stoppingServer) StopProvider(ctx context.Context, req *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	s.stopped.Store(true)
	resp, err := s.fullServer.StopProvider(ctx, req)
	s.events.Lock()
	defer s.events.Unlock()
	return resp, err
}
