package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// LeftState is the key of the [tfprotov6.DynamicValue] in a context that becomes the state that a call leaves.
type LeftState struct{}

// passState passes a state around the framework, which would compare each element of a set with every other one. In an
// unknown value, it has nothing to compare.
func passState(ctx context.Context, state *tfsdk.State) {
	left, ok := ctx.Value(LeftState{}).(*tfprotov6.DynamicValue)
	if !ok || state.Raw.IsNull() {
		return
	}
	if encoded, err := tfprotov6.NewDynamicValue(state.Raw.Type(), state.Raw); err == nil { // the framework reports any error
		*left = encoded
		state.Raw = tftypes.NewValue(state.Raw.Type(), tftypes.UnknownValue)
	}
}
