package claims

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

var (
	keepA = Want{Set: &a, Entry: inStateA}
	dropA = Leave{Entry: *inStateA, Detach: true, Kind: Dropped}
)

func TestPlanSet(t *testing.T) {
	resending, unknown := Decision{Send: true, Claim: Claim{resends, a}}, []Warning{ResendingUnknown}
	beside := func(l Ledger, w Want) Decision { return l.PlanSet(w) }
	check(t, "known after apply", beside(Ledger{}, Want{}), Decision{Send: true, Claim: Claim{Kind: expected}})
	check(t, "a conflict", beside(Ledger{intents: []intent{{claim: Claim{sends, a}}}}, Want{Set: &b}),
		Decision{Refusal: ConflictingSets, Set: b, Other: a})
	check(t, "in the state", beside(Ledger{}, keepA), Decision{Claim: Claim{relies, a}})
	check(t, "triggered", beside(Ledger{}, Want{Set: &a, Entry: inStateA, Triggered: true}), Decision{Send: true, Claim: Claim{sends, a}})
	check(t, "another set was left", beside(Ledger{left: &remainder{set: b}}, keepA), resending)
	check(t, "left with an unknown outcome", beside(Ledger{left: &remainder{set: a, unknown: true}}, keepA).Warnings, unknown)
	check(t, "one of two left in doubt",
		beside(Ledger{intents: []intent{{leaves: &remainder{set: b}}, {leaves: &remainder{set: a, unknown: true}}}}, keepA).Warnings, unknown)
	check(t, "an unknown outcome", beside(Ledger{}, Want{Set: &a, Entry: &Entry{a, Unknown}}).Warnings, unknown)
	check(t, "not sent yet", beside(Ledger{}, Want{Set: &a, Entry: &Entry{a, Unsent}}), Decision{Send: true, Claim: Claim{sends, a}})
	check(t, "not read yet", beside(Ledger{}, Want{Set: &emptySet, Entry: &Entry{emptySet, Unread}}),
		Decision{Send: true, Claim: Claim{Kind: sends}})
	check(t, "another set than in the state", beside(Ledger{}, Want{Set: &b, Entry: inStateA}), Decision{Send: true, Claim: Claim{sends, b}})
	check(t, "a drop", beside(Ledger{intents: []intent{{leaves: &remainder{}}, {leaves: &remainder{set: b, dropped: true}}}}, keepA),
		Decision{Claim: Claim{relies, a}, Refusal: StreamIsKept, Other: b})
	check(t, "a drop that leaves the set", beside(Ledger{intents: []intent{{leaves: &remainder{set: a, dropped: true}}}}, keepA).Refusal,
		Refusal(0))
	shared := Want{Set: &a, Entry: inStateA, Shared: true}
	check(t, "shared, in a run with a refresh", beside(Ledger{Reads: 2}, shared), resending)
	check(t, "shared, in a run without a refresh", beside(Ledger{}, shared).Send, false)
	check(t, "beside a request with the same set", beside(Ledger{underWay: &update{set: a}}, keepA).Send, false)
}

// A group is updated again in the apply, which does not know what another resource relies on. The plan fails if the group would leave
// another set.
func TestPlanLeave(t *testing.T) {
	for _, test := range []struct {
		leave Leave
		other streams.ProcessorSet
		want  Refusal // beside a resource that relies on a, or resends it
	}{
		{Leave{Entry: Entry{b, Settled}, Detach: true, Kind: Dropped}, emptySet, StreamIsKept},
		{Leave{Entry: Entry{a, Unknown}, Kind: Dropped}, a, StreamIsKept},
		{Leave{Entry: Entry{b, Settled}, Kind: Dropped}, b, StreamIsKept},
		{Leave{Entry: Entry{a, Settled}, Kind: Dropped}, emptySet, 0},
		{Leave{Entry: Entry{b, Settled}, Detach: true}, emptySet, 0},
		{Leave{Entry: Entry{b, Settled}, Detach: true, Kind: MayBeDropped}, emptySet, 0},
	} {
		for kind := Nobody; kind <= relies; kind++ {
			claim, want := Claim{Kind: kind}, Decision{}
			if kind >= sends {
				claim.Set = a
			}
			if want.Claim = claim; kind >= resends && test.want != 0 {
				want.Refusal, want.Other = test.want, test.other
			}
			got := (&Ledger{intents: []intent{{claim: claim}}}).PlanLeave(test.leave)
			got.Warnings = nil // TestOrderOfPlans and TestLeavesGroup have them
			if got.Refusal == 0 {
				got.Other = emptySet
			}
			check(t, fmt.Sprintf("%+v beside claim %d", test.leave, kind), got, want)
		}
	}
	var l, may Ledger
	may.PlanLeave(Leave{Entry: *inStateA, Detach: true, Kind: MayBeDropped})
	check(t, "nobody knows yet whether the group drops the stream", may.PlanSet(keepA).Send, false)
	l.PlanSet(keepA)
	l.PlanLeave(Leave{Entry: Entry{b, Unknown}, Detach: true})
	check(t, "the destroy leaves the set that another one relies on", l.PlanSet(keepA).Send, false)
}

