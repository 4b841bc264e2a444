package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/report"
)

// moveOwn moves the state of a type of this provider that was installed under another address: a mirror, a fork, or a
// former namespace. It sends nothing.
func moveOwn[T any, M model[T]](typeName string) resource.StateMover {
	return resource.StateMover{StateMover: func(ctx context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse) {
		target := &resp.TargetState
		if req.SourceTypeName != typeName || req.SourceSchemaVersion > target.Schema.GetVersion() {
			return
		}
		options := tfprotov6.UnmarshalOpts{ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true}}
		found, err := req.SourceRawState.UnmarshalWithOpts(target.Schema.Type().TerraformType(ctx), options)
		moved := tfsdk.State{Schema: target.Schema, Raw: found}
		var m M
		if err != nil || moved.Get(ctx, &m).HasError() || m == nil || m.sets() == nil || m.common().OnDestroy.IsNull() {
			return // another provider has a type of this name: it lacks what every state has
		}
		*target = moved
		resp.Diagnostics.Append(saveMarks(ctx, readMarks(ctx, req.SourcePrivate), resp.TargetPrivate)...)
		resp.Diagnostics.Append(setIdentity(ctx, resp.TargetIdentity, moved)...)
	}}
}

// cannotMoveTo says of the types that no other mover reads what to do in place of a moved block. The framework would only say that they
// cannot be moved.
func cannotMoveTo(typeName string) resource.StateMover {
	return resource.StateMover{StateMover: func(_ context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse) {
		switch req.SourceTypeName {
		case typeName:
			resp.Diagnostics.Append(report.CannotMoveOwn(typeName))
		case singleName, groupName:
			resp.Diagnostics.Append(report.CannotMoveType(req.SourceTypeName, typeName, "guide Large Fleets"))
		default:
			resp.Diagnostics.Append(report.CannotMoveType(req.SourceTypeName, typeName, "guide Bring Existing Streams Under Terraform"))
		}
	}}
}
