package provider

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
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
	var moved processorsModel
	state, err := readOrigin(req.SourceRawState.JSON)
	if version := req.SourceSchemaVersion; version < 0 || version > origin.newest {
		err = fmt.Errorf("its schema version is %d, and only those up to %d are known", version, origin.newest)
	}
	if err == nil {
		x := origin.read(state)
		if err = state.wrong; err == nil {
			moved, err = x.attachment()
		}
	}
	if err != nil {
		resp.Diagnostics.Append(cannotMove(req.SourceTypeName, moved.StreamID.ValueString(), err))
		return
	}
	resp.Diagnostics.Append(resp.TargetState.SetAttribute(ctx, path.Root("stream_id"), moved.StreamID)...)
	var m *processorsModel
	resp.Diagnostics.Append(resp.TargetState.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m.setDefaults()
	m.ID = moved.StreamID
	m.ProcessorIDs = moved.ProcessorIDs
	m.TerminalID, m.FragmentTypeID = moved.TerminalID, moved.FragmentTypeID
	m.CompatibleNamespaces, m.LastEdited = moved.CompatibleNamespaces, moved.LastEdited
	resp.Diagnostics.Append(resp.TargetState.Set(ctx, m)...)
	resp.Diagnostics.Append(resp.TargetIdentity.SetAttribute(ctx, path.Root("stream_id"), m.StreamID)...)
}

// streamFields are the fields of a stream (INTERFACE.md, section 2). Some states keep only a few of them.
var streamFields = []string{"id", "terminal_id", "fragment_type_id", "processor_ids", "last_edited", "compatible_namespaces"}

// attachment returns what an exchange attached to a stream. With an error, the stream id is set if it is
// known. A reported set counts more than the set that was sent. A set that the service never confirmed
// stays null, so that the next apply sends the configured set.
func (x exchange) attachment() (processorsModel, error) {
	m := processorsModel{ProcessorIDs: types.SetNull(types.StringType), CompatibleNamespaces: types.SetNull(types.StringType)}
	id, err := streamIDIn(x.target)
	if err != nil {
		return m, err
	}
	m.StreamID = types.StringValue(id)
	for _, method := range x.methods {
		if !strings.EqualFold(method, http.MethodPatch) {
			return m, fmt.Errorf("its method is %q, not PATCH", method)
		}
	}
	if x.status != "" && x.status[0] != '2' {
		return m, fmt.Errorf("its request failed with status %q", x.status)
	}
	body, err := jsonObject(x.sent)
	if err == nil {
		m.ProcessorIDs, err = processorIDsIn(body)
	}
	if err != nil {
		return m, fmt.Errorf("its request body %w", err)
	}
	if x.inDoubt {
		m.ProcessorIDs = types.SetNull(types.StringType)
	}
	response, err := jsonObject(x.received)
	if err == nil && response["processor_ids"] != nil {
		m.ProcessorIDs, err = processorIDsIn(response)
	}
	if err == nil && len(response) > 0 && !slices.ContainsFunc(streamFields, func(name string) bool { return response[name] != nil }) {
		err = errors.New("is not a stream")
	}
	if err != nil {
		return m, fmt.Errorf("its response %w", err)
	}
	if raw := response["id"]; raw != nil {
		if reported := decodeJSON[string](raw); reported == nil || *reported != id {
			m.StreamID = types.StringNull()
			return m, fmt.Errorf("its path names stream %q, and its response does not", id)
		}
	}
	m.TerminalID = types.StringPointerValue(decodeJSON[string](response["terminal_id"]))
	m.FragmentTypeID = types.StringPointerValue(decodeJSON[string](response["fragment_type_id"]))
	if namespaces := decodeJSON[streams.ProcessorSet](response["compatible_namespaces"]); namespaces != nil { // also a set of strings
		m.CompatibleNamespaces = stringSet(namespaces.IDs())
	}
	if edited := decodeJSON[float64](response["last_edited"]); edited != nil && *edited == math.Trunc(*edited) && math.Abs(*edited) <= 1<<53 {
		m.LastEdited = types.Int64Value(int64(*edited))
	}
	return m, nil
}