// The second plan of a replacement withdraws the first one: its claim, its leave and what it says of old objects. Other plans stay.
func TestWithdraw(t *testing.T) {
	var l Ledger
	l.PlanSet(Want{Plan: "1", Set: &a, Entry: inStateA})
	l.PlanSet(Want{Plan: "2"})
	check(t, "another set", l.PlanSet(Want{Plan: "1", Set: &b}).Refusal, ConflictingSets)
	l.Withdraw("1")
	check(t, "the claim of the other plan", l.claim(), Claim{Kind: expected})
	check(t, "another set, and the first plan is withdrawn", l.PlanSet(Want{Plan: "1", Set: &b}), Decision{Send: true, Claim: Claim{sends, b}})
	l.Withdraw("2")
	check(t, "the other plan is withdrawn", l.claim(), Claim{sends, b})

	var leaves Ledger
	leaves.PlanLeave(Leave{Entry: Entry{b, Settled}, Detach: true, Kind: Dropped, Plan: "1"})
	check(t, "beside a leave", leaves.PlanSet(keepA).Refusal, StreamIsKept)
	leaves.Withdraw("1")
	check(t, "the leave is withdrawn", leaves.PlanSet(keepA), Decision{Claim: Claim{relies, a}})

	primary := Ledger{Reads: 2}
	primary.PlanSet(Want{Plan: "1", Set: &a, Entry: inStateA})
	shared := Want{Set: &a, Entry: inStateA, Shared: true}
	check(t, "the primary object stays", primary.PlanSet(shared).Send, false)
	primary.Withdraw("1")
	check(t, "the primary object is replaced", primary.PlanSet(shared).Send, true)
}

// A claim withdraws what the same plan has claimed before, in one step, unless that is the same set. Other plans keep their claims.
func TestClaimAgain(t *testing.T) {
	for name, test := range map[string]struct {
		first, second Want
		want          Claim
	}{
		"another set":               {Want{Set: &a, Entry: inStateA}, Want{Set: &b}, Claim{sends, b}},
		"the same set":              {Want{Set: &a, Entry: inStateA}, Want{Set: &a}, Claim{relies, a}},
		"a set known after apply":   {Want{Set: &a, Entry: inStateA}, Want{}, Claim{Kind: expected}},
		"now known":                 {Want{}, Want{Set: &b}, Claim{sends, b}},
		"never known":               {Want{}, Want{}, Claim{Kind: expected}},
		"nothing, and then the set": {Want{Set: &emptySet}, Want{Set: &b}, Claim{sends, b}},
	} {
		var alone, beside Ledger
		test.first.Plan, test.second.Plan = "1", "1"
		alone.Claim(test.first)
		alone.Claim(test.second)
		check(t, name, alone.claim(), test.want)

		beside.Claim(Want{Plan: "2"})
		beside.Claim(test.first)
		beside.Claim(test.second)
		check(t, name+", beside another plan", beside.claim(), test.want)
		beside.Withdraw("1")
		check(t, name+", the other plan", beside.claim(), Claim{Kind: expected})
	}
	var conflicting Ledger
	conflicting.Claim(Want{Plan: "1", Set: &a})
	check(t, "beside a set", conflicting.PlanSet(Want{Plan: "2", Set: &b}).Refusal, ConflictingSets)
	conflicting.Claim(Want{Plan: "1", Set: &b})
	check(t, "after the second plan", conflicting.PlanSet(Want{Plan: "2", Set: &b}).Refusal, Refusal(0))
}

