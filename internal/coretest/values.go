package coretest

import (
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Attributes are the attributes of an object or the elements of a map, by name. Attributes that are left out are null.
type Attributes map[string]any

// ToTerraform makes a value of a type. The Go value is Attributes, a slice, a map, a basic type, nil for null, or
// tftypes.UnknownValue, also within each other.
func ToTerraform(typ tftypes.Type, v any) tftypes.Value {
	switch v := v.(type) {
	case Attributes:
		if object, ok := typ.(tftypes.Object); ok {
			return tftypes.NewValue(typ, objectToTerraform(object, v))
		}
		return tftypes.NewValue(typ, mapToTerraform(typ, v))
	case map[string]string:
		return tftypes.NewValue(typ, mapToTerraform(typ, v))
	case map[string][]string:
		return tftypes.NewValue(typ, mapToTerraform(typ, v))
	case []string:
		return tftypes.NewValue(typ, listToTerraform(typ, v))
	case []any:
		return tftypes.NewValue(typ, listToTerraform(typ, v))
	}
	return tftypes.NewValue(typ, v)
}

func objectToTerraform(typ tftypes.Object, a Attributes) map[string]tftypes.Value {
	values := map[string]tftypes.Value{}
	for name, typ := range typ.AttributeTypes {
		values[name] = ToTerraform(typ, a[name])
	}
	for name := range a {
		if _, ok := values[name]; !ok {
			panic(fmt.Sprintf("there is no attribute %q", name))
		}
	}
	return values
}

func mapToTerraform[V any](typ tftypes.Type, elements map[string]V) map[string]tftypes.Value {
	collection, _ := typ.(tftypes.Map)
	values := map[string]tftypes.Value{}
	for key, element := range elements {
		values[key] = ToTerraform(collection.ElementType, element)
	}
	return values
}

func listToTerraform[V any](typ tftypes.Type, elements []V) []tftypes.Value {
	var elementType tftypes.Type
	switch typ := typ.(type) {
	case tftypes.List:
		elementType = typ.ElementType
	case tftypes.Set:
		elementType = typ.ElementType
	}
	values := []tftypes.Value{}
	for _, element := range elements {
		values = append(values, ToTerraform(elementType, element))
	}
	return values
}

// FromTerraform returns a value in a form to compare and print: nil, tftypes.UnknownValue, a basic type, a sorted slice
// or a map. Numbers become strings.
func FromTerraform(v tftypes.Value) any {
	switch {
	case !v.IsKnown():
		return tftypes.UnknownValue
	case v.IsNull():
		return nil
	}
	var (
		text   string
		number big.Float
		flag   bool
		list   []tftypes.Value
		all    map[string]tftypes.Value
	)
	switch {
	case v.As(&text) == nil:
		return text
	case v.As(&number) == nil:
		return number.Text('f', -1)
	case v.As(&flag) == nil:
		return flag
	case v.As(&list) == nil:
		texts := []string{}
		for _, v := range list {
			texts = append(texts, fmt.Sprint(FromTerraform(v)))
		}
		slices.Sort(texts) // all collections of the resource are sets
		return texts
	case v.As(&all) == nil:
		values := map[string]any{}
		for key, v := range all {
			values[key] = FromTerraform(v)
		}
		return values
	}
	panic(fmt.Sprintf("a value of an unexpected type: %s", v))
}

// EqualValues reports whether two values are equal, apart from the order in sets.
func EqualValues(a, b tftypes.Value) bool {
	return reflect.DeepEqual(FromTerraform(a), FromTerraform(b))
}

// AttributesOf returns the attributes of an object.
func AttributesOf(v tftypes.Value) map[string]tftypes.Value {
	var all map[string]tftypes.Value
	if err := v.As(&all); err != nil {
		panic(err)
	}
	return maps.Clone(all)
}

// DynamicValue encodes a value for the protocol.
func DynamicValue(v tftypes.Value) *tfprotov6.DynamicValue {
	encoded, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		panic(err)
	}
	return &encoded
}

// DecodeAs decodes a value of the protocol. Nil is a null value.
func DecodeAs(t Failer, typ tftypes.Type, v *tfprotov6.DynamicValue) tftypes.Value {
	t.Helper()
	if v == nil {
		return nullOf(typ)
	}
	decoded, err := v.Unmarshal(typ)
	if err != nil {
		t.Fatalf("decoding a resource: %v", err)
	}
	return decoded
}

// ProposedState is the new state that Terraform core proposes in a plan: the configuration, with the computed values of
// the prior state.
func ProposedState(s *tfprotov6.Schema, prior, config tftypes.Value) tftypes.Value {
	if config.IsNull() || prior.IsNull() {
		return config
	}
	was, is := AttributesOf(prior), AttributesOf(config)
	for _, a := range s.Block.Attributes {
		if a.Computed && is[a.Name].IsNull() {
			is[a.Name] = was[a.Name]
		}
	}
	return tftypes.NewValue(s.ValueType(), is)
}

func nullOf(typ tftypes.Type) tftypes.Value { return tftypes.NewValue(typ, nil) }

// typeNameOf returns the type name of the resource that has a value.
func typeNameOf(v tftypes.Value) string {
	if object, ok := v.Type().(tftypes.Object); ok && object.AttributeTypes["streams"] != nil {
		return GroupName
	}
	return SingleName
}
