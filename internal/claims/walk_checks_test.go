package claims

import (
	"fmt"
	"slices"
)

// exception is something that no provider can know, or can say to Terraform core.
type exception uint8

const (
	// Core plans the destroy of a deposed object once more in the apply, so no mark reaches it. A plan does not show the
	// object of a tainted resource that leaves the stream at all. Core may call a set that is sent again because of such a
	// destroy an inconsistent final plan.
	unmarkedDestroy exception = 1 << iota
	// With create_before_destroy, core puts the old object back if the create fails, and asks no provider what it has.
	restoredObject
	// Core does not call the resource without changes to whose stream another one gives a set that is known after apply.
	lateConflict
	// Core does not call a resource with changes: the run was interrupted, or the create of its replacement has failed. Its
	// state cannot say what the destroy or the failed create of another resource did to the stream, and these have no state.
	uncalled
	// The service says that the stream is gone to a departure that sends the set of a kept stream, and has the stream again
	// in the next run.
	goneForAWhile
)

var refusalNames = [...]string{"accepted", "conflicting sets", "the stream is kept", "left alone", "interrupted"}

func (k *walk) fail(format string, args ...any) {
	if k.problem == "" {
		k.problem = fmt.Sprintf(format, args...)
	}
}

func (k *walk) keepers(but int) (keepers []int) {
	for j, c := range k.configs {
		if c.exists && c.wants && j != but {
			keepers = append(keepers, j)
		}
	}
	return keepers
}

// conflict reports whether the configuration gives the stream two sets.
func (k *walk) conflict() bool {
	keepers := k.keepers(-1)
	return slices.ContainsFunc(keepers, func(j int) bool { return k.configs[j].set != k.configs[keepers[0]].set })
}

// checkDetached checks a request that has emptied the stream.
func (k *walk) checkDetached(w *world, i int, t task, before set) {
	if t == setStream || w.service == before {
		return
	}
	a := &w.actors[i]
	unseen := !a.marked || t == destroyDeposed && a.verb != createThenDestroy // by the plan
	switch {
	case w.service != none:
	case k.configs[i].wants && t == destroyCurrent:
		k.fail("a replacement empties its stream")
	case len(k.keepers(i)) == 0, k.conflict():
	case a.late && t == destroyCurrent:
		k.fail("the stream is emptied, although the plan could mark the destroy")
	case !w.warned && (t != destroyDeposed || !unseen):
		k.fail("the stream is emptied, and no plan has warned")
	}
}

// checkSentence checks the last sentence of an operation that sent nothing: see Known.
func (k *walk) checkSentence(w *world, s *Stream) {
	known := s.Known()
	if known.InDoubt && !w.doubt {
		k.fail("the error says that the stream may or may not have been changed, and the run knows its processors")
	}
	switch {
	case known.InDoubt || known.Pending:
	case known.Left != nil && setOf(*known.Left) != w.service:
		k.fail("the error says that a departure has left %v, and the stream has %v", known.Left, processorSets[w.service])
	case known.Left == nil && known.Reported != nil && setOf(known.Reported.ProcessorIDs) != w.service:
		k.fail("the error says that the stream has %v, and it has %v", known.Reported.ProcessorIDs, processorSets[w.service])
	}
}

// checkDecision checks what an operation does, or does not.
func (k *walk) checkDecision(w *world, i int, t task, d Decision) {
	switch {
	case d.Send && w.interrupted:
		k.fail("the operation begins after the interrupt")
	case d.Send && t == setStream && w.written && setOf(d.Set) != w.writtenSet:
		k.fail("a resource sends another set than the resource before")
	case d.Refusal == LeftAlone && t != setStream && k.configs[i].keep && len(k.keepers(-1)) == 0:
		k.fail("a departure fails that has nothing to send")
	case d.Send && t != setStream && w.written:
		k.fail("a departure sends a request, although another resource has set the processors")
	case d.Refusal == Interrupted && t != setStream && w.written:
		k.fail("a departure fails that has nothing to send")
	case d.Refusal == LeftAlone && (w.written || !slices.ContainsFunc(w.actors[:], func(a actor) bool { return a.failed && a.current.has || a.deposed.has })):
		k.fail("the operation leaves the stream alone, and no state needs that")
	}
}

