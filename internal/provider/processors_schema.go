package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Values of on_destroy.
const (
	onDestroyDetach = "detach"
	onDestroyKeep   = "keep"
)

var replaceIfChanged = stringplanmodifier.RequiresReplace()

func (r *processorsResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages the set of processors that is attached to one stream. The resource manages the whole " +
			"set: the next update detaches every processor that is not in `processor_ids`.",
		Attributes: map[string]schema.Attribute{
			"stream_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: streamIDDescription + " Changing this forces a new resource.",
				PlanModifiers:       []planmodifier.String{replaceIfChanged},
				Validators:          streamIDRules,
			},
			"processor_ids": schema.SetAttribute{
				ElementType:         types.StringType,
				Required:            true,
				MarkdownDescription: processorIDsDescription,
				Validators:          processorIDsRules,
			},
			"on_destroy": schema.StringAttribute{
				Optional: true,
				Computed: true,
				Default:  stringdefault.StaticString(onDestroyDetach),
				MarkdownDescription: "What destroy does: `detach` sends an empty set; `keep` sends nothing and leaves the " +
					"processors attached. Destroy uses the last applied value. Default: `detach`.",
				Validators: onDestroyRules,
			},
			"triggers": schema.MapAttribute{
				ElementType:         types.StringType,
				Optional:            true,
				MarkdownDescription: "Arbitrary values. When a value changes, the set is sent again, in place. Default: none.",
			},
			"timeouts": timeoutsAttribute(),
			"id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Id of the stream, the same as `stream_id`.",
			},
			"terminal_id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Id of the terminal that the stream belongs to.",
			},
			"fragment_type_id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Id of the fragment type of the stream.",
			},
			"compatible_namespaces": schema.SetAttribute{
				ElementType:         types.StringType,
				Computed:            true,
				MarkdownDescription: "Namespaces that are compatible with the stream.",
			},
			"last_edited": schema.Int64Attribute{
				Computed:            true,
				MarkdownDescription: "Time of the last edit as the service reported it, in milliseconds since 1970-01-01 UTC.",
			},
		},
	}
}

func (r *processorsResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"stream_id": identityschema.StringAttribute{
				RequiredForImport: true,
				Description:       "Id of the stream.",
			},
		},
	}
}

// timeoutsAttribute is the attribute of the timeouts module with other validators: the module's own
// validators accept a negative time limit, and do not name the limit that they refuse.
func timeoutsAttribute() schema.Attribute {
	limit := func(doing string) schema.Attribute {
		return schema.StringAttribute{
			Optional: true,
			MarkdownDescription: fmt.Sprintf(
				"Time limit for %s, retries included, as a duration such as `30s` or `10m`. Default: `5m`.", doing),
			Validators: []validator.String{checkedString{"a time limit", checkTimeout}},
		}
	}
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Time limits of the operations. Default: `5m` each.",
		CustomType:          timeoutsType(),
		Attributes: map[string]schema.Attribute{
			"create": limit("create"),
			"read":   limit("read (only with `detect_drift`)"),
			"update": limit("update"),
			"delete": limit("destroy"),
		},
	}
}

func timeoutsType() timeouts.Type {
	return timeouts.Type{ObjectType: types.ObjectType{AttrTypes: map[string]attr.Type{
		"create": types.StringType,
		"read":   types.StringType,
		"update": types.StringType,
		"delete": types.StringType,
	}}}
}
