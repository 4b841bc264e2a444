package provider

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Descriptions and rules of the attributes that the resource and the action share.
const (
	streamIDDescription = "Id of the stream: any text except `.` and `..`, without control characters and surrounding " +
		"white space."
	processorIDsDescription = "Ids of the processors to attach, in any order. An empty set detaches all processors."
)

var (
	streamIDRules     = []validator.String{checkedString{"a stream id", streams.CheckStreamID}}
	processorIDsRules = []validator.Set{
		setvalidator.NoNullValues(),
		setvalidator.ValueStringsAre(checkedString{"a processor id", streams.CheckProcessorID}),
	}
	onDestroyRules = []validator.String{stringvalidator.OneOf(onDestroyDetach, onDestroyKeep)}
)

// checkedString validates a string with a function that returns the reason for a refusal.
type checkedString struct {
	what  string // such as "a stream id"
	check func(string) error
}

func (v checkedString) Description(context.Context) string { return "value must be " + v.what }

func (v checkedString) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v checkedString) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := v.check(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.Append(invalidValue(req.Path, req.ConfigValue.ValueString(), v.what, err))
	}
}

// checkTimeout says why text is no time limit, or returns nil. Every operation would exceed a limit of
// zero or less.
func checkTimeout(text string) error {
	if d, err := time.ParseDuration(text); err != nil || d <= 0 {
		return errors.New(`must be written like "30s", "10m" or "1h30m"`)
	}
	return nil
}
