package provider

import (
	"context"
	"iter"
	"net"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// DialContext makes a connection to the service, as in [http.Transport]; nil means the network.
type DialContext = func(ctx context.Context, network, address string) (net.Conn, error)

// NewServer returns a constructor for the provider of a version, as [tf6server.Serve] expects it.
func NewServer(version string, dial DialContext) func() tfprotov6.ProviderServer {
	return func() tfprotov6.ProviderServer {
		p := &streamProvider{version: version, dial: dial}
		server, _ := providerserver.NewProtocol6(p)().(fullServer)
		server = releasingServer{server}
		server = linearServer{server}
		return &stoppingServer{fullServer: server}
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
// the client lets attempts end for a moment (see package streams).
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
