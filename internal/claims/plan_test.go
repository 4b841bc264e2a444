package claims

import (
	"fmt"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// TestPlannedDepartures has what a plan says of each departure beside each claim on set a.
func TestPlannedDepartures(t *testing.T) {
	detaches, lost, relied := []Warning{DropDetaches}, []Warning{MarkMayBeLost}, []Warning{ReliedMarkMayBeLost}
	unknown := Plan{Warnings: []Warning{MayBeDetached}}
	kept := Plan{Refusal: StreamIsKept, Other: b}
	emptied := Plan{Refusal: StreamIsKept, Other: emptySet}
	for _, test := range []struct {
		leaving Departure
		want    [5]Plan // by the kind of the claim
	}{
		{Departure{Entry{b, Confirmed}, true, Destroyed}, [5]Plan{}},
		{Departure{Entry{b, Confirmed}, false, Destroyed}, [5]Plan{}},
		{Departure{Entry{b, Confirmed}, true, Replaced},
			[5]Plan{Expected: {Warnings: lost}, Sends: {Warnings: lost}, Resends: {Warnings: lost}, Relies: {Warnings: relied}}},
		{Departure{Entry{b, Confirmed}, false, Replaced}, [5]Plan{}},
		{Departure{Entry{b, Confirmed}, true, Dropped},
			[5]Plan{Expected: {Warnings: detaches}, Sends: {Warnings: detaches}, Resends: emptied, Relies: emptied}},
		{Departure{Entry{b, Confirmed}, false, Dropped}, [5]Plan{Resends: kept, Relies: kept}},
		{Departure{Entry{a, Confirmed}, false, Dropped}, [5]Plan{}},
		{Departure{Entry{a, Confirmed}, true, MayBeDropped},
			[5]Plan{Expected: unknown, Sends: unknown, Resends: unknown, Relies: unknown}},
		{Departure{Entry{a, Confirmed}, false, MayBeDropped}, [5]Plan{}},
	} {
		for kind := Nobody; kind <= Relies; kind++ {
			claim := Claim{Kind: kind}
			if kind >= Sends {
				claim.Set = a
			}
			want := test.want[kind]
			want.Next = claim
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
	s.EndSet(Result{Failed: true, Outcome: streams.Changed, Reported: reports[3]}, true)
	check(t, "the other owner sends its set", s.PlanSet(Want{Set: &a, Entry: inStateA}).Send, true)
}

// The plan warns in any order if a group whose streams are known after apply has the stream in its state.
func TestPlanBesideAGroupWithUnknownStreams(t *testing.T) {
	for detach, want := range map[bool][]Warning{true: {MayBeDetached}, false: nil} {
		var s Stream
		s.PlanLeave(Departure{Entry{a, Confirmed}, detach, MayBeDropped})
		check(t, "a set in the state", s.PlanSet(Want{Set: &a, Entry: inStateA}).Warnings, want)
	}
}

// A destroy is done if the service does not know the stream, even if an attempt before may have taken effect.
func TestPlanAfterADepartureInDoubt(t *testing.T) {
	for outcome, want := range map[streams.Outcome]bool{streams.Unknown: true, streams.NotChanged: false} {
		var s Stream
		s.Leave(detaching, Claim{}, false)
		s.EndLeave(Result{Failed: true, NotFound: true, Outcome: outcome})
		check(t, "a set in the state is sent again", s.PlanSet(Want{Set: &a, Entry: inStateA}).Send, want)
	}
}
