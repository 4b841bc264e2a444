package claims

import (
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Want is the set that a resource plans for a stream.
type Want struct {
	Set   *streams.ProcessorSet // nil: known after apply
	Entry *Entry                // nil: the state of the resource does not have the stream
	Again bool                  // a trigger has changed: send the set, although the state has it
}

// Plan is what the plan of a resource decides for a stream.
type Plan struct {
	Send     bool  // the apply sends the set
	Next     Claim // what resources of the plan do with the stream: the mark for a destroy
	Refusal  Refusal
	Other    streams.ProcessorSet // the set that a refusal or the warning SentAgain is about
	Warnings []Warning
}

// Refusal is why a plan fails, or why an operation sends nothing.
type Refusal int

// The refusals.
const (
	Accepted        Refusal = iota
	ConflictingSets         // another resource gives the stream the set Other
	StreamIsKept            // a group drops the stream, which leaves Other, and another resource keeps its set and sends nothing
	LeftAlone               // an operation of another resource failed, and the state of that resource must stay true
	Interrupted             // the run was interrupted before anything was sent
)

// Warning is what a user should know of a plan.
type Warning int

// The warnings.
const (
	OutcomeUnknown      Warning = iota // an earlier operation may or may not have taken effect, so the set is sent again
	SentAgain                          // the set is sent again, because a departure leaves Other
	DetachedAWhile                     // a departure detaches the processors, and may do that before this resource sets them
	DropDetaches                       // this group detaches the processors, and may do that before another resource sets them
	MarkMayBeLost                      // with create_before_destroy, this resource detaches what another one has set
	ReliedMarkMayBeLost                // likewise, and the other resource sends nothing
	MayBeDetached                      // a group whose streams are known after apply may detach what another resource has set
)

// PlanSet plans the set of a resource. Planning the same set twice is no conflict: Terraform plans an instance
// twice when it replaces the instance.
func (s *Stream) PlanSet(w Want) Plan {
	p := s.planSet(w)
	if s.mayBeDropped {
		p.Warnings = append(p.Warnings, MayBeDetached)
	}
	return p
}

func (s *Stream) planSet(w Want) Plan {
	if w.Set == nil {
		s.claim.raise(Expected, streams.ProcessorSet{})
		return Plan{Send: true, Next: s.claim, Warnings: s.warnOfDetach(w, nil)}
	}
	if s.claim.conflicts(*w.Set) {
		return Plan{Send: true, Refusal: ConflictingSets, Other: s.claim.Set}
	}
	kept := w.Entry != nil && w.Entry.Set.Equal(*w.Set) && !w.Again
	quiet := kept && w.Entry.Pending == Confirmed
	other, differs := s.differs(*w.Set)
	switch {
	case quiet && !differs:
		s.claim.raise(Relies, *w.Set)
		return Plan{Next: s.claim}
	case quiet && other.dropped:
		s.claim.raise(Relies, *w.Set)
		return Plan{Refusal: StreamIsKept, Other: other.set}
	}
	kind := Sends
	if quiet {
		kind = Resends
	}
	s.claim.raise(kind, *w.Set)
	p := Plan{Send: true, Next: s.claim, Other: other.set}
	switch {
	case quiet && !other.unsure:
		p.Warnings = append(p.Warnings, SentAgain)
	case quiet, kept && w.Entry.Pending == Unconfirmed:
		p.Warnings = append(p.Warnings, OutcomeUnknown)
	}
	p.Warnings = s.warnOfDetach(w, p.Warnings)
	return p
}

// differs returns what makes the state of a resource untrue that has a set and sends nothing: a departure that
// leaves another set, or what the run knows already. A dropped stream comes first, then a detached one. A request
// in doubt does not count: it has sent this set, or belongs to a departure that stays in the state.
func (s *Stream) differs(set streams.ProcessorSet) (other remainder, differs bool) {
	all := slices.Clone(s.planned)
	switch {
	case s.left != nil:
		all = append(all, *s.left)
	case s.reported != nil:
		all = append(all, remainder{set: s.reported.ProcessorIDs})
	}
	if s.underWay != nil {
		all = append(all, *s.underWay)
	}
	for _, r := range all {
		if !r.is(set) && (!differs || r.dropped && !other.dropped || r.detached && !other.detached && r.dropped == other.dropped) {
			other, differs = r, true
		}
	}
	return other, differs
}

func (s *Stream) warnOfDetach(w Want, warnings []Warning) []Warning {
	has := w.Entry != nil && w.Entry.Set.Len() > 0
	if slices.ContainsFunc(s.planned, func(r remainder) bool { return r.detached || r.emptied && has }) {
		return append(warnings, DetachedAWhile)
	}
	return warnings
}

// PlanLeave plans the departure of a resource.
func (s *Stream) PlanLeave(d Departure) Plan {
	p := Plan{Next: s.claim}
	if d.Kind == MayBeDropped {
		s.mayBeDropped = s.mayBeDropped || d.Detach
		if d.Detach && s.claim.Kind != Nobody {
			p.Warnings = []Warning{MayBeDetached}
		}
		return p
	}
	s.destroyPlanned = s.destroyPlanned || d.Kind == Destroyed
	r := d.remainder(s.claim)
	s.planned = append(slices.Clone(s.planned), r)
	switch relies := s.claim.Kind == Relies; {
	case s.claim.Kind == Nobody:
	case d.Kind == Dropped && s.claim.Kind >= Resends && !r.is(s.claim.Set): // in any order of the plans
		p.Refusal, p.Other = StreamIsKept, r.set
	case d.Kind == Dropped && !relies && r.detached:
		p.Warnings = []Warning{DropDetaches}
	case d.Kind == Replaced && d.Detach && relies:
		p.Warnings = []Warning{ReliedMarkMayBeLost}
	case d.Kind == Replaced && d.Detach:
		p.Warnings = []Warning{MarkMayBeLost}
	}
	return p
}
