package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
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
	session *session
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
				MarkdownDescription: "Id of the stream, any text.",
				Validators:          []validator.String{checked("a stream id", streams.CheckStreamID)},
			},
			"processor_ids": schema.SetAttribute{
				ElementType:         types.StringType,
				Required:            true,
				MarkdownDescription: "Ids of the processors to attach, in any order. An empty set detaches all of them.",
				Validators: []validator.Set{
					setvalidator.NoNullValues(),
					setvalidator.ValueStringsAre(checked("a processor id", streams.CheckProcessorID)),
				},
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
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()

	id := config.StreamID.ValueString()
	say := func(format string, args ...any) {
		resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
	}
	say("Setting the processors of stream %q to %s", id, listed(elements(config.ProcessorIDs)))
	ctx = context.WithValue(ctx, progressKey{}, func(attempt streams.Attempt) {
		if attempt.Err != "" {
			say("Attempt %d got no answer: %s", attempt.Number, attempt.Err)
		} else {
			say("Attempt %d was answered %s", attempt.Number, streams.StatusText(attempt.Status))
		}
	})
	if err := a.session.write(ctx, id, elements(config.ProcessorIDs)); err != nil {
		resp.Diagnostics.Append(diagnose(fmt.Sprintf("the processors of stream %q could not be set", id), err))
	}
}
