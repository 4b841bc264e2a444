package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// MoveState moves the state of resources of generic HTTP providers. It sends nothing.
func (r *processorsResource) MoveState(context.Context) []resource.StateMover {
	return []resource.StateMover{{StateMover: moveState}}
}

func moveState(ctx context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse) {
	origin, ok := origins[req.SourceTypeName]
	// Some OpenTofu versions pass the last part of the address alone.
	provider := req.SourceProviderAddress[strings.LastIndex(req.SourceProviderAddress, "/")+1:]
	if !ok || provider != "" && provider != origin.provider {
		return // the framework reports that the type cannot be moved
	}
	m, ok := newModel[*processorsModel](ctx, &resp.TargetState, &resp.Diagnostics)
	if !ok {
		return
	}
	var state originState
	var err error
	switch {
	case req.SourceSchemaVersion > origin.newest:
		err = fmt.Errorf("its schema version is %d, and only those up to %d are known", req.SourceSchemaVersion, origin.newest)
	case json.Unmarshal(req.SourceRawState.JSON, &state) != nil:
		err = errors.New("its state does not have the form of a " + req.SourceTypeName)
	default:
		err = m.setMoved(origin.read(state))
	}
	if err != nil {
		resp.Diagnostics.Append(cannotMove(req.SourceTypeName, m.StreamID.ValueString(), err))
		return
	}
	resp.Diagnostics.Append(resp.TargetState.Set(ctx, m)...)
	resp.Diagnostics.Append(setIdentity(ctx, resp.TargetIdentity, resp.TargetState)...)
}

// setMoved takes what an exchange attached to a stream. With an error, the stream id is set if it is known. A reported
// set counts more than the set that was sent. A set that the service never confirmed stays null, so that the next apply
// sends the configured set.
func (m *processorsModel) setMoved(x exchange) error {
	id, err := streamIDIn(x.target)
	if err != nil {
		return err
	}
	m.StreamID, m.ID = types.StringValue(id), types.StringValue(id)
	for _, method := range x.methods {
		if !strings.EqualFold(method, http.MethodPatch) {
			return fmt.Errorf("its method is %q, not PATCH", method)
		}
	}
	if x.status != "" && x.status[0] != '2' {
		return fmt.Errorf("its request failed with status %q", x.status)
	}
	sent, err := x.sent.stream()
	if err == nil && sent.ProcessorIDs == nil {
		err = errors.New("has no processor_ids")
	}
	if err != nil {
		return fmt.Errorf("its request body %w", err)
	}
	reported, err := x.received.stream()
	if err != nil {
		return fmt.Errorf("its response %w", err)
	}
	if reported.ID != nil && *reported.ID != id {
		m.StreamID = types.StringNull()
		return fmt.Errorf("its path names stream %q, and its response does not", id)
	}
	if x.inDoubt {
		sent.ProcessorIDs = nil
	}
	if set := cmp.Or(reported.ProcessorIDs, sent.ProcessorIDs); set != nil {
		m.ProcessorIDs = stringSet(set.IDs())
	}
	if namespaces := reported.CompatibleNamespaces; namespaces != nil {
		m.CompatibleNamespaces = stringSet(namespaces.IDs())
	}
	m.TerminalID = types.StringPointerValue(reported.TerminalID)
	m.FragmentTypeID = types.StringPointerValue(reported.FragmentTypeID)
	m.LastEdited = types.Int64PointerValue(reported.LastEdited)
	return nil
}
