package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// processorsModel is a stream_processors resource in a configuration, plan or state.
type processorsModel struct {
	attachmentModel

	StreamID             types.String `tfsdk:"stream_id"`
	ProcessorIDs         types.Set    `tfsdk:"processor_ids"`
	ID                   types.String `tfsdk:"id"`
	TerminalID           types.String `tfsdk:"terminal_id"`
	FragmentTypeID       types.String `tfsdk:"fragment_type_id"`
	CompatibleNamespaces types.Set    `tfsdk:"compatible_namespaces"`
}

func (*processorsModel) subject() subject { return ofResource }

// want returns the planned set; nothing if the stream is known after apply.
func (m *processorsModel) want() sets {
	if m == nil || !known(m.StreamID) {
		return nil
	}
	return sets{m.StreamID.ValueString(): knownSet(m.ProcessorIDs)}
}

// was returns what the state has.
func (m *processorsModel) was(marks marks) entries {
	if m == nil {
		return nil
	}
	id := m.StreamID.ValueString()
	entry := marks.entry(id, *knownSet(m.ProcessorIDs))
	if m.ProcessorIDs.IsNull() { // imported
		entry.Pending = claims.Unsent
	}
	return entries{id: entry}
}

// change returns what a plan changes.
func (m *processorsModel) change(state *processorsModel, found marks) change {
	c := change{want: m.want(), was: state.was(found), create: state == nil, marks: found}
	if state != nil {
		c.detach = state.detaches()
	}
	if m != nil && state != nil {
		c.leaving, c.again = claims.Replaced, !m.Triggers.Equal(state.Triggers)
	}
	return c
}

func (m *processorsModel) planComputed(state *processorsModel, sends, mayMove bool) {
	m.ID = m.StreamID
	m.TerminalID, m.FragmentTypeID = types.StringUnknown(), types.StringUnknown()
	m.CompatibleNamespaces, m.LastEdited = types.SetUnknown(types.StringType), types.Int64Unknown()
	if state == nil || mayMove || !m.StreamID.Equal(state.StreamID) {
		return
	}
	if !sends {
		m.CompatibleNamespaces, m.LastEdited = state.CompatibleNamespaces, state.LastEdited
	}
	// An update has no reason to change where a stream belongs, but an imported state does not know it yet.
	if !sends || !state.TerminalID.IsNull() {
		m.TerminalID = state.TerminalID
	}
	if !sends || !state.FragmentTypeID.IsNull() {
		m.FragmentTypeID = state.FragmentTypeID
	}
}

func (m *processorsModel) take(_ entries, reported map[string]*streams.Stream) {
	s := reported[m.StreamID.ValueString()]
	if s == nil {
		return
	}
	m.ID = types.StringValue(s.ID)
	m.TerminalID = types.StringValue(s.TerminalID)
	m.FragmentTypeID = types.StringValue(s.FragmentTypeID)
	m.ProcessorIDs = stringSet(s.ProcessorIDs.IDs())
	m.CompatibleNamespaces = stringSet(s.CompatibleNamespaces)
	m.LastEdited = types.Int64Value(s.LastEdited)
}
