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
		finding           Finding
		set               streams.ProcessorSet
	}{
		{"nothing is detached", nil, false, a, both, true, accepted, 0, emptySet},
		{"it does not refuse", nil, false, both, a, false, accepted, WillBeDetached, b},
		{"nobody had it", nil, false, both, a, true, DetachesOthers, 0, b},
		{"its object had it", []streams.ProcessorSet{both}, false, both, a, true, accepted, OwnWillBeDetached, b},
		{"two objects had it", []streams.ProcessorSet{a, b}, false, both, emptySet, true, accepted, OwnWillBeDetached, both},
		{"others have one", []streams.ProcessorSet{a}, false, both, emptySet, true, DetachesOthers, 0, b},
		{"an object that leaves had it", []streams.ProcessorSet{both}, true, both, a, true, DetachesOthers, 0, b},
		{"an object had something else", []streams.ProcessorSet{c}, false, both, a, true, DetachesOthers, 0, b},
	} {
		var s Stream
		for _, had := range test.had {
			s.NoteHad(had)
		}
		if test.leaves {
			s.PlanLeave(detaching)
		}
		refusal, finding, set := s.TakeOver(test.attached, test.planned, test.refuses)
		check(t, test.name, refusal, test.refusal)
		check(t, test.name, finding, test.finding)
		check(t, test.name, set.String(), test.set.String())
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
		refusal, _, set := second.TakeOver(a, b, true)
		check(t, name+" before the take-over", refusal, DetachesOthers)
		check(t, name+" before the take-over", set, a)
	}
}
