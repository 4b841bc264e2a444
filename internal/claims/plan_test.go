package claims

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// TestPlannedLeaves has what a plan says of each leave beside each claim on set a.
func TestPlannedLeaves(t *testing.T) {
	behind := []Finding{MayBeLeftBehind}
	detaches, lost, relied := []Finding{DetachedFirst}, []Finding{MarkMayBeLost}, []Finding{MarkMayBeLostToState}
	unknown := Decision{Findings: []Finding{DropUnknown}}
	kept := Decision{Refusal: StreamIsKept, Other: b}
	emptied := Decision{Refusal: StreamIsKept, Other: emptySet}
	for _, test := range []struct {
		leaving Leave
		want    [5]Decision // by the kind of the claim
	}{
		{Leave{Entry: Entry{b, Settled}, Detach: true}, [5]Decision{relies: {Findings: behind}}},
		{Leave{Entry: Entry{b, Settled}, Detach: true, Shared: true}, [5]Decision{}},
		{Leave{Entry: Entry{b, Settled}}, [5]Decision{}},
		{Leave{Entry{b, Settled}, true, Replaced, false, false},
			[5]Decision{expected: {Findings: lost}, sends: {Findings: lost}, resends: {Findings: lost}, relies: {Findings: relied}}},
		{Leave{Entry{emptySet, Unknown}, true, Replaced, false, false},
			[5]Decision{expected: {Findings: lost}, sends: {Findings: lost}, resends: {Findings: lost}, relies: {Findings: relied}}},
		{Leave{Entry{emptySet, Settled}, true, Replaced, false, false}, [5]Decision{relies: {Findings: relied}}},
		{Leave{Entry{b, Settled}, true, Replaced, true, false}, [5]Decision{expected: {Findings: lost}, sends: {Findings: lost}, resends: {Findings: lost}}},
		{Leave{Entry{b, Settled}, false, Replaced, false, false}, [5]Decision{}},
		{Leave{Entry{b, Settled}, true, Dropped, false, false},
			[5]Decision{expected: {Findings: detaches}, sends: {Findings: detaches}, resends: emptied, relies: emptied}},
		{Leave{Entry{emptySet, Unknown}, true, Dropped, false, false},
			[5]Decision{expected: {Findings: detaches}, sends: {Findings: detaches}, resends: emptied, relies: emptied}},
		{Leave{Entry{emptySet, Settled}, true, Dropped, false, false}, [5]Decision{resends: emptied, relies: emptied}},
		{Leave{Entry{b, Settled}, false, Dropped, false, false}, [5]Decision{resends: kept, relies: kept}},
		{Leave{Entry{a, Settled}, false, Dropped, false, false}, [5]Decision{}},
		{Leave{Entry{a, Settled}, true, MayBeDropped, false, false},
			[5]Decision{expected: unknown, sends: unknown, resends: unknown, relies: unknown}},
		{Leave{Entry{a, Settled}, false, MayBeDropped, false, false}, [5]Decision{}},
	} {
		for kind := Nobody; kind <= relies; kind++ {
			claim := Claim{Kind: kind}
			if kind >= sends {
				claim.Set = a
			}
			want := test.want[kind]
			want.Claim = claim
			s := &Stream{claim: claim}
			check(t, fmt.Sprintf("%+v beside claim %d", test.leaving, kind), s.PlanLeave(test.leaving), want)
		}
	}
}

// The plan warns in any order if a group whose streams are known after apply has the stream in its state.
func TestPlanBesideAGroupWithUnknownStreams(t *testing.T) {
	for detach, want := range map[bool][]Finding{true: {DropUnknown}, false: nil} {
		var s Stream
		s.PlanLeave(Leave{Entry{a, Settled}, detach, MayBeDropped, false, false})
		s.PlanLeave(Leave{Entry{a, Settled}, false, MayBeDropped, false, false})
		check(t, "a set in the state", s.PlanSet(Want{Set: &a, Entry: inStateA}).Findings, want)
	}
}

