package provider

import (
	"maps"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
)

var schemas = sync.OnceValue(func() *coretest.Schemas { return coretest.SchemasOf(NewServer("test")()) })

func resourceSchema() *tfprotov6.Schema { return schemas().ResourceSchemas[coretest.SingleName] }

func resourceValue(a coretest.Attributes) tftypes.Value {
	return coretest.ToTerraform(resourceSchema().ValueType(), a)
}

// merge returns the attributes of both objects. Those of the second one come first.
func merge(a, b coretest.Attributes) coretest.Attributes {
	merged := maps.Clone(a)
	maps.Copy(merged, b)
	return merged
}

// nullResource is a resource that does not exist.
func nullResource() tftypes.Value { return tftypes.NewValue(resourceSchema().ValueType(), nil) }

// newTestServer makes the server of the protocol tests.
var newTestServer = func(coretest.Failer) tfprotov6.ProviderServer { return NewServer("test")() }

// newProcess starts the provider.
func newProcess(t coretest.Failer, server tfprotov6.ProviderServer) *coretest.Process {
	return &coretest.Process{T: t, Server: server, Schemas: schemas()}
}

// startProvider starts the provider and configures it.
func startProvider(t coretest.Failer, config coretest.Attributes) *coretest.Process {
	t.Helper()
	p := newProcess(t, newTestServer(t))
	p.Configure(config)
	return p
}

// decodeIdentity decodes an identity into the form of [coretest.FromTerraform]; nil is a null identity.
func decodeIdentity(t coretest.Failer, data *tfprotov6.ResourceIdentityData) any {
	t.Helper()
	if data == nil {
		return nil
	}
	typ := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"stream_id": tftypes.String}}
	return coretest.FromTerraform(coretest.DecodeAs(t, typ, data.IdentityData))
}
