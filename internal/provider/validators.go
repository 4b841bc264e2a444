package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

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
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid Attribute Value",
			fmt.Sprintf("%s: %q is not %s: it %s.", req.Path, req.ConfigValue.ValueString(), v.what, err))
	}
}
