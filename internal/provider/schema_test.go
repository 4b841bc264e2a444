package provider

import (
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestSchema holds what every schema of the provider must say.
func TestSchema(t *testing.T) {
	t.Parallel()
	all := map[string]*tfprotov6.Schema{"provider": schemas().Provider}
	maps.Copy(all, schemas().ResourceSchemas)
	for name, action := range schemas().ActionSchemas {
		all["action "+name] = action.Schema
	}
	for name, s := range all {
		var check func(at string, attributes []*tfprotov6.SchemaAttribute)
		check = func(at string, attributes []*tfprotov6.SchemaAttribute) {
			for _, a := range attributes {
				at := at + "." + a.Name
				if !strings.HasSuffix(a.Description, ".") {
					t.Errorf("%s: the description is no sentence: %q", at, a.Description)
				}
				if a.Optional && !strings.Contains(a.Description, "efault:") && !strings.Contains(a.Description, "No default") &&
					!strings.Contains(a.Description, "Required") {
					t.Errorf("%s: the description does not name the default: %q", at, a.Description)
				}
				if a.NestedType != nil {
					check(at, a.NestedType.Attributes)
				}
			}
		}
		check(name, s.Block.Attributes)
	}
}

// Each wrong value is one error at its attribute. Values that are known after apply are no problem.
func TestProcessorsValidation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config          coretest.Attributes
		attribute, want string // want "": valid
	}{
		"odd ids":            {coretest.Attributes{"stream_id": "a/b %2e ü..", "processor_ids": []string{"..", "a b", "/"}}, "", ""},
		"not known yet":      {coretest.Attributes{"stream_id": tftypes.UnknownValue, "processor_ids": []any{tftypes.UnknownValue}}, "", ""},
		"set not known yet":  {coretest.Attributes{"processor_ids": tftypes.UnknownValue}, "", ""},
		"dots":               {coretest.Attributes{"stream_id": ".."}, "stream_id", `must not be ".."`},
		"control characters": {coretest.Attributes{"stream_id": "a\u007fb"}, "stream_id", "must not contain the control character U+007F"},
		"padded processor":   {coretest.Attributes{"processor_ids": []string{"p1 "}}, "processor_ids", "must not begin or end with white space"},
		"null processor":     {coretest.Attributes{"processor_ids": []any{nil}}, "processor_ids", "null"},
		"no such on_destroy": {coretest.Attributes{"on_destroy": "Detach"}, "on_destroy", `["detach" "keep"]`},
		"no duration":        {coretest.Attributes{"timeouts": coretest.Attributes{"create": "soon"}}, "timeouts", `"30s"`},
		"negative duration":  {coretest.Attributes{"timeouts": coretest.Attributes{"update": "-1m"}}, "timeouts", `"30s"`},
		"zero duration":      {coretest.Attributes{"timeouts": coretest.Attributes{"delete": "0s"}}, "timeouts", `"30s"`},
	} {
		for attribute, value := range (coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}}) {
			if _, ok := test.config[attribute]; !ok {
				test.config[attribute] = value
			}
		}
		diags := newProcess(t, NewServer("test", nil)()).Validate(resourceValue(test.config))
		if test.want == "" {
			wantDiagnostics(t, diags)
			continue
		}
		wantError(t, diags, test.want)
		if at := diags[0].Attribute.Steps()[0]; at != tftypes.AttributeName(test.attribute) {
			t.Errorf("%s: the error is at %v, want %s", name, at, test.attribute)
		}
	}
}

// Each invalid id is reported at the key of its stream.
func TestGroupValidation(t *testing.T) {
	t.Parallel()
	p := startProvider(t, coretest.Attributes{"base_url": "http://127.0.0.1:1"})
	config := coretest.ToTerraform(groupSchema().ValueType(), coretest.Attributes{"on_destroy": "drop", "streams": coretest.Attributes{
		"ok": []string{}, " cam": []string{"p1"}, "..": []string{"p1"}, "cam-1": []string{"p1", " p2", ""},
		"cam-2": nil, "cam-3": []any{nil, "p1"}, "late": tftypes.UnknownValue, "later": []any{tftypes.UnknownValue},
	}})
	diags := p.Validate(config)
	want := map[string][]string{
		" cam": {"Invalid Attribute Value"}, "..": {"Invalid Attribute Value"}, "cam-1": {"Invalid Attribute Value", "Invalid Attribute Value"},
		"cam-2": {"Missing Attribute Value"}, "cam-3": {"Missing Attribute Value"}, "": {"Invalid Attribute Value Match"},
	}
	wantEqual(t, "errors", want, errorsAt(diags))
	streamstest.WantText(t, diags.String(),
		`streams[" cam"]: " cam" is not a stream id: it must not begin or end with white space.`,
		`streams["cam-1"]: " p2" is not a processor id: it must not begin or end with white space.`,
		`streams["cam-3"]: a processor id must not be null.`,
	)
}