// The plans of independent resources come in any order. None of these orders may decide whether the plan fails, or what it says.
func TestOrderOfPlans(t *testing.T) {
	type plan func(*Ledger) Decision
	sets := map[string]plan{
		"keep a": func(l *Ledger) Decision { return l.PlanSet(Want{Plan: "1", Set: &a, Entry: inStateA}) },
		"send a": func(l *Ledger) Decision { return l.PlanSet(Want{Plan: "2", Set: &a}) },
		"send b": func(l *Ledger) Decision { return l.PlanSet(Want{Plan: "3", Set: &b}) },
		"late":   func(l *Ledger) Decision { return l.PlanSet(Want{Plan: "4"}) },
	}
	detaching := map[string]plan{
		"drop a":    func(l *Ledger) Decision { return l.PlanLeave(dropA) },
		"destroy a": func(l *Ledger) Decision { return l.PlanLeave(detaching) },
		"may drop a": func(l *Ledger) Decision {
			return l.PlanLeave(Leave{Entry: *inStateA, Detach: true, Kind: MayBeDropped})
		},
	}
	keeping := map[string]plan{
		"drop b":    func(l *Ledger) Decision { return l.PlanLeave(Leave{Entry: Entry{b, Settled}, Kind: Dropped}) },
		"destroy b": func(l *Ledger) Decision { return l.PlanLeave(Leave{Entry: Entry{b, Settled}}) },
		"an old a": func(l *Ledger) Decision {
			return l.PlanLeave(Leave{Entry: *inStateA, Detach: true, Kind: Superseded})
		},
	}
	all := maps.Clone(sets)
	maps.Copy(all, detaching)
	maps.Copy(all, keeping)
	for _, names := range product(slices.Sorted(maps.Keys(all)), 3) {
		var l, reversed Ledger
		said, otherSaid := map[Warning]bool{}, map[Warning]bool{}
		var refused, otherRefused, hasSet, detaches bool
		for i := range names {
			d, r := all[names[i]](&l), all[names[len(names)-1-i]](&reversed)
			refused, otherRefused = refused || d.Refusal != 0, otherRefused || r.Refusal != 0
			for _, warning := range d.Warnings {
				said[warning] = true
			}
			for _, warning := range r.Warnings {
				otherSaid[warning] = true
			}
			hasSet, detaches = hasSet || sets[names[i]] != nil, detaches || detaching[names[i]] != nil
		}
		check(t, fmt.Sprint("refusal of ", names), refused, otherRefused)
		if !refused {
			check(t, fmt.Sprint("warnings of ", names), said[StreamChangesHands], hasSet && detaches)
			two := slices.Contains(names, "keep a") && slices.Contains(names, "send a")
			check(t, fmt.Sprint("two resources in ", names), said[StreamIsDuplicated], two)
			for _, all := range []map[Warning]bool{said, otherSaid} { // their text is true in each order
				delete(all, LeavesGroup)
				delete(all, MayLeaveGroup)
			}
			check(t, fmt.Sprint("warnings of ", names, " in the other order"), otherSaid, said)
		}
	}
}

// product returns all sequences of n of the names.
func product(names []string, n int) (all [][]string) {
	if n == 0 {
		return [][]string{nil}
	}
	for _, rest := range product(names, n-1) {
		for _, name := range names {
			all = append(all, append(slices.Clone(rest), name))
		}
	}
	return all
}

// A resource that refuses may only add, whoever attached what it would detach.
func TestTakeOver(t *testing.T) {
	for _, test := range []struct {
		attached, planned streams.ProcessorSet
		refuses           bool
		want              Decision
	}{
		{a, both, false, Decision{}},
		{a, both, true, Decision{}},
		{a, a, true, Decision{}},
		{emptySet, a, true, Decision{}},
		{both, a, false, Decision{Warnings: []Warning{WillBeDetached}, Other: b}},
		{both, a, true, Decision{Refusal: DetachesOthers, Other: b}},
		{a, emptySet, true, Decision{Refusal: DetachesOthers, Other: a}},
	} {
		check(t, fmt.Sprintf("%+v", test), TakeOver(test.attached, test.planned, test.refuses), test.want)
	}
}

