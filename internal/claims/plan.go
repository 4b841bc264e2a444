package claims

import (
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Want is the set that a resource plans for a stream.
type Want struct {
	Set       *streams.ProcessorSet // nil: known after apply
	Entry     *Entry                // nil: the state of the resource does not have the stream
	Shared    bool                  // the refresh read another entry of the stream before
	Triggered bool                  // triggers have changed: send the set, although the state has it
}

// Decision is what a plan, or an operation, does with a stream.
type Decision struct {
	Send     bool                 // an operation sends Set; of a plan, its apply sends the set
	Set      streams.ProcessorSet // of an operation and of ConflictingSets
	Claim    Claim                // of a plan: what its resources do with the stream; the mark for a destroy
	Refusal  Refusal
	Other    streams.ProcessorSet // what a refusal or a finding is about; of a leave, the set of its entry
	Findings []Finding            // of an operation: if it succeeds
}

// Refusal is why a plan fails, or why an operation sends nothing.
type Refusal int

// The refusals.
const (
	accepted        Refusal = iota
	ConflictingSets         // another resource gives the stream the set Other
	StreamIsKept            // a group drops the stream, with Other attached, and another resource relies on its set
	DetachesOthers          // a resource takes the stream over, and would detach Other
	Unchecked               // nobody can check DetachesOthers before the destroy of the object that is replaced
	Blocked                 // an operation of another resource failed, and the state of that resource must stay true
	Interrupted             // the apply was interrupted before anything was sent
)

// Claim claims the stream for a resource whose plan goes on later: meanwhile, the plans of others know the claim.
func (s *Stream) Claim(w Want) { s.planSet(w) }

// PlanSet plans the set of a resource. Planning the same set twice is no conflict: Terraform plans an instance
// twice when it replaces the instance.
func (s *Stream) PlanSet(w Want) Decision {
	p := s.planSet(w)
	has := w.Entry != nil && w.Entry.Set.Len() > 0
	if p.Send && slices.ContainsFunc(s.leaves, func(r remainder) bool { return r.detached || r.emptied && has }) {
		p.Findings = append(p.Findings, DetachedFirst)
	}
	if s.mayBeDropped {
		p.Findings = append(p.Findings, DropUnknown)
	}
	if s.claim.Kind == relies && !p.Send && s.mayBeLeftBehind && s.Reads != 1 {
		p.Findings = append(p.Findings, MayBeLeftBehind)
	}
	return p
}

func (s *Stream) planSet(w Want) Decision {
	s.firstStays = s.firstStays || w.Entry != nil && !w.Shared
	if w.Set == nil {
		s.claim.raise(expected, streams.ProcessorSet{})
		return Decision{Send: true, Claim: s.claim}
	}
	if s.claim.conflicts(*w.Set) {
		return Decision{Refusal: ConflictingSets, Set: *w.Set, Other: s.claim.Set}
	}
	unchanged := w.Entry != nil && w.Entry.Set.Equal(*w.Set) && !w.Triggered
	settled := unchanged && w.Entry.Resend == Settled
	other, differs := s.differs(*w.Set)
	mayBeOld := w.Shared && s.Reads > 1 && !s.firstStays
	kind, p := sends, Decision{Send: true, Other: other.set}
	switch {
	case settled && !differs && !mayBeOld:
		kind, p = relies, Decision{}
	case settled && other.dropped:
		kind, p = relies, Decision{Refusal: StreamIsKept, Other: other.set}
	case settled && !differs: // the apply of this resource tells that of the old object
		kind = resends
	case settled && !other.unknown:
		kind, p.Findings = resends, []Finding{Resending}
	case settled:
		kind, p.Findings = resends, []Finding{ResendingUnknown}
	case unchanged && w.Entry.Resend == Unknown:
		p.Findings = []Finding{ResendingUnknown}
	}
	s.claim.raise(kind, *w.Set)
	p.Claim = s.claim
	return p
}

// differs returns what makes the state of a resource untrue that has a set and sends nothing: a leave with another
// remainder, or a fact of the session. A dropped stream comes first, then a detached one. An unknown outcome does
// not count: the request has sent this set, or belongs to a leave that stays in the state.
func (s *Stream) differs(set streams.ProcessorSet) (other remainder, differs bool) {
	all := slices.Clone(s.leaves)
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

// PlanLeave plans that a resource leaves the stream.
func (s *Stream) PlanLeave(l Leave) Decision {
	p := Decision{Claim: s.claim}
	if l.Kind == MayBeDropped {
		s.mayBeDropped = s.mayBeDropped || l.Detach
		if l.Detach && s.claim.Kind != Nobody {
			p.Findings = []Finding{DropUnknown}
		}
		return p
	}
	r, relied := l.remainder(s.claim), l.Detach && s.claim.Kind == relies
	s.leaves = append(s.leaves, r)
	if l.Kind == Destroyed && l.Detach && !l.Shared && s.claim.Kind != Nobody {
		s.mayBeLeftBehind = true
	}
	switch {
	case s.takes.Len() > 0: // a plan before relies on what this object had, and the apply may not know it in time
		p.Refusal, p.Other = DetachesOthers, s.takes
	case s.claim.Kind == Nobody:
	case l.Kind == Dropped && s.claim.Kind >= resends && !r.is(s.claim.Set): // in any order of the plans
		p.Refusal, p.Other = StreamIsKept, r.set
	case l.Kind == Dropped && s.claim.Kind != relies && r.detached:
		p.Findings = []Finding{DetachedFirst}
	case relied && l.Shared: // the apply knows that without the mark of a plan
	case relied && l.Kind == Replaced:
		p.Findings = []Finding{MarkMayBeLostToState}
	case relied && l.Kind == Destroyed && s.Reads != 1: // a run with a refresh reads a replaced object before it plans its destroy
		p.Findings = []Finding{MayBeLeftBehind}
	case l.Kind == Replaced && l.Detach && !l.isEmpty():
		p.Findings = []Finding{MarkMayBeLost}
	}
	return p
}
