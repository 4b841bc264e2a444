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
	refused   = Effect{Failed: true}
	unclear   = Effect{Failed: true, Outcome: streams.Unknown}
)

func reports(set streams.ProcessorSet) *streams.Stream { return &streams.Stream{ProcessorIDs: set} }

func succeeds(set streams.ProcessorSet) Effect { return Effect{Reported: reports(set)} }

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
	return [...]string{"nothing", "conflicting sets", "the stream is kept", "detaches others", "blocked"}[d.Refusal]
}

func TestPhases(t *testing.T) {
	ends := []func(*Ledger){
		func(s *Ledger) { s.EndUpdate(succeeds(a), true) },
		func(s *Ledger) { s.EndUpdate(refused, false) },
		func(s *Ledger) { s.EndUpdate(refused, true) },
		func(s *Ledger) { s.EndLeave(refused) },
		func(s *Ledger) { s.EndLeave(succeeds(emptySet)) },
		func(s *Ledger) { s.EndLeave(Effect{Failed: true, NotFound: true}) },
		func(s *Ledger) { s.EndAction(succeeds(a)) },
		func(s *Ledger) { s.EndAction(refused) },
	}
	for from, want := range [][]phase{
		untouched:    {written, createFailed, blocked, blocked, untouched, untouched, untouched, untouched},
		createFailed: {written, createFailed, blocked, blocked, createFailed, createFailed, createFailed, createFailed},
		blocked:      {blocked, blocked, blocked, blocked, blocked, blocked, blocked, blocked},
		written:      {written, written, written, written, written, written, written, written},
	} {
		for i, end := range ends {
			s := &Ledger{phase: phase(from), underWay: &update{}}
			end(s)
			check(t, fmt.Sprintf("phase after end %d in phase %d", i, from), s.phase, want[i])
		}
	}
}

func TestRequestsByPhase(t *testing.T) {
	for at, want := range []string{untouched: `["a"]`, createFailed: `["a"]`, blocked: "blocked", written: `["a"]`} {
		fresh := func() *Ledger { return &Ledger{phase: phase(at)} }
		check(t, "set", made(fresh().BeginUpdate(a)), want)
		check(t, "an action", made(fresh().BeginAction(b)), `["b"]`)
		check(t, "an interrupt ends an operation", fresh().Interruptible(), phase(at) != written)
	}
}

// A resource that leaves a stream never takes away what another one has, whatever happened before.
func TestRequestsOfALeave(t *testing.T) {
	for _, test := range []struct {
		claim        Claim
		detach, keep string
	}{
		{Claim{}, "[]", "nothing"},
		{Claim{Kind: expected}, "nothing", "nothing"},
		{Claim{sends, b}, "nothing", "nothing"},
		{Claim{resends, b}, "nothing", "nothing"},
		{Claim{relies, a}, "nothing", "nothing"},
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
					want = "nothing"
				case at == blocked && want != "nothing":
					want = "blocked"
				}
				marked, claimed := &Ledger{phase: at}, &Ledger{phase: at, intents: []intent{{claim: test.claim}}}
				check(t, fmt.Sprint("marked with ", test.claim, " in phase ", at), made(marked.BeginLeave(d, test.claim)), want)
				check(t, fmt.Sprint("beside ", test.claim, " in phase ", at), made(claimed.BeginLeave(d, Claim{})), want)
				check(t, "the claim after the mark", marked.claim(), test.claim)
			}
		}
	}
	uncertain := Leave{Entry: Entry{a, Unknown}}
	check(t, "a state with an unknown outcome", made((&Ledger{}).BeginLeave(uncertain, Claim{relies, a})), `["a"]`)
	empty := &Ledger{reported: reports(emptySet)}
	check(t, "a state that a report contradicts", made(empty.BeginLeave(detaching, Claim{relies, a})), `["a"]`)
	other := &Ledger{intents: []intent{{claim: Claim{sends, b}}}}
	other.BeginLeave(detaching, Claim{relies, a})
	check(t, "the claim after a mark that conflicts", other.claim(), Claim{sends, b})
}

func TestDiffers(t *testing.T) {
	for _, test := range []struct {
		name   string
		ledger Ledger
		want   bool
	}{
		{"there is no fact", Ledger{}, false},
		{"the set is reported", Ledger{reported: reports(a)}, false},
		{"another set is reported", Ledger{reported: reports(b)}, true},
		{"a request with an unknown outcome", Ledger{unknown: true}, false},
		{"left with the set", Ledger{left: &remainder{set: a}}, false},
		{"left with another set", Ledger{left: &remainder{set: b}}, true},
		{"left with an unknown outcome", Ledger{left: &remainder{set: a, unknown: true}}, true},
		{"the set is under way", Ledger{underWay: &update{set: a}}, false},
		{"another set is under way", Ledger{underWay: &update{}}, true},
		{"a leave leaves the set", Ledger{intents: []intent{{leaves: &remainder{set: a}}}}, false},
		{"a leave detaches", Ledger{intents: []intent{{leaves: &remainder{}}}}, true},
	} {
		p := test.ledger.PlanSet(Want{Set: &a, Entry: inStateA})
		check(t, test.name, p.Send, test.want)
		check(t, test.name, p.Claim, Claim{map[bool]ClaimKind{true: resends, false: relies}[test.want], a})
	}
}