func (k *walk) checkRefusedPlan(w *world, p Plan) {
	if p.Refusal == ConflictingSets && !k.conflict() {
		k.fail("the plan refuses a conflict that the configuration does not have")
	}
	if p.Refusal == StreamIsKept && w.applying && !w.actors[groupActor].current.has {
		k.fail("the plan is refused because of a departure that has ended")
	}
	if w.applying {
		k.checkSentence(w, w.stream.unpack())
	}
}

// checkPlanned checks the end of a plan.
func (k *walk) checkPlanned(w *world) {
	known := !slices.ContainsFunc(k.keepers(-1), func(j int) bool { return k.configs[j].late })
	switch refused := Refusal(w.refused); {
	case k.conflict() && known && refused != ConflictingSets:
		k.fail("the plan accepts two sets")
	case !k.conflict():
		k.refusals |= 1 << refused
		if k.refusals == 1<<Accepted|1<<StreamIsKept {
			k.fail("the order of the plans decides whether they are refused")
		}
	}
}

// checkEnd checks the end of a run.
func (k *walk) checkEnd(w *world) {
	keepers := k.keepers(-1)
	conflict := k.conflict()
	if conflict {
		w.exceptions |= lateConflict
	}
	kept := len(keepers) > 0
	if kept && !w.said && w.exceptions&unmarkedDestroy == 0 && w.service == none && k.start.service != none {
		k.fail("the stream is empty at the end, and nothing was said")
	}
	leaves, detaches := false, true
	for i := range w.actors {
		a, was := &w.actors[i], &k.start.actors[i]
		untrue := a.current.untrue(w.service)
		notYet := a.verb != noop && !a.called // the next run plans the change again
		if untrue && notYet && a.stale {
			w.exceptions |= uncalled
		}
		if untrue && !w.said && !notYet && w.exceptions == 0 {
			k.fail("a state is untrue, and nothing was said")
		}
		if (was.current.has || was.deposed.has) && !k.configs[i].wants {
			leaves, detaches = true, detaches && !k.configs[i].keep
		}
	}
	if w.failed {
		if k.clean && !conflict && Refusal(w.refused) != StreamIsKept && w.exceptions == 0 {
			k.fail("the clean run fails")
		}
		return
	}
	if !kept && leaves && detaches && w.service != none {
		k.fail("the stream has processors that the run should have detached")
	}
	if !conflict && w.exceptions == 0 {
		k.checkConverged(w, keepers)
	}
}

// checkConverged checks that the run has done what the configuration asks for, and that the next plan is empty.
func (k *walk) checkConverged(w *world, keepers []int) {
	var next Stream
	for i := range w.actors {
		a, c := &w.actors[i], k.configs[i]
		wants := c.exists && c.wants
		switch {
		case a.current.has != wants, a.deposed.has:
			k.fail("%s: the state has %v, and deposed %v", actorNames[i], a.current, a.deposed)
		case wants && (a.current.set != c.set || w.service != c.set || a.current.pending != 0):
			k.fail("%s: the configuration has %v, the state %v, the service %v", actorNames[i], processorSets[c.set], a.current, processorSets[w.service])
		case wants && next.PlanSet(Want{Set: &processorSets[c.set], Entry: a.current.entry(), Again: a.current.triggered != c.triggered}).Send:
			k.fail("%s: the next plan sends the set again", actorNames[i])
		}
	}
}

// untrue reports whether a state differs from the service, without a mark.
func (w *world) untrue() bool {
	return slices.ContainsFunc(w.actors[:], func(a actor) bool {
		return a.current.untrue(w.service) // no plan relies on a deposed object
	})
}
