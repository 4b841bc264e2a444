package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func known(v attr.Value) bool { return !v.IsNull() && !v.IsUnknown() }

// knownSet converts a set of strings, or returns nil if it is known after apply.
func knownSet(set types.Set) *streams.ProcessorSet {
	if set.IsUnknown() {
		return nil
	}
	ids := make([]string, 0, len(set.Elements()))
	for _, v := range set.Elements() {
		id, _ := v.(types.String) // the schemas have no other elements
		if id.IsUnknown() {
			return nil
		}
		ids = append(ids, id.ValueString())
	}
	processors := streams.NewProcessorSet(ids...)
	return &processors
}

func setMap(sets map[string]attr.Value) types.Map {
	return types.MapValueMust(types.SetType{ElemType: types.StringType}, sets)
}

func stringSet(texts []string) types.Set {
	values := make([]attr.Value, 0, len(texts))
	for _, text := range texts {
		values = append(values, types.StringValue(text))
	}
	return types.SetValueMust(types.StringType, values)
}
