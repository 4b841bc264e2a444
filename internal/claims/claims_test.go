package claims

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

var (
	emptySet = streams.NewProcessorSet()
	a        = streams.NewProcessorSet("a")
	b        = streams.NewProcessorSet("b")
	both     = streams.NewProcessorSet("a", "b")

	inStateA  = &Entry{a, Settled}
	detaching = Leave{Entry: *inStateA, Detach: true}
	refused   = Result{Failed: true}
	unclear   = Result{Failed: true, Outcome: streams.Unknown}
)

func reports(set streams.ProcessorSet) *streams.Stream { return &streams.Stream{ProcessorIDs: set} }

func succeeds(set streams.ProcessorSet) Result { return Result{Reported: reports(set)} }

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
	return [...]string{"accepted", "conflicting sets", "the stream is kept", "detaches others", "unchecked", "blocked", "interrupted"}[d.Refusal]
}

func TestPhases(t *testing.T) {
	ends := []func(*Stream){
		func(s *Stream) { s.EndSet(succeeds(a), true) },
		func(s *Stream) { s.EndSet(refused, false) },
		func(s *Stream) { s.EndSet(refused, true) },
		func(s *Stream) { s.EndLeave(refused) },
		func(s *Stream) { s.EndLeave(succeeds(emptySet)) },
		func(s *Stream) { s.EndLeave(Result{Failed: true, NotFound: true}) },
		func(s *Stream) { s.EndOnce(succeeds(a)) },
		func(s *Stream) { s.EndOnce(refused) },
	}
	for from, want := range [][]phase{
		untouched:    {written, createFailed, blocked, blocked, untouched, untouched, untouched, untouched},
		createFailed: {written, createFailed, blocked, blocked, createFailed, createFailed, createFailed, createFailed},
		blocked:      {blocked, blocked, blocked, blocked, blocked, blocked, blocked, blocked},
		written:      {written, written, written, written, written, written, written, written},
	} {
		for i, end := range ends {
			s := &Stream{phase: phase(from)}
			end(s)
			check(t, fmt.Sprintf("phase after end %d in phase %d", i, from), s.phase, want[i])
			check(t, fmt.Sprintf("failed in phase %d", s.phase), s.Facts().Failed, want[i] == createFailed || want[i] == blocked)
		}
	}
}

func TestRequestsByPhase(t *testing.T) {
	for at, want := range []string{untouched: `["a"]`, createFailed: `["a"]`, blocked: "blocked", written: `["a"]`} {
		fresh := func() *Stream { return &Stream{phase: phase(at)} }
		check(t, "set", made(fresh().Set(a, false)), want)
		check(t, "an action", made(fresh().SetOnce(b, false)), `["b"]`)
		check(t, "set after an interrupt", made(fresh().Set(a, true)), "interrupted")
		leave := "interrupted"
		if phase(at) == written {
			leave = "accepted"
		}
		check(t, "leave after an interrupt", made(fresh().Leave(detaching, Claim{}, true)), leave)
	}
}

// A resource that leaves a stream never takes away what another one has, whatever happened before.
func TestRequestsOfALeave(t *testing.T) {
	for _, test := range []struct {
		claim        Claim
		detach, keep string
	}{
		{Claim{}, "[]", "accepted"},
		{Claim{Kind: expected}, "accepted", "accepted"},
		{Claim{sends, b}, "accepted", "accepted"},
		{Claim{resends, b}, "accepted", "accepted"},
		{Claim{relies, a}, "accepted", "accepted"},
		{Claim{relies, b}, `["b"]`, `["b"]`},
	} {
		for at := untouched; at <= written; at++ {
			for _, d := range []Leave{detaching, {Entry: *inStateA}} {
				want := test.keep
				if d.Detach {
					want = test.detach
				}
				switch {
				case at == written:
					want = "accepted"
				case at == blocked && want != "accepted":
					want = "blocked"
				}
				marked, claimed := &Stream{phase: at}, &Stream{phase: at, claim: test.claim}
				check(t, fmt.Sprint("marked with ", test.claim, " in phase ", at), made(marked.Leave(d, test.claim, false)), want)
				check(t, fmt.Sprint("beside ", test.claim, " in phase ", at), made(claimed.Leave(d, Claim{}, false)), want)
				check(t, "the claim after the mark", marked.claim, test.claim)
			}
		}
	}
	uncertain := Leave{Entry: Entry{a, Unknown}}
	check(t, "a state with an unknown outcome", made((&Stream{}).Leave(uncertain, Claim{relies, a}, false)), `["a"]`)
	empty := &Stream{reported: reports(emptySet)}
	check(t, "a state that a report contradicts", made(empty.Leave(detaching, Claim{relies, a}, false)), `["a"]`)
	other := &Stream{claim: Claim{sends, b}}
	other.Leave(detaching, Claim{relies, a}, false)
	check(t, "the claim after a mark that conflicts", other.claim, Claim{sends, b})
}

