package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// wholeState is the key of the state that a call leaves, in the context of the call.
type wholeState struct{}

// WithState returns a context for a call that reads or applies, and the state that the call leaves; without a schema, it leaves none.
// The call then gives the framework null values instead.
func WithState(ctx context.Context) (context.Context, *tfsdk.State) {
	left := new(tfsdk.State)
	return context.WithValue(ctx, wholeState{}, left), left
}

// passState passes the state that a call leaves around the framework, if [WithState] made the context.
func passState(ctx context.Context, state *tfsdk.State) {
	left, ok := ctx.Value(wholeState{}).(*tfsdk.State)
	attributes := map[string]tftypes.Value{}
	if !ok || state.Raw.IsNull() || state.Raw.As(&attributes) != nil {
		return
	}
	*left = *state
	nulls := make(map[string]tftypes.Value, len(attributes))
	for name, value := range attributes {
		nulls[name] = tftypes.NewValue(value.Type(), nil)
	}
	state.Raw = tftypes.NewValue(state.Raw.Type(), nulls)
}
