package provider

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
)

// A provider with an unknown configuration can plan and refresh, and refuses the rest.
func TestUnknownConfiguration(t *testing.T) {
	t.Parallel()
	config := resourceValue(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}, "on_destroy": "detach"})
	for name, start := range map[string]func(*testing.T) *coretest.Process{
		"unknown": func(t *testing.T) *coretest.Process {
			t.Helper()
			return startProvider(t, coretest.Attributes{"base_url": tftypes.UnknownValue, "detect_drift": true})
		},
		"not configured": func(t *testing.T) *coretest.Process {
			t.Helper()
			return newProcess(t, NewServer("test")())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantRefused := func(diags coretest.Diagnostics) {
				t.Helper()
				if text := diags.String(); !strings.Contains(text, "Provider Configuration Not Known") ||
					!strings.HasSuffix(text, "Nothing was sent by this operation. The stream was not changed.") {
					t.Errorf("diagnostics: %s", text)
				}
			}
			p := start(t)
			_, diags := p.Invoke(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
			wantRefused(diags)

			planned, _, diags := p.Plan(coretest.Managed{Value: nullResource()}, config)
			if diags.Failed() {
				t.Fatal(diags)
			}
			_, diags = p.Apply(nullResource(), planned, config)
			wantRefused(diags)

			all := coretest.AttributesOf(config)
			all["last_edited"] = tftypes.NewValue(tftypes.Number, tftypes.UnknownValue)
			update := tftypes.NewValue(resourceSchema().ValueType(), all)
			_, diags = p.Apply(config, coretest.Managed{Value: update}, config)
			wantRefused(diags)
			_, diags = p.Apply(config, coretest.Managed{Value: nullResource()}, nullResource())
			wantRefused(diags)
			if _, diags := p.Read(coretest.Managed{Value: config}); diags.Failed() {
				t.Error(diags)
			}
		})
	}
}
