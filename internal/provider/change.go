package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// A single resource is a group of one: both resources plan and apply a change here, stream by stream.

// sets are processor sets by stream id; nil stands for a set that is known after apply.
type sets map[string]*streams.ProcessorSet

// entries is what the state of a resource has, by stream id.
type entries map[string]*claims.Entry

// without returns the ids that are not in other, in order.
func (e entries) without(other sets) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(e)), func(id string) bool { _, found := other[id]; return found })
}

// change is what a resource wants of its streams.
type change struct {
	kind       changeKind
	of         subject
	want       sets
	was        entries      // in the state
	former     entries      // in the state of another deployment; was is empty then
	deployment types.String // in the state
	marks      marks        // of the private state
	refuses    bool         // on_create = "refuse"
	triggered  bool         // triggers have changed: send all sets
	leaving    claims.LeaveKind
	detach     bool // on_destroy = "detach", for the streams that the resource leaves
	old        oldObject
}

// changeKind is what becomes of a resource.
type changeKind int

const (
	create   changeKind = iota // there is no state, or Terraform does not show it: the old object is destroyed
	update                     // Terraform also plans a replacement as an update first
	redeploy                   // update, and the state is that of another deployment
	destroy
	forget // destroy, and the state is that of another deployment
)

// partial reports whether the state takes what succeeds if a stream fails.
func (c change) partial() bool { return c.of == ofGroup && (c.kind == update || c.kind == redeploy) }

func (c change) leave(id string) claims.Leave {
	l := claims.Leave{Entry: *c.was[id], Detach: c.detach, Kind: c.leaving, Shared: c.marks[id].Shared}
	if c.old == leftBehind || c.old == replaced && l.Shared {
		l.Kind = claims.LeftBehind
	}
	return l
}

// oldObject says what a destroy destroys.
type oldObject int

const (
	noOldObject oldObject = iota
	replaced              // the old object of a replacement of this apply, with create_before_destroy
	leftBehind            // that of an earlier apply: its replacement, or another resource, may have its streams now
)

// oldObject finds out what the apply of a destroy destroys. Terraform plans a destroy again in the apply, which has a
// session of its own, only if the object was replaced. The create of the replacement then came before, in the same session.
func (s *session) oldObject(c change) oldObject {
	failed := func(m mark) bool { return m.Failed }
	switch {
	case c.marks[anyStream].Session != s.id:
		return noOldObject
	case s.created.Load(), slices.ContainsFunc(slices.Collect(maps.Values(c.marks)), failed):
		return replaced
	}
	return leftBehind
}

// plan plans a change. It reports whether the apply sends anything, and returns the planned marks. With
// detect_drift it reads the streams that the resource takes over.
func (s *session) plan(ctx context.Context, c change) (sends bool, planned marks, diags diag.Diagnostics) {
	destroys := c.kind == destroy || c.kind == forget
	if destroys && s.created.Load() { // in an apply
		c.old = replaced
	}
	if diags = s.deployment.check(c); diags.HasError() {
		return false, c.marks, diags
	}
	t := &tally{subject: c.of, inFull: func(kind, id string) bool { return s.warned.inFullPlan(c.of, kind, id) }}
	planned = c.marks.lasting()
	if destroys {
		planned[anyStream] = mark{Session: s.id}
	}
	if c.kind == create {
		planned = maps.Clone(c.marks)                                    // in a replacement, those of the first plan
		planned[anyStream] = mark{Created: true, Resend: claims.Unknown} // nobody knows the marks of a tainted object
	}
	s.firstClaims()
	if c.kind == update && slices.ContainsFunc(slices.Collect(maps.Values(c.marks)), func(m mark) bool { return m.Shared }) {
		s.awaitFirstLeaves(ctx) // the object that was read before may be destroyed, and then this one sends its sets
	}
	for _, id := range slices.Sorted(maps.Keys(c.want)) {
		sends = s.planSet(c, id, planned, t) || sends
	}
	if leaves := c.was.without(c.want); len(leaves) > 0 {
		s.awaitFirstClaims(ctx)
		for _, id := range leaves {
			s.planLeave(c, id, planned, t)
		}
		sends = true
	}
	diags.Append(s.checkTakeOver(ctx, c, t)...)
	return sends || c.leaving == claims.MayBeDropped, planned, append(diags, t.diagnostics("Nothing was sent.")...)
}

func (s *session) planSet(c change, id string, planned marks, t *tally) (sends bool) {
	want := claims.Want{Set: c.want[id], Entry: c.was[id], Triggered: c.triggered}
	p := rules(s, id, func(stream *claims.Stream) claims.Plan { return stream.PlanSet(want) })
	m, marked := planned[id]
	m.Send = p.Send && want.Entry != nil
	if c.kind == create {
		m.Claim = p.Claim
	}
	m.TakeOver = s.markTakeOver(c, id)
	if marked || m.Send || m.TakeOver != nil || c.kind == create {
		planned[id] = m
	}
	t.planned(id, c, p)
	return p.Send
}

