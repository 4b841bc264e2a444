package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
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
		resp.Diagnostics.Append(r.readBeforeCreate(ctx, plan)...)
	case !created && !plan.StreamID.Equal(state.StreamID):
		r.planDestroy(ctx, state, resp) // Terraform plans no separate destroy for a replacement
	}
}

// planSet claims the planned set and decides whether the apply sends it: last_edited is unknown then,
// and only then. The state is empty before a create. A create may be half of a replacement on the same
// stream: next is the mark for the other half, if a resource has claimed the stream before.
func (s *session) planSet(ctx context.Context, planned, state *processorsModel, unconfirmed bool) (next *successor, diags diag.Diagnostics) {
	id := planned.StreamID.ValueString()
	if known(planned.StreamID) && fullyKnown(planned.ProcessorIDs) {
		var err error
		if next, err = s.claim(ctx, id, planned.processors()); err != nil {
			diags.Append(diagnose("", err, knowledge{}))
			return nil, diags
		}
	}
	planned.ID = planned.StreamID
	planned.TerminalID, planned.FragmentTypeID = types.StringUnknown(), types.StringUnknown()
	planned.CompatibleNamespaces, planned.LastEdited = types.SetUnknown(types.StringType), types.Int64Unknown()
	stays := planned.StreamID.Equal(state.StreamID)
	if stays && planned.sendsSameAs(state) {
		switch {
		case unconfirmed:
			diags.Append(unconfirmedWarning(id))
		case s.ownership.relyOn(id):
			planned.TerminalID, planned.FragmentTypeID = state.TerminalID, state.FragmentTypeID
			planned.CompatibleNamespaces, planned.LastEdited = state.CompatibleNamespaces, state.LastEdited
			return nil, diags
		}
	}
	if left, found := s.ownership.plannedRelease(id); found {
		diags.Append(sharedStreamWarnings(id, left, stays && planned.sendsSameAs(state) && !unconfirmed)...)
	}
	if !stays {
		return next, diags
	}
	// An update has no reason to change where a stream belongs. An imported state does not know it yet.
	if !state.TerminalID.IsNull() {
		planned.TerminalID = state.TerminalID
	}
	if !state.FragmentTypeID.IsNull() {
		planned.FragmentTypeID = state.FragmentTypeID
	}
	return nil, diags
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
// create detaches.
func (r *processorsResource) readBeforeCreate(ctx context.Context, plan *processorsModel) diag.Diagnostics {
	timeout, diags := plan.Timeouts.Read(ctx, defaultTimeout)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	id := plan.StreamID.ValueString()
	found, err := r.session.client.ReadStream(ctx, id)
	switch {
	case streamNotFound(err) && r.session.ownership.isGone(id):
		diags.Append(createOfGoneStreamWarning(id))
		return diags
	case err != nil:
		diags.Append(diagnoseRead(id, err))
		return diags
	}
	if !fullyKnown(plan.ProcessorIDs) {
		return diags
	}
	if detached := found.ProcessorIDs.Minus(plan.processors()); detached.Len() > 0 {
		diags.Append(detachedByCreateWarning(id, detached))
	}
	return diags
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
