package provider

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// groupModel is a stream_processors_group resource in a configuration, plan or state.
type groupModel struct {
	Streams    types.Map      `tfsdk:"streams"`
	OnDestroy  types.String   `tfsdk:"on_destroy"`
	Triggers   types.Map      `tfsdk:"triggers"`
	Timeouts   timeouts.Value `tfsdk:"timeouts"`
	LastEdited types.Int64    `tfsdk:"last_edited"`
}

// groupSets has the sets of a group by stream id.
type groupSets map[string]streams.ProcessorSet

// known returns the set of a stream, or nil if there is none.
func (s groupSets) known(id string) *streams.ProcessorSet {
	if set, ok := s[id]; ok {
		return &set
	}
	return nil
}

func (s groupSets) ids() []string { return slices.Sorted(maps.Keys(s)) }

// sets returns the sets that are known, and the ids of the streams whose sets are known after apply.
func (m *groupModel) sets() (sets groupSets, unknown []string) {
	sets = groupSets{}
	for id, v := range m.Streams.Elements() {
		set, _ := v.(types.Set) // the schema has no other elements
		if processors := knownSet(set); processors != nil {
			sets[id] = *processors
		} else {
			unknown = append(unknown, id)
		}
	}
	slices.Sort(unknown)
	return sets, unknown
}

func (m *groupModel) setStreams(sets groupSets) {
	values := make(map[string]attr.Value, len(sets))
	for id, set := range sets {
		values[id] = stringSet(set.IDs())
	}
	m.Streams = types.MapValueMust(types.SetType{ElemType: types.StringType}, values)
}

// setEdited raises last_edited to that of a stream that the service reported.
func (m *groupModel) setEdited(s *streams.Stream) {
	m.LastEdited = types.Int64Value(max(m.LastEdited.ValueInt64(), s.LastEdited))
}

// departure is what a destroy of the group does with a stream that has the set was. An update that drops the
// stream uses the planned model.
func (m *groupModel) departure(was streams.ProcessorSet) departure {
	return departure{was: was, detach: m.OnDestroy.ValueString() != onDestroyKeep}
}
