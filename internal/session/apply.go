package session

import (
	"context"
	"maps"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// After is what the state has after a change or a refresh, and what a person should know.
type After struct {
	Kept      Entries
	Reported  map[string]*streams.Stream // what the service reported of them in this session
	Marks     Marks
	KeepState bool // the state stays as it was
	Refusal   Refusal
	Findings  []Finding
	Set       int // streams that have their planned sets
	Left      int // streams that the resource left, if the service knows them
}

// Failed reports whether the call was refused, or failed for a stream.
func (a After) Failed() bool {
	return a.Refusal != accepted || slices.ContainsFunc(a.Findings, Finding.IsError)
}

// Apply sends the sets that differ from the state or have a mark, and then leaves the streams that the resource
// drops: another resource may have sent its set by then.
func (s *Session) Apply(ctx context.Context, c Change) After {
	s.applies.Store(true)
	if c.Kind == Destroy {
		failed := c.Marks.any(func(m Mark) bool { return m.Failed })
		c.Leaving = claims.KindOfDestroy(c.Marks.All.Session == s.id, s.replaces.Load() || failed)
	}
	before := After{Kept: c.Was, Marks: c.Marks.lasting(), KeepState: true}
	if c.Former != nil {
		before.Kept = c.Former
	}
	switch {
	case c.mayNotDetach(): // of a tainted or replaced object, without a plan
		before.Refusal = NotDetachable
	case s.client == nil:
		before.Refusal = NotConfigured
	case c.Kind == Destroy && c.Former == nil: // at another deployment, it sends nothing
		before.Findings, before.Refusal = s.checkReplacement(ctx, c)
	}
	if before.Failed() {
		return before
	}
	after := After{Kept: Entries{}, Reported: map[string]*streams.Stream{}}
	s.applySets(ctx, c, &after)
	s.applyLeaves(ctx, c, &after)
	for id, entry := range after.Kept {
		after.Marks.add(id, Mark{Resend: entry.Resend, Failed: c.Leaving == claims.Superseded})
	}
	after.KeepState = after.Failed() && !c.partial()
	switch {
	case c.Kind == Create && !after.Failed():
		s.replaces.Store(true)
	case c.Former != nil && after.Failed() && after.Set == 0:
		before.Findings = after.Findings
		for id := range after.Kept { // the streams may have been changed, and both names may stand for one deployment
			before.Marks.set(id, Mark{Resend: claims.Unknown})
		}
		return before
	}
	return after
}

// checkReplacement checks the destroy of an object that is replaced: if the create were refused later, the destroy would
// have detached the processors of the old stream. It returns errors only: the plan of the create warns.
func (s *Session) checkReplacement(ctx context.Context, c Change) ([]Finding, Refusal) {
	create := Change{Kind: Update, Want: Sets{}, Refuses: true, Marks: c.Marks}
	var unchecked []Finding
	for _, id := range c.Was.Without(nil) {
		planned := c.Marks.Streams[id].TakeOver
		if c.Marks.All.Unchecked && c.Detach || planned != nil && planned.Set == nil {
			unchecked = append(unchecked, Finding{Stream: id, Decision: claims.Decision{Refusal: claims.Unchecked}})
		}
	}
	if len(unchecked) > 0 {
		return unchecked, accepted
	}
	for id, m := range c.Marks.Streams {
		if planned := m.TakeOver; planned != nil {
			create.Want[id] = planned.Set
			rules(s, id, func(stream *claims.Stream) any { stream.NoteHad(planned.Had); return nil })
		}
	}
	found, refusal := s.takeOver(ctx, create)
	return slices.DeleteFunc(found, func(f Finding) bool { return !f.IsError() }), refusal
}

func (s *Session) applySets(ctx context.Context, c Change, after *After) {
	var sends []string
	for _, id := range slices.Sorted(maps.Keys(c.Want)) {
		if entry := c.Was[id]; entry != nil && entry.Set.Equal(*c.Want[id]) && !c.Marks.Streams[id].Send {
			after.Kept[id] = entry
		} else {
			sends = append(sends, id)
		}
	}
	set := func(id string) operation {
		return s.operate(ctx, id,
			func(stream *claims.Stream, interrupted bool) claims.Decision {
				return stream.Set(*c.Want[id], interrupted)
			},
			func(stream *claims.Stream, r claims.Result) {
				stream.EndSet(r, c.Was[id] != nil || c.partial() && r.Reported != nil)
			})
	}
	for _, o := range ForEach(s, sends, set) {
		if o.failed() {
			s.keep(after, c, o)
			continue
		}
		id := o.Stream
		after.Set++
		after.Findings = append(after.Findings, s.findings(id, o.Decision)...)
		after.Kept[id], after.Reported[id] = &claims.Entry{Set: *c.Want[id]}, o.result.Reported
	}
}

func (s *Session) applyLeaves(ctx context.Context, c Change, after *After) {
	leaves := c.Was.Without(c.Want)
	if len(leaves) > 0 {
		s.awaitFirstClaims(ctx) // once, because only a few wait at the same time
	}
	leave := func(id string) operation {
		return s.operate(ctx, id,
			func(stream *claims.Stream, interrupted bool) claims.Decision {
				return stream.Leave(c.leave(id), c.Marks.Streams[id].Claim, interrupted)
			},
			(*claims.Stream).EndLeave)
	}
	for _, o := range ForEach(s, leaves, leave) {
		f := o.Finding
		switch {
		case o.result != nil && o.result.NotFound:
			f.Kind = claims.NotFoundOnDestroy
		case o.failed():
			s.keep(after, c, o)
			continue
		default:
			after.Left++
			f.Kind = c.leave(o.Stream).Tell(o.Decision, *o.Facts)
		}
		if f.Kind != 0 {
			after.Findings = append(after.Findings, f)
		}
	}
}

// keep keeps a stream in the state after a failed operation.
func (s *Session) keep(after *After, c Change, o operation) {
	id := o.Stream
	after.Findings = append(after.Findings, o.Finding)
	kept := rules(s, id, func(stream *claims.Stream) *claims.Entry { return stream.Keep(c.Was[id], o.Decision.Set, o.result) })
	switch {
	case kept == nil:
		return
	case kept.Resend != claims.Settled:
	case o.Facts.Reported != nil:
		after.Reported[id] = o.Facts.Reported
	case c.Marks.All.OfCreate: // the plan of a create knows nothing of the object that a failed destroy keeps
		kept = &claims.Entry{Set: kept.Set, Resend: claims.Unknown}
	}
	after.Kept[id] = kept
	if want := c.Want[id]; want != nil && c.partial() && kept.Set.Equal(*want) && kept.Resend == claims.Settled {
		after.Kept[id] = &claims.Entry{Set: kept.Set, Resend: claims.Unsent} // the state alone would plan nothing
	}
}
