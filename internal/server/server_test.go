package server

import (
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// A provider that runs for a debugger serves several sessions. An interrupt ends only one.
func TestSessionAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	server := New("test", nil)()
	p := &coretest.Process{T: t, Server: server, Schemas: coretest.SchemasOf(server)}
	typ := p.Schemas.ResourceSchemas[coretest.SingleName].ValueType()
	config := coretest.ToTerraform(typ, coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
	none := coretest.Managed{Value: tftypes.NewValue(typ, nil)}
	for _, interrupted := range []bool{true, false} {
		p.Configure(coretest.Attributes{"base_url": url})
		if interrupted {
			p.Interrupt()
		}
		planned, _, _ := p.Plan(none, config)
		if _, diags := p.Apply(none.Value, planned, config); diags.Failed() != interrupted {
			t.Errorf("interrupted %t: %s", interrupted, diags)
		}
	}
}

// Terraform would not find the optional parts of the protocol behind a wrapper that hides them.
func TestServerHidesNothing(t *testing.T) {
	t.Parallel()
	server := reflect.TypeOf(New("test", nil)())
	for method := range reflect.TypeOf(providerserver.NewProtocol6(provider.New("test", nil))()).Methods() {
		if _, ok := server.MethodByName(method.Name); !ok {
			t.Errorf("a wrapper hides %s of the framework's server", method.Name)
		}
	}
}
