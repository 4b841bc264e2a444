package provider

import (
	"maps"

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

func (m *groupModel) setStreams(kept entries) {
	values := make(map[string]attr.Value, len(kept))
	for id, entry := range kept {
		values[id] = stringSet(entry.Set.IDs())
	}
	m.Streams = types.MapValueMust(types.SetType{ElemType: types.StringType}, values)
}

// setEdited raises last_edited to that of the streams that the service reported.
func (m *groupModel) setEdited(reported map[string]*streams.Stream) {
	for _, s := range reported {
		m.LastEdited = types.Int64Value(max(m.LastEdited.ValueInt64(), s.LastEdited))
	}
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

func (m *groupModel) refresh(found map[string]*streams.Stream, gone []string, marked marks) bool {
	kept := m.was(nil)
	maps.DeleteFunc(marked, func(_ string, m mark) bool { return m.Pending != claims.Unsent })
	for id, got := range found {
		kept[id] = claims.Entry{Set: got.ProcessorIDs}
	}
	for _, id := range gone {
		delete(kept, id)
		marked[id] = mark{Gone: true} // the plan of the apply is made by another process
	}
	m.setStreams(kept)
	m.setEdited(found)
	return true
}

func (m *groupModel) after(state *groupModel, s *session, result applied, _ *diag.Diagnostics) *groupModel {
	after := m
	switch {
	case result.former:
		return state
	case m == nil: // a destroy failed
		after = state
	case state != nil && !s.elsewhere(state.Deployment):
		m.LastEdited = state.LastEdited
	default:
		m.LastEdited = types.Int64Null()
	}
	after.setStreams(result.kept)
	after.setEdited(result.reported)
	return after
}
