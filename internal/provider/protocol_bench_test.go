package provider

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// BenchmarkProtocol measures each call that the CLI makes for a resource, within the process of the test. The numbers of
// the applies include the service, which has no latency.
func BenchmarkProtocol(b *testing.B) {
	_, url := streamstest.Start(b, streamstest.Options{}, streamstest.Streams("cam-1")...)
	TuneProcess()
	p := &process{t: b, server: NewServer("test")()}
	p.configure(attributes{"base_url": url})
	ids := []string{"6f1c0f8e-0001-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0002-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0003-4c5e-9a51-2f4b8a3d7e10"}
	none := managed{value: tftypes.NewValue(resourceSchema().ValueType(), nil)}
	config := resourceValue(attributes{"stream_id": "cam-1", "processor_ids": ids})
	planned, _, diags := p.plan(none, config, config)
	if diags.failed() {
		b.Fatal(diags)
	}
	state, diags := p.apply(none.value, planned, config)
	if diags.failed() {
		b.Fatal(diags)
	}

	stored, err := json.Marshal(fromTerraform(state.value))
	if err != nil {
		b.Fatal(err)
	}

	for _, call := range []struct {
		name string
		make func()
	}{
		{"ValidateResourceConfig", func() { p.validate(config) }},
		{"PlanResourceChange/create", func() { p.plan(none, config, config) }},
		{"PlanResourceChange/no-op", func() { p.plan(state, config, state.value) }},
		{"UpgradeResourceState", func() { p.upgrade(stored) }},
		{"ReadResource", func() { p.read(state) }},
		{"ApplyResourceChange", func() { p.apply(none.value, planned, config) }},
	} {
		b.Run(call.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call.make()
			}
		})
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
	p := startProvider(b, attributes{"base_url": url})
	config := group(streams, nil)
	planned, diags := p.planGroup(nullGroup(), &config)
	if diags.failed() {
		b.Fatal(diags)
	}
	state, diags := p.applyGroup(nullGroup(), planned, &config)
	if diags.failed() {
		b.Fatal(diags)
	}
	for _, call := range []struct {
		name string
		make func()
	}{
		{"ValidateResourceConfig", func() { p.validate(config) }},
		{"PlanResourceChange/create", func() { p.planGroup(nullGroup(), &config) }},
		{"PlanResourceChange/no-op", func() { p.planGroup(state, &config) }},
		{"ReadResource", func() { p.read(state) }},
	} {
		b.Run(call.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call.make()
			}
		})
	}
}
