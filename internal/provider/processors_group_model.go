package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// groupModel is a stream_processors_group resource in a configuration, plan or state.
type groupModel struct {
	attachmentModel

	Streams types.Map `tfsdk:"streams"`
}

func (*groupModel) subject() subject { return ofGroup }

// want returns the planned sets.
func (m *groupModel) want() sets {
	want := sets{}
	if m != nil {
		for id, v := range m.Streams.Elements() {
			set, _ := v.(types.Set) // the schema has no other elements
			want[id] = knownSet(set)
		}
	}
	return want
}

// was returns what the state has.
func (m *groupModel) was(marks marks) entries {
	was := entries{}
	for id, set := range m.want() {
		was[id] = marks.entry(id, *set)
	}
	return was
}

// change returns what a plan changes.
func (m *groupModel) change(state *groupModel, found marks) change {
	c := change{want: m.want(), was: state.was(found), create: state == nil, marks: found}
	if m == nil {
		c.detach = state.detaches()
		return c
	}
	c.detach, c.leaving, c.unknown = m.detaches(), claims.Dropped, m.Streams.IsUnknown()
	c.partial, c.again = state != nil, state != nil && !m.Triggers.Equal(state.Triggers)
	return c
}

// planComputed makes last_edited unknown if the apply changes anything, because Terraform would not apply a group without
// a change.
func (m *groupModel) planComputed(state *groupModel, sends, mayMove bool) {
	m.LastEdited = types.Int64Unknown()
	if state != nil && !sends && !mayMove {
		m.LastEdited = state.LastEdited
	}
}

func (m *groupModel) take(kept entries, reported map[string]*streams.Stream) {
	values := make(map[string]attr.Value, len(kept))
	for id, entry := range kept {
		values[id] = stringSet(entry.Set.IDs())
	}
	m.Streams = types.MapValueMust(types.SetType{ElemType: types.StringType}, values)
	for _, s := range reported {
		m.LastEdited = types.Int64Value(max(m.LastEdited.ValueInt64(), s.LastEdited))
	}
}

func (*groupModel) moved(*groupModel, func(string) string) diag.Diagnostics { return nil }
