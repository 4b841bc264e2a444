package claims

import (
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// This file has the rules of on_create = "refuse".

// NoteHad registers what an entry had before the refresh, or before its replacement: Terraform shows a tainted object only
// to the refresh. Those are the resource's own.
func (s *Stream) NoteHad(set streams.ProcessorSet) {
	s.had = streams.NewProcessorSet(slices.Concat(s.had.IDs(), set.IDs())...)
}

// Had returns the sets of all entries together.
func (s *Stream) Had() streams.ProcessorSet { return s.had }

// TakeOver decides whether a resource with a planned set may take the stream over, with what is attached. Other of a refusal has
// what belongs to others; that of a finding, what the apply detaches.
func (s *Stream) TakeOver(attached, planned streams.ProcessorSet, refuses bool) Decision {
	set := attached.Minus(planned)
	others := set
	if len(s.leaves) == 0 { // had may be that of an object that leaves, and the apply may not know it in time
		others = set.Minus(s.had)
	}
	switch {
	case set.Len() == 0:
		return Decision{}
	case !refuses:
		return Decision{Findings: []Finding{WillBeDetached}, Other: set}
	case others.Len() > 0:
		return Decision{Refusal: DetachesOthers, Other: others}
	}
	s.takes = set
	return Decision{Findings: []Finding{OwnWillBeDetached}, Other: set}
}
