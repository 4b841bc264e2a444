package provider_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
)

// TestSchema holds what every schema of the provider must say.
func TestSchema(t *testing.T) {
	t.Parallel()
	for name, s := range allSchemas() {
		if s.Block.Description == "" && name != "provider" {
			t.Errorf("%s has no description", name)
		}
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

func allSchemas() map[string]*tfprotov6.Schema {
	all := map[string]*tfprotov6.Schema{"provider": schemas().Provider}
	for kind, found := range map[string]map[string]*tfprotov6.Schema{
		"resource": schemas().ResourceSchemas, "data-source": schemas().DataSourceSchemas, "list-resource": schemas().ListResourceSchemas,
	} {
		for name, s := range found {
			all[kind+" "+name] = s
		}
	}
	for name, action := range schemas().ActionSchemas {
		all["action "+name] = action.Schema
	}
	return all
}

// Each thing that users can declare has a link to its page in the README, and a line in the changelog.
func TestEverythingIsNamed(t *testing.T) {
	t.Parallel()
	readme, changelog := readFile(t, "../../README.md"), readFile(t, "../../CHANGELOG.md")
	for name := range allSchemas() {
		kind, typeName, declared := strings.Cut(name, " ")
		if !declared {
			continue
		}
		page := "docs/" + kind + "s/" + strings.TrimPrefix(typeName, "stream_") + ".md"
		if !strings.Contains(readme, "("+page+")") {
			t.Errorf("the README does not link %s", page)
		}
		line := regexp.MustCompile(`(?m)^- \*\*New ` + strings.ReplaceAll(kind, "-", " ") + "s?:\\*\\*.*`" + typeName + "`")
		if !line.MatchString(changelog) {
			t.Errorf("the changelog does not name the %s", name)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Each wrong value is one error at its attribute. Values that are known after apply are no problem.
func TestValidation(t *testing.T) {
	t.Parallel()
	type config = coretest.Attributes
	const unknown = tftypes.UnknownValue
	p := newProcess(t, server.New("test", nil)())
	resource := func(c config) coretest.Diagnostics {
		return p.Validate(resourceValue(merge(config{"stream_id": "cam-1", "processor_ids": []string{"p1"}}, c)))
	}
	group := func(c config) coretest.Diagnostics {
		return p.Validate(coretest.ToTerraform(groupSchema().ValueType(), config{"streams": c}))
	}
	data := func(c config) coretest.Diagnostics { return p.ValidateData(coretest.SingleName, c) }
	groupData := func(c config) coretest.Diagnostics { return p.ValidateData(coretest.GroupName, c) }
	const padded = "must not begin or end with white space"
	for name, test := range map[string]struct {
		validate        func(config) coretest.Diagnostics
		config          config
		attribute, want string // want "": valid
	}{
		"odd ids":            {resource, config{"stream_id": "a/b %2e ü..", "processor_ids": []string{"..", "a b"}}, "", ""},
		"not known yet":      {resource, config{"stream_id": unknown, "processor_ids": []any{unknown}}, "", ""},
		"set not known yet":  {resource, config{"processor_ids": unknown}, "", ""},
		"dots":               {resource, config{"stream_id": ".."}, "stream_id", `must not be ".."`},
		"control characters": {resource, config{"stream_id": "a\u007fb"}, "stream_id", "control characters"},
		"zero duration":      {resource, config{"timeouts": config{"delete": "0s"}}, "timeouts", `"30s"`},

		"group, sets not known yet": {group, config{"late": unknown, "later": []any{unknown}}, "", ""},

		"data, not known yet":     {data, config{"stream_id": unknown}, "", ""},
		"data, dots":              {data, config{"stream_id": ".."}, "stream_id", `".." is not a stream id`},
		"data, negative duration": {data, config{"stream_id": "a", "timeouts": config{"read": "-1s"}}, "timeouts", `"30s"`},
		"group, no streams":       {groupData, config{"stream_ids": []string{}}, "", ""},
		"group, not known yet":    {groupData, config{"stream_ids": []any{"cam-1", unknown}}, "", ""},
		"group, padded stream":    {groupData, config{"stream_ids": []string{"cam-1", " cam-2"}}, "stream_ids", padded},
		"group, null stream":      {groupData, config{"stream_ids": []any{"cam-1", nil}}, "stream_ids", "must not be null."},
	} {
		diags := test.validate(test.config)
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
