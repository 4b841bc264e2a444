package config

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
)

// The description of an attribute says its environment variables.
func TestVariablesAreDescribed(t *testing.T) {
	t.Parallel()
	described := map[string]string{}
	var walk func(prefix string, attributes map[string]schema.Attribute)
	walk = func(prefix string, attributes map[string]schema.Attribute) {
		for name, a := range attributes {
			described[prefix+name] = a.GetMarkdownDescription()
			if object, ok := a.(schema.SingleNestedAttribute); ok {
				walk(prefix+name+".", object.Attributes)
			}
		}
	}
	walk("", Schema().Attributes)
	for name, all := range variables {
		for _, variable := range all {
			if !strings.Contains(described[name], "`"+variable+"`") {
				t.Errorf("%s does not name %s: %s", name, variable, described[name])
			}
		}
	}
}
