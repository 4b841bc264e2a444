package claims

import (
	"fmt"
	"testing"
)

// A row for each object that an apply may destroy: how it leaves the stream beside nobody, and what is told then.
func TestDestroy(t *testing.T) {
	for _, test := range []struct {
		plannedHere, replaced, shared bool

		want  LeaveKind
		sends string
		told  [2]Finding // foreseen, and not
	}{
		{false, false, false, Destroyed, "[]", [2]Finding{0, WereDetached}},
		{false, true, true, Destroyed, "[]", [2]Finding{0, WereDetached}},
		{true, true, false, Superseded, "[]", [2]Finding{WereDetached, WereDetached}},
		{true, true, true, Superseded, "accepted", [2]Finding{StayAttached, StayAttached}},
		{true, false, false, MayBeTaken, "accepted", [2]Finding{StayAttached, StayAttached}},
		{true, false, true, MayBeTaken, "accepted", [2]Finding{StayAttached, StayAttached}},
	} {
		kind := KindOfDestroy(test.plannedHere, test.replaced)
		check(t, fmt.Sprintf("%+v", test), kind, test.want)
		for i, told := range test.told {
			var s Stream
			l := Leave{*inStateA, true, kind, test.shared, i == 1}
			d := s.Leave(l, Claim{}, false)
			check(t, "sends", made(d), test.sends)
			check(t, fmt.Sprintf("%+v is told", l), l.Tell(d, Facts{}), told)
		}
	}
}

// A leave that does not do what its plan says is told.
func TestTell(t *testing.T) {
	reported, failed := Facts{Reported: reports(a)}, Facts{Failed: true}
	old, inDoubt := Leave{*inStateA, true, MayBeTaken, false, false}, Leave{Entry{emptySet, Unknown}, true, MayBeTaken, false, false}
	kept, empty := old, old
	kept.Detach, empty.Set = false, emptySet
	unforeseen := detaching
	unforeseen.Unforeseen = true
	empties, sendsA, nothing := Decision{Send: true}, Decision{Send: true, Set: a}, Decision{}
	for _, test := range []struct {
		leave Leave
		made  Decision
		facts Facts
		want  Finding
	}{
		{detaching, empties, Facts{}, 0},
		{unforeseen, nothing, Facts{}, 0},
		{Leave{Entry: *inStateA, Unforeseen: true}, empties, Facts{}, 0},
		{unforeseen, sendsA, Facts{}, 0},
		{detaching, nothing, failed, StayAttachedBesideFailure},
		{detaching, nothing, Facts{Failed: true, Reported: reports(a)}, 0},
		{detaching, sendsA, failed, 0},
		{Leave{Entry: *inStateA}, nothing, failed, 0},
		{old, nothing, Facts{}, StayAttached},
		{old, nothing, failed, StayAttached},
		{old, nothing, reported, 0},
		{old, sendsA, Facts{}, 0},
		{inDoubt, nothing, Facts{}, StayAttached},
		{empty, nothing, Facts{}, 0},
		{kept, nothing, Facts{}, 0},
	} {
		check(t, fmt.Sprintf("%+v", test), test.leave.Tell(test.made, test.facts), test.want)
	}
}
