package claims

import "github.com/stream-management/terraform-provider-stream/internal/streams"

// outcome is what becomes of a request.
type outcome uint8

const (
	ok outcome = iota
	refused
	unknownApplied
	unknownNotApplied
	notFound
	merged // the service adds the set to the one it has
)

var outcomeNames = [...]string{"ok", "refused", "unknown, applied", "unknown, not applied", "not found", "merged"}

var callNames = [...]string{"(update)", "(create)", "(destroy)", "(move)", "(drop)"}

// outcomes returns the first n outcomes; only ok in a clean run.
func (k *walk) outcomes(n int) []outcome {
	if k.clean {
		n = 1
	}
	return []outcome{ok, refused, unknownApplied, unknownNotApplied, notFound, merged}[:n]
}

// planAgain is the plan of an update, of a create, or of a group that drops the stream, in the apply.
func (k *walk) planAgain(w *world, i int, t task) {
	a, c := &w.actors[i], k.configs[i]
	a.step++
	if t == planDrop {
		if k.planDeparture(w, Departure{*a.current.entry(), !c.keep, Dropped}).Refusal != Accepted {
			a.step, a.called = ended, true
		}
		return
	}
	want := Want{Set: &processorSets[c.set], Again: c.again || c.triggered != a.current.triggered}
	if a.verb == update {
		want.Entry = a.current.entry()
	}
	p := k.planSet(w, want)
	switch {
	case p.Refusal != Accepted:
		a.step, a.called = ended, true
	case p.Send && !a.send && i != groupActor:
		a.step, w.failed, w.said = ended, true, true
		unmarked := w.exceptions&unmarkedDestroy != 0
		for j := range w.actors {
			start := k.start.actors[j]
			unmarked = unmarked || w.actors[j].verb == createThenDestroy || start.deposed.has || start.current.tainted
		}
		if !unmarked {
			k.fail("core: the provider produced an inconsistent final plan")
		}
		w.exceptions |= unmarkedDestroy
	case !p.Send:
		a.step, a.called, a.current.triggered = ended, true, c.triggered
		if a.deposedPlanned {
			a.step = 2 // see program
		}
	}
}

func (k *walk) beginSet(w *world, i int) (what string) {
	a, c := &w.actors[i], k.configs[i]
	s := w.stream.unpack()
	d := s.Set(processorSets[c.set], w.interrupted)
	k.checkDecision(w, i, setStream, d)
	w.stream = pack(s)
	a.called = true
	if d.Send {
		a.underWay, a.sends = true, setOf(d.Set)
		return "send its set"
	}
	if d.Refusal == Accepted {
		k.fail("the set is neither sent nor refused")
	}
	k.checkSentence(w, s)
	k.failSet(w, i, s, nil)
	return "its set is refused: " + refusalNames[d.Refusal]
}

// failSet ends the operation of a set that was not applied.
func (k *walk) failSet(w *world, i int, s *Stream, r *Result) {
	a, c := &w.actors[i], k.configs[i]
	w.failed, w.said, a.failed, a.underWay, a.step = true, true, true, false, ended
	switch a.verb {
	case update:
		e := s.Keep(a.current.entry(), processorSets[c.set], r)
		if i == groupActor {
			if e != nil && e.Set.Equal(processorSets[c.set]) && e.Pending == Confirmed {
				e = &Entry{e.Set, Unsent}
			}
			a.current.triggered = c.triggered
		}
		a.current = a.current.withEntry(e)
	case create, destroyThenCreate:
		a.current = object{}
		w.makeStale(i)
	case createThenDestroy: // core puts the old object back
		w.exceptions |= restoredObject
	}
}

