package claims

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// What a resource that takes a stream over may detach, beside what objects of the configuration had of the stream.
func TestTakeOver(t *testing.T) {
	c := streams.NewProcessorSet("c")
	for _, test := range []struct {
		name              string
		had               []streams.ProcessorSet
		leaves            bool
		attached, planned streams.ProcessorSet
		refuses           bool
		refusal           Refusal
		findings          []Finding
		set               streams.ProcessorSet
	}{
		{"nothing is detached", nil, false, a, both, true, accepted, nil, emptySet},
		{"it does not refuse", nil, false, both, a, false, accepted, []Finding{WillBeDetached}, b},
		{"nobody had it", nil, false, both, a, true, DetachesOthers, nil, b},
		{"its object had it", []streams.ProcessorSet{both}, false, both, a, true, accepted, []Finding{OwnWillBeDetached}, b},
		{"two objects had it", []streams.ProcessorSet{a, b}, false, both, emptySet, true, accepted, []Finding{OwnWillBeDetached}, both},
		{"others have one", []streams.ProcessorSet{a}, false, both, emptySet, true, DetachesOthers, nil, b},
		{"an object that leaves had it", []streams.ProcessorSet{both}, true, both, a, true, DetachesOthers, nil, b},
		{"an object had something else", []streams.ProcessorSet{c}, false, both, a, true, DetachesOthers, nil, b},
	} {
		var s Stream
		for _, had := range test.had {
			s.NoteHad(had)
		}
		if test.leaves {
			s.PlanLeave(detaching)
		}
		p := s.TakeOver(test.attached, test.planned, test.refuses)
		check(t, test.name, p.Refusal, test.refusal)
		check(t, test.name, p.Findings, test.findings)
		check(t, test.name, p.Other.String(), test.set.String())
	}
}

// A plan that takes a stream over from an object that leaves fails in any order: the apply may not know the object in time.
func TestTakeOverBesideALeave(t *testing.T) {
	for name, l := range map[string]Leave{"destroy": detaching, "move": {*inStateA, true, Replaced, false, false}, "kept": {Entry: *inStateA}} {
		var first, second Stream
		first.NoteHad(a)
		first.TakeOver(a, b, true)
		p := first.PlanLeave(l)
		check(t, name+" after the take-over", p.Refusal, DetachesOthers)
		check(t, name+" after the take-over", p.Other, a)
		second.NoteHad(a)
		check(t, name+" before it", second.PlanLeave(l).Refusal, accepted)
		p = second.TakeOver(a, b, true)
		check(t, name+" before the take-over", p.Refusal, DetachesOthers)
		check(t, name+" before the take-over", p.Other, a)
	}
}
