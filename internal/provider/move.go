package provider

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
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
		from, guide := req.SourceTypeName, "Bring Existing Streams Under Terraform"
		why := fmt.Sprintf("The state of this %s does not fit a %s.", from, typeName)
		switch from {
		case typeName:
			why = fmt.Sprintf("The state of this %s is not one that this version of the provider reads. Another provider may have a type of "+
				"this name, or a newer version may have written the state: then install that version.", typeName)
		case singleName, groupName:
			guide = "Large Fleets"
		}
		resp.Diagnostics.Append(cannotMove(why,
			"Replace the moved block with this one, with your own resource name, and keep the block of the new resource. The apply creates "+
				"that, which sends each set once, and detaches nothing that is in the set.",
			removed(from),
			fmt.Sprintf("The guide %s has an example, which needs Terraform 1.7 or OpenTofu 1.10.", guide)))
	}}
}

// cannotMoveRequest is the error of a moved block for a resource whose request is not that of a stream. It shows how to take the stream
// over without a moved block.
func cannotMoveRequest(from, id string, err error) diag.Diagnostic {
	quoted := strconv.Quote(cmp.Or(id, "STREAM_ID"))
	quoted = strings.NewReplacer("${", "$${", "%{", "%%{").Replace(quoted)
	return cannotMove(
		fmt.Sprintf("A %s can be moved if its request is a PATCH of /v2/streams/{id} with processor_ids. This "+
			"resource cannot be moved: %s.", from, err),
		"Import the stream instead: replace the moved block with these two, with your own resource names. Keep the "+
			"old provider configured until they are applied.",
		removed(from)+fmt.Sprintf("\n\n  import {\n    to = stream_processors.example\n    id = %s\n  }", quoted))
}

// cannotMove returns the error of a moved block. parts say why, and what helps.
func cannotMove(parts ...string) diag.Diagnostic {
	parts = append(parts, "Nothing was sent by this operation. It changed nothing in the state.")
	return diag.NewErrorDiagnostic("Resource Cannot Be Moved", strings.Join(parts, "\n\n"))
}

// removed is a removed block that sends nothing.
func removed(from string) string {
	return fmt.Sprintf("  removed {\n    from = %s.example\n    lifecycle { destroy = false }\n  }", from)
}
