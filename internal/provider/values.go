package provider

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func known(s types.String) bool { return !s.IsNull() && !s.IsUnknown() }

// knownSet converts a set of strings, or returns nil if it is known after apply.
func knownSet(set types.Set) *streams.ProcessorSet {
	elements := set.Elements()
	if set.IsUnknown() || slices.ContainsFunc(elements, attr.Value.IsUnknown) {
		return nil
	}
	ids := make([]string, 0, len(elements))
	for _, v := range elements {
		if id, ok := v.(types.String); ok {
			ids = append(ids, id.ValueString())
		}
	}
	processors := streams.NewProcessorSet(ids...)
	return &processors
}

func stringSet(texts []string) types.Set {
	values := make([]attr.Value, 0, len(texts))
	for _, text := range texts {
		values = append(values, types.StringValue(text))
	}
	return types.SetValueMust(types.StringType, values)
}
