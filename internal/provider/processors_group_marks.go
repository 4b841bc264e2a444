package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// groupMarks are the private state of a group.
type groupMarks struct {
	// Pending has the streams whose sets each plan sends again, until a response confirms the state.
	Pending map[string]pending
	// Resend has the streams of the state whose sets the planned update sends.
	Resend map[string]bool
	// Successors tells the apply of a destroy which other resources of the plan have the streams.
	Successors map[string]*successor
}

// pending is why the state does not show that a set must be sent.
type pending string

const (
	pendingUnconfirmed pending = "unconfirmed" // an operation failed, but may have taken effect
	pendingUnsent      pending = "unsent"      // the set of the state could not be sent again
)

// Keys of the private state of a group, beside successorsKey. The values are JSON objects by stream id.
const (
	groupPendingKey = unconfirmedKey
	groupResendKey  = "resend"
)

func readGroupMarks(ctx context.Context, private privateState) (groupMarks, diag.Diagnostics) {
	m := groupMarks{Pending: map[string]pending{}}
	var diags diag.Diagnostics
	for key, to := range map[string]any{groupPendingKey: &m.Pending, groupResendKey: &m.Resend, successorsKey: &m.Successors} {
		value, found := private.GetKey(ctx, key)
		diags.Append(found...)
		if value != nil {
			_ = json.Unmarshal(value, to) // save wrote it
		}
	}
	return m, diags
}

func (m groupMarks) save(ctx context.Context, private privateState) diag.Diagnostics {
	diags := saveMarks(ctx, private, groupPendingKey, m.Pending)
	diags.Append(saveMarks(ctx, private, groupResendKey, m.Resend)...)
	diags.Append(saveMarks(ctx, private, successorsKey, m.Successors)...)
	return diags
}

// saveMarks removes the key if there are no marks.
func saveMarks[T any](ctx context.Context, private privateState, key string, marks map[string]T) diag.Diagnostics {
	var value []byte
	if len(marks) > 0 {
		value, _ = json.Marshal(marks) // texts and sets of texts always encode
	}
	return private.SetKey(ctx, key, value)
}

// keep returns what the state has of a stream after a failed operation, as keepState does for one resource.
func (m *groupMarks) keep(o groupOutcome, was streams.ProcessorSet) streams.ProcessorSet {
	switch {
	case o.known.unconfirmed:
		m.Pending[o.id] = pendingUnconfirmed
	case o.known.reported != nil:
		delete(m.Pending, o.id)
		return o.known.reported.ProcessorIDs
	}
	return was
}
