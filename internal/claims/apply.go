package claims

import (
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Set begins the operation that sends the set of a resource.
func (s *Stream) Set(set streams.ProcessorSet, interrupted bool) Decision {
	switch {
	case s.claim.conflicts(set):
		return Decision{Refusal: ConflictingSets, Set: set, Other: s.claim.Set}
	case interrupted:
		return Decision{Refusal: Interrupted}
	}
	s.claim.raise(sends, set)
	if s.phase == blocked {
		return Decision{Refusal: Blocked}
	}
	return s.send(set)
}

// Leave begins the operation of a resource that leaves the stream. mark is the claim that its plan found.
func (s *Stream) Leave(l Leave, mark Claim, interrupted bool) Decision {
	// An object that is destroyed after its successor was created would be destroyed in a run of its own, without
	// knowing the successor, if it stayed in the state.
	if interrupted && s.phase != written {
		return Decision{Refusal: Interrupted}
	}
	if i := slices.IndexFunc(s.leaves, func(r remainder) bool { return r.dropped }); l.Kind == Dropped && i >= 0 {
		s.leaves = slices.Delete(s.leaves, i, i+1)
	}
	if !s.claim.conflicts(mark.Set) {
		s.claim.raise(mark.Kind, mark.Set)
	}
	has := s.has(l.Entry)
	set, send := l.request(s.claim)
	switch {
	case s.phase == written: // another resource has set the processors
		return Decision{Other: l.Set}
	case !send, s.claim.Kind == relies && has.is(set):
		if s.reported == nil {
			s.left = &has
		}
		return Decision{Other: l.Set}
	case s.phase == blocked:
		return Decision{Refusal: Blocked}
	}
	d := s.send(set)
	s.underWay.detached = set.Len() == 0 && (has.set.Len() > 0 || has.unknown)
	return d
}

// has returns what the stream has, as far as the session and an entry tell. A report is newer than the entry.
func (s *Stream) has(e Entry) remainder {
	if s.reported != nil {
		return remainder{set: s.reported.ProcessorIDs}
	}
	return remainder{set: e.Set, unknown: e.Resend != Settled || s.leftAnother(e.Set)}
}

// leftAnother reports whether a resource has left the stream with another set, or in doubt.
func (s *Stream) leftAnother(set streams.ProcessorSet) bool { return s.left != nil && !s.left.is(set) }

// SetOnce begins the operation of an action, which has no state and claims no set.
func (s *Stream) SetOnce(set streams.ProcessorSet, interrupted bool) Decision {
	if interrupted {
		return Decision{Refusal: Interrupted}
	}
	return s.send(set)
}

func (s *Stream) send(set streams.ProcessorSet) Decision {
	s.underWay = &remainder{set: set}
	d := Decision{Send: true, Set: set}
	if s.detached && set.Len() > 0 {
		d.Findings = []Finding{DetachedForAMoment}
	}
	return d
}

// Result is the result of a request.
type Result struct {
	Failed   bool
	NotFound bool            // failed: the service does not know the stream
	Outcome  streams.Outcome // of a failure
	Reported *streams.Stream // nil if the service reported nothing
}

// EndSet ends the operation of Set. relied says that after a failure, later runs rely on what the state of the resource has
// of the stream. They do not rely on a stream that a group has added with an unknown outcome: each plan resends its set.
func (s *Stream) EndSet(r Result, relied bool) {
	s.EndOnce(r)
	switch {
	case !r.Failed:
		s.detached = false
		s.advance(written)
	case relied:
		s.advance(blocked)
	default:
		s.advance(createFailed)
	}
}

// EndLeave ends the operation of Leave. It has not failed if the service does not know the stream.
func (s *Stream) EndLeave(r Result) {
	s.detached = s.detached || r.Reported != nil && !r.Failed && s.underWay != nil && s.underWay.detached
	s.EndOnce(r)
	switch {
	case r.Failed && !r.NotFound:
		s.advance(blocked)
	case r.Outcome == streams.Unknown: // no state has the stream, so none remembers it
		s.left = &remainder{unknown: true}
	}
}

// Tell returns the finding of a leave that has ended, or 0.
func (l Leave) Tell(d Decision, f Facts) Finding {
	switch {
	case d.Send && l.Detach && d.Set.Len() == 0 && (l.Unforeseen || l.Kind == Superseded || l.Kind == MayBeTaken):
		return WereDetached
	case d.Send, !l.Detach, f.Reported != nil:
		return 0
	case l.mayBeTaken() && !l.isEmpty():
		return StayAttached
	case f.Failed:
		return StayAttachedBesideFailure
	}
	return 0
}

// EndOnce ends the operation of SetOnce.
func (s *Stream) EndOnce(r Result) {
	s.underWay = nil
	switch {
	case r.Reported != nil:
		s.reported, s.unknown, s.left = r.Reported, false, nil
	case r.Outcome == streams.Unknown:
		s.unknown = true
	}
}

// Keep returns what the state has of a stream after an operation of its resource failed, or nil. before is the
// entry before the operation, or nil. sent and r are the operation's request; r is nil if it sent nothing.
func (s *Stream) Keep(before *Entry, sent streams.ProcessorSet, r *Result) *Entry {
	switch {
	case before != nil && (s.unknown || s.leftAnother(before.Set) || s.underWay != nil && !s.underWay.is(s.has(*before).set)):
		return &Entry{before.Set, Unknown}
	case before != nil && s.reported != nil:
		return &Entry{s.reported.ProcessorIDs, Settled}
	case before != nil || r == nil:
		return before
	case r.Reported != nil:
		return &Entry{r.Reported.ProcessorIDs, Settled}
	case r.Outcome == streams.Unknown:
		return &Entry{sent, Unknown}
	}
	return nil
}
