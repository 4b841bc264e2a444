package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// A single resource is a group of one: both resources plan and apply a change here.

// sets are processor sets by stream id; nil stands for a set that is known after apply.
type sets map[string]*streams.ProcessorSet

// entries is what the state of a resource has, by stream id.
type entries map[string]*claims.Entry

// change is what a resource wants of its streams.
type change struct {
	want    sets
	was     entries // in the state
	create  bool    // there is no state, or Terraform does not show it: the old object is destroyed
	again   bool    // send all sets: a trigger has changed
	partial bool    // the state takes the plan even if streams fail
	detach  bool    // on_destroy = "detach", for the streams that the resource leaves
	leaving claims.DepartureKind
	marks   marks // of the private state
	moves   bool  // to another deployment; see move
}

// move makes a change one of streams that the state does not have: those of another deployment. The marks stay, for the
// state after a move that fails.
func (c *change) move() { c.was, c.moves = nil, true }

func (c change) leaves() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.was)), func(id string) bool { _, stays := c.want[id]; return stays })
}

func (c change) departure(id string) claims.Departure {
	return claims.Departure{Entry: *c.was[id], Detach: c.detach, Kind: c.leaving}
}

// plan plans a change. It reports whether the apply sends anything, and returns the planned marks. With
// detect_drift it reads the streams that the resource takes over.
func (s *session) plan(ctx context.Context, c change, r *report) (sends bool, planned marks) {
	r.mayWarn = s.mayWarn
	planned = c.marks.lasting()
	if c.create { // in a replacement, Terraform passes the marks of the first plan to this one
		for id, m := range c.marks {
			planned[id] = mark{Pending: m.Pending, Detach: m.Detach, Next: m.Next}
		}
		planned[anyStream] = mark{Created: true, Pending: claims.Unconfirmed} // nobody knows the marks of a tainted object
	}
	s.noteCall()
	for _, id := range slices.Sorted(maps.Keys(c.want)) {
		want := claims.Want{Set: c.want[id], Entry: c.was[id], Again: c.again}
		p := rules(s, id, func(r *claims.Stream) claims.Plan { return r.PlanSet(want) })
		sends = sends || p.Send
		m, marked := planned[id]
		m.Send = p.Send && want.Entry != nil
		if c.create {
			m.Next = p.Next
		}
		if marked || m.Send || c.create {
			planned[id] = m
		}
		if p.Refusal == claims.ConflictingSets {
			decision := claims.Decision{Set: *c.want[id], Other: p.Other}
			o := outcome{decision: decision, known: s.knownOfConflict(ctx, id), err: errConflict}
			r.add(id, diagnose(id, operationOf(id, c), o))
		}
		r.planned(id, p)
	}
	if leaves := c.leaves(); len(leaves) > 0 {
		s.awaitFirstClaims(ctx)
		for _, id := range leaves {
			p := rules(s, id, func(r *claims.Stream) claims.Plan { return r.PlanLeave(c.departure(id)) })
			r.planned(id, p)
			if c.leaving == claims.MayBeDropped { // the plan of the apply decides
				continue
			}
			m := planned[id]
			m.Next, m.Detach = p.Next, c.detach
			if m.foreseen() {
				planned[id] = m
			}
		}
		sends = true
	}
	if s.readsStreams() && !c.moves && !r.hasErrors() { // a destroy also plans a move, only to refresh
		s.readBeforeCreate(ctx, c, r)
	}
	return sends || c.leaving == claims.MayBeDropped, planned
}

// readStream reads a stream, with detect_drift only.
func (s *session) readStream(ctx context.Context, id string) outcome {
	got, err := s.client.ReadStream(ctx, id)
	return outcome{got: got, err: err}
}

// readBeforeCreate reads the streams that a plan takes over, and warns about processors that the apply detaches.
func (s *session) readBeforeCreate(ctx context.Context, c change, r *report) {
	added := slices.DeleteFunc(slices.Sorted(maps.Keys(c.want)), func(id string) bool { return c.was[id] != nil })
	for i, got := range forEach(s, added, func(id string) outcome { return s.readStream(ctx, id) }) {
		id := added[i]
		gone := c.marks[id].Gone || rules(s, id, (*claims.Stream).Gone)
		switch set := c.want[id]; {
		case streamNotFound(got.err) && gone:
			r.add(id, createOfGoneStreamWarning(id))
		case got.err != nil:
			r.add(id, diagnoseRead(id, got.err))
		case set == nil: // known after apply
		case got.got.ProcessorIDs.Minus(*set).Len() > 0:
			r.add(id, detachedByCreateWarning(id, s.client.Redact(got.got.ProcessorIDs.Minus(*set).String())))
		}
	}
}