// A destroy is done if the service does not know the stream, even if an attempt before may have taken effect.
func TestPlanAfterALeaveWithUnknownOutcome(t *testing.T) {
	for outcome, want := range map[streams.Outcome]bool{streams.Unknown: true, streams.NotChanged: false} {
		var s Stream
		s.Leave(detaching, Claim{}, false)
		s.EndLeave(Result{Failed: true, NotFound: true, Outcome: outcome})
		check(t, "a set in the state is sent again", s.PlanSet(Want{Set: &a, Entry: inStateA}).Send, want)
	}
}

var (
	keepA = Want{Set: &a, Entry: inStateA}
	dropA = Leave{*inStateA, true, Dropped, false, false}
)

// Of several leaves that make a state untrue, a dropped stream comes first, then a detached one, then the first.
func TestWhichLeaveDiffers(t *testing.T) {
	order := []remainder{
		{emptied: true, detached: true, dropped: true}, {set: b, dropped: true}, {emptied: true, detached: true}, {set: b},
	}
	for i, first := range order {
		for _, second := range order[i+1:] {
			for _, leaves := range [][]remainder{{first, second}, {second, first}, {{set: a}, second, first}, {first, {set: a}, second}} {
				other, _ := (&Stream{leaves: leaves}).differs(a)
				check(t, fmt.Sprint("of ", leaves), other, first)
			}
		}
	}
	s := Stream{leaves: []remainder{{set: b}, {set: a, unknown: true}}}
	other, _ := s.differs(a)
	check(t, "of two alike", other, remainder{set: b})
}

// The plans of independent resources come in any order. None of these orders may decide whether the plan fails.
func TestOrderOfPlans(t *testing.T) {
	plans := map[string]func(*Stream) Refusal{
		"keep a": func(s *Stream) Refusal { return s.PlanSet(keepA).Refusal },
		"send a": func(s *Stream) Refusal { return s.PlanSet(Want{Set: &a}).Refusal },
		"send b": func(s *Stream) Refusal { return s.PlanSet(Want{Set: &b}).Refusal },
		"late":   func(s *Stream) Refusal { return s.PlanSet(Want{}).Refusal },
		"drop a": func(s *Stream) Refusal { return s.PlanLeave(dropA).Refusal },
		"drop b": func(s *Stream) Refusal {
			return s.PlanLeave(Leave{Entry{b, Settled}, false, Dropped, false, false}).Refusal
		},
		"destroy a": func(s *Stream) Refusal { return s.PlanLeave(detaching).Refusal },
		"may drop a": func(s *Stream) Refusal {
			return s.PlanLeave(Leave{Entry: *inStateA, Detach: true, Kind: MayBeDropped}).Refusal
		},
	}
	for first := range plans {
		for second := range plans {
			var s, reversed Stream
			one := max(plans[first](&s), plans[second](&s))
			other := max(plans[second](&reversed), plans[first](&reversed))
			check(t, first+" and "+second, one, other)
		}
	}
}