func TestDiffers(t *testing.T) {
	for _, test := range []struct {
		name   string
		stream Stream
		want   bool
	}{
		{"there is no fact", Stream{}, false},
		{"the set is reported", Stream{reported: reports(a)}, false},
		{"another set is reported", Stream{reported: reports(b)}, true},
		{"a request with an unknown outcome", Stream{unknown: true}, false},
		{"left with the set", Stream{left: &remainder{set: a}}, false},
		{"left with another set", Stream{left: &remainder{set: b}}, true},
		{"left with an unknown outcome", Stream{left: &remainder{set: a, unknown: true}}, true},
		{"the set is under way", Stream{underWay: &remainder{set: a}}, false},
		{"another set is under way", Stream{underWay: &remainder{}}, true},
		{"a leave leaves the set", Stream{leaves: []remainder{{set: a}}}, false},
		{"a leave detaches", Stream{leaves: []remainder{{detached: true}}}, true},
	} {
		p := test.stream.PlanSet(Want{Set: &a, Entry: inStateA})
		check(t, test.name, p.Send, test.want)
		check(t, test.name, p.Claim, Claim{map[bool]ClaimKind{true: resends, false: relies}[test.want], a})
	}
}

func TestKeep(t *testing.T) {
	merged := &Result{Failed: true, Outcome: streams.Changed, Reported: reports(both)}
	for _, test := range []struct {
		name   string
		stream Stream
		before *Entry
		result *Result
		want   *Entry
	}{
		{"refused", Stream{}, inStateA, &refused, inStateA},
		{"nothing sent", Stream{}, inStateA, nil, inStateA},
		{"with an unknown outcome", Stream{unknown: true}, inStateA, &unclear, &Entry{a, Unknown}},
		{"with an unknown outcome by another operation", Stream{unknown: true}, inStateA, nil, &Entry{a, Unknown}},
		{"after a resource that left in doubt", Stream{left: &remainder{set: a, unknown: true}}, inStateA, &refused, &Entry{a, Unknown}},
		{"after a resource that left another set", Stream{left: &remainder{set: b}}, inStateA, nil, &Entry{a, Unknown}},
		{"after a resource that left the set", Stream{left: &remainder{set: a}}, inStateA, nil, inStateA},
		{"beside a request that is under way", Stream{underWay: &remainder{set: b}}, inStateA, nil, &Entry{a, Unknown}},
		{"beside a request with the same set", Stream{underWay: &remainder{set: a}}, inStateA, nil, inStateA},
		{"beside a request after a report", Stream{reported: reports(b), underWay: &remainder{set: a}}, inStateA, nil, &Entry{a, Unknown}},
		{"reported", Stream{reported: reports(both)}, inStateA, merged, &Entry{both, Settled}},
		{"reported to another operation", Stream{reported: reports(emptySet)}, inStateA, nil, &Entry{emptySet, Settled}},
		{"an added key is refused", Stream{}, nil, &refused, nil},
		{"an added key is not sent", Stream{reported: reports(a)}, nil, nil, nil},
		{"an added key with an unknown outcome", Stream{unknown: true}, nil, &unclear, &Entry{b, Unknown}},
		{"an added key, reported", Stream{reported: reports(both)}, nil, merged, &Entry{both, Settled}},
	} {
		check(t, test.name, test.stream.Keep(test.before, b, test.result), test.want)
	}
}

