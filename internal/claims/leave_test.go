package claims

import (
	"fmt"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// A row for each object that an apply may destroy: how it leaves the stream beside nobody, and what is told then.
func TestDestroy(t *testing.T) {
	for _, test := range []struct {
		destroy Destroy
		want    LeaveKind
		sends   string
		told    [2]Finding // foreseen, and not
	}{
		{Destroy{}, Destroyed, "[]", [2]Finding{0, WereDetached}},
		{Destroy{Replaced: true, Shared: true}, Destroyed, "[]", [2]Finding{0, WereDetached}},
		{Destroy{PlannedHere: true, Replaced: true}, Superseded, "[]", [2]Finding{WereDetached, WereDetached}},
		{Destroy{PlannedHere: true, Replaced: true, Shared: true}, MayBeTaken, "accepted", [2]Finding{StayAttached, StayAttached}},
		{Destroy{PlannedHere: true}, MayBeTaken, "accepted", [2]Finding{StayAttached, StayAttached}},
		{Destroy{PlannedHere: true, Shared: true}, MayBeTaken, "accepted", [2]Finding{StayAttached, StayAttached}},
	} {
		check(t, fmt.Sprintf("%+v", test.destroy), test.destroy.Kind(), test.want)
		for i, told := range test.told {
			var s Stream
			l := Leave{*inStateA, true, test.destroy.Kind(), test.destroy.Shared, i == 1}
			d, sent := s.Leave(l, Claim{}, false), (*streams.ProcessorSet)(nil)
			if check(t, "sends", made(d), test.sends); d.Send {
				sent = &d.Set
			}
			check(t, fmt.Sprintf("%+v is told", l), l.Tell(sent, Facts{}), told)
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
	for _, test := range []struct {
		leave Leave
		sent  *streams.ProcessorSet
		facts Facts
		want  Finding
	}{
		{detaching, &emptySet, Facts{}, 0},
		{unforeseen, nil, Facts{}, 0},
		{Leave{Entry: *inStateA, Unforeseen: true}, &emptySet, Facts{}, 0},
		{unforeseen, &a, Facts{}, 0},
		{detaching, nil, failed, StayAttachedBesideFailure},
		{detaching, nil, Facts{Failed: true, Reported: reports(a)}, 0},
		{detaching, &a, failed, 0},
		{Leave{Entry: *inStateA}, nil, failed, 0},
		{old, nil, Facts{}, StayAttached},
		{old, nil, failed, StayAttached},
		{old, nil, reported, 0},
		{old, &a, Facts{}, 0},
		{inDoubt, nil, Facts{}, StayAttached},
		{empty, nil, Facts{}, 0},
		{kept, nil, Facts{}, 0},
	} {
		check(t, fmt.Sprintf("%+v", test), test.leave.Tell(test.sent, test.facts), test.want)
	}
}
