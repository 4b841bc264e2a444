package session

import (
	"context"
	"maps"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
)

// Planned is the plan of a change.
type Planned struct {
	Sends    bool // the apply sends anything
	Marks    Marks
	Refusal  Refusal
	Findings []Finding
}

// findings returns what a person should know of a plan for a stream.
func (s *Session) findings(id string, decided claims.Decision) (all []Finding) {
	f := Finding{Stream: id, Decision: decided}
	if decided.Other.Len() > 0 {
		f.Shown = s.Redact(decided.Other.String()) // some were read
	}
	if decided.Refusal != 0 {
		all = append(all, f)
	}
	for _, kind := range decided.Findings {
		f.Decision.Refusal, f.Kind = 0, kind
		all = append(all, f)
	}
	return all
}

// Plan plans a change. With detect_drift it reads the streams that the resource takes over.
func (s *Session) Plan(ctx context.Context, c Change) Planned {
	if c.Kind == Destroy {
		c.Leaving = claims.KindOfDestroy(s.applies.Load(), s.replaces.Load())
	}
	if c.mayNotDetach() {
		return Planned{Marks: c.Marks, Refusal: NotDetachable}
	}
	p := Planned{Marks: c.Marks.lasting()}
	switch c.Kind {
	case Destroy:
		p.Marks.All.Session = s.id
	case Create: // in a replacement, with the marks of the first plan
		p.Marks = c.Marks
		p.Marks.All.OfCreate, p.Marks.All.Resend = true, claims.Unknown // nobody knows the marks of a tainted object
		p.Marks.All.Unchecked = p.Marks.All.Unchecked || c.Refuses && c.Want == nil
	}
	leaves := c.Was.Without(c.Want)
	s.claim(c)
	if len(leaves) > 0 || c.Marks.any(func(m Mark) bool { return m.Shared }) {
		s.awaitFirstClaims(ctx)
	}
	for _, id := range slices.Sorted(maps.Keys(c.Want)) {
		s.planSet(c, id, &p)
	}
	for _, id := range leaves {
		s.planLeave(c, id, &p)
	}
	p.Sends = p.Sends || len(leaves) > 0 || c.Leaving == claims.MayBeDropped
	if !slices.ContainsFunc(p.Findings, Finding.IsError) {
		found, refusal := s.takeOver(ctx, c)
		p.Findings, p.Refusal = append(p.Findings, found...), refusal
	}
	return p
}

// claim claims all streams before the plan waits, so that a resource that leaves one of them knows it.
func (s *Session) claim(c Change) {
	s.firstClaims()
	for id := range c.Want {
		rules(s, id, func(stream *claims.Stream) any { stream.Claim(c.want(id)); return nil })
	}
}

func (s *Session) planSet(c Change, id string, p *Planned) {
	want := c.want(id)
	decided := rules(s, id, func(stream *claims.Stream) claims.Decision { return stream.PlanSet(want) })
	p.Findings = append(p.Findings, s.findings(id, decided)...)
	p.Sends = p.Sends || decided.Send
	m := p.Marks.Streams[id]
	m.Send = decided.Send && want.Entry != nil
	if c.Kind == Create {
		m.Claim = decided.Claim
	}
	if c.Refuses {
		m.TakeOver = s.markTakeOver(c, id)
	}
	if c.Kind == Create && want.Set == nil && m.TakeOver != nil && m.TakeOver.Had.Len() > 0 && s.detectDrift {
		p.Findings = append(p.Findings, Finding{Stream: id, Kind: claims.WillBeUnchecked})
	}
	p.Marks.add(id, m)
}

// markTakeOver returns the mark of a planned stream. If there was no refresh, the first plan of a replacement passes what its
// object had to the second one, which is that of a create. The state of a plan in an apply is refreshed.
func (s *Session) markTakeOver(c Change, id string) *TakeOver {
	first := c.Marks.Streams[id].TakeOver
	return rules(s, id, func(stream *claims.Stream) *TakeOver {
		if first != nil {
			stream.NoteHad(first.Had)
		}
		switch was := c.Was[id]; {
		case c.Kind == Create:
			return &TakeOver{c.Want[id], stream.Had()}
		case was != nil && stream.Reads == 0 && s.detectDrift:
			return &TakeOver{Had: was.Set}
		}
		return nil
	})
}

// planLeave also marks the stream for the apply of a destroy. An update is planned again, and does not get the mark.
func (s *Session) planLeave(c Change, id string, p *Planned) {
	decided := rules(s, id, func(stream *claims.Stream) claims.Decision { return stream.PlanLeave(c.leave(id)) })
	p.Findings = append(p.Findings, s.findings(id, decided)...)
	if c.Leaving == claims.MayBeDropped { // the plan of the apply decides
		return
	}
	m := p.Marks.Streams[id]
	m.Claim, m.Detach = decided.Claim, c.Detach
	if s.movesUnchecked(c) {
		p.Marks.All.Unchecked = true
		p.Findings = append(p.Findings, Finding{Stream: id, Kind: claims.WillBeUnchecked})
	}
	p.Marks.set(id, m)
}

// movesUnchecked reports whether nobody can check a replacement before its destroy detaches the processors of the old stream: its
// new stream, or its set, is known after apply.
func (s *Session) movesUnchecked(c Change) bool {
	if !c.Refuses || !c.Detach || !s.detectDrift || c.Leaving != claims.Replaced {
		return false
	}
	return len(c.Want) == 0 || slices.ContainsFunc(c.takenOver(), func(id string) bool { return c.Want[id] == nil })
}

// takeOver reads the streams that a resource takes over. The apply calls it again.
func (s *Session) takeOver(ctx context.Context, c Change) (found []Finding, _ Refusal) {
	takesOver := c.Kind == Create || c.Former != nil || len(c.takenOver()) > 0 // perhaps of streams that are known after apply
	switch refusal := s.RefuseReads(); {
	case refusal == NeedsReads && c.Refuses && takesOver:
		return nil, NeedsReads
	case refusal != accepted:
		return nil, accepted
	}
	for _, read := range s.ReadEach(ctx, c.takenOver()) {
		id, set := read.Stream, c.Want[read.Stream]
		gone := c.Marks.Streams[id].Gone || rules(s, id, func(stream *claims.Stream) bool { return stream.Gone })
		switch {
		case IsNotFound(read.Err) && gone:
			found = append(found, Finding{Stream: id, Kind: claims.CreateWillFail})
		case read.Err != nil && c.Former != nil && !c.Refuses: // a destroy also plans an update, only to refresh
			found = append(found, Finding{Stream: id, Kind: claims.MayBeDetached, Err: read.Err})
		case read.Err != nil:
			found = append(found, Finding{Stream: id, Err: read.Err})
		case set != nil:
			decided := rules(s, id, func(stream *claims.Stream) claims.Decision {
				return stream.TakeOver(read.Got.ProcessorIDs, *set, c.Refuses)
			})
			found = append(found, s.findings(id, decided)...)
		}
	}
	return found, accepted
}
