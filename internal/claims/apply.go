package claims

import (
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Decision is what an operation does now.
type Decision struct {
	Send    bool                 // send Set, and then call the End method of the operation
	Set     streams.ProcessorSet // of Send and ConflictingSets
	Refusal Refusal
	Other   streams.ProcessorSet // see ConflictingSets
}

// Set begins the operation that sends the set of a resource.
func (s *Stream) Set(set streams.ProcessorSet, interrupted bool) Decision {
	switch {
	case s.claim.conflicts(set):
		return Decision{Refusal: ConflictingSets, Set: set, Other: s.claim.Set}
	case interrupted:
		return Decision{Refusal: Interrupted}
	}
	s.claim.raise(Sends, set)
	if verdicts[s.phase].set == refuse {
		return Decision{Refusal: LeftAlone}
	}
	return s.send(set)
}

// Leave begins the operation of a departure. mark is the claim that the plan found; the zero value if it found none.
func (s *Stream) Leave(d Departure, mark Claim, interrupted bool) Decision {
	// An object that is destroyed after its successor was created would be destroyed in a run of its own, without
	// knowing the successor, if it stayed in the state.
	if interrupted && s.phase != Written {
		return Decision{Refusal: Interrupted}
	}
	if i := slices.IndexFunc(s.planned, func(r remainder) bool { return r.dropped }); d.Kind == Dropped && i >= 0 {
		s.planned = slices.Delete(slices.Clone(s.planned), i, i+1)
	}
	if !s.claim.conflicts(mark.Set) {
		s.claim.raise(mark.Kind, mark.Set)
	}
	has := s.has(d.Entry)
	set, sends := streams.ProcessorSet{}, true
	switch d.request(s.claim) {
	case nothing:
		sends = false
	case relied:
		set, sends = s.claim.Set, !has.is(s.claim.Set)
	}
	switch verdict := verdicts[s.phase].leave; {
	case verdict == omit:
		return Decision{}
	case !sends:
		if s.reported == nil {
			s.left = &has
		}
		return Decision{}
	case verdict == refuse:
		return Decision{Refusal: LeftAlone}
	}
	return s.send(set)
}

// has returns what the stream has, as far as the run and an entry tell. A report is newer than the entry.
func (s *Stream) has(e Entry) remainder {
	if s.reported != nil {
		return remainder{set: s.reported.ProcessorIDs}
	}
	return remainder{set: e.Set, unsure: e.Pending != Confirmed || s.left != nil && !s.left.is(e.Set)}
}

// SetOnce begins the operation of an action, which has no state and claims no set.
func (s *Stream) SetOnce(set streams.ProcessorSet, interrupted bool) Decision {
	if interrupted {
		return Decision{Refusal: Interrupted}
	}
	return s.send(set)
}

func (s *Stream) send(set streams.ProcessorSet) Decision {
	s.underWay = &remainder{set: set}
	return Decision{Send: true, Set: set}
}

// Result is the result of a request.
type Result struct {
	Failed   bool
	NotFound bool            // the service does not know the stream: a departure has nothing left to do
	Outcome  streams.Outcome // of a failure
	Reported *streams.Stream // what the service reported; nil if it reported nothing
}

// EndSet ends the operation of Set. inState says that a failure leaves the resource in the state, with the stream.
func (s *Stream) EndSet(r Result, inState bool) {
	s.end(r)
	switch {
	case !r.Failed:
		s.phase = transitions[s.phase][SetSent]
	case inState:
		s.phase = transitions[s.phase][UpdateFails]
	default:
		s.phase = transitions[s.phase][CreateFails]
	}
}

// EndLeave ends the operation of Leave.
func (s *Stream) EndLeave(r Result) {
	s.end(r)
	switch {
	case r.NotFound && r.Outcome == streams.Unknown:
		s.left = &remainder{unsure: true} // no state has the stream, so none remembers the doubt
	case r.Failed && !r.NotFound:
		s.phase = transitions[s.phase][DestroyFails]
	}
}

// EndOnce ends the operation of SetOnce.
func (s *Stream) EndOnce(r Result) { s.end(r) }

func (s *Stream) end(r Result) {
	s.underWay = nil
	switch {
	case r.Reported != nil:
		s.reported, s.inDoubt, s.left = r.Reported, false, nil
	case r.Failed && r.Outcome == streams.Unknown:
		s.inDoubt = true
	}
}

// Keep returns what the state has of a stream after an operation of its resource failed, or nil. before is the
// entry before the operation, or nil. sent and r are the operation's request; r is nil if it sent nothing.
func (s *Stream) Keep(before *Entry, sent streams.ProcessorSet, r *Result) *Entry {
	switch {
	case before != nil && (s.inDoubt || s.underWay != nil && !s.underWay.is(s.has(*before).set)):
		return &Entry{before.Set, Unconfirmed}
	case before != nil && s.reported != nil:
		return &Entry{s.reported.ProcessorIDs, Confirmed}
	case before != nil || r == nil:
		return before
	case r.Reported != nil:
		return &Entry{r.Reported.ProcessorIDs, Confirmed}
	case r.Outcome == streams.Unknown:
		return &Entry{sent, Unconfirmed}
	}
	return nil
}
