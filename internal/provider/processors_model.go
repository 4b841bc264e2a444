package provider

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// processorsModel is a stream_processors resource in a configuration, plan or state.
type processorsModel struct {
	StreamID             types.String   `tfsdk:"stream_id"`
	ProcessorIDs         types.Set      `tfsdk:"processor_ids"`
	OnDestroy            types.String   `tfsdk:"on_destroy"`
	Triggers             types.Map      `tfsdk:"triggers"`
	Timeouts             timeouts.Value `tfsdk:"timeouts"`
	ID                   types.String   `tfsdk:"id"`
	TerminalID           types.String   `tfsdk:"terminal_id"`
	FragmentTypeID       types.String   `tfsdk:"fragment_type_id"`
	CompatibleNamespaces types.Set      `tfsdk:"compatible_namespaces"`
	LastEdited           types.Int64    `tfsdk:"last_edited"`
}

// setDefaults gives an imported or moved resource the values that an empty configuration plans, so that
// the next plan shows no update.
func (m *processorsModel) setDefaults() { m.OnDestroy = types.StringValue(onDestroyDetach) }

// setReported copies what the service reported into the model.
func (m *processorsModel) setReported(s *streams.Stream) {
	m.ID = types.StringValue(s.ID)
	m.TerminalID = types.StringValue(s.TerminalID)
	m.FragmentTypeID = types.StringValue(s.FragmentTypeID)
	m.ProcessorIDs = stringSet(s.ProcessorIDs.IDs())
	m.CompatibleNamespaces = stringSet(s.CompatibleNamespaces)
	m.LastEdited = types.Int64Value(s.LastEdited)
}

// processors is the set of processor ids. The ids must be known.
func (m *processorsModel) processors() streams.ProcessorSet { return processorSet(m.ProcessorIDs) }

// knownProcessors is the set of processor ids, or nil if it is known after apply.
func (m *processorsModel) knownProcessors() *streams.ProcessorSet { return knownSet(m.ProcessorIDs) }

// sendsSameAs reports whether the set and its triggers equal those of an earlier state.
func (m *processorsModel) sendsSameAs(state *processorsModel) bool {
	return m.ProcessorIDs.Equal(state.ProcessorIDs) && m.Triggers.Equal(state.Triggers)
}

// departure is what a destroy of the resource does.
func (m *processorsModel) departure() departure {
	return departure{was: m.processors(), detach: m.OnDestroy.ValueString() != onDestroyKeep}
}

func known(s types.String) bool { return !s.IsNull() && !s.IsUnknown() }

func fullyKnown(set types.Set) bool {
	return !set.IsUnknown() && !slices.ContainsFunc(set.Elements(), attr.Value.IsUnknown)
}

// knownSet converts a set of strings, or returns nil if an element is unknown.
func knownSet(set types.Set) *streams.ProcessorSet {
	if !fullyKnown(set) {
		return nil
	}
	processors := processorSet(set)
	return &processors
}

// processorSet converts a set of strings. Its elements must be known.
func processorSet(set types.Set) streams.ProcessorSet {
	ids := make([]string, 0, len(set.Elements()))
	for _, v := range set.Elements() {
		if id, ok := v.(types.String); ok {
			ids = append(ids, id.ValueString())
		}
	}
	return streams.NewProcessorSet(ids...)
}

func stringSet(texts []string) types.Set {
	values := make([]attr.Value, 0, len(texts))
	for _, text := range texts {
		values = append(values, types.StringValue(text))
	}
	return types.SetValueMust(types.StringType, values)
}