// planLeave also marks the stream for the apply of a destroy. An update is planned again, and does not get the mark: with
// planned_private of Terraform 1.16, which plugin-go does not have yet, its plan could use the claim.
func (s *session) planLeave(c change, id string, planned marks, t *tally) {
	p := rules(s, id, func(stream *claims.Stream) claims.Plan { return stream.PlanLeave(c.leave(id)) })
	t.planned(id, c, p)
	if c.leaving == claims.MayBeDropped { // the plan of the apply decides
		return
	}
	if detached := s.leavePrior(id); detached.Len() > 0 {
		t.add(id, ofOthersError(id, s.client.Redact(detached.String())))
	}
	m := planned[id]
	m.Claim, m.Detach = p.Claim, c.detach
	planned[id] = m // also if it says nothing: in a replacement, that of all streams would say that the outcome is unknown
}

// newState is what the state has after a change or a refresh.
type newState struct {
	kept      entries
	reported  map[string]*streams.Stream // what the service reported of them in this session
	marks     marks
	failed    bool // a stream failed
	keepState bool // the state takes nothing of the plan
}

// apply sends the sets that differ from the state or have a mark, and then leaves the streams that the resource
// drops: another resource may have sent its set by then.
func (s *session) apply(ctx context.Context, c change) (newState, diag.Diagnostics) {
	former := newState{kept: c.former, marks: c.marks.lasting(), failed: true, keepState: true}
	c.old = s.oldObject(c)
	if refused := s.deployment.check(c).Errors(); len(refused) > 0 { // of a tainted or replaced object, without a plan
		return former, refused
	}
	if !s.configured() {
		former.kept = c.was
		return former, diag.Diagnostics{notConfiguredError("the processors could not be set or detached")}
	}
	s.warned.startApply()
	if c.kind == destroy {
		if refused := s.checkReplacement(ctx, c); refused.HasError() {
			former.kept = c.was
			return former, refused
		}
	}
	t := &tally{subject: c.of, inFull: s.warned.inFull}
	after := newState{kept: entries{}, reported: map[string]*streams.Stream{}, marks: marks{}}
	s.applySets(ctx, c, &after, t)
	s.applyLeaves(ctx, c, &after, t)
	for id, entry := range after.kept {
		after.marks.add(id, mark{Resend: entry.Resend, Failed: c.old == replaced})
	}
	after.failed = len(t.errors.kinds) > 0
	if c.kind == create && !after.failed {
		s.created.Store(true)
	}
	after.keepState = after.failed && !c.partial()
	if after.failed && c.kind == redeploy && t.changed == 0 {
		for id := range after.kept { // the streams that may have been changed: both names may stand for one deployment
			if entry := c.former[id]; entry != nil && !entry.Set.Equal(*c.want[id]) {
				former.marks[id] = mark{Resend: claims.Unknown}
			}
		}
		after = former
	}
	return after, t.diagnostics(t.nowInState(c))
}

func (s *session) applySets(ctx context.Context, c change, after *newState, t *tally) {
	var sends []string
	for _, id := range slices.Sorted(maps.Keys(c.want)) {
		if entry := c.was[id]; entry != nil && entry.Set.Equal(*c.want[id]) && !c.marks[id].Send {
			after.kept[id] = entry
		} else {
			sends = append(sends, id)
		}
	}
	for id, o := range forEach(s, sends, func(id string) operation { return s.set(ctx, c, id) }) {
		if o.err != nil {
			s.keep(after, id, c, o, t)
			continue
		}
		t.changed++
		if o.decision.Detached {
			t.add(id, wereDetached.about(id))
		}
		after.kept[id], after.reported[id] = &claims.Entry{Set: *c.want[id]}, o.result.Reported
	}
}

func (s *session) applyLeaves(ctx context.Context, c change, after *newState, t *tally) {
	leaves, created := c.was.without(c.want), c.marks[anyStream].Created // a destroy with the marks of a create is that of the old object
	if len(leaves) > 0 {
		s.awaitFirstClaims(ctx) // once, because only a few wait at the same time
	}
	for id, o := range forEach(s, leaves, func(id string) operation { return s.leave(ctx, id, c.leave(id), c.marks[id].Claim) }) {
		if o.err != nil {
			s.keep(after, id, c, o, t)
			continue
		}
		t.left(id, c.leave(id), o, c.old != noOldObject || created && !c.marks[id].foreseen())
	}
}

// keep keeps a stream in the state after a failed operation.
func (s *session) keep(after *newState, id string, c change, o operation, t *tally) {
	t.failed(id, c, o)
	kept := rules(s, id, func(stream *claims.Stream) *claims.Entry { return stream.Keep(c.was[id], o.decision.Set, o.result) })
	switch {
	case kept == nil:
		return
	case kept.Resend != claims.Settled:
	case o.facts.Reported != nil:
		after.reported[id] = o.facts.Reported
	case c.marks[anyStream].Created: // the plan of a create knows nothing of the object that a failed destroy keeps
		kept = &claims.Entry{Set: kept.Set, Resend: claims.Unknown}
	}
	after.kept[id] = kept
	if want := c.want[id]; want != nil && c.partial() && kept.Set.Equal(*want) && kept.Resend == claims.Settled {
		after.kept[id] = &claims.Entry{Set: kept.Set, Resend: claims.Unsent} // the state alone would plan nothing
	}
}