// An earlier apply left an old object behind, and its successor has the stream. In each order of reads and plans, the apply of the
// old object knows that the stream is shared, or the successor is applied too. Resources that stay send nothing.
func TestOldObjectBesideItsSuccessor(t *testing.T) {
	const readOld, readNew, planOld, claimNew, planNew = 0, 1, 2, 3, 4
	orders := 0
	for order := range permutations(5) {
		at := func(event int) int { return slices.Index(order, event) }
		if at(planOld) < at(readOld) || at(claimNew) < at(readNew) || at(planNew) < at(claimNew) {
			continue
		}
		orders++
		for _, stays := range []bool{false, true} {
			var l Ledger
			var oldShared bool
			successor, sends := Want{Set: &a, Entry: inStateA}, false
			for _, event := range order {
				switch event {
				case readOld:
					l.Reads++
					oldShared = l.Reads > 1
				case readNew:
					l.Reads++
					successor.Shared = l.Reads > 1
				case planOld:
					if old := (Want{Set: &a, Entry: inStateA, Shared: oldShared}); stays {
						sends = l.PlanSet(old).Send || sends
					} else {
						l.PlanLeave(Leave{Entry: *inStateA, Detach: true, Shared: oldShared})
					}
				case claimNew:
					l.Claim(successor)
				case planNew:
					sends = l.PlanSet(successor).Send || sends
				}
			}
			firstHasClaimed := at(planOld) < at(planNew) // when the other one is planned
			if oldShared {
				firstHasClaimed = at(claimNew) < at(planOld)
			}
			switch {
			case !stays && !oldShared && !sends:
				t.Errorf("in the order %v, the old object may detach what its successor has", order)
			case stays && firstHasClaimed && sends:
				t.Errorf("in the order %v, a set is sent although both resources stay", order)
			}
		}
	}
	check(t, "orders", orders, 10)
}

// permutations returns all orders of the numbers below n.
func permutations(n int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		var extend func(order []int) bool
		extend = func(order []int) bool {
			if len(order) == n {
				return yield(order)
			}
			for next := range n {
				if !slices.Contains(order, next) && !extend(append(slices.Clone(order), next)) {
					return false
				}
			}
			return true
		}
		extend(nil)
	}
}

// A resource that is replaced leaves its stream for one that is known after apply, perhaps the same.
func TestMayBeEmpty(t *testing.T) {
	for _, test := range []struct {
		leave Leave
		want  []Warning
	}{
		{Leave{Entry: *inStateA, Detach: true, Kind: PlannedLate}, []Warning{MayBeEmpty}},
		{Leave{Entry: Entry{emptySet, Unknown}, Detach: true, Kind: PlannedLate}, []Warning{MayBeEmpty}},
		{Leave{Entry: Entry{emptySet, Settled}, Detach: true, Kind: PlannedLate}, nil},
		{Leave{Entry: *inStateA, Kind: PlannedLate}, nil},
		{Leave{Entry: *inStateA, Detach: true}, nil},
	} {
		check(t, fmt.Sprintf("%+v", test.leave), new(Ledger).PlanLeave(test.leave).Warnings, test.want)
	}
}

// Two resources have had one set of a stream, and one of them leaves: no stream changes hands, if the plan of the other one came first,
// as it mostly does. Otherwise the apply may detach the processors for a moment.
func TestLeaveOfADuplicate(t *testing.T) {
	sameSet, otherSet := detaching, Leave{Entry: Entry{b, Settled}, Detach: true}
	mayDrop := sameSet
	mayDrop.Kind = MayBeDropped
	for _, test := range []struct {
		name   string
		ledger Ledger
		leave  Leave
		want   []Warning
	}{
		{"the same set", Ledger{Reads: 1}, sameSet, nil},
		{"another set", Ledger{Reads: 1}, otherSet, []Warning{StreamChangesHands}},
		{"without a refresh, perhaps an old object", Ledger{}, sameSet, []Warning{StreamChangesHands}},
		{"a group whose streams are known after apply", Ledger{Reads: 1}, mayDrop, []Warning{StreamChangesHands}},
	} {
		test.ledger.PlanSet(keepA)
		check(t, test.name, test.ledger.PlanLeave(test.leave).Warnings, test.want)
	}
	shared := Ledger{Reads: 2}
	shared.PlanSet(Want{Set: &a, Entry: inStateA, Shared: true}) // which sends its set again
	check(t, "the same set, read first", len(shared.PlanLeave(sameSet).Warnings), 0)
	renamed := Ledger{Reads: 1}
	renamed.PlanSet(Want{Set: &a})
	check(t, "the same set of a new resource", renamed.PlanLeave(sameSet).Warnings, []Warning{StreamChangesHands})
	first := Ledger{Reads: 1}
	first.PlanLeave(sameSet)
	check(t, "planned first", first.PlanSet(keepA).Warnings, []Warning{StreamChangesHands})
}

