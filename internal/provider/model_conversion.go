package provider

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// This file can be deleted after fast_path.go: the framework then converts the model by its tags, with the same
// result. It compiles a regular expression for each field each time, which took a third of a plan's time.

// FromTerraform5Value implements [tftypes.ValueConverter].
func (m *processorsModel) FromTerraform5Value(object tftypes.Value) error {
	var values map[string]tftypes.Value
	if err := object.As(&values); err != nil || values == nil {
		return err
	}
	return m.eachField(func(name string, field reflect.Value) error {
		value, err := processorsTypes().attributes[name].ValueFromTerraform(context.Background(), values[name])
		if err != nil {
			return fmt.Errorf("decoding %s: %w", name, err)
		}
		field.Set(reflect.ValueOf(value))
		return nil
	})
}

// ToTerraform5Value implements [tftypes.ValueCreator].
func (m *processorsModel) ToTerraform5Value() (any, error) {
	values := map[string]tftypes.Value{}
	err := m.eachField(func(name string, field reflect.Value) (err error) {
		value, _ := reflect.TypeAssert[attr.Value](field) // all fields are values
		values[name], err = value.ToTerraformValue(context.Background())
		return err
	})
	return values, err
}

func (m *processorsModel) eachField(do func(name string, field reflect.Value) error) error {
	fields := reflect.ValueOf(m).Elem()
	for i := range fields.NumField() {
		if err := do(fields.Type().Field(i).Tag.Get("tfsdk"), fields.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

type schemaTypes struct {
	attributes map[string]attr.Type
	object     tftypes.Type
}

var processorsTypes = sync.OnceValue(func() schemaTypes {
	var resp resource.SchemaResponse
	new(processorsResource).Schema(context.Background(), resource.SchemaRequest{}, &resp)
	types := schemaTypes{map[string]attr.Type{}, resp.Schema.Type().TerraformType(context.Background())}
	for name, attribute := range resp.Schema.Attributes {
		types.attributes[name] = attribute.GetType()
	}
	return types
})