func (k *walk) beginLeave(w *world, i int, t task) (what string) {
	a, c := &w.actors[i], k.configs[i]
	object, mark, kind := a.current, a.mark.unpack(), Destroyed
	switch {
	case t == destroyDeposed:
		object, mark = a.deposed, Claim{}
	case t == dropStream:
		mark, kind = Claim{}, Dropped
	case a.verb == destroyThenCreate && !c.wants && !a.marked: // the provider warns: the plan could not know
		w.said, w.warned = true, true
		mark = Claim{}
	}
	s := w.stream.unpack()
	d := s.Leave(Departure{*object.entry(), !c.keep, kind}, mark, w.interrupted)
	k.checkDecision(w, i, t, d)
	w.stream = pack(s)
	a.called = true
	switch {
	case d.Send:
		if t == destroyDeposed || t == destroyCurrent && !a.marked {
			w.exceptions |= unmarkedDestroy
		}
		a.underWay, a.sends = true, setOf(d.Set)
		return "leave, and send " + processorSets[a.sends].String()
	case d.Refusal == Accepted:
		k.left(w, i, t)
		return "leave, and send nothing"
	}
	k.checkSentence(w, s)
	k.failLeave(w, i, t, s, nil)
	return "to leave is refused: " + refusalNames[d.Refusal]
}

// left ends a departure.
func (k *walk) left(w *world, i int, t task) {
	a := &w.actors[i]
	if a.underWay {
		w.makeStale(i)
	}
	a.underWay = false
	a.step++
	switch t {
	case destroyDeposed:
		a.deposed, a.deposedPlanned = object{}, false
		a.step = ended
	case dropStream:
		a.current = object{exists: true, triggered: k.configs[i].triggered}
	default:
		a.current = object{}
	}
}

// makeStale notes that an actor may have changed the stream, and has no object in the state that plans rely on.
func (w *world) makeStale(i int) {
	for j := range w.actors {
		w.actors[j].stale = w.actors[j].stale || j != i
	}
}

func (k *walk) failLeave(w *world, i int, t task, s *Stream, r *Result) {
	a := &w.actors[i]
	w.failed, w.said, a.failed, a.underWay, a.step = true, true, true, false, ended
	if t == destroyDeposed {
		if r != nil {
			w.makeStale(i)
		}
		a.deposed = a.deposed.withEntry(s.Keep(a.deposed.entry(), processorSets[a.sends], r))
		return
	}
	if t == dropStream {
		a.current.triggered = k.configs[i].triggered
	}
	a.current = a.current.withEntry(s.Keep(a.current.entry(), processorSets[a.sends], r))
}

// answers emits every answer to a request.
func (k *walk) answers(before world, i int, t task, emit func(event, world)) {
	for _, outcome := range k.outcomes(6) {
		w := before
		a := &w.actors[i]
		r := &Result{Failed: outcome != ok, NotFound: outcome == notFound}
		switch outcome {
		case ok, unknownApplied:
			w.service = a.sends
		case merged:
			w.service |= a.sends
			if w.service == a.sends {
				continue // as ok
			}
			r.Outcome = streams.Changed
		}
		switch outcome {
		case ok, merged:
			r.Reported, w.doubt = reports[w.service], false
		case unknownApplied, unknownNotApplied:
			r.Outcome, w.doubt = streams.Unknown, true
		}
		k.checkDetached(&w, i, t, before.service)
		s := w.stream.unpack()
		if t == setStream {
			inState := a.verb == update && a.current.has
			s.EndSet(*r, inState)
			if w.stream = pack(s); outcome != ok {
				k.failSet(&w, i, s, r)
			} else {
				k.setSucceeded(&w, i)
			}
		} else {
			s.EndLeave(*r)
			if w.stream = pack(s); outcome == ok || outcome == notFound {
				w.said = w.said || outcome == notFound
				w.failed = w.failed || outcome == notFound
				if outcome == notFound && a.sends != none {
					w.exceptions |= goneForAWhile
				}
				k.left(&w, i, t)
			} else {
				k.failLeave(&w, i, t, s, r)
			}
		}
		emit(event{int8(i), "the answer:", outcomeNames[outcome]}, w)
	}
}

func (k *walk) setSucceeded(w *world, i int) {
	a, c := &w.actors[i], k.configs[i]
	a.underWay, w.written, w.writtenSet = false, true, c.set
	a.step++
	if a.verb == createThenDestroy {
		a.deposed = a.current
	}
	a.current = object{exists: true, has: true, triggered: c.triggered, set: c.set}
}
