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
	// staysKey tells the apply of a destroy that another resource relies on the stream. Its value is
	// the other resource's set.
	staysKey = "stays"
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
	resp.Diagnostics.Append(r.session.planSet(plan, state, unconfirmed != nil)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
	switch {
	case created && r.session.readsStreams() && known(plan.StreamID):
		resp.Diagnostics.Append(r.readBeforeCreate(ctx, plan)...)
	case !created && !plan.StreamID.Equal(state.StreamID):
		r.planDestroy(ctx, state, resp) // Terraform plans no separate destroy for a replacement
	}
}

// planSet claims the planned set and decides whether the apply sends it: last_edited is unknown then,
// and only then. The state is empty before a create.
func (s *session) planSet(planned, state *processorsModel, unconfirmed bool) diag.Diagnostics {
	var diags diag.Diagnostics
	if known(planned.StreamID) && fullyKnown(planned.ProcessorIDs) {
		if err := s.ownership.claim(planned.StreamID.ValueString(), planned.processors()); err != nil {
			diags.Append(diagnose("", err))
			return diags
		}
	}
	planned.ID = planned.StreamID
	planned.TerminalID, planned.FragmentTypeID = types.StringUnknown(), types.StringUnknown()
	planned.CompatibleNamespaces, planned.LastEdited = types.SetUnknown(types.StringType), types.Int64Unknown()
	if !planned.StreamID.Equal(state.StreamID) {
		return diags
	}
	if planned.sendsSameAs(state) {
		switch {
		case unconfirmed:
			diags.Append(unconfirmedWarning(state.StreamID.ValueString()))
		case s.ownership.relyOn(state.StreamID.ValueString()):
			planned.TerminalID, planned.FragmentTypeID = state.TerminalID, state.FragmentTypeID
			planned.CompatibleNamespaces, planned.LastEdited = state.CompatibleNamespaces, state.LastEdited
			return diags
		}
	}
	// An update has no reason to change where a stream belongs. An imported state does not know it yet.
	if !state.TerminalID.IsNull() {
		planned.TerminalID = state.TerminalID
	}
	if !state.FragmentTypeID.IsNull() {
		planned.FragmentTypeID = state.FragmentTypeID
	}
	return diags
}

// planDestroy marks a destroy if another resource relies on the stream.
func (r *processorsResource) planDestroy(ctx context.Context, state *processorsModel, resp *resource.ModifyPlanResponse) {
	set, reliedOn := r.session.ownership.release(state.StreamID.ValueString(), state.departure().leaves())
	if reliedOn {
		value, _ := json.Marshal(set) // a set of strings always encodes
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, staysKey, value)...)
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
	if err != nil {
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

// staysIn returns the set that a mark of planDestroy carries, or nil if there is no mark.
func staysIn(mark []byte) *streams.ProcessorSet {
	var set *streams.ProcessorSet
	if mark != nil {
		_ = json.Unmarshal(mark, &set) // planDestroy wrote it
	}
	return set
}
