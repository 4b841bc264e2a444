package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Keys of the private state. A resource whose state is confirmed has neither.
const (
	// unconfirmedKey marks a state that may be untrue: an update or destroy failed, but may have taken
	// effect. Each plan sends the set again until a response confirms the state.
	unconfirmedKey = "unconfirmed"
	// successorsKey tells the apply of a destroy, by stream id, what another resource of the plan does with
	// the stream. Only planned private states have it.
	successorsKey = "successors"
)

// ModifyPlan sends nothing without detect_drift.
func (r *processorsResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if r.session == nil {
		return
	}
	var plan, state *processorsModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if req.Plan.Raw.IsNull() {
		r.planDestroy(ctx, state, resp)
		return
	}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	unconfirmed, diags := req.Private.GetKey(ctx, unconfirmedKey)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	created := req.State.Raw.IsNull()
	if created {
		state = new(processorsModel)
	}
	next, diags := r.session.planSet(ctx, plan, state, unconfirmed != nil)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
	resp.Diagnostics.Append(addSuccessor(ctx, resp.Private, plan.StreamID.ValueString(), next)...)
	switch {
	case created && r.session.readsStreams() && known(plan.StreamID):
		ctx, cancel := withTimeLimit(ctx, plan.Timeouts.Read, &resp.Diagnostics)
		defer cancel()
		resp.Diagnostics.Append(r.session.readBeforeCreate(ctx, plan.StreamID.ValueString(), plan.knownProcessors())...)
	case !created && !plan.StreamID.Equal(state.StreamID):
		r.planDestroy(ctx, state, resp) // Terraform plans no separate destroy for a replacement
	}
}

// planSet plans the set of the resource, and makes last_edited unknown if the apply sends the set, and only
// then. The state is empty before a create. A create may be half of a replacement on the same stream: next is
// the mark for the other half, if a resource has claimed the stream before.
func (s *session) planSet(ctx context.Context, planned, state *processorsModel, unconfirmed bool) (next *successor, diags diag.Diagnostics) {
	var set *streams.ProcessorSet
	if known(planned.StreamID) {
		set = planned.knownProcessors()
	}
	stays := planned.StreamID.Equal(state.StreamID)
	unchanged := stays && planned.sendsSameAs(state)
	send, next, diags := s.planStream(ctx, planned.StreamID.ValueString(), set, unchanged, unconfirmed)
	planned.ID = planned.StreamID
	planned.TerminalID, planned.FragmentTypeID = types.StringUnknown(), types.StringUnknown()
	planned.CompatibleNamespaces, planned.LastEdited = types.SetUnknown(types.StringType), types.Int64Unknown()
	if !stays {
		return next, diags
	}
	if !send {
		planned.CompatibleNamespaces, planned.LastEdited = state.CompatibleNamespaces, state.LastEdited
	}
	// An update has no reason to change where a stream belongs. An imported state does not know it yet.
	if !send || !state.TerminalID.IsNull() {
		planned.TerminalID = state.TerminalID
	}
	if !send || !state.FragmentTypeID.IsNull() {
		planned.FragmentTypeID = state.FragmentTypeID
	}
	return nil, diags
}

// planStream claims the set that a resource gives a stream, and decides whether the apply sends it. set is nil
// if it is known after apply. unchanged says that the state has the set, and that no trigger has changed. next
// is the mark of a resource that has claimed the stream before.
func (s *session) planStream(ctx context.Context, id string, set *streams.ProcessorSet, unchanged, unconfirmed bool) (send bool, next *successor, diags diag.Diagnostics) {
	if set != nil {
		var err error
		if next, err = s.claim(ctx, id, *set); err != nil {
			return true, nil, diag.Diagnostics{diagnose("", err, knowledge{})}
		}
	} else {
		next = s.ownership.successor(id)
	}
	resend := unchanged && !unconfirmed
	switch {
	case resend && s.ownership.relyOn(id):
		return false, next, nil
	case unchanged && unconfirmed:
		diags.Append(unconfirmedWarning(id))
	}
	if left, found := s.ownership.leftBy(id, func(r release) bool { return r.dropped }); found && resend {
		return true, next, diag.Diagnostics{droppedStreamError(id, left)}
	}
	if left, found := s.ownership.leftBy(id, func(r release) bool { return r.planned }); found {
		diags.Append(sharedStreamWarnings(id, left, resend)...)
	}
	return true, next, diags
}

// planDestroy marks the destroy of a resource, or of the old half of a replacement, if another resource
// of the plan has the stream.
func (r *processorsResource) planDestroy(ctx context.Context, state *processorsModel, resp *resource.ModifyPlanResponse) {
	id := state.StreamID.ValueString()
	r.session.ownership.awaitFirstClaims(ctx)
	next := r.session.ownership.release(id, release{left: state.departure().left(), planned: true})
	resp.Diagnostics.Append(addSuccessor(ctx, resp.Private, id, next)...)
	if replaced := !resp.Plan.Raw.IsNull(); replaced && next != nil && state.departure().detach {
		resp.Diagnostics.Append(createBeforeDestroyWarning(id, next.Relies))
	}
}

// readBeforeCreate reads the stream that a create takes over, and warns about processors that the
// create detaches. set is nil if it is known after apply.
func (s *session) readBeforeCreate(ctx context.Context, id string, set *streams.ProcessorSet) diag.Diagnostics {
	found, err := s.client.ReadStream(ctx, id)
	switch {
	case streamNotFound(err) && s.ownership.isGone(id):
		return diag.Diagnostics{createOfGoneStreamWarning(id)}
	case err != nil:
		return diag.Diagnostics{diagnoseRead(id, err)}
	case set == nil:
		return nil
	}
	if detached := found.ProcessorIDs.Minus(*set); detached.Len() > 0 {
		return diag.Diagnostics{detachedByCreateWarning(id, s.client.Redact(detached.String()))}
	}
	return nil
}

// addSuccessor adds a mark to a planned private state, or does nothing for nil.
func addSuccessor(ctx context.Context, private privateState, id string, next *successor) diag.Diagnostics {
	if next == nil {
		return nil
	}
	marks, diags := successors(ctx, private)
	marks[id] = next
	value, _ := json.Marshal(marks) // strings always encode
	diags.Append(private.SetKey(ctx, successorsKey, value)...)
	return diags
}

// successors returns the marks of a planned private state, by stream id.
func successors(ctx context.Context, private privateState) (map[string]*successor, diag.Diagnostics) {
	marks := map[string]*successor{}
	value, diags := private.GetKey(ctx, successorsKey)
	if value != nil {
		_ = json.Unmarshal(value, &marks) // addSuccessor wrote it
	}
	return marks, diags
}