func TestPlanSet(t *testing.T) {
	beside := func(s Stream, w Want) Decision { return s.PlanSet(w) }
	check(t, "known after apply", beside(Stream{}, Want{}), Decision{Send: true, Claim: Claim{Kind: expected}})
	check(t, "a conflict", beside(Stream{claim: Claim{sends, a}}, Want{Set: &b}), Decision{Refusal: ConflictingSets, Set: b, Other: a})
	check(t, "another set was left", beside(Stream{left: &remainder{set: b}}, keepA),
		Decision{Send: true, Claim: Claim{resends, a}, Other: b, Findings: []Finding{Resending}})
	check(t, "left with an unknown outcome", beside(Stream{left: &remainder{set: a, unknown: true}}, keepA).Findings, []Finding{ResendingUnknown})
	check(t, "an unknown outcome", beside(Stream{}, Want{Set: &a, Entry: &Entry{a, Unknown}}).Findings, []Finding{ResendingUnknown})
	check(t, "not sent yet", beside(Stream{}, Want{Set: &a, Entry: &Entry{a, Unsent}}).Findings, []Finding(nil))
	check(t, "another set than in the state", beside(Stream{}, Want{Set: &b, Entry: inStateA}).Findings, []Finding(nil))
	check(t, "a drop", beside(Stream{leaves: []remainder{{set: b, dropped: true}}}, keepA), Decision{Claim: Claim{relies, a}, Refusal: StreamIsKept, Other: b})
	check(t, "beside a request with the same set", beside(Stream{underWay: &remainder{set: a}}, keepA).Send, false)
	check(t, "no processors that could be detached", beside(Stream{leaves: []remainder{{emptied: true}}}, Want{Set: &a, Entry: &Entry{}}).Findings, []Finding(nil))
}

func TestPlanLeaveBesideAReliedSet(t *testing.T) {
	var s Stream
	s.PlanSet(keepA)
	s.PlanLeave(Leave{Entry{b, Unknown}, true, Destroyed, false, false})
	check(t, "the destroy leaves the relied set", s.PlanSet(keepA).Send, false)
	s = Stream{claim: Claim{Kind: relies}}
	s.Reads = 1
	check(t, "a destroy without a read, in a run with reads", s.PlanLeave(Leave{Entry: *inStateA, Detach: true}).Findings, []Finding(nil))
	s = Stream{claim: Claim{Kind: relies}}
	check(t, "a drop beside a relied empty set", s.PlanLeave(dropA).Findings, []Finding(nil))
	s = Stream{claim: Claim{sends, a}}
	s.PlanLeave(detaching)
	check(t, "a destroy before it, beside a third resource", s.PlanSet(keepA).Findings, []Finding{MayBeLeftBehind})
	s = Stream{}
	s.PlanLeave(dropA)
	s.PlanSet(keepA)
	check(t, "a replaced group", s.PlanLeave(Leave{Entry: *inStateA, Detach: true, Kind: Replaced}).Findings, []Finding{MarkMayBeLostToState})
}

// A drop is planned only until its operation begins.
func TestDropEnds(t *testing.T) {
	var s, other, two Stream
	s.PlanLeave(Leave{Entry: Entry{b, Settled}})
	s.PlanLeave(dropA)
	s.Leave(dropA, Claim{}, false)
	s.EndLeave(succeeds(emptySet))
	p := s.PlanSet(keepA)
	check(t, "after the drop", p.Refusal, accepted)
	check(t, "after the drop, the set is sent", p.Send, true)
	other.PlanLeave(dropA)
	other.Leave(Leave{Entry: *inStateA}, Claim{}, false)
	check(t, "after a destroy", other.PlanSet(keepA).Refusal, StreamIsKept)
	two.PlanLeave(Leave{*inStateA, false, Dropped, false, false})
	two.PlanLeave(dropA)
	two.Leave(dropA, Claim{}, false)
	two.Leave(dropA, Claim{}, false)
	check(t, "after two drops", len(two.leaves), 0)
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
			var s Stream
			var oldShared bool
			successor, sends := Want{Set: &a, Entry: inStateA}, false
			for _, event := range order {
				switch event {
				case readOld:
					s.Reads++
					oldShared = s.Reads > 1
				case readNew:
					s.Reads++
					successor.Shared = s.Reads > 1
				case planOld:
					if old := (Want{Set: &a, Entry: inStateA, Shared: oldShared}); stays {
						sends = s.PlanSet(old).Send || sends
					} else {
						s.PlanLeave(Leave{Entry: *inStateA, Detach: true, Shared: oldShared})
					}
				case claimNew:
					s.Claim(successor)
				case planNew:
					sends = s.PlanSet(successor).Send || sends
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
