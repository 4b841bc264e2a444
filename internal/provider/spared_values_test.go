package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A plan and an apply have the same response with and without the values that the framework is spared.
func TestSparedValues(t *testing.T) {
	t.Parallel()
	streams := sameSet(3, "p1")
	_, url := streamstest.Start(t, streamstest.Options{KeepLastEdited: true}, seeds(streams)...)
	standard := coretest.Attributes{"base_url": url}
	kept := mustApply(t, standard, nullGroup(), group(streams, coretest.Attributes{"on_destroy": "keep"}))
	for name, tc := range map[string]struct {
		prior  coretest.Managed
		config tftypes.Value
	}{
		"create":             {nullGroup(), group(streams, coretest.Attributes{"timeouts": coretest.Attributes{"create": "1m"}})},
		"unknown":            {nullGroup(), coretest.ToTerraform(groupSchema().ValueType(), coretest.Attributes{"streams": tftypes.UnknownValue})},
		"change":             {kept, group(with(streams, "s001", "p2"), coretest.Attributes{"on_destroy": "keep"})},
		"trigger":            {kept, group(streams, coretest.Attributes{"on_destroy": "keep", "triggers": map[string]string{"t": "1"}})},
		"on_destroy dropped": {kept, group(streams, nil)},
		"destroy":            {kept, nullGroup().Value},
		"single":             {coretest.Managed{Value: nullResource()}, single("s001", []string{"p1"})},
	} {
		var responses []any
		for _, wrap := range []func(tfprotov6.ProviderServer) tfprotov6.ProviderServer{
			func(s tfprotov6.ProviderServer) tfprotov6.ProviderServer { return s }, withSparedValues,
		} {
			p := newProcess(t, wrap(providerserver.NewProtocol6(&streamProvider{})()))
			p.Configure(standard)
			planned, replace, diags := p.Plan(tc.prior, tc.config)
			responses = append(responses, coretest.FromTerraform(planned.Value), string(planned.Private), replace, diags.String())
			if planned.Value.IsNull() || coretest.AttributesOf(tc.config)["streams"].IsKnown() {
				applied, diags := p.Apply(tc.prior.Value, planned, tc.config)
				responses = append(responses, coretest.FromTerraform(applied.Value), string(applied.Private), diags.String())
			}
		}
		half := len(responses) / 2
		if diff := cmp.Diff(responses[:half], responses[half:]); diff != "" {
			t.Errorf("%s: without and with the values:\n%s", name, diff)
		}
	}
}
