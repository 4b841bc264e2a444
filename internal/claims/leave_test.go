package claims

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// TestLeaves has the table of [Leave.request]: a row for what Terraform tells the apply, a column for who else has the stream. Set a
// is attached, and b that of the other resource. What is said stands behind what is sent.
func TestLeaves(t *testing.T) {
	said := map[Warning]string{WereDetached: "detached", StayAttached: "attached", StayAttachedBesideFailure: "failed"}
	others := []Ledger{
		{},
		{intents: []intent{{claim: Claim{Kind: expected}}}},
		{intents: []intent{{claim: Claim{sends, b}}}},
		{intents: []intent{{claim: Claim{resends, b}}}, phase: createFailed},
		{intents: []intent{{claim: Claim{relies, b}}}},
		{intents: []intent{{claim: Claim{relies, a}}}},
		{intents: []intent{{claim: Claim{relies, b}}}, phase: blocked},
		{intents: []intent{{claim: Claim{sends, b}}}, phase: written},
		{intents: []intent{{claim: Claim{relies, emptySet}}}},
		{reported: reports(emptySet)},
	}
	for _, test := range []struct {
		kind   LeaveKind
		shared bool
		want   [10]string
	}{
		{Planned, false, [10]string{"[]", "", "", " failed", `["b"]`, "", "blocked", "", "[]", "[]"}},
		{Planned, true, [10]string{"[]", "", "", " failed", `["b"]`, "", "blocked", "", "[]", "[]"}},
		{Superseded, false, [10]string{"[] detached", "", "", " failed", `["b"]`, "", "blocked", "", "[]", "[] detached"}},
		{Superseded, true, [10]string{" attached", " attached", " attached", " attached", `["b"]`, "", "blocked", "", "[]", ""}},
		{LeftBehind, false, [10]string{" attached", " attached", " attached", " attached", `["b"]`, "", "blocked", "", "[]", ""}},
		{LeftBehind, true, [10]string{" attached", " attached", " attached", " attached", `["b"]`, "", "blocked", "", "[]", ""}},
		{Dropped, false, [10]string{"[]", "", "", " failed", `["b"]`, "", "blocked", "", "[]", "[]"}},
	} {
		for i, other := range others {
			d := other.BeginLeave(Leave{Entry: *inStateA, Detach: true, Kind: test.kind, Shared: test.shared}, Claim{})
			got := made(d)
			if got == "nothing" {
				got = ""
			}
			for _, w := range d.Warnings {
				got += " " + said[w]
			}
			check(t, fmt.Sprintf("kind %d, shared %t, beside %d", test.kind, test.shared, i), got, test.want[i])
		}
	}
}

// What is said of a leave that sends nothing, or detaches, depends on what its resource had.
func TestWhatALeaveSays(t *testing.T) {
	failed := Ledger{intents: []intent{{claim: Claim{sends, b}}}, phase: createFailed}
	for _, test := range []struct {
		name   string
		ledger Ledger
		leave  Leave
		want   []Warning
	}{
		{"a destroy that the plan did not foresee", Ledger{}, Leave{Entry: *inStateA, Detach: true, Unforeseen: true}, []Warning{WereDetached}},
		{"likewise, beside a set", Ledger{intents: []intent{{claim: Claim{relies, b}}}}, Leave{Entry: *inStateA, Detach: true, Unforeseen: true},
			nil},
		{"likewise, beside an empty set", Ledger{intents: []intent{{claim: Claim{relies, emptySet}}}},
			Leave{Entry: *inStateA, Detach: true, Kind: Superseded, Unforeseen: true}, nil},
		{"a destroy with keep", Ledger{}, Leave{Entry: *inStateA, Kind: Superseded, Unforeseen: true}, nil},
		{"an old object with keep", Ledger{}, Leave{Entry: *inStateA, Kind: LeftBehind}, nil},
		{"an old object without processors", Ledger{}, Leave{Entry: Entry{}, Detach: true, Kind: LeftBehind}, nil},
		{"an old object in doubt", Ledger{}, Leave{Entry: Entry{emptySet, Unknown}, Detach: true, Kind: LeftBehind}, []Warning{StayAttached}},
		{"beside a failure", failed, detaching, []Warning{StayAttachedBesideFailure}},
		{"beside a failure, with keep", failed, Leave{Entry: *inStateA}, nil},
		{"beside a failure, without processors", failed, Leave{Detach: true}, nil},
		{"beside a failure that reported", Ledger{intents: []intent{{claim: Claim{sends, b}}}, phase: createFailed, reported: reports(b)},
			detaching, nil},
		{"beside a failed update", Ledger{intents: []intent{{claim: Claim{sends, b}}}, phase: blocked}, detaching,
			[]Warning{StayAttachedBesideFailure}},
	} {
		check(t, test.name, test.ledger.BeginLeave(test.leave, Claim{}).Warnings, test.want)
	}
}

// A drop is planned only until its operation begins.
func TestDropEnds(t *testing.T) {
	var l, other, two Ledger
	l.PlanLeave(Leave{Entry: Entry{b, Settled}})
	l.PlanLeave(dropA)
	l.BeginLeave(dropA, Claim{})
	l.EndLeave(succeeds(emptySet))
	d := l.PlanSet(keepA)
	check(t, "after the drop", d.Refusal, Refusal(0))
	check(t, "after the drop, the set is sent", d.Send, true)
	other.PlanLeave(dropA)
	other.BeginLeave(Leave{Entry: *inStateA}, Claim{})
	check(t, "after a destroy", other.PlanSet(keepA).Refusal, StreamIsKept)
	two.PlanLeave(Leave{Entry: *inStateA, Kind: Dropped})
	two.PlanLeave(dropA)
	two.BeginLeave(dropA, Claim{})
	two.BeginLeave(dropA, Claim{})
	check(t, "after two drops", slices.ContainsFunc(two.intents, func(i intent) bool { return i.leaves != nil }), false)
}

// A destroy is done if the service does not know the stream, even if an attempt before may have taken effect.
func TestPlanAfterALeaveWithUnknownOutcome(t *testing.T) {
	for outcome, want := range map[streams.Outcome]bool{streams.Unknown: true, streams.NotChanged: false} {
		var l Ledger
		l.BeginLeave(detaching, Claim{})
		l.EndLeave(Effect{Failed: true, NotFound: true, Outcome: outcome})
		check(t, "a set in the state is sent again", l.PlanSet(keepA).Send, want)
	}
}
