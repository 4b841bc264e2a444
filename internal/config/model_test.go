package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
)

// fields calls yield for each attribute of a struct, and for those in it.
func fields(of reflect.Type, prefix string, yield func(name string, variables []string)) {
	for field := range of.Fields() {
		if name, ok := field.Tag.Lookup("tfsdk"); ok {
			yield(prefix+name, strings.Fields(field.Tag.Get("env")))
			fields(field.Type, prefix+name+".", yield)
		}
	}
}

// variables returns the attributes that have environment variables, each with the first one.
func variables() map[string]string {
	all := map[string]string{}
	fields(reflect.TypeFor[model](), "", func(name string, variables []string) {
		if len(variables) > 0 {
			all[name] = variables[0]
		}
	})
	return all
}

// Each attribute of the schema has a field, and says its environment variables.
func TestModel(t *testing.T) {
	t.Parallel()
	var inModel, inSchema []string
	described := map[string]string{}
	var walk func(prefix string, attributes map[string]schema.Attribute)
	walk = func(prefix string, attributes map[string]schema.Attribute) {
		for name, a := range attributes {
			inSchema, described[prefix+name] = append(inSchema, prefix+name), a.GetMarkdownDescription()
			if object, ok := a.(schema.SingleNestedAttribute); ok {
				walk(prefix+name+".", object.Attributes)
			}
		}
	}
	walk("", Schema().Attributes)
	fields(reflect.TypeFor[model](), "", func(name string, variables []string) {
		inModel = append(inModel, name)
		for _, variable := range variables {
			if !strings.Contains(described[name], "`"+variable+"`") {
				t.Errorf("%s does not name %s: %s", name, variable, described[name])
			}
		}
	})
	slices.Sort(inModel)
	if slices.Sort(inSchema); !slices.Equal(inModel, inSchema) {
		t.Errorf("the model has\n%q, the schema\n%q", inModel, inSchema)
	}
}
