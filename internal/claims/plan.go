package claims

import (
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Want is the set that a resource plans for a stream.
type Want struct {
	Plan      string                // the same for both plans of a replacement; "" if nothing withdraws the plan
	Set       *streams.ProcessorSet // nil: known after apply
	Entry     *Entry                // nil: the state of the resource does not have the stream
	Shared    bool                  // the refresh read another entry of the stream before
	Triggered bool                  // triggers have changed: send the set, although the state has it
}

// Withdraw forgets what a plan intends. Terraform plans a replacement twice, and does not tell the first plan: the state and
// ignore_changes may have another set, or another stream, than the second plan. That one takes its place.
func (l *Ledger) Withdraw(plan string) {
	l.intents = slices.DeleteFunc(l.intents, func(i intent) bool { return i.plan == plan })
}

// Claim claims the stream for a resource whose plan goes on later: meanwhile, the plans of others know the claim. For the second plan of
// a replacement, it withdraws the first one, unless both want the same set.
func (l *Ledger) Claim(w Want) {
	if slices.ContainsFunc(l.intents, func(i intent) bool { return i.plan == w.Plan && !i.claim.allows(w.Set) }) {
		l.Withdraw(w.Plan)
	}
	l.planSet(w)
}

// PlanSet plans the set of a resource. Planning the same set twice is no conflict: Terraform plans an instance
// twice when it replaces the instance.
func (l *Ledger) PlanSet(w Want) Decision {
	d := l.planSet(w)
	d.Warnings = append(d.Warnings, l.changesHands()...)
	duplicated := slices.ContainsFunc(l.intents, func(i intent) bool {
		return i.plan != w.Plan && i.plan != "" && i.claim.Kind >= sends
	})
	if duplicated && w.Set != nil && d.Refusal == 0 {
		d.Warnings = append(d.Warnings, StreamIsDuplicated)
	}
	return d
}

// planSet adds the claim of a resource, unless it conflicts, and returns what the apply sends.
func (l *Ledger) planSet(w Want) Decision {
	claim, d := Claim{Kind: expected}, Decision{Send: true}
	if w.Set != nil {
		claim = Claim{sends, *w.Set}
		if other := l.claim(); other.conflicts(claim) {
			return Decision{Refusal: ConflictingSets, Set: *w.Set, Other: other.Set}
		}
		if w.Entry != nil && w.Entry.Set.Equal(*w.Set) && !w.Triggered {
			claim.Kind, d = l.planUnchanged(w)
		}
	}
	i := l.raise(w.Plan, claim)
	i.primaryStays = i.primaryStays || w.Entry != nil && !w.Shared
	d.Claim = l.claim()
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
	case w.Shared && l.Reads > 1 && !l.primaryStays(): // the apply of this resource tells that of an old object
		return resends, Decision{Send: true}
	}
	return relies, Decision{}
}

// primaryStays reports whether the primary object of the stream plans a set: see the field of [intent].
func (l *Ledger) primaryStays() bool {
	return slices.ContainsFunc(l.intents, func(i intent) bool { return i.primaryStays })
}

// remainders returns what the stream has, or may have, beside what the states say. An unknown outcome does not count:
// the request has sent the set of the state, or belongs to a leave that stays in the state.
func (l *Ledger) remainders() []remainder {
	var all []remainder
	for _, i := range l.intents {
		if i.leaves != nil {
			all = append(all, *i.leaves)
		}
	}
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
	d, i := Decision{Claim: l.claim()}, intent{plan: v.Plan, detaches: v.Detach && !v.Kind.IsOfOldObject()}
	if v.Kind != MayBeDropped {
		if l.Reads > 0 && d.Claim.Kind >= resends && v.had().is(d.Claim.Set) {
			i.detaches = false // its mark says so. Without a refresh, it may be an old object, to which Terraform passes no mark
		}
		r := v.remainder(d.Claim)
		i.leaves = &r
		if v.Kind == Dropped && d.Claim.Kind >= resends && !r.is(d.Claim.Set) {
			d.Refusal, d.Other = StreamIsKept, r.set
		}
	}
	l.intents = append(l.intents, i)
	d.Warnings = l.changesHands()
	switch {
	case v.Import != NotImported:
		v.planImport(&d)
	case !v.Detach, v.isEmpty():
	case v.Kind == PlannedLate:
		d.Warnings = append(d.Warnings, MayBeEmpty)
	case d.Claim.Kind != Nobody:
	case v.Kind == MayBeDropped:
		d.Warnings = append(d.Warnings, MayLeaveGroup)
	case v.Kind == Dropped:
		d.Warnings, d.Other = append(d.Warnings, LeavesGroup), v.Set
	}
	return d
}

// planImport adds to the plan of a leave what holds of an import: the plan fails if it knows that the resource leaves the stream.
func (v Leave) planImport(d *Decision) {
	switch {
	case v.Kind.IsOfOldObject(): // the plan has warned
	case v.Import == MayBeImported, v.Kind == PlannedLate, v.Kind == MayBeDropped:
		d.Warnings = append(d.Warnings, ImportIsLeft)
	default:
		d.Refusal = ImportDiffers
	}
}

// changesHands warns of a stream, whichever of its resources is planned first.
func (l *Ledger) changesHands() []Warning {
	detaches := slices.ContainsFunc(l.intents, func(i intent) bool { return i.detaches })
	if !detaches || l.claim().Kind == Nobody {
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
