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

// Claim claims the stream for a resource whose plan goes on later: meanwhile, the plans of others know the claim.
func (l *Ledger) Claim(w Want) { l.planSet(w) }

// PlanSet plans the set of a resource. Planning the same set twice is no conflict: Terraform plans an instance
// twice when it replaces the instance.
func (l *Ledger) PlanSet(w Want) Decision {
	d := l.planSet(w)
	d.Warnings = append(d.Warnings, l.changesHands()...)
	return d
}

func (l *Ledger) planSet(w Want) Decision {
	l.firstStays = l.firstStays || w.Entry != nil && !w.Shared
	if w.Set == nil {
		l.claim.raise(Claim{Kind: expected})
		return Decision{Send: true, Claim: l.claim}
	}
	if l.claim.conflicts(*w.Set) {
		return Decision{Refusal: ConflictingSets, Set: *w.Set, Other: l.claim.Set}
	}
	kind, d := sends, Decision{Send: true}
	if w.Entry != nil && w.Entry.Set.Equal(*w.Set) && !w.Triggered {
		kind, d = l.planUnchanged(w)
	}
	l.claim.raise(Claim{kind, *w.Set})
	d.Claim = l.claim
	return d
}

// planUnchanged plans a set that the state has. It is sent if something makes the state untrue, or may do so.
func (l *Ledger) planUnchanged(w Want) (ClaimKind, Decision) {
	others := slices.DeleteFunc(l.remainders(), func(r remainder) bool { return r.is(*w.Set) })
	dropped := slices.IndexFunc(others, func(r remainder) bool { return r.dropped })
	unknown := slices.ContainsFunc(others, func(r remainder) bool { return r.unknown })
	switch {
	case w.Entry.Resend == Unknown:
		return sends, Decision{Send: true, Warnings: []Warning{ResendingUnknown}}
	case w.Entry.Resend != Settled:
		return sends, Decision{Send: true}
	case dropped >= 0:
		return relies, Decision{Refusal: StreamIsKept, Other: others[dropped].set}
	case unknown:
		return resends, Decision{Send: true, Warnings: []Warning{ResendingUnknown}}
	case len(others) > 0:
		return resends, Decision{Send: true}
	case w.Shared && l.Reads > 1 && !l.firstStays: // the apply of this resource tells that of an old object
		return resends, Decision{Send: true}
	}
	return relies, Decision{}
}

// remainders returns what the stream has, or may have, beside what the states say. An unknown outcome does not count:
// the request has sent the set of the state, or belongs to a leave that stays in the state.
func (l *Ledger) remainders() []remainder {
	all := slices.Clone(l.leaves)
	switch {
	case l.left != nil:
		all = append(all, *l.left)
	case l.reported != nil:
		all = append(all, remainder{set: l.reported.ProcessorIDs})
	}
	if l.underWay != nil {
		all = append(all, remainder{set: l.underWay.set})
	}
	return all
}

// PlanLeave plans that a resource leaves the stream.
func (l *Ledger) PlanLeave(v Leave) Decision {
	d := Decision{Claim: l.claim}
	l.detaches = l.detaches || v.Detach && !v.isOldObject()
	if v.Kind != MayBeDropped {
		r := v.remainder(l.claim)
		l.leaves = append(l.leaves, r)
		if v.Kind == Dropped && l.claim.Kind >= resends && !r.is(l.claim.Set) {
			d.Refusal, d.Other = StreamIsKept, r.set
		}
	}
	d.Warnings = l.changesHands()
	return d
}

// changesHands warns of a stream, whichever of its resources is planned first.
func (l *Ledger) changesHands() []Warning {
	if !l.detaches || l.claim.Kind == Nobody {
		return nil
	}
	return []Warning{StreamChangesHands}
}

// TakeOver decides whether a resource may take over a stream with what is attached: one that refuses may only add.
func TakeOver(attached, planned streams.ProcessorSet, refuses bool) Decision {
	others := attached.Minus(planned)
	switch {
	case others.Len() == 0:
		return Decision{}
	case refuses:
		return Decision{Refusal: DetachesOthers, Other: others}
	}
	return Decision{Warnings: []Warning{WillBeDetached}, Other: others}
}
