package claims

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

var (
	emptySet, a, b = processorSets[none], processorSets[setA], processorSets[setB]
	inStateA       = &Entry{a, Confirmed}
	detaching      = Departure{Entry: *inStateA, Detach: true}
	refusal        = Result{Failed: true}
	doubtful       = Result{Failed: true, Outcome: streams.Unknown}
)

func succeeds(s set) Result { return Result{Reported: reports[s]} }

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// made returns a decision as a word, or as the set that is sent.
func made(d Decision) string {
	if d.Send {
		return d.Set.String()
	}
	return refusalNames[d.Refusal]
}

func TestTransitions(t *testing.T) {
	for from, want := range [][4]Phase{
		Untouched:    {Written, CreateFailed, Blocked, Blocked},
		CreateFailed: {Written, CreateFailed, Blocked, Blocked},
		Blocked:      {Blocked, Blocked, Blocked, Blocked},
		Written:      {Written, Written, Written, Written},
	} {
		for event, end := range []func(*Stream){
			SetSent:      func(s *Stream) { s.EndSet(succeeds(setA), true) },
			CreateFails:  func(s *Stream) { s.EndSet(refusal, false) },
			UpdateFails:  func(s *Stream) { s.EndSet(refusal, true) },
			DestroyFails: func(s *Stream) { s.EndLeave(refusal) },
		} {
			s := &Stream{phase: Phase(from)}
			end(s)
			check(t, fmt.Sprintf("phase %d after event %d in phase %d", s.phase, event, from), s.phase, want[event])
		}
		for _, r := range []Result{succeeds(none), {Failed: true, NotFound: true}} {
			s := &Stream{phase: Phase(from)}
			s.EndLeave(r)
			check(t, "phase after a departure", s.phase, Phase(from))
		}
	}
}

func TestVerdicts(t *testing.T) {
	for phase, want := range [][3]string{
		Untouched:    {`["a"]`, `[]`, "accepted"},
		CreateFailed: {`["a"]`, `[]`, "accepted"},
		Blocked:      {"left alone", "left alone", "accepted"},
		Written:      {`["a"]`, "accepted", "accepted"},
	} {
		fresh := func() *Stream { return &Stream{phase: Phase(phase)} }
		check(t, "set", made(fresh().Set(a, false)), want[0])
		check(t, "detach", made(fresh().Leave(detaching, Claim{}, false)), want[1])
		check(t, "keep", made(fresh().Leave(Departure{Entry: *inStateA}, Claim{}, false)), want[2])
		check(t, "an action", made(fresh().SetOnce(b, false)), `["b"]`)
		check(t, "set after an interrupt", made(fresh().Set(a, true)), "interrupted")
		leave := "interrupted"
		if Phase(phase) == Written {
			leave = "accepted"
		}
		check(t, "leave after an interrupt", made(fresh().Leave(detaching, Claim{}, true)), leave)
	}
}

func TestLeaving(t *testing.T) {
	for _, test := range []struct {
		claim        Claim
		detach, keep string
	}{
		{Claim{}, "[]", "accepted"},
		{Claim{Kind: Expected}, "accepted", "accepted"},
		{Claim{Sends, b}, "accepted", "accepted"},
		{Claim{Resends, b}, "accepted", "accepted"},
		{Claim{Relies, a}, "accepted", "accepted"},
		{Claim{Relies, b}, `["b"]`, `["b"]`},
	} {
		for _, d := range []Departure{detaching, {Entry: *inStateA}} {
			want := test.keep
			if d.Detach {
				want = test.detach
			}
			marked, claimed := &Stream{}, &Stream{claim: test.claim}
			check(t, fmt.Sprint("marked with ", test.claim), made(marked.Leave(d, test.claim, false)), want)
			check(t, fmt.Sprint("beside ", test.claim), made(claimed.Leave(d, Claim{}, false)), want)
			check(t, "the claim after the mark", marked.claim, test.claim)
		}
	}
	unsure := Departure{Entry: Entry{a, Unconfirmed}}
	check(t, "a state in doubt", made((&Stream{}).Leave(unsure, Claim{Relies, a}, false)), `["a"]`)
	known := &Stream{reported: reports[none]}
	check(t, "a state that a report contradicts", made(known.Leave(detaching, Claim{Relies, a}, false)), `["a"]`)
	other := &Stream{claim: Claim{Sends, b}}
	other.Leave(detaching, Claim{Relies, a}, false)
	check(t, "the claim after a mark that conflicts", other.claim, Claim{Sends, b})
}

func TestDiffers(t *testing.T) {
	for _, test := range []struct {
		name   string
		stream Stream
		want   bool
	}{
		{"nothing is known", Stream{}, false},
		{"the set is reported", Stream{reported: reports[setA]}, false},
		{"another set is reported", Stream{reported: reports[setB]}, true},
		{"a request in doubt", Stream{inDoubt: true}, false},
		{"left with the set", Stream{left: &remainder{set: a}}, false},
		{"left with another set", Stream{left: &remainder{set: b}}, true},
		{"left in doubt", Stream{left: &remainder{set: a, unsure: true}}, true},
		{"the set is under way", Stream{underWay: &remainder{set: a}}, false},
		{"another set is under way", Stream{underWay: &remainder{}}, true},
		{"a departure leaves the set", Stream{planned: []remainder{{set: a}}}, false},
		{"a departure detaches", Stream{planned: []remainder{{detached: true}}}, true},
	} {
		p := test.stream.PlanSet(Want{Set: &a, Entry: inStateA})
		check(t, test.name, p.Send, test.want)
		check(t, test.name, p.Next, Claim{map[bool]ClaimKind{true: Resends, false: Relies}[test.want], a})
	}
}

