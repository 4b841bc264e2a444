package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func (r *groupResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages the sets of processors that are attached to many streams: for fleets of more than " +
			"about a thousand streams. For each stream, the group manages the whole set.",
		Attributes: map[string]schema.Attribute{
			"streams": schema.MapAttribute{
				ElementType: types.SetType{ElemType: types.StringType},
				Required:    true,
				MarkdownDescription: "The ids of the processors to attach to each stream, by stream id. An update sends only the sets " +
					"that differ. The rules for the ids are those of `stream_processors`.",
				Validators: []validator.Map{checkedGroup{}},
			},
			"on_destroy": schema.StringAttribute{
				Optional: true,
				Computed: true,
				Default:  stringdefault.StaticString(onDestroyDetach),
				MarkdownDescription: "What happens to a stream when the group is destroyed, or when the stream is removed from " +
					"`streams`: `detach` sends an empty set; `keep` sends nothing and leaves the processors attached. Destroy uses " +
					"the last applied value. Default: `detach`.",
				Validators: onDestroyRules,
			},
			"triggers": schema.MapAttribute{
				ElementType:         types.StringType,
				Optional:            true,
				MarkdownDescription: "Arbitrary values. When a value changes, all sets are sent again, in place. Default: none.",
			},
			"timeouts": timeoutsAttribute(),
			"last_edited": schema.Int64Attribute{
				Computed: true,
				MarkdownDescription: "Time of the latest edit that the service reported for a stream of the group, in milliseconds " +
					"since 1970-01-01 UTC.",
			},
		},
	}
}

// checkedGroup validates each stream of a group, and reports each problem at the stream's key.
type checkedGroup struct{}

func (checkedGroup) Description(context.Context) string {
	return "keys must be stream ids, values must be sets of processor ids"
}

func (v checkedGroup) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (checkedGroup) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	all := req.ConfigValue.Elements()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		at := req.Path.AtMapKey(id)
		if err := streams.CheckStreamID(id); err != nil {
			resp.Diagnostics.Append(invalidValue(at, id, "a stream id", err))
		}
		set, _ := all[id].(types.Set) // the schema has no other elements
		if set.IsNull() {
			resp.Diagnostics.Append(missingStreamValue(at, "the set of processor ids"))
		}
		for _, v := range set.Elements() {
			processor, _ := v.(types.String)
			if processor.IsNull() {
				resp.Diagnostics.Append(missingStreamValue(at, "a processor id"))
				continue
			}
			if err := streams.CheckProcessorID(processor.ValueString()); err != nil && !processor.IsUnknown() {
				resp.Diagnostics.Append(invalidStreamValue(at, processor.ValueString(), "a processor id", err))
			}
		}
	}
}
