package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// What attributes have to be, in the resource and in the action.
var (
	streamIDRules     = []validator.String{checked("a stream id", streams.CheckStreamID)}
	processorIDsRules = []validator.Set{
		setvalidator.NoNullValues(),
		setvalidator.ValueStringsAre(checked("a processor id", streams.CheckProcessorID)),
	}
	onDestroyRules = []validator.String{stringvalidator.OneOf(onDestroyDetach, onDestroyKeep)}
)

const streamIDDescription = "Id of the stream: any text but `.` and `..`, without control characters and surrounding " +
	"white space."

// checkedString validates a text by a rule of package streams.
type checkedString struct {
	what  string
	check func(string) error
}

func checked(what string, check func(string) error) validator.String {
	return checkedString{what, check}
}

func (v checkedString) Description(context.Context) string {
	return "value must be " + v.what
}

func (v checkedString) MarkdownDescription(ctx context.Context) string {
	return v.Description(ctx)
}

func (v checkedString) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := v.check(req.ConfigValue.ValueString()); err != nil {
		name, _, _ := strings.Cut(req.Path.String(), "[") // the path of a set's element repeats the value
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid Attribute Value",
			fmt.Sprintf("%s: %q is not %s: it %s.", name, req.ConfigValue.ValueString(), v.what, err))
	}
}

// checkTimeout says why text is no time limit, or returns nil. A limit that has passed before the
// operation begins would make each of them fail.
func checkTimeout(text string) error {
	if d, err := time.ParseDuration(text); err != nil || d <= 0 {
		return errors.New(`must be written like "30s", "10m" or "1h30m"`)
	}
	return nil
}