// A set that is sent beside a leave has a warning only if the leave detaches processors.
func TestDetachedFirst(t *testing.T) {
	var s, other, empty Stream
	s.PlanLeave(Leave{Entry: Entry{Set: emptySet}, Detach: true})
	check(t, "without processors", s.PlanSet(Want{Set: &a}).Findings, []Finding(nil))
	check(t, "with processors", s.PlanSet(Want{Set: &a, Entry: inStateA, Triggered: true}).Findings, []Finding{DetachedFirst})
	other.PlanLeave(detaching)
	check(t, "a set that is known after apply", other.PlanSet(Want{}).Findings, []Finding{DetachedFirst})
	empty.PlanLeave(detaching)
	check(t, "an empty set", empty.PlanSet(Want{Set: &emptySet, Entry: &Entry{Set: emptySet}}).Findings, []Finding(nil))
	for _, beside := range []Stream{{}, {claim: Claim{relies, a}}} { // the second one gets its set from the leave
		beside.PlanLeave(Leave{Entry: Entry{both, Settled}, Detach: beside.claim.Kind == relies})
		check(t, "nothing is detached", beside.PlanSet(Want{Set: &a, Entry: inStateA, Triggered: true}).Findings, []Finding(nil))
	}
}

func TestSentenceIsAboutTheLastEvent(t *testing.T) {
	var s Stream
	s.Leave(Leave{Entry: Entry{b, Settled}, Detach: true}, Claim{sends, a}, false)
	check(t, "left", s.Facts().Remainder, b)
	s.Set(a, false)
	s.EndSet(succeeds(a), false)
	s.Set(a, false)
	s.EndSet(refused, false)
	check(t, "facts", s.Facts(), Facts{Reported: reports(a)})

	var two Stream
	two.Leave(Leave{Entry: *inStateA}, Claim{}, false)
	two.Leave(Leave{Entry: Entry{b, Settled}}, Claim{}, false)
	check(t, "after two leaves with different sets", two.Facts(), Facts{})
}

// A resource that sets a stream learns that another one has detached the processors before, in the same session.
func TestSetAfterALeave(t *testing.T) {
	told := func(d Decision) bool { return slices.Contains(d.Findings, DetachedForAMoment) }
	for _, test := range []struct {
		name  string
		leave Leave
		end   Result
		want  bool
	}{
		{"detached", detaching, succeeds(emptySet), true},
		{"detached, by a resource that did not know the set", Leave{Entry: Entry{emptySet, Unknown}, Detach: true}, succeeds(emptySet), true},
		{"nothing to detach", Leave{Entry: Entry{Set: emptySet}, Detach: true}, succeeds(emptySet), false},
		{"refused", detaching, refused, false},
		{"no such stream", detaching, Result{Failed: true, NotFound: true}, false},
		{"unknown outcome", detaching, unclear, false},
	} {
		var s Stream
		s.Leave(test.leave, Claim{}, false)
		s.EndLeave(test.end)
		s.phase = untouched // a failed leave would block the stream
		check(t, test.name, told(s.Set(a, false)), test.want)
		s.EndSet(succeeds(a), true)
		check(t, test.name+", and set", told(s.Set(a, false)), false)
	}
	var s Stream
	for range 2 { // the second one detaches nothing
		s.Leave(detaching, Claim{}, false)
		s.EndLeave(succeeds(emptySet))
	}
	check(t, "after two leaves", told(s.SetOnce(a, false)), true)
	check(t, "the empty set", told(s.SetOnce(emptySet, false)), false)
}

func TestLateConflict(t *testing.T) {
	var s Stream
	s.Set(a, false)
	check(t, "refusal", s.PlanSet(Want{Set: &b}).Refusal, ConflictingSets)
	check(t, "a request is under way", s.Facts().Unknown, true)
	s.EndSet(succeeds(a), false)
	check(t, "the other set", made(s.Set(b, false)), "conflicting sets")
}

func TestFacts(t *testing.T) {
	var s, once Stream
	s.Set(a, false)
	check(t, "under way", s.Facts(), Facts{Unknown: true})
	s.EndSet(unclear, false)
	check(t, "unknown outcome", s.Facts(), Facts{Unknown: true, Failed: true})
	s.Set(a, false)
	s.EndSet(succeeds(a), false)
	check(t, "reported", s.Facts(), Facts{Reported: reports(a)})
	check(t, "an interrupted action", made(once.SetOnce(b, true)), "interrupted")
	once.SetOnce(b, false)
	once.EndOnce(succeeds(b))
	once.Leave(Leave{Entry: *inStateA}, Claim{}, false)
	check(t, "after an action, and a leave with an older state", once.Facts(), Facts{Reported: reports(b)})
	check(t, "a conflict", (&Stream{claim: Claim{sends, a}}).Set(b, false), Decision{Refusal: ConflictingSets, Set: b, Other: a})
	check(t, "the report has the relied set", made((&Stream{reported: reports(a)}).Leave(Leave{Entry: Entry{b, Settled}, Detach: true}, Claim{relies, a}, false)), "accepted")
}
