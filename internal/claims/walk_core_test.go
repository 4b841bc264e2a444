package claims

import "slices"

// config is what the configuration of a run says about a resource and the stream.
type config struct {
	exists    bool // the configuration has the resource
	wants     bool // and gives it the stream
	set       set
	late      bool // the set is known after apply
	triggered bool
	other     bool // another attribute of a single resource, or another stream of a group, changes too
	replace   bool // -replace
	cbd       bool // create_before_destroy
	keep      bool // on_destroy = "keep"
	again     bool // the user has changed a trigger, as StreamIsKept asks for
}

// verb is what Terraform core does with a resource.
type verb uint8

const (
	noop verb = iota
	create
	update
	drop // the update of a group, without the stream
	destroy
	destroyThenCreate
	createThenDestroy
)

// call is a call of the plan.
type call uint8

const (
	planUpdate call = iota
	planCreate
	planDestroyed
	planReplaced
	planDropped
)

// calls returns how core plans a resource. An update that changes nothing becomes a noop later.
func (c config) calls(o object, group bool) ([]call, verb) {
	shown := o.has && !o.tainted
	replace := destroyThenCreate
	if c.cbd {
		replace = createThenDestroy
	}
	switch {
	case !c.exists && o.has:
		return []call{planDestroyed}, destroy
	case !c.exists:
		return nil, noop
	case c.wants && shown && c.replace:
		return []call{planUpdate, planCreate}, replace
	case c.wants && shown, c.wants && group && o.exists && !o.tainted:
		return []call{planUpdate}, update
	case c.wants && o.has: // core does not show a tainted object to a plan
		return []call{planCreate}, replace
	case c.wants:
		return []call{planCreate}, create
	case shown && group && c.replace:
		return []call{planDropped}, replace
	case shown && group:
		return []call{planDropped}, drop
	case shown:
		return []call{planReplaced}, replace
	case o.has:
		return nil, replace
	}
	return nil, noop
}

// task is a step of the apply of a resource.
type task uint8

const (
	planAgain task = iota
	setStream
	planDrop
	dropStream
	destroyCurrent
	createElsewhere // a stream that another part of the configuration names
	planDeposed
	destroyDeposed
)

// tasks has the program of each verb, for a resource that wants the stream and for one that does not.
var tasks = [...][2][]task{
	noop:              {{}, {}},
	create:            {{planAgain, setStream}, {}},
	update:            {{planAgain, setStream}, {}},
	drop:              {{}, {planDrop, dropStream}},
	destroy:           {{}, {destroyCurrent}},
	destroyThenCreate: {{destroyCurrent, planAgain, setStream}, {destroyCurrent}},
	createThenDestroy: {{planAgain, setStream, planDeposed, destroyDeposed}, {createElsewhere, planDeposed, destroyDeposed}},
}

func (k *walk) program(a *actor, c config) []task {
	i := 1
	if c.wants {
		i = 0
	}
	program := tasks[a.verb][i]
	if a.deposedPlanned && a.verb != createThenDestroy {
		program = append(slices.Clip(program), planDeposed, destroyDeposed)
	}
	return program
}

const ended = 100 // the step of an actor whose program has ended

// next emits what can happen next, in any order.
func (k *walk) next(w world, emit func(event, world)) {
	if !w.applying {
		k.nextOfPlan(w, emit)
		return
	}
	if !w.interrupted && !k.clean && !k.over(w) {
		then := w
		then.interrupted, then.failed = true, true
		emit(event{-1, "the run is interrupted", ""}, then)
	}
	for i := range w.actors {
		a, c := &w.actors[i], k.configs[i]
		program := k.program(a, c)
		if int(a.step) >= len(program) {
			continue
		}
		then := w
		switch t := program[a.step]; {
		case a.underWay:
			k.answers(w, i, t, emit)
		case (t == planAgain || t == planDrop) && !w.interrupted:
			k.planAgain(&then, i, t)
			emit(event{int8(i), "plan in the apply", ""}, then)
		case t == planDeposed:
			k.planDeparture(&then, Departure{*a.deposed.entry(), !c.keep, Destroyed})
			then.actors[i].step++
			emit(event{int8(i), "plan the destroy of the deposed object", ""}, then)
		case t == createElsewhere && !w.interrupted:
			for _, outcome := range k.outcomes(2) {
				then := w
				b := &then.actors[i]
				if b.step = ended; outcome == ok {
					b.deposed, b.current, b.step = a.current, object{exists: true}, a.step+1
				} else {
					then.failed, then.said = true, true
				}
				emit(event{int8(i), "create on another stream:", outcomeNames[outcome]}, then)
			}
		case t == setStream && !w.stream.underWay.exists:
			what := k.beginSet(&then, i)
			emit(event{int8(i), what, ""}, then)
		case (t == dropStream || t == destroyCurrent || t == destroyDeposed) && !w.stream.underWay.exists:
			what := k.beginLeave(&then, i, t)
			emit(event{int8(i), what, ""}, then)
		}
	}
}

