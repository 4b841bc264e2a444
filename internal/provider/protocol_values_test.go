package provider

import (
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// attributes are the attributes of an object or the elements of a map, by name. Attributes that are left out are null.
type attributes map[string]any

// toTerraform makes a value of a type. The Go value is attributes, a slice, a map, a basic type, nil for null, or
// tftypes.UnknownValue, also within each other.
func toTerraform(typ tftypes.Type, v any) tftypes.Value {
	switch v := v.(type) {
	case attributes:
		object, ok := typ.(tftypes.Object)
		if !ok {
			return tftypes.NewValue(typ, mapToTerraform(typ, v))
		}
		values := map[string]tftypes.Value{}
		for name, typ := range object.AttributeTypes {
			values[name] = toTerraform(typ, v[name])
		}
		for name := range v {
			if _, ok := values[name]; !ok {
				panic(fmt.Sprintf("there is no attribute %q", name))
			}
		}
		return tftypes.NewValue(typ, values)
	case map[string]string:
		return tftypes.NewValue(typ, mapToTerraform(typ, v))
	case []string:
		return tftypes.NewValue(typ, listToTerraform(typ, v))
	case []any:
		return tftypes.NewValue(typ, listToTerraform(typ, v))
	}
	return tftypes.NewValue(typ, v)
}

func mapToTerraform[V any](typ tftypes.Type, elements map[string]V) map[string]tftypes.Value {
	values := map[string]tftypes.Value{}
	for key, element := range elements {
		values[key] = toTerraform(typ.(tftypes.Map).ElementType, element)
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
		values = append(values, toTerraform(elementType, element))
	}
	return values
}

// fromTerraform returns a value in a form to compare and print: nil, tftypes.UnknownValue, a basic type, a sorted slice
// or a map. Numbers become strings.
func fromTerraform(v tftypes.Value) any {
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
			texts = append(texts, fmt.Sprint(fromTerraform(v)))
		}
		slices.Sort(texts) // all collections of the resource are sets
		return texts
	case v.As(&all) == nil:
		values := map[string]any{}
		for key, v := range all {
			values[key] = fromTerraform(v)
		}
		return values
	}
	panic(fmt.Sprintf("a value of an unexpected type: %s", v))
}

// equalValues reports whether two values are equal, apart from the order in sets.
func equalValues(a, b tftypes.Value) bool {
	return reflect.DeepEqual(fromTerraform(a), fromTerraform(b))
}

// attributesOf returns the attributes of an object.
func attributesOf(v tftypes.Value) map[string]tftypes.Value {
	var all map[string]tftypes.Value
	if err := v.As(&all); err != nil {
		panic(err)
	}
	return maps.Clone(all)
}

func dynamicValue(v tftypes.Value) *tfprotov6.DynamicValue {
	encoded, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		panic(err)
	}
	return &encoded
}

// resourceValue makes a value of the resource.
func resourceValue(a attributes) tftypes.Value { return toTerraform(resourceSchema().ValueType(), a) }

// proposedState is the new state that Terraform core proposes in a plan: the configuration, with the computed values of
// the prior state.
func proposedState(prior, config tftypes.Value) tftypes.Value {
	return proposedStateOf(schemas().ResourceSchemas[typeNameOf(prior)], prior, config)
}

func proposedStateOf(s *tfprotov6.Schema, prior, config tftypes.Value) tftypes.Value {
	if config.IsNull() || prior.IsNull() {
		return config
	}
	was, is := attributesOf(prior), attributesOf(config)
	for _, a := range s.Block.Attributes {
		if a.Computed && is[a.Name].IsNull() {
			is[a.Name] = was[a.Name]
		}
	}
	return tftypes.NewValue(s.ValueType(), is)
}

// nullResource is a resource that does not exist.
func nullResource() tftypes.Value { return nullOf(resourceSchema().ValueType()) }

func nullOf(typ tftypes.Type) tftypes.Value { return tftypes.NewValue(typ, nil) }

// typeNameOf returns the type name of the resource that has a value.
func typeNameOf(v tftypes.Value) string {
	if v.Type().Equal(groupSchema().ValueType()) {
		return groupName
	}
	return resourceName
}

// decodeResource decodes a stream_processors resource; nil is a null resource.
func decodeResource(t failer, v *tfprotov6.DynamicValue) tftypes.Value {
	t.Helper()
	return decodeAs(t, resourceSchema().ValueType(), v)
}

func decodeAs(t failer, typ tftypes.Type, v *tfprotov6.DynamicValue) tftypes.Value {
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

// decodeIdentity decodes an identity into the form of fromTerraform; nil is a null identity.
func decodeIdentity(t failer, data *tfprotov6.ResourceIdentityData) any {
	t.Helper()
	if data == nil {
		return nil
	}
	decoded, err := data.IdentityData.Unmarshal(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"stream_id": tftypes.String}})
	if err != nil {
		t.Fatalf("decoding an identity: %v", err)
	}
	return fromTerraform(decoded)
}
