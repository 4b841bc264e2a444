package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/action/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

var _ action.ActionWithConfigure = (*setProcessorsAction)(nil)

func newSetProcessorsAction() action.Action { return &setProcessorsAction{} }

type setProcessorsAction struct{ *configured }

type setProcessorsModel struct {
	StreamID     types.String `tfsdk:"stream_id"`
	ProcessorIDs types.Set    `tfsdk:"processor_ids"`

	Timeouts types.Object `tfsdk:"timeouts"`
}

func (a *setProcessorsAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_set_processors"
}

func (a *setProcessorsAction) Configure(_ context.Context, req action.ConfigureRequest, _ *action.ConfigureResponse) {
	a.configured = configuredBy(req.ProviderData)
}

func (a *setProcessorsAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Sets the processors of a stream once: one PATCH with the whole set. An action has no state.",
		Attributes: map[string]schema.Attribute{
			"stream_id":     streamIDAttribute,
			"processor_ids": processorIDsAttribute,
			"timeouts":      timeoutsAttribute(defaultTimeout, map[string]string{"invoke": "the action"}),
		},
	}
}

// Invoke waits until no other operation uses the stream, but claims no set: actions exist to detach
// processors before another resource changes, and to attach them again afterwards.
func (a *setProcessorsAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var config setProcessorsModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	// Terraform validates the configuration of an action only while values may be unknown.
	resp.Diagnostics.Append(streamIDRule.problems(path.Root("stream_id"), config.StreamID)...)
	resp.Diagnostics.Append(processorIDRule.problemsIn(path.Root("processor_ids"), config.ProcessorIDs.Elements())...)
	if config.ProcessorIDs.IsNull() { // it would detach all processors
		resp.Diagnostics.Append(report.MissingValue(path.Root("processor_ids"), "the set"))
	}
	if limit := config.Timeouts.Attributes()["invoke"]; limit != nil && !limit.IsNull() {
		resp.Diagnostics.Append(timeLimitRule.problems(path.Root("timeouts").AtName("invoke"), limit)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	limit, _ := timeouts.Value{Object: config.Timeouts}.Invoke(ctx, defaultTimeout)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	id, set := config.StreamID.ValueString(), *knownSet(config.ProcessorIDs)
	progress := func(format string, args ...any) {
		if ctx.Err() == nil { // Terraform reads no progress of an interrupted action
			resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
		}
	}
	progress("Setting the processors of stream %q to %s", id, set)
	ctx = context.WithValue(ctx, attemptObserver{}, func(attempt requests.Attempt) {
		result := transport.StatusText(attempt.Status)
		if attempt.Err != "" {
			result = "no valid response: " + attempt.Err
		}
		if attempt.Retry {
			result += ", next in " + attempt.RetryWait.Round(time.Millisecond).String()
		}
		progress("Attempt %d: %s %s → %s", attempt.Number, attempt.Method, attempt.URL, result)
	})
	refusal, failed := a.session.SetOnce(ctx, id, set)
	resp.Diagnostics.Append(a.report.Invoke(ctx, refusal, failed)...)
}
