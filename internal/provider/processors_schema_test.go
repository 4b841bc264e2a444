package provider

import (
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
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
