package provider

import (
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A provider that runs for a debugger serves several sessions. An interrupt ends only one.
func TestSessionAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	_, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1")...)
	p := startProvider(t, r.provider)
	p.Interrupt()
	p.Configure(r.provider)
	planned, _, _ := p.Plan(r.state, cam1("p1"))
	_, diags := p.Apply(r.state.Value, planned, cam1("p1"))
	wantDiagnostics(t, diags)
}

// Terraform would not find the optional parts of the protocol behind a wrapper that hides them.
func TestServerHidesNothing(t *testing.T) {
	t.Parallel()
	server := reflect.TypeOf(NewServer("test", nil)())
	for method := range reflect.TypeOf(providerserver.NewProtocol6(&streamProvider{})()).Methods() {
		if _, ok := server.MethodByName(method.Name); !ok {
			t.Errorf("a wrapper hides %s of the framework's server", method.Name)
		}
	}
}
