package provider

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// processorsModel is the resource in configuration, plan and state.
type processorsModel struct {
	StreamID             types.String
	ProcessorIDs         types.Set
	OnDestroy            types.String
	Triggers             types.Map
	Timeouts             timeouts.Value
	ID                   types.String
	TerminalID           types.String
	FragmentTypeID       types.String
	CompatibleNamespaces types.Set
	LastEdited           types.Int64
}

// processorsTypes are the types of the attributes, by name, and the type of all of them together.
var processorsTypes = sync.OnceValues(func() (map[string]attr.Type, tftypes.Type) {
	var resp resource.SchemaResponse
	new(processorsResource).Schema(context.Background(), resource.SchemaRequest{}, &resp)
	attributes := map[string]attr.Type{}
	for name, a := range resp.Schema.Attributes {
		attributes[name] = a.GetType()
	}
	return attributes, resp.Schema.Type().TerraformType(context.Background())
})

// FromTerraform5Value decodes an object of the schema's type, for Get and [tftypes.Value.As]. By itself
// the framework would compile a regular expression for each field of a struct, each time.
func (m *processorsModel) FromTerraform5Value(object tftypes.Value) error {
	var d objectDecoder
	if err := object.As(&d.values); err != nil || object.IsNull() {
		return err
	}
	*m = processorsModel{
		StreamID:             decoded[types.String](&d, "stream_id"),
		ProcessorIDs:         decoded[types.Set](&d, "processor_ids"),
		OnDestroy:            decoded[types.String](&d, "on_destroy"),
		Triggers:             decoded[types.Map](&d, "triggers"),
		Timeouts:             decoded[timeouts.Value](&d, "timeouts"),
		ID:                   decoded[types.String](&d, "id"),
		TerminalID:           decoded[types.String](&d, "terminal_id"),
		FragmentTypeID:       decoded[types.String](&d, "fragment_type_id"),
		CompatibleNamespaces: decoded[types.Set](&d, "compatible_namespaces"),
		LastEdited:           decoded[types.Int64](&d, "last_edited"),
	}
	return d.err
}

// objectDecoder decodes the attributes of one object, and keeps the first error.
type objectDecoder struct {
	values map[string]tftypes.Value
	err    error
}

func decoded[T attr.Value](d *objectDecoder, name string) T {
	attributes, _ := processorsTypes()
	value, err := attributes[name].ValueFromTerraform(context.Background(), d.values[name])
	typed, ok := value.(T)
	if err == nil && !ok {
		err = fmt.Errorf("a value of an unexpected type, %T", value)
	}
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("decoding %s: %w", name, err)
	}
	return typed
}

// object is the opposite of FromTerraform5Value.
func (m *processorsModel) object() tftypes.Value {
	values := map[string]tftypes.Value{}
	for name, value := range m.attributes() {
		values[name], _ = value.ToTerraformValue(context.Background()) // its elements were checked when it was made
	}
	_, typ := processorsTypes()
	return tftypes.NewValue(typ, values)
}

// attributes are the values by name.
func (m *processorsModel) attributes() map[string]attr.Value {
	return map[string]attr.Value{
		"stream_id":             m.StreamID,
		"processor_ids":         m.ProcessorIDs,
		"on_destroy":            m.OnDestroy,
		"triggers":              m.Triggers,
		"timeouts":              m.Timeouts,
		"id":                    m.ID,
		"terminal_id":           m.TerminalID,
		"fragment_type_id":      m.FragmentTypeID,
		"compatible_namespaces": m.CompatibleNamespaces,
		"last_edited":           m.LastEdited,
	}
}

// identityOf is what tells one resource from another: a stream has one set of processors.
func identityOf(streamID types.String) tftypes.Value {
	id, _ := streamID.ToTerraformValue(context.Background())
	return tftypes.NewValue(identityType, map[string]tftypes.Value{"stream_id": id})
}

var identityType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"stream_id": tftypes.String}}

// take makes the model say what the service reported.
func (m *processorsModel) take(s *streams.Stream) {
	m.ID = types.StringValue(s.ID)
	m.TerminalID = types.StringValue(s.TerminalID)
	m.FragmentTypeID = types.StringValue(s.FragmentTypeID)
	m.ProcessorIDs = setOf(s.ProcessorIDs.IDs())
	m.CompatibleNamespaces = setOf(s.CompatibleNamespaces)
	m.LastEdited = types.Int64Value(s.LastEdited)
}

// processors is the set, fully known, as ownership compares it: sorted, and never nil.
func (m *processorsModel) processors() []string {
	ids := elements(m.ProcessorIDs)
	slices.Sort(ids)
	return ids
}

// repeats reports whether the set to send, and what triggers it, are those of an earlier state.
func (m *processorsModel) repeats(state *processorsModel) bool {
	return m.ProcessorIDs.Equal(state.ProcessorIDs) && m.Triggers.Equal(state.Triggers)
}

// leaves is the set with which a destroy leaves the stream, nil for none.
func (m *processorsModel) leaves() []string {
	if m.OnDestroy.ValueString() == onDestroyKeep {
		return m.processors()
	}
	return nil
}

func known(s types.String) bool { return !s.IsNull() && !s.IsUnknown() }

func fullyKnown(set types.Set) bool {
	return !set.IsUnknown() && !slices.ContainsFunc(set.Elements(), attr.Value.IsUnknown)
}

// elements returns the texts in a set that is fully known.
func elements(set types.Set) []string {
	texts := make([]string, 0, len(set.Elements()))
	for _, v := range set.Elements() {
		if text, ok := v.(types.String); ok {
			texts = append(texts, text.ValueString())
		}
	}
	return texts
}

func setOf(texts []string) types.Set {
	values := make([]attr.Value, 0, len(texts))
	for _, text := range texts {
		values = append(values, types.StringValue(text))
	}
	return types.SetValueMust(types.StringType, values)
}
