package claims

import "github.com/stream-management/terraform-provider-stream/internal/streams"

// Interruptible reports whether no operation begins after an interrupt. A resource still leaves a stream that another one has set: an
// object that is destroyed after its successor was created would be destroyed in a run of its own, without knowing the successor, if it
// stayed in the state.
func (l *Ledger) Interruptible() bool { return l.phase != written }

// BeginUpdate begins the operation that sends the set of a resource.
func (l *Ledger) BeginUpdate(set streams.ProcessorSet) Decision {
	if other := l.claim(); other.conflicts(Claim{sends, set}) {
		return Decision{Refusal: ConflictingSets, Set: set, Other: other.Set}
	}
	l.raise("", Claim{sends, set})
	if l.phase == blocked {
		return Decision{Refusal: Blocked}
	}
	return l.BeginAction(set)
}

// BeginAction begins the operation of an action, which has no state and claims no set.
func (l *Ledger) BeginAction(set streams.ProcessorSet) Decision {
	l.underWay = &update{set: set}
	d := Decision{Send: true, Set: set}
	if l.detached && set.Len() > 0 {
		d.Warnings = []Warning{DetachedForAMoment}
	}
	return d
}

// has returns what the stream has, as far as the session and an entry tell. A report is newer than the entry.
func (l *Ledger) has(e Entry) remainder {
	if l.reported != nil {
		return remainder{set: l.reported.ProcessorIDs}
	}
	return remainder{set: e.Set, unknown: e.Resend != Settled || l.leftAnother(e.Set)}
}

// leftAnother reports whether a resource has left the stream with another set, or in doubt.
func (l *Ledger) leftAnother(set streams.ProcessorSet) bool { return l.left != nil && !l.left.is(set) }

// Effect is what the request of an operation has done to the stream.
type Effect struct {
	Failed   bool
	NotFound bool            // failed: the service does not know the stream
	Outcome  streams.Outcome // of a failure
	Reported *streams.Stream // nil if the service reported nothing
}

// EndUpdate ends the operation of BeginUpdate. relied says that after a failure, later runs rely on what the state of the resource
// has of the stream. They do not rely on a stream that a group has added with an unknown outcome: each plan resends its set.
func (l *Ledger) EndUpdate(r Effect, relied bool) {
	l.EndAction(r)
	switch {
	case !r.Failed:
		l.detached = false
		l.advance(written)
	case relied:
		l.advance(blocked)
	default:
		l.advance(createFailed)
	}
}

// EndAction ends the operation of BeginAction.
func (l *Ledger) EndAction(r Effect) {
	l.underWay = nil
	switch {
	case r.Reported != nil:
		l.reported, l.unknown, l.left = r.Reported, false, nil
	case r.Outcome == streams.Unknown:
		l.unknown = true
	}
}

// Keep returns what the state has of a stream after an operation of its resource failed, or nil. before is the
// entry before the operation, or nil. sent and r are the operation's request; r is nil if it sent nothing.
func (l *Ledger) Keep(before *Entry, sent streams.ProcessorSet, r *Effect) *Entry {
	switch {
	case before != nil && l.isUncertain(*before):
		return &Entry{before.Set, Unknown}
	case before != nil && l.reported != nil:
		return &Entry{l.reported.ProcessorIDs, Settled}
	case before != nil || r == nil:
		return before
	case r.Reported != nil:
		return &Entry{r.Reported.ProcessorIDs, Settled}
	case r.Outcome == streams.Unknown:
		return &Entry{sent, Unknown}
	}
	return nil
}

// isUncertain reports whether the session has made it uncertain what the stream of an entry has.
func (l *Ledger) isUncertain(e Entry) bool {
	return l.unknown || l.leftAnother(e.Set) || l.underWay != nil && !l.has(e).is(l.underWay.set)
}
