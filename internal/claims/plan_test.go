package claims

import (
	"fmt"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// TestPlannedLeaves has what a plan says of each leave beside each claim on set a.
func TestPlannedLeaves(t *testing.T) {
	detaches, lost, relied := []Warning{DroppedFirst}, []Warning{MarkMayBeLost}, []Warning{MarkMayBeLostToState}
	unknown := Plan{Warnings: []Warning{DropUnknown}}
	kept := Plan{Refusal: StreamIsKept, Other: b}
	emptied := Plan{Refusal: StreamIsKept, Other: emptySet}
	for _, test := range []struct {
		leaving Leave
		want    [5]Plan // by the kind of the claim
	}{
		{Leave{Entry{b, Settled}, true, Destroyed}, [5]Plan{}},
		{Leave{Entry{b, Settled}, false, Destroyed}, [5]Plan{}},
		{Leave{Entry{b, Settled}, true, Replaced},
			[5]Plan{expected: {Warnings: lost}, sends: {Warnings: lost}, resends: {Warnings: lost}, relies: {Warnings: relied}}},
		{Leave{Entry{b, Settled}, false, Replaced}, [5]Plan{}},
		{Leave{Entry{b, Settled}, true, Dropped},
			[5]Plan{expected: {Warnings: detaches}, sends: {Warnings: detaches}, resends: emptied, relies: emptied}},
		{Leave{Entry{b, Settled}, false, Dropped}, [5]Plan{resends: kept, relies: kept}},
		{Leave{Entry{a, Settled}, false, Dropped}, [5]Plan{}},
		{Leave{Entry{a, Settled}, true, MayBeDropped},
			[5]Plan{expected: unknown, sends: unknown, resends: unknown, relies: unknown}},
		{Leave{Entry{a, Settled}, false, MayBeDropped}, [5]Plan{}},
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

func TestPlanBesideARequest(t *testing.T) {
	var s Stream
	s.Leave(detaching, Claim{}, false)
	check(t, "a plan beside the request that detaches", s.PlanSet(Want{Set: &a, Entry: inStateA}).Send, true)
}

func TestOwnersOfAnInterruptedMove(t *testing.T) {
	var s Stream
	s.Set(a, false)
	s.EndSet(Result{Failed: true, Outcome: streams.Changed, Reported: reports(both)}, true)
	check(t, "the other owner sends its set", s.PlanSet(Want{Set: &a, Entry: inStateA}).Send, true)
}

// The plan warns in any order if a group whose streams are known after apply has the stream in its state.
func TestPlanBesideAGroupWithUnknownStreams(t *testing.T) {
	for detach, want := range map[bool][]Warning{true: {DropUnknown}, false: nil} {
		var s Stream
		s.PlanLeave(Leave{Entry{a, Settled}, detach, MayBeDropped})
		check(t, "a set in the state", s.PlanSet(Want{Set: &a, Entry: inStateA}).Warnings, want)
	}
}

// A destroy is done if the service does not know the stream, even if an attempt before may have taken effect.
func TestPlanAfterALeaveWithUnknownOutcome(t *testing.T) {
	for outcome, want := range map[streams.Outcome]bool{streams.Unknown: true, streams.NotChanged: false} {
		var s Stream
		s.Leave(detaching, Claim{}, false)
		s.EndLeave(Result{Outcome: outcome})
		check(t, "a set in the state is sent again", s.PlanSet(Want{Set: &a, Entry: inStateA}).Send, want)
	}
}