// read reads streams with detect_drift. It returns what was found, and the streams that the service does not know: an
// error if the streams are imported.
func (s *session) read(ctx context.Context, ids []string, m marks, r *report) (found map[string]*streams.Stream, gone []string) {
	r.mayWarn = s.mayWarn
	found = map[string]*streams.Stream{}
	for i, o := range forEach(s, ids, func(id string) outcome { return s.readStream(ctx, id) }) {
		id := ids[i]
		switch {
		case streamNotFound(o.err) && !m[id].Import:
			gone = append(gone, id)
			rules(s, id, func(r *claims.Stream) any { r.SetGone(); return nil })
			r.add(id, streamGoneWarning(id))
		case o.err != nil:
			r.failures[streams.NotChanged]++
			r.add(id, diagnoseRead(id, o.err))
		default:
			found[id] = o.got
		}
	}
	return found, gone
}

// applied is the result of a change.
type applied struct {
	kept     entries                    // what the state has afterwards
	reported map[string]*streams.Stream // what the service said of them in this run
	marks    marks                      // what is still to be sent or confirmed
	failed   bool                       // a stream failed
	stays    bool                       // the state takes nothing of the plan
}

// apply sends the sets that differ from the state or have a mark, and then leaves the streams that the resource
// drops: another resource may have sent its set by then.
func (s *session) apply(ctx context.Context, c change, r *report) applied {
	if !s.configured() {
		r.add("", diagnose("", operation{what: "the processors could not be set or detached"}, outcome{err: errNotConfigured}))
		return applied{kept: c.was, marks: c.marks}
	}
	a := applied{kept: entries{}, reported: map[string]*streams.Stream{}, marks: marks{}}
	var sends []string
	for _, id := range slices.Sorted(maps.Keys(c.want)) {
		if entry := c.was[id]; entry != nil && entry.Set.Equal(*c.want[id]) && !c.marks[id].Send {
			a.kept[id] = entry
		} else {
			sends = append(sends, id)
		}
	}
	for i, o := range forEach(s, sends, func(id string) outcome { return s.set(ctx, id, *c.want[id], c.was[id] != nil) }) {
		id := sends[i]
		if o.err != nil {
			s.keep(&a, id, c, o, r)
			continue
		}
		r.changed++
		a.kept[id], a.reported[id] = &claims.Entry{Set: *c.want[id]}, o.got
	}
	leaves, replaced := c.leaves(), c.marks[anyStream].Created // a destroy with the marks of a create is that of the old object
	if len(leaves) > 0 {
		s.awaitFirstClaims(ctx) // once, because only a few departures wait at the same time
	}
	for i, o := range forEach(s, leaves, func(id string) outcome {
		return s.leave(ctx, id, c.departure(id), c.marks[id].Next)
	}) {
		id := leaves[i]
		if o.err == nil || o.result != nil && o.result.NotFound {
			// Core plans the destroy of a deposed object in the apply, which has a session of its own.
			late := c.leaving == claims.Destroyed && rules(s, id, (*claims.Stream).DestroyPlanned)
			r.left(id, c, o, late || replaced && !c.marks[id].foreseen())
			continue
		}
		s.keep(&a, id, c, o, r)
	}
	for id, entry := range a.kept {
		if entry.Pending != claims.Confirmed {
			a.marks[id] = mark{Pending: entry.Pending}
		}
	}
	return a
}

// keep keeps a stream in the state after a failed operation, and reports the failure.
func (s *session) keep(a *applied, id string, c change, o outcome, r *report) {
	r.failed(id, c, o)
	kept := rules(s, id, func(r *claims.Stream) *claims.Entry { return r.Keep(c.was[id], o.decision.Set, o.result) })
	if kept == nil {
		return
	}
	a.kept[id] = kept
	if kept.Pending == claims.Confirmed && o.known.Reported != nil {
		a.reported[id] = o.known.Reported
	}
	if want := c.want[id]; want != nil && c.partial && kept.Set.Equal(*want) && kept.Pending == claims.Confirmed {
		a.kept[id] = &claims.Entry{Set: kept.Set, Pending: claims.Unsent} // the state alone would plan nothing
	}
}
