package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ resource.Resource                = (*groupResource)(nil)
	_ resource.ResourceWithConfigure   = (*groupResource)(nil)
	_ resource.ResourceWithImportState = (*groupResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*groupResource)(nil)
)

func newGroupResource() resource.Resource { return &groupResource{} }

// groupResource is stream_processors_group.
type groupResource struct {
	attachmentResource[*groupModel]
}

func (r *groupResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_processors_group"
}

func (r *groupResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages the whole set of processors of each of many streams: for fleets of more than about a " +
			"thousand streams.",
		Attributes: map[string]schema.Attribute{
			"streams": schema.MapAttribute{
				ElementType: types.SetType{ElemType: types.StringType},
				Required:    true,
				MarkdownDescription: "The ids of the processors to attach to each stream, by stream id. An update sends only the sets " +
					"that differ. The rules for the ids are those of `stream_processors`.",
				Validators: []validator.Map{mapvalidator.KeysAre(streamIDRules...), mapvalidator.ValueSetsAre(processorIDsRules...)},
			},
			"on_destroy": onDestroyAttribute("What happens to a stream when the group is destroyed, or when the stream is removed from " +
				"`streams`: `detach` sends an empty set; `keep` sends nothing and leaves the processors attached."),
			"triggers":   triggersAttribute("all sets are"),
			"timeouts":   timeoutsAttribute(),
			"deployment": deploymentAttribute,
			"last_edited": schema.Int64Attribute{
				Computed: true,
				MarkdownDescription: "Time of the latest edit that the service reported for a stream of the group, in milliseconds " +
					"since 1970-01-01 UTC.",
			},
		},
	}
}
