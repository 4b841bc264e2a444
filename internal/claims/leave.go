package claims

import (
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Leave is what a resource that leaves a stream had of the stream, and how it leaves.
type Leave struct {
	Entry
	Detach     bool // on_destroy = "detach"
	Kind       LeaveKind
	Import     Import
	Shared     bool   // the refresh read another entry of the stream before
	Unforeseen bool   // the plan of the run did not know that the resource detaches
	Plan       string // see [Want]
}

// LeaveKind says what Terraform tells the apply of a leave.
type LeaveKind int

// The kinds of leaves.
const (
	Planned      LeaveKind = iota // the marks of the plan
	PlannedLate                   // likewise; an object is replaced, and the new one goes to a stream that the plan does not know
	Superseded                    // nothing, of an old object of this apply
	LeftBehind                    // nothing, of an old object of an earlier apply
	Dropped                       // nothing: a group is updated, and no longer has the stream
	MayBeDropped                  // likewise, if the streams of the group, which are known after apply, do not have it
)

// Import says whether a resource that leaves a stream was imported with it, and no apply has written the state since. Such a resource
// detaches nothing.
type Import int

// The kinds of imports.
const (
	NotImported Import = iota
	Imported
	MayBeImported // nobody knows whether an apply has written the state
)

// IsOfOldObject reports whether the object was replaced, in this apply or in an earlier one.
func (k LeaveKind) IsOfOldObject() bool { return k == Superseded || k == LeftBehind }

// mayBeOwned reports whether a live resource may have the stream, although no claim of the session says so.
func (v Leave) mayBeOwned() bool { return v.Kind == LeftBehind || v.Kind == Superseded && v.Shared }

// request returns the set that a resource sends when it leaves a stream, if no other operation has sent a set or failed:
//
//	what Terraform tells the apply   nobody else   another one sends its set   another one keeps its set
//	Planned, Dropped                 [] (2)        nothing (4)                 that set, unless it is attached
//	Superseded                       [] (1, 2)     nothing (4)                 that set, unless it is attached
//	Superseded and shared            nothing (3)   nothing (3)                 that set, unless it is attached
//	LeftBehind                       nothing (3)   nothing (3)                 that set, unless it is attached
//
// (1) WereDetached, also of a leave that is Unforeseen. (2) Nothing with on_destroy = "keep". (3) StayAttached, with "detach".
// (4) StayAttachedBesideFailure, with "detach", if the create of the other one failed.
func (v Leave) request(claim Claim) (set streams.ProcessorSet, send bool) {
	switch {
	case claim.Kind == relies:
		return claim.Set, true
	case claim.Kind == Nobody && v.Detach && !v.mayBeOwned():
		return streams.ProcessorSet{}, true
	}
	return streams.ProcessorSet{}, false
}

// had returns what the stream had, as far as the entry tells.
func (v Leave) had() remainder {
	return remainder{set: v.Set, unknown: v.Resend != Settled, dropped: v.Kind == Dropped}
}

// remainder returns what a leave leaves attached, if nobody changes the claim.
func (v Leave) remainder(claim Claim) remainder {
	if v.Kind == Dropped { // its apply may not know the claim
		claim = Claim{}
	}
	r := v.had()
	if set, send := v.request(claim); send {
		r.set, r.unknown = set, false
	}
	return r
}

// BeginLeave begins the operation of a resource that leaves the stream. mark is the claim that its plan found.
func (l *Ledger) BeginLeave(v Leave, mark Claim) Decision {
	dropped := slices.IndexFunc(l.intents, func(i intent) bool { return i.leaves != nil && i.leaves.dropped })
	if v.Kind == Dropped && dropped >= 0 {
		l.intents[dropped].leaves = nil
	}
	if mark.Kind != Nobody && !l.claim().conflicts(mark) {
		l.raise("", mark)
	}
	d, has := l.decideLeave(v), l.has(v.Entry)
	switch {
	case d.Send:
		detaches := d.Set.Len() == 0 && (has.set.Len() > 0 || has.unknown)
		l.underWay = &update{set: d.Set, detaches: detaches}
	case d.Refusal == 0 && l.reported == nil:
		l.left = &has
	}
	return d
}

// decideLeave returns what a leave sends, and what a person should know of it.
func (l *Ledger) decideLeave(v Leave) Decision {
	claim := l.claim()
	set, send := v.request(claim)
	d := Decision{Other: v.Set}
	switch {
	case l.phase == written: // another resource has set the processors
		return d
	case !send:
		d.Warnings = l.staysAttached(v)
		return d
	case claim.Kind == relies && l.has(v.Entry).is(set):
		return d
	case l.phase == blocked:
		return Decision{Refusal: Blocked}
	}
	d.Send, d.Set = true, set
	if claim.Kind == Nobody && (v.Unforeseen || v.Kind == Superseded) {
		d.Warnings = []Warning{WereDetached}
	}
	return d
}

// staysAttached warns of a leave that sends nothing, although its resource would detach.
func (l *Ledger) staysAttached(v Leave) []Warning {
	switch {
	case !v.Detach, v.isEmpty(), l.reported != nil:
		return nil
	case v.mayBeOwned():
		return []Warning{StayAttached}
	case l.phase == createFailed, l.phase == blocked:
		return []Warning{StayAttachedBesideFailure}
	}
	return nil
}

// EndLeave ends the operation of BeginLeave. It has not failed if the service does not know the stream.
func (l *Ledger) EndLeave(r Effect) {
	if r.Reported != nil && !r.Failed && l.underWay.detaches {
		l.detached = true
	}
	l.EndAction(r)
	switch {
	case r.Failed && !r.NotFound:
		l.advance(blocked)
	case r.Outcome == streams.Unknown: // no state has the stream, so none remembers it
		l.left = &remainder{unknown: true}
	}
}
