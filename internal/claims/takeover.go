package claims

import "github.com/stream-management/terraform-provider-stream/internal/streams"

// This file has the rules of on_create = "refuse": a resource that takes a stream over does not detach the processors of others.

// takeOver is what a session knows of the processors that a resource which takes the stream over may detach.
type takeOver struct {
	had    *streams.ProcessorSet // by entries of the session; nil if nobody knows of one
	leaves bool                  // had may be that of an object that leaves, and the apply may not know it in time
	own    streams.ProcessorSet  // what the plan of a take-over detaches, and had has
}

// NoteHad registers what an entry had before the refresh, or before its replacement: Terraform shows a tainted object only
// to the refresh. Those are the resource's own.
func (s *Stream) NoteHad(set streams.ProcessorSet) {
	if had := s.takeOver.had; had != nil {
		set = streams.NewProcessorSet(append(had.IDs(), set.IDs()...)...)
	}
	s.takeOver.had = &set
}

// Had returns the sets of all entries together; nil if nobody knows of one.
func (s *Stream) Had() *streams.ProcessorSet { return s.takeOver.had }

// TakeOver decides whether a resource with a planned set may take the stream over, with what is attached. Other of a refusal has
// what belongs to others; that of a finding, what the apply detaches.
func (s *Stream) TakeOver(attached, planned streams.ProcessorSet, refuses bool) Decision {
	set := attached.Minus(planned)
	others := set
	if had := s.takeOver.had; had != nil && !s.takeOver.leaves {
		others = set.Minus(*had)
	}
	switch {
	case set.Len() == 0:
		return Decision{}
	case !refuses:
		return Decision{Findings: []Finding{WillBeDetached}, Other: set}
	case others.Len() > 0:
		return Decision{Refusal: DetachesOthers, Other: others}
	}
	s.takeOver.own = set
	return Decision{Findings: []Finding{OwnWillBeDetached}, Other: set}
}