// over reports whether nothing is left to do. An interrupted run can also end before that: see ends.
func (k *walk) over(w world) bool {
	for i := range w.actors {
		if !k.done(&w, i) {
			return false
		}
	}
	return true
}

func (k *walk) done(w *world, i int) bool {
	return int(w.actors[i].step) >= len(k.program(&w.actors[i], k.configs[i]))
}

func (k *walk) ends(w world) bool {
	return w.applying && !w.stream.underWay.exists && (w.interrupted || k.over(w))
}

func (k *walk) nextOfPlan(w world, emit func(event, world)) {
	planned := true
	for i := range w.actors {
		a, c := &w.actors[i], k.configs[i]
		if calls, _ := c.calls(a.current, i == groupActor); int(a.step) < len(calls) {
			planned = false
			then := w
			k.plan(&then, i, calls[a.step])
			emit(event{int8(i), "plan", callNames[calls[a.step]]}, then)
		}
		if a.deposed.has && !a.deposedPlanned {
			planned = false
			then := w
			k.planDeparture(&then, Departure{*a.deposed.entry(), !c.keep, Destroyed})
			then.actors[i].deposedPlanned = true
			emit(event{int8(i), "plan the destroy of the deposed object", ""}, then)
		}
	}
	if !planned {
		return
	}
	k.checkPlanned(&w)
	w.applying, w.stream = true, packed{}
	for i := range w.actors {
		a, c := &w.actors[i], k.configs[i]
		_, a.verb = c.calls(a.current, i == groupActor)
		if a.verb == update && !a.send && !c.other && a.current.triggered == c.triggered {
			a.verb = noop
		}
		if a.step = 0; Refusal(w.refused) != Accepted {
			a.step = ended
		}
	}
	emit(event{-1, "apply", ""}, w)
}

// plan is a call of the plan of a resource.
func (k *walk) plan(w *world, i int, kind call) {
	a, c := &w.actors[i], k.configs[i]
	a.step++
	switch kind {
	case planUpdate, planCreate:
		want := Want{Again: c.again || c.triggered != a.current.triggered}
		if !c.late {
			want.Set = &processorSets[c.set]
		}
		if kind == planUpdate {
			want.Entry = a.current.entry()
		}
		p := k.planSet(w, want)
		a.send, a.mark = p.Send, packClaim(p.Next)
	case planDestroyed, planReplaced, planDropped:
		d := Departure{*a.current.entry(), !c.keep, DepartureKind(kind - planDestroyed)}
		for j := range w.actors {
			other := &w.actors[j]
			_, v := c.calls(a.current, i == groupActor)
			a.late = a.late || j != i && other.step > 0 && k.configs[j].wants && (v == destroy || v == destroyThenCreate)
		}
		a.mark, a.marked = packClaim(k.planDeparture(w, d).Next), true
	}
}

// planSet plans a set in the process that w is in.
func (k *walk) planSet(w *world, want Want) Plan {
	s := w.stream.unpack()
	p := s.PlanSet(want)
	w.stream = pack(s)
	k.notePlan(w, p)
	return p
}

func (k *walk) planDeparture(w *world, d Departure) Plan {
	s := w.stream.unpack()
	p := s.PlanLeave(d)
	w.stream = pack(s)
	k.notePlan(w, p)
	return p
}

func (k *walk) notePlan(w *world, p Plan) {
	for _, warning := range p.Warnings {
		w.said = true
		w.warned = w.warned || warning == DetachedAWhile || warning == DropDetaches || warning == MarkMayBeLost || warning == ReliedMarkMayBeLost
	}
	if p.Refusal == Accepted {
		return
	}
	w.said, w.failed = true, true
	if Refusal(w.refused) != ConflictingSets {
		w.refused = uint8(p.Refusal)
	}
	k.checkRefusedPlan(w, p)
}
