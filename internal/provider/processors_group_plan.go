package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// largeGroup is the number of streams from which several groups are faster than one.
const largeGroup = 1000

// ModifyPlan sends nothing without detect_drift.
func (r *groupResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if r.session == nil {
		return
	}
	var plan, state *groupModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	marks, diags := readGroupMarks(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	// In a replacement, Terraform passes the marks of the first plan to the second one, without a state.
	if marks.Resend = map[string]bool{}; state != nil || marks.Successors == nil {
		marks.Successors = map[string]*successor{}
	}
	report := newGroupReport()
	if plan == nil {
		sets, _ := state.sets()
		r.session.planDepartures(ctx, state, sets, false, &marks, report)
		resp.Diagnostics.Append(report.diagnostics(groupNotApplied)...)
		resp.Diagnostics.Append(marks.save(ctx, resp.Private)...)
		return
	}
	if state == nil {
		state = new(groupModel)
	}
	if n := len(plan.Streams.Elements()); n > largeGroup {
		resp.Diagnostics.Append(largeGroupWarning(n))
	}
	added := r.session.planGroup(ctx, plan, state, &marks, report)
	if r.session.readsStreams() && !report.hasErrors() {
		diags = r.readBeforeCreate(ctx, plan, added, report)
		resp.Diagnostics.Append(diags...)
	}
	resp.Diagnostics.Append(report.diagnostics(groupNotApplied)...)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
	resp.Diagnostics.Append(marks.save(ctx, resp.Private)...)
}

const groupNotApplied = "Nothing was sent."

// planGroup plans the sets of a group, and returns the streams that it adds. last_edited becomes unknown if
// the apply sends a set, and only then: Terraform would not apply a group without a change.
func (s *session) planGroup(ctx context.Context, planned, state *groupModel, marks *groupMarks, report *groupReport) (added []string) {
	sets, unknown := planned.sets()
	was, _ := state.sets()
	sends := planned.Streams.IsUnknown()
	sameTriggers := planned.Triggers.Equal(state.Triggers)
	for _, id := range slices.Concat(sets.ids(), unknown) {
		set := sets.known(id)
		before, inState := was[id]
		unchanged := inState && set != nil && before.Equal(*set) && sameTriggers && marks.Pending[id] != pendingUnsent
		send, next, diags := s.planStream(ctx, id, set, unchanged, marks.Pending[id] == pendingUnconfirmed)
		report.add(id, diags...)
		sends = sends || send
		if send && inState {
			marks.Resend[id] = true
		}
		if !inState {
			added = append(added, id)
			if next != nil {
				marks.Successors[id] = next // this plan may be half of a replacement: see planSet
			}
		}
	}
	if planned.LastEdited = state.LastEdited; sends {
		planned.LastEdited = types.Int64Unknown()
	}
	if !planned.Streams.IsUnknown() {
		drops := groupSets{}
		for id, set := range was {
			if _, stays := planned.Streams.Elements()[id]; !stays {
				drops[id] = set
			}
		}
		s.planDepartures(ctx, planned, drops, true, marks, report)
	}
	return added
}

// planDepartures registers that a group leaves streams, and marks those that another resource of the plan has.
// Terraform passes the marks to the apply of a destroy, but not to that of an update.
func (s *session) planDepartures(ctx context.Context, m *groupModel, drops groupSets, update bool, marks *groupMarks, report *groupReport) {
	if len(drops) > 0 {
		s.ownership.awaitFirstClaims(ctx)
	}
	for _, id := range drops.ids() {
		d := m.departure(drops[id])
		next := s.ownership.release(id, release{left: d.left(), planned: true, dropped: update})
		if next == nil {
			continue
		}
		marks.Successors[id] = next
		switch {
		case update && next.Relies && !next.Set.Equal(d.left()):
			report.add(id, droppedStreamError(id, d.left()))
		case update && !next.Relies && d.detach:
			report.add(id, detachedForAMomentWarning(id))
		}
	}
}

// readBeforeCreate reads the streams that the group takes over.
func (r *groupResource) readBeforeCreate(ctx context.Context, plan *groupModel, added []string, report *groupReport) (diags diag.Diagnostics) {
	ctx, cancel := withTimeLimit(ctx, plan.Timeouts.Read, &diags)
	defer cancel()
	sets, _ := plan.sets()
	for i, found := range forEach(r.session, added, func(id string) diag.Diagnostics {
		return r.session.readBeforeCreate(ctx, id, sets.known(id))
	}) {
		report.add(added[i], found...)
	}
	return diags
}
