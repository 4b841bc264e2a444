package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// BenchmarkProtocol measures each call that the CLI makes for a resource, within the process of the test. The numbers of
// the applies include the service, which has no latency.
func BenchmarkProtocol(b *testing.B) {
	_, url := streamstest.Start(b, streamstest.Options{}, streamstest.Streams("cam-1")...)
	TuneProcess()
	p := newProcess(b, NewServer("test")())
	p.Configure(coretest.Attributes{"base_url": url})
	ids := []string{"6f1c0f8e-0001-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0002-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0003-4c5e-9a51-2f4b8a3d7e10"}
	none := coretest.Managed{Value: tftypes.NewValue(resourceSchema().ValueType(), nil)}
	config := resourceValue(coretest.Attributes{"stream_id": "cam-1", "processor_ids": ids})
	planned, _, diags := p.Plan(none, config)
	if diags.Failed() {
		b.Fatal(diags)
	}
	state, diags := p.Apply(none.Value, planned, config)
	if diags.Failed() {
		b.Fatal(diags)
	}

	stored, err := json.Marshal(coretest.FromTerraform(state.Value))
	if err != nil {
		b.Fatal(err)
	}

	for _, call := range []struct {
		name string
		make func()
	}{
		{"ValidateResourceConfig", func() { p.Validate(config) }},
		{"PlanResourceChange/create", func() { p.Plan(none, config) }},
		{"PlanResourceChange/no-op", func() { p.Plan(state, config) }},
		{"UpgradeResourceState", func() { upgrade(b, p, stored) }},
		{"ReadResource", func() { p.Read(state) }},
		{"ApplyResourceChange", func() { p.Apply(none.Value, planned, config) }},
	} {
		b.Run(call.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call.make()
			}
		})
	}
}

// upgrade decodes the JSON of a state file.
func upgrade(b *testing.B, p *coretest.Process, state []byte) {
	_, err := p.Server.UpgradeResourceState(context.Background(), &tfprotov6.UpgradeResourceStateRequest{
		TypeName: coretest.SingleName, Version: resourceSchema().Version, RawState: &tfprotov6.RawState{JSON: state},
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkGroupProtocol measures each call for a group of 500 streams with 3 processors each.
func BenchmarkGroupProtocol(b *testing.B) {
	streams := map[string][]string{}
	for i := range 500 {
		streams[fmt.Sprintf("cam-%04d", i)] = []string{
			"6f1c0f8e-0001-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0002-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0003-4c5e-9a51-2f4b8a3d7e10",
		}
	}
	_, url := streamstest.Start(b, streamstest.Options{}, seeds(streams)...)
	TuneProcess()
	p := startProvider(b, coretest.Attributes{"base_url": url})
	config := group(streams, nil)
	planned, diags := planGroup(p, nullGroup(), &config)
	if diags.Failed() {
		b.Fatal(diags)
	}
	state, diags := applyGroup(p, nullGroup(), planned, &config)
	if diags.Failed() {
		b.Fatal(diags)
	}
	for _, call := range []struct {
		name string
		make func()
	}{
		{"ValidateResourceConfig", func() { p.Validate(config) }},
		{"PlanResourceChange/create", func() { planGroup(p, nullGroup(), &config) }},
		{"PlanResourceChange/no-op", func() { planGroup(p, state, &config) }},
		{"ReadResource", func() { p.Read(state) }},
	} {
		b.Run(call.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call.make()
			}
		})
	}
}
