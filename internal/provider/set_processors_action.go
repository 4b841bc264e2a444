package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

var (
	_ action.Action              = (*setProcessorsAction)(nil)
	_ action.ActionWithConfigure = (*setProcessorsAction)(nil)
)

func newSetProcessorsAction() action.Action { return &setProcessorsAction{} }

type setProcessorsAction struct {
	session *session // nil while only schemas and configurations are looked at
}

type setProcessorsModel struct {
	StreamID     types.String `tfsdk:"stream_id"`
	ProcessorIDs types.Set    `tfsdk:"processor_ids"`
}

func (a *setProcessorsAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_set_processors"
}

func (a *setProcessorsAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Sets the processors of a stream once, without a state: one PATCH with the whole set.",
		Attributes: map[string]schema.Attribute{
			"stream_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: streamIDDescription,
				Validators:          streamIDRules,
			},
			"processor_ids": schema.SetAttribute{
				ElementType:         types.StringType,
				Required:            true,
				MarkdownDescription: "Ids of the processors to attach, in any order. An empty set detaches all of them.",
				Validators:          processorIDsRules,
			},
		},
	}
}

func (a *setProcessorsAction) Configure(_ context.Context, req action.ConfigureRequest, _ *action.ConfigureResponse) {
	a.session, _ = req.ProviderData.(*session)
}

// Invoke sends the set in the stream's turn, but claims nothing: to detach before another resource
// changes and attach again after it is what actions are for.
func (a *setProcessorsAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var config setProcessorsModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(config.check(ctx)...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()

	id := config.StreamID.ValueString()
	say := func(format string, args ...any) {
		if ctx.Err() == nil { // nobody listens to an action that was interrupted
			resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
		}
	}
	say("Setting the processors of stream %q to %s", id, listed(elements(config.ProcessorIDs)))
	ctx = context.WithValue(ctx, progressKey{}, func(attempt streams.Attempt) {
		came := streams.StatusText(attempt.Status)
		if attempt.Err != "" {
			came = "no answer: " + attempt.Err
		}
		say("Attempt %d: %s %s → %s", attempt.Number, attempt.Method, attempt.URL, came)
	})
	if err := a.session.write(ctx, id, elements(config.ProcessorIDs)); err != nil {
		resp.Diagnostics.Append(diagnose(fmt.Sprintf("the processors of stream %q could not be set", id), err))
	}
}

// check validates once more: a value that was not known when Terraform validated the action has not
// been looked at yet. A null set would detach all. (Of a resource, Terraform does it itself.)
func (m setProcessorsModel) check(ctx context.Context) diag.Diagnostics {
	var diags diag.Diagnostics
	for name, value := range map[string]attr.Value{"stream_id": m.StreamID, "processor_ids": m.ProcessorIDs} {
		if value.IsNull() {
			diags.AddAttributeError(path.Root(name), "Missing Attribute Value", name+" must not be null.")
		}
	}
	for _, rule := range streamIDRules {
		var resp validator.StringResponse
		rule.ValidateString(ctx, validator.StringRequest{Path: path.Root("stream_id"), ConfigValue: m.StreamID}, &resp)
		diags.Append(resp.Diagnostics...)
	}
	for _, rule := range processorIDsRules {
		var resp validator.SetResponse
		rule.ValidateSet(ctx, validator.SetRequest{Path: path.Root("processor_ids"), ConfigValue: m.ProcessorIDs}, &resp)
		diags.Append(resp.Diagnostics...)
	}
	return diags
}
