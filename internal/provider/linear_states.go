package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// leftState is the key of the state that a call leaves, in the context of the call.
type leftState struct{}

// WithState returns a context for a call, and the state that the call leaves. It is empty if the call leaves none.
func WithState(ctx context.Context) (context.Context, *tfprotov6.DynamicValue) {
	left := new(tfprotov6.DynamicValue)
	return context.WithValue(ctx, leftState{}, left), left
}

// passState passes a state around the framework, which looks for elements of sets that a custom type calls equal. No type
// here does that. A set type with a comparison of its own is not enough, because whole states are compared, too.
func passState(ctx context.Context, state *tfsdk.State) {
	left, ok := ctx.Value(leftState{}).(*tfprotov6.DynamicValue)
	attributes := map[string]tftypes.Value{}
	if !ok || state.Raw.IsNull() || state.Raw.As(&attributes) != nil {
		return
	}
	encoded, err := tfprotov6.NewDynamicValue(state.Raw.Type(), state.Raw)
	if err != nil {
		return // the framework reports it
	}
	*left = encoded
	nulls := make(map[string]tftypes.Value, len(attributes))
	for name, value := range attributes {
		nulls[name] = tftypes.NewValue(value.Type(), nil)
	}
	state.Raw = tftypes.NewValue(state.Raw.Type(), nulls)
}
