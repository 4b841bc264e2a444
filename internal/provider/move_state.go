package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/moved"
)

// MoveState moves the state of resources of generic HTTP providers. It sends nothing.
func (r *processorsResource) MoveState(context.Context) []resource.StateMover {
	return []resource.StateMover{{StateMover: moveState}}
}

func moveState(ctx context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse) {
	if !moved.IsKnown(req.SourceTypeName, req.SourceProviderAddress) {
		return // the framework reports that the type cannot be moved
	}
	found, err := moved.Read(req.SourceTypeName, req.SourceSchemaVersion, req.SourceRawState.JSON)
	id := types.StringPointerValue(found.ID)
	if err != nil {
		resp.Diagnostics.Append(cannotMove(req.SourceTypeName, id.ValueString(), err))
		return
	}
	m, ok := newModel[*processorsModel](ctx, &resp.TargetState, &resp.Diagnostics)
	if !ok {
		return
	}
	m.StreamID, m.ID = id, id
	if found.ProcessorIDs != nil {
		m.ProcessorIDs = stringSet(found.ProcessorIDs.IDs())
	}
	if found.CompatibleNamespaces != nil {
		m.CompatibleNamespaces = stringSet(found.CompatibleNamespaces.IDs())
	}
	m.TerminalID = types.StringPointerValue(found.TerminalID)
	m.FragmentTypeID = types.StringPointerValue(found.FragmentTypeID)
	m.LastEdited = types.Int64PointerValue(found.LastEdited)
	resp.Diagnostics.Append(resp.TargetState.Set(ctx, m)...)
	resp.Diagnostics.Append(setIdentity(ctx, resp.TargetIdentity, resp.TargetState)...)
}