// Two resources have one stream if both plan its set. What an apply claims without a plan is no other resource, and another set is an
// error.
func TestStreamIsDuplicated(t *testing.T) {
	for _, test := range []struct {
		name  string
		other intent
		set   *streams.ProcessorSet
		want  int
	}{
		{"another plan", intent{plan: "1", claim: Claim{sends, a}}, &a, 1},
		{"the same plan", intent{plan: "2", claim: Claim{sends, a}}, &a, 0},
		{"the apply of the old object", intent{claim: Claim{sends, a}}, &a, 0},
		{"known after apply", intent{plan: "1", claim: Claim{Kind: expected}}, &a, 0},
		{"another set", intent{plan: "1", claim: Claim{sends, b}}, &a, 0},
	} {
		l := Ledger{intents: []intent{test.other}}
		check(t, test.name, len(l.PlanSet(Want{Plan: "2", Set: test.set}).Warnings), test.want)
	}
}

// Streams that leave a group and are detached are warned of: not those that another resource has, nor those that had no processors.
func TestLeavesGroup(t *testing.T) {
	drops := Leave{Entry: *inStateA, Detach: true, Kind: Dropped}
	change := func(v Leave, change func(*Leave)) Leave { change(&v); return v }
	for name, test := range map[string]struct {
		leave Leave
		claim Claim // of another resource
		want  []Warning
	}{
		"it drops the stream":         {drops, Claim{}, []Warning{LeavesGroup}},
		"its outcome is unknown":      {change(drops, func(v *Leave) { v.Entry = Entry{emptySet, Unknown} }), Claim{}, []Warning{LeavesGroup}},
		"it has no processors":        {change(drops, func(v *Leave) { v.Set = emptySet }), Claim{}, nil},
		"it keeps them attached":      {change(drops, func(v *Leave) { v.Detach = false }), Claim{}, nil},
		"another resource has it":     {drops, Claim{relies, a}, []Warning{StreamChangesHands}},
		"known after apply":           {change(drops, func(v *Leave) { v.Kind = MayBeDropped }), Claim{}, []Warning{MayLeaveGroup}},
		"known after apply, kept":     {change(drops, func(v *Leave) { v.Kind, v.Detach = MayBeDropped, false }), Claim{}, nil},
		"the group is destroyed":      {change(drops, func(v *Leave) { v.Kind = Planned }), Claim{}, nil},
		"the resource is another one": {Leave{Entry: *inStateA, Detach: true}, Claim{}, nil},
	} {
		l := Ledger{intents: []intent{{claim: test.claim}}}
		check(t, name, l.PlanLeave(test.leave).Warnings, test.want)
	}
}

// A resource that was imported and leaves a stream sends nothing. If its plan knows that it leaves the stream, the plan fails.
func TestPlanImport(t *testing.T) {
	for name, test := range map[string]struct {
		leave   Leave
		refusal Refusal
		want    []Warning
	}{
		"to another stream":                {Leave{}, ImportDiffers, nil},
		"a group without the stream":       {Leave{Kind: Dropped}, ImportDiffers, nil},
		"to one that is not known":         {Leave{Kind: PlannedLate}, 0, []Warning{ImportIsLeft}},
		"a group that is not known":        {Leave{Kind: MayBeDropped}, 0, []Warning{ImportIsLeft}},
		"a group, in its apply":            {Leave{Kind: Dropped, Import: MayBeImported}, 0, []Warning{ImportIsLeft}},
		"its replaced object, in an apply": {Leave{Kind: Superseded}, 0, nil},
	} {
		leave, l := test.leave, Ledger{}
		leave.Entry, leave.Import = *inStateA, max(leave.Import, Imported)
		d := l.PlanLeave(leave)
		check(t, name, d.Refusal, test.refusal)
		check(t, name, d.Warnings, test.want)
		check(t, name, l.BeginLeave(leave, Claim{}).Send, false)
	}
}
