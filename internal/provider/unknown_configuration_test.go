package provider

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// A provider with an unknown configuration can plan and refresh, and refuses the rest.
func TestUnknownConfiguration(t *testing.T) {
	t.Parallel()
	config := resourceValue(attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}, "on_destroy": "detach"})
	for name, start := range map[string]func(*testing.T) *process{
		"unknown": func(t *testing.T) *process {
			t.Helper()
			return startProvider(t, attributes{"base_url": tftypes.UnknownValue, "detect_drift": true})
		},
		"not configured": func(t *testing.T) *process {
			t.Helper()
			return &process{t: t, server: NewServer("test")()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantRefused := func(diags diagnostics) {
				t.Helper()
				if text := diags.String(); !strings.Contains(text, "Provider Configuration Not Known") ||
					!strings.HasSuffix(text, "Nothing was sent. The stream was not changed.") {
					t.Errorf("diagnostics: %s", text)
				}
			}
			p := start(t)
			_, diags := p.invoke(attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
			wantRefused(diags)

			planned, _, diags := p.plan(managed{value: nullResource()}, config, config)
			if diags.failed() {
				t.Fatal(diags)
			}
			_, diags = p.apply(nullResource(), planned, config)
			wantRefused(diags)

			all := attributesOf(config)
			all["last_edited"] = tftypes.NewValue(tftypes.Number, tftypes.UnknownValue)
			update := tftypes.NewValue(resourceSchema().ValueType(), all)
			_, diags = p.apply(config, managed{value: update}, config)
			wantRefused(diags)
			_, diags = p.apply(config, managed{value: nullResource()}, nullResource())
			wantRefused(diags)
			if _, diags := p.read(managed{value: config}); diags.failed() {
				t.Error(diags)
			}
		})
	}
}
