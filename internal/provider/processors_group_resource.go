package provider

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ resource.Resource               = (*groupResource)(nil)
	_ resource.ResourceWithConfigure  = (*groupResource)(nil)
	_ resource.ResourceWithModifyPlan = (*groupResource)(nil)
)

const groupTypeName = "stream_processors_group"

func newGroupResource() resource.Resource { return &groupResource{} }

// groupResource is stream_processors_group. Its schema is in processors_group_schema.go, its plan in
// processors_group_plan.go. It has no import: a create sends the same requests.
type groupResource struct {
	session *session // nil while Terraform only asks for schemas or validates
}

func (r *groupResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = groupTypeName
}

func (r *groupResource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.session, _ = req.ProviderData.(*session)
}

// Create saves nothing if a stream fails: the next apply sends all sets again. A tainted group would be
// destroyed first.
func (r *groupResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan *groupModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeLimit(ctx, plan.Timeouts.Create, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}

	sets, _ := plan.sets()
	report := newGroupReport()
	plan.LastEdited = types.Int64Null()
	for _, o := range r.session.setAll(ctx, sets, nil) {
		if o.err != nil {
			report.failed(o, diagnoseSet(o.id, o.err, o.known))
			continue
		}
		report.changed++
		plan.setEdited(o.got)
	}
	resp.Diagnostics.Append(report.diagnostics("The group is not in the state. The next apply sends all of its sets.")...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	resp.Diagnostics.Append(groupMarks{}.save(ctx, resp.Private)...)
}

// Read sends nothing without detect_drift, as that of stream_processors.
func (r *groupResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if !r.session.readsStreams() {
		return
	}
	var state *groupModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	marks, diags := readGroupMarks(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeLimit(ctx, state.Timeouts.Read, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}

	sets, _ := state.sets()
	report := newGroupReport()
	for _, o := range forEach(r.session, sets.ids(), func(id string) groupOutcome {
		got, err := r.session.client.ReadStream(ctx, id)
		return groupOutcome{id: id, got: got, err: err}
	}) {
		switch {
		case streamNotFound(o.err):
			delete(sets, o.id)
			delete(marks.Pending, o.id)
			r.session.ownership.markGone(o.id)
			report.add(o.id, streamGoneFromGroupWarning(o.id))
		case o.err != nil:
			report.failed(o, diagnoseRead(o.id, o.err))
		default:
			sets[o.id] = o.got.ProcessorIDs
			state.setEdited(o.got)
			if marks.Pending[o.id] == pendingUnconfirmed {
				delete(marks.Pending, o.id)
			}
		}
	}
	resp.Diagnostics.Append(report.diagnostics("The state is as before.")...)
	if resp.Diagnostics.HasError() {
		return
	}
	state.setStreams(sets)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	resp.Diagnostics.Append(marks.save(ctx, resp.Private)...)
}

// compareSets sorts the streams of an update into those that stay as they are, are sent, and are dropped.
func compareSets(was, planned groupSets, resend map[string]bool) (stay, send, drop groupSets) {
	stay, send, drop = groupSets{}, groupSets{}, groupSets{}
	for id, set := range planned {
		if before, inState := was[id]; !inState || !before.Equal(set) || resend[id] {
			send[id] = set
		} else {
			stay[id] = set
		}
	}
	for id, set := range was {
		if _, stays := planned[id]; !stays {
			drop[id] = set
		}
	}
	return stay, send, drop
}

// Update sends the sets that differ, then leaves the streams that were removed: another resource may have
// sent its set by then. The state takes what succeeded.
func (r *groupResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state *groupModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	marks, diags := readGroupMarks(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeLimit(ctx, plan.Timeouts.Update, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}

	planned, _ := plan.sets()
	was, _ := state.sets()
	after, sends, drops := compareSets(was, planned, marks.Resend)
	next := groupMarks{Pending: marks.Pending}
	plan.LastEdited = state.LastEdited
	report := newGroupReport()
	for _, o := range r.session.setAll(ctx, sends, was) {
		before, inState := was[o.id]
		switch {
		case o.err == nil:
			report.changed++
			after[o.id] = sends[o.id]
			plan.setEdited(o.got)
			delete(next.Pending, o.id)
			continue
		case inState:
			after[o.id] = next.keep(o, before)
			if after[o.id].Equal(sends[o.id]) && next.Pending[o.id] == "" {
				next.Pending[o.id] = pendingUnsent // the state alone would plan nothing
			}
		}
		report.failed(o, diagnoseUpdate(o.id, o.err, o.known))
	}
	leaveAll(ctx, r.session, plan, drops, marks.Successors, report, func(o groupOutcome) {
		if o.err != nil {
			after[o.id] = next.keep(o, drops[o.id])
		} else {
			delete(next.Pending, o.id)
		}
	})
	resp.Diagnostics.Append(report.diagnostics("The state has what succeeded. The next plan shows the rest.")...)
	plan.setStreams(after)
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	resp.Diagnostics.Append(next.save(ctx, resp.Private)...)
}

// Delete leaves the streams in the state that fail.
func (r *groupResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state *groupModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	marks, diags := readGroupMarks(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeLimit(ctx, state.Timeouts.Delete, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}

	drops, _ := state.sets()
	after, next := groupSets{}, groupMarks{Pending: marks.Pending}
	report := newGroupReport()
	leaveAll(ctx, r.session, state, drops, marks.Successors, report, func(o groupOutcome) {
		if o.err != nil {
			after[o.id] = next.keep(o, drops[o.id])
		} else {
			delete(next.Pending, o.id)
		}
	})
	resp.Diagnostics.Append(report.diagnostics("The state has only the streams that failed.")...)
	if resp.Diagnostics.HasError() {
		state.setStreams(after)
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
		resp.Diagnostics.Append(next.save(ctx, resp.Private)...)
	}
}

// leaveAll ends the group's use of the streams in drops, and calls done for each. A stream that the service
// does not know counts as left.
func leaveAll(ctx context.Context, s *session, m *groupModel, drops groupSets, successors map[string]*successor, report *groupReport, done func(groupOutcome)) {
	if len(drops) > 0 {
		s.ownership.awaitFirstClaims(ctx) // once, because only a few departures wait at the same time
	}
	for _, o := range forEach(s, drops.ids(), func(id string) groupOutcome {
		d := m.departure(drops[id])
		d.next = successors[id]
		known, err := s.leave(ctx, id, d)
		return groupOutcome{id: id, known: known, err: err}
	}) {
		switch {
		case o.err == nil && o.known.abandoned != nil:
			report.add(o.id, abandonedWarning(o.id, o.known))
		case o.err == nil:
			report.left++
		case asStreamError(o.err).Status == http.StatusNotFound:
			report.add(o.id, notFoundOnDestroyWarning(o.id, o.err))
			o.err = nil
		default:
			report.failed(o, diagnoseDetach(o.id, o.err))
		}
		done(o)
	}
}

// setAll sends sets. A stream of was is in the state.
func (s *session) setAll(ctx context.Context, sets, was groupSets) []groupOutcome {
	return forEach(s, sets.ids(), func(id string) groupOutcome {
		_, inState := was[id]
		got, known, err := s.set(ctx, id, sets[id], inState)
		return groupOutcome{id, got, known, err}
	})
}