func TestKeep(t *testing.T) {
	merged := &Effect{Failed: true, Outcome: streams.Changed, Reported: reports(both)}
	for _, test := range []struct {
		name   string
		ledger Ledger
		before *Entry
		effect *Effect
		want   *Entry
	}{
		{"refused", Ledger{}, inStateA, &refused, inStateA},
		{"nothing sent", Ledger{}, inStateA, nil, inStateA},
		{"with an unknown outcome", Ledger{unknown: true}, inStateA, &unclear, &Entry{a, Unknown}},
		{"with an unknown outcome by another operation", Ledger{unknown: true}, inStateA, nil, &Entry{a, Unknown}},
		{"after a resource that left in doubt", Ledger{left: &remainder{set: a, unknown: true}}, inStateA, &refused, &Entry{a, Unknown}},
		{"after a resource that left another set", Ledger{left: &remainder{set: b}}, inStateA, nil, &Entry{a, Unknown}},
		{"after a resource that left the set", Ledger{left: &remainder{set: a}}, inStateA, nil, inStateA},
		{"beside a request that is under way", Ledger{underWay: &update{set: b}}, inStateA, nil, &Entry{a, Unknown}},
		{"beside a request with the same set", Ledger{underWay: &update{set: a}}, inStateA, nil, inStateA},
		{"beside a request after a report", Ledger{reported: reports(b), underWay: &update{set: a}}, inStateA, nil, &Entry{a, Unknown}},
		{"reported", Ledger{reported: reports(both)}, inStateA, merged, &Entry{both, Settled}},
		{"reported to another operation", Ledger{reported: reports(emptySet)}, inStateA, nil, &Entry{emptySet, Settled}},
		{"an added key is refused", Ledger{}, nil, &refused, nil},
		{"an added key is not sent", Ledger{reported: reports(a)}, nil, nil, nil},
		{"an added key with an unknown outcome", Ledger{unknown: true}, nil, &unclear, &Entry{b, Unknown}},
		{"an added key, reported", Ledger{reported: reports(both)}, nil, merged, &Entry{both, Settled}},
	} {
		check(t, test.name, test.ledger.Keep(test.before, b, test.effect), test.want)
	}
}

func TestSentenceIsAboutTheLastEvent(t *testing.T) {
	var s Ledger
	s.BeginLeave(Leave{Entry: Entry{b, Settled}, Detach: true}, Claim{sends, a})
	check(t, "left", s.Facts().Remainder, b)
	s.BeginUpdate(a)
	s.EndUpdate(succeeds(a), false)
	s.BeginUpdate(a)
	s.EndUpdate(refused, false)
	check(t, "facts", s.Facts(), Facts{Reported: reports(a)})

	var two Ledger
	two.BeginLeave(Leave{Entry: *inStateA}, Claim{})
	two.BeginLeave(Leave{Entry: Entry{b, Settled}}, Claim{})
	check(t, "after two leaves with different sets", two.Facts(), Facts{})
}

// A resource that sets a stream learns that another one has detached the processors before, in the same session.
func TestSetAfterALeave(t *testing.T) {
	told := func(d Decision) bool { return slices.Contains(d.Warnings, DetachedForAMoment) }
	for _, test := range []struct {
		name  string
		leave Leave
		end   Effect
		want  bool
	}{
		{"detached", detaching, succeeds(emptySet), true},
		{"detached, by a resource that did not know the set", Leave{Entry: Entry{emptySet, Unknown}, Detach: true}, succeeds(emptySet), true},
		{"nothing to detach", Leave{Entry: Entry{Set: emptySet}, Detach: true}, succeeds(emptySet), false},
		{"refused", detaching, refused, false},
		{"no such stream", detaching, Effect{Failed: true, NotFound: true}, false},
		{"unknown outcome", detaching, unclear, false},
	} {
		var s Ledger
		s.BeginLeave(test.leave, Claim{})
		s.EndLeave(test.end)
		s.phase = untouched // a failed leave would block the stream
		check(t, test.name, told(s.BeginUpdate(a)), test.want)
		s.EndUpdate(succeeds(a), true)
		check(t, test.name+", and set", told(s.BeginUpdate(a)), false)
	}
	var s Ledger
	for range 2 { // the second one detaches nothing
		s.BeginLeave(detaching, Claim{})
		s.EndLeave(succeeds(emptySet))
	}
	check(t, "after two leaves", told(s.BeginAction(a)), true)
	check(t, "the empty set", told(s.BeginAction(emptySet)), false)
}

func TestLateConflict(t *testing.T) {
	var s Ledger
	s.BeginUpdate(a)
	check(t, "refusal", s.PlanSet(Want{Set: &b}).Refusal, ConflictingSets)
	check(t, "a request is under way", s.Facts().Unknown, true)
	s.EndUpdate(succeeds(a), false)
	check(t, "the other set", made(s.BeginUpdate(b)), "conflicting sets")
}

func TestFacts(t *testing.T) {
	var s, once Ledger
	s.BeginUpdate(a)
	check(t, "under way", s.Facts(), Facts{Unknown: true})
	s.EndUpdate(unclear, false)
	check(t, "unknown outcome", s.Facts(), Facts{Unknown: true})
	s.BeginUpdate(a)
	s.EndUpdate(succeeds(a), false)
	check(t, "reported", s.Facts(), Facts{Reported: reports(a)})
	once.BeginAction(b)
	once.EndAction(succeeds(b))
	once.BeginLeave(Leave{Entry: *inStateA}, Claim{})
	check(t, "after an action, and a leave with an older state", once.Facts(), Facts{Reported: reports(b)})
	check(t, "a conflict", (&Ledger{intents: []intent{{claim: Claim{sends, a}}}}).BeginUpdate(b),
		Decision{Refusal: ConflictingSets, Set: b, Other: a})
	check(t, "the report has the relied set",
		made((&Ledger{reported: reports(a)}).BeginLeave(Leave{Entry: Entry{b, Settled}, Detach: true}, Claim{relies, a})), "nothing")
}