func TestKeep(t *testing.T) {
	merged := &Result{Failed: true, Outcome: streams.Changed, Reported: reports[3]}
	for _, test := range []struct {
		name   string
		stream Stream
		before *Entry
		result *Result
		want   *Entry
	}{
		{"refused", Stream{}, inStateA, &refusal, inStateA},
		{"nothing sent", Stream{}, inStateA, nil, inStateA},
		{"in doubt", Stream{inDoubt: true}, inStateA, &doubtful, &Entry{a, Unconfirmed}},
		{"in doubt by another operation", Stream{inDoubt: true}, inStateA, nil, &Entry{a, Unconfirmed}},
		{"beside a request that is under way", Stream{underWay: &remainder{set: b}}, inStateA, nil, &Entry{a, Unconfirmed}},
		{"beside a request with the same set", Stream{underWay: &remainder{set: a}}, inStateA, nil, inStateA},
		{"beside a request after a report", Stream{reported: reports[setB], underWay: &remainder{set: a}}, inStateA, nil, &Entry{a, Unconfirmed}},
		{"reported", Stream{reported: reports[3]}, inStateA, merged, &Entry{processorSets[3], Confirmed}},
		{"reported to another operation", Stream{reported: reports[none]}, inStateA, nil, &Entry{emptySet, Confirmed}},
		{"an added key is refused", Stream{}, nil, &refusal, nil},
		{"an added key is not sent", Stream{reported: reports[setA]}, nil, nil, nil},
		{"an added key, reported", Stream{reported: reports[3]}, nil, merged, &Entry{processorSets[3], Confirmed}},
	} {
		check(t, test.name, test.stream.Keep(test.before, b, test.result), test.want)
	}
}

func TestNewOwnerWithUnknownSet(t *testing.T) {
	var plan, apply, other Stream
	plan.PlanSet(Want{})
	mark := plan.PlanLeave(detaching).Next
	check(t, "the departure", made(apply.Leave(detaching, mark, false)), "accepted")
	other.PlanLeave(detaching)
	check(t, "warnings of the owner", other.PlanSet(Want{}).Warnings, []Warning{DetachedAWhile})
}

// The departing resource knows of no processors. The other one does.
func TestDepartureOfAnEmptySet(t *testing.T) {
	var s Stream
	s.PlanLeave(Departure{Entry: Entry{Set: emptySet}, Detach: true})
	check(t, "without processors", s.PlanSet(Want{Set: &a}).Warnings, []Warning(nil))
	check(t, "with processors", s.PlanSet(Want{Set: &a, Entry: inStateA, Again: true}).Warnings, []Warning{DetachedAWhile})
}

func TestSentenceIsAboutTheLastEvent(t *testing.T) {
	var s Stream
	s.Leave(Departure{Entry: Entry{b, Confirmed}, Detach: true}, Claim{Sends, a}, false)
	check(t, "left", s.Known().Left, &b)
	s.Set(a, false)
	s.EndSet(succeeds(setA), false)
	s.Set(a, false)
	s.EndSet(refusal, false)
	check(t, "known", s.Known(), Known{Reported: reports[setA]})

	s.Leave(Departure{Entry: Entry{b, Confirmed}}, Claim{}, false)
	check(t, "after a departure with an older state", s.Known(), Known{Reported: reports[setA]})

	var two Stream
	two.Leave(Departure{Entry: *inStateA}, Claim{}, false)
	two.Leave(Departure{Entry: Entry{b, Confirmed}}, Claim{}, false)
	check(t, "after two departures with different sets", two.Known(), Known{})
}

func TestLateConflict(t *testing.T) {
	var s Stream
	s.Set(a, false)
	check(t, "refusal", s.PlanSet(Want{Set: &b}).Refusal, ConflictingSets)
	check(t, "a request is under way", s.Known().Pending, true)
	s.EndSet(succeeds(setA), false)
	check(t, "known", s.Known(), Known{Reported: reports[setA]})
	check(t, "the other set", made(s.Set(b, false)), "conflicting sets")
}

func TestAddedKeyWithUnknownOutcome(t *testing.T) {
	var first, plan, apply Stream
	first.Set(a, false)
	first.EndSet(doubtful, false)
	kept := first.Keep(nil, a, &doubtful)
	check(t, "the state", kept, &Entry{a, Unconfirmed})
	check(t, "the next plan", plan.PlanSet(Want{Set: &a, Entry: kept}).Warnings, []Warning{OutcomeUnknown})
	check(t, "the removal", made(apply.Leave(Departure{*kept, true, Dropped}, Claim{}, false)), "[]")
}

func TestGroupDropsAKeptStream(t *testing.T) {
	drop := Departure{*inStateA, true, Dropped}
	keep := Want{Set: &a, Entry: inStateA}
	var before, after, again, replaced Stream
	before.PlanSet(keep)
	check(t, "the kept stream is planned first", before.PlanLeave(drop).Refusal, StreamIsKept)
	after.PlanLeave(drop)
	check(t, "the drop is planned first", after.PlanSet(keep).Refusal, StreamIsKept)
	again.PlanLeave(detaching)
	again.PlanSet(keep)
	check(t, "the set is sent again because of another departure", again.PlanLeave(drop).Refusal, StreamIsKept)
	mark := before.PlanLeave(drop).Next
	check(t, "a replaced group, with the mark", made(replaced.Leave(detaching, mark, false)), "accepted")
}
