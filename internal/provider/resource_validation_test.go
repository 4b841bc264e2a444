package provider

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

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
		"control characters": {coretest.Attributes{"stream_id": "a\u007fb"}, "stream_id", "must not contain control characters"},
		"padded processor":   {coretest.Attributes{"processor_ids": []string{"p1 "}}, "processor_ids", "must not begin or end with white space"},
		"null processor":     {coretest.Attributes{"processor_ids": []any{nil}}, "processor_ids", "null"},
		"no such on_destroy": {coretest.Attributes{"on_destroy": "Detach"}, "on_destroy", `["detach" "keep"]`},
		"no duration":        {coretest.Attributes{"timeouts": coretest.Attributes{"create": "soon"}}, "timeouts", `"30s"`},
		"negative duration":  {coretest.Attributes{"timeouts": coretest.Attributes{"update": "-1m"}}, "timeouts", `"30s"`},
		"zero duration":      {coretest.Attributes{"timeouts": coretest.Attributes{"delete": "0s"}}, "timeouts", `"30s"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for attribute, value := range (coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}}) {
				if _, ok := test.config[attribute]; !ok {
					test.config[attribute] = value
				}
			}
			diags := newProcess(t, newTestServer(t)).Validate(resourceValue(test.config))
			if test.want == "" {
				if len(diags) > 0 {
					t.Error(diags)
				}
				return
			}
			if len(diags) != 1 || !strings.Contains(diags[0].Detail, test.want) {
				t.Fatalf("want one error with %q, got %s", test.want, diags)
			}
			if at := diags[0].Attribute.Steps()[0]; at != tftypes.AttributeName(test.attribute) {
				t.Errorf("the error is at %v, want %s", at, test.attribute)
			}
		})
	}
}

// An id that cannot be a stream's is not imported, and nothing is sent.
func TestImportRefused(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true})
	p := startProvider(t, coretest.Attributes{"base_url": url, "detect_drift": true})
	for id, want := range map[string]string{
		"":     "must not be empty",
		".":    `must not be "."`,
		"..":   `must not be ".."`,
		" cam": "must not begin or end with white space",
		"a\tb": "must not contain control characters",
	} {
		if _, diags := p.ImportState(id); !diags.Failed() || !strings.Contains(diags.String(), want) || !strings.Contains(diags.String(), "cannot be imported") {
			t.Errorf("%q: no %q in %s", id, want, diags)
		}
	}
	service.WantRequests(t)
}
