package provider

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// A provider whose configuration is not known can plan, but not do anything.
func TestNotConfigured(t *testing.T) {
	t.Parallel()
	config := toTerraform(resourceSchema().ValueType(), attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}, "on_destroy": "detach"})
	for name, start := range map[string]func(*testing.T) *process{
		"not known": func(t *testing.T) *process {
			t.Helper()
			return startProvider(t, attributes{"base_url": tftypes.UnknownValue, "detect_drift": true})
		},
		"never": func(t *testing.T) *process {
			t.Helper()
			return &process{t: t, server: NewServer("test")()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused := func(diags diagnostics) {
				t.Helper()
				if text := diags.String(); !strings.Contains(text, "Provider Configuration Not Known") ||
					!strings.HasSuffix(text, "Nothing was sent. The stream was not changed.") {
					t.Errorf("diagnostics: %s", text)
				}
			}
			p := start(t)
			_, diags := p.invoke(attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
			refused(diags)

			planned, _, diags := p.plan(managed{value: nullResource()}, config, config)
			if diags.failed() {
				t.Fatal(diags)
			}
			_, diags = p.apply(nullResource(), planned, config)
			refused(diags)

			all := attributesOf(config)
			all["last_edited"] = tftypes.NewValue(tftypes.Number, tftypes.UnknownValue)
			update := tftypes.NewValue(resourceSchema().ValueType(), all)
			_, diags = p.apply(config, managed{value: update}, config)
			refused(diags)
			_, diags = p.apply(config, managed{value: nullResource()}, nullResource())
			refused(diags)
			if _, diags := p.read(managed{value: config}); diags.failed() {
				t.Error(diags)
			}
		})
	}
}
