package coretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"regexp"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Attributes are the attributes of an object or the elements of a map, by name. Attributes that are left out are null.
type Attributes map[string]any

// ToTerraform makes a value of a type. The Go value is Attributes, a slice, a map, a basic type, nil for null,
// tftypes.UnknownValue or a tftypes.Value, also within each other.
func ToTerraform(typ tftypes.Type, v any) tftypes.Value {
	if done, ok := v.(tftypes.Value); ok {
		return done
	}
	switch from := reflect.ValueOf(v); from.Kind() {
	case reflect.Map:
		values := map[string]tftypes.Value{}
		if object, ok := typ.(tftypes.Object); ok {
			for name, typ := range object.AttributeTypes {
				values[name] = nullOf(typ)
			}
		}
		for _, key := range from.MapKeys() {
			values[key.String()] = ToTerraform(elementType(typ, key.String()), from.MapIndex(key).Interface())
		}
		return tftypes.NewValue(typ, values)
	case reflect.Slice:
		values := []tftypes.Value{}
		for _, element := range from.Seq2() {
			values = append(values, ToTerraform(elementType(typ, ""), element.Interface()))
		}
		return tftypes.NewValue(typ, values)
	}
	return tftypes.NewValue(typ, v)
}

// elementType returns the type of an attribute of an object, or of the elements of a collection.
func elementType(typ tftypes.Type, attribute string) tftypes.Type {
	switch typ := typ.(type) {
	case tftypes.Object:
		if t, ok := typ.AttributeTypes[attribute]; ok {
			return t
		}
	case tftypes.Map:
		return typ.ElementType
	case tftypes.List:
		return typ.ElementType
	case tftypes.Set:
		return typ.ElementType
	}
	panic(fmt.Sprintf("there is no attribute or element %q in %s", attribute, typ))
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

var sessionID = regexp.MustCompile(`"session":"\w+"`)

// Marks returns the marks in a private state, without the random id of a session.
func Marks(private []byte) string {
	var values map[string][]byte
	_ = json.Unmarshal(private, &values) // what is not readable has no marks
	return sessionID.ReplaceAllString(string(values["marks"]), `"session":"…"`)
}

// resends reports whether a private state says that each plan sends the set of a stream.
func resends(private []byte, id string) bool {
	var values map[string][]byte
	var marks map[string]struct{ Resend string }
	_ = json.Unmarshal(private, &values)
	_ = json.Unmarshal(values["marks"], &marks)
	return marks[id].Resend != ""
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
