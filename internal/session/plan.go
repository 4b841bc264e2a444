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
	Refusal  CallRefusal
	Findings []Finding
}

// findings returns what a person should know of what a plan or an operation decided for a stream.
func (s *Session) findings(id string, decided claims.Decision) (all []Finding) {
	f := Finding{Stream: id, Decision: decided}
	if decided.Other.Len() > 0 {
		f.Shown = s.Redact(decided.Other.String()) // some were read
	}
	if decided.Refusal != 0 {
		all = append(all, f)
	}
	for _, warning := range decided.Warnings {
		f.Decision.Refusal, f.Warning = 0, warning
		all = append(all, f)
	}
	return all
}

// Plan plans a change. With detect_drift it reads the streams that the resource takes over.
func (s *Session) Plan(ctx context.Context, c Change) Planned {
	if c.Kind == Destroy {
		c.Leaving = claims.Destroy{PlannedHere: s.applies.Load(), Created: s.created.Load()}.Kind()
	}
	if s.mayNotDetach(c) {
		return Planned{Marks: c.Marks, Refusal: NotDetachable}
	}
	leaves := c.leaves()
	s.claim(c)
	s.awaitFirstPlans(ctx, c)
	if len(leaves) > 0 {
		s.awaitFirstClaims(ctx)
	}
	decided := map[string]claims.Decision{}
	for id := range c.Want {
		decided[id] = withLedger(s, id, func(l *claims.Ledger) claims.Decision { return l.PlanSet(c.want(id)) })
	}
	for _, id := range leaves {
		decided[id] = withLedger(s, id, func(l *claims.Ledger) claims.Decision { return l.PlanLeave(c.leave(id)) })
	}

	p := Planned{Marks: s.plannedMarks(c, decided), Sends: len(leaves) > 0 || c.Leaving == claims.MayBeDropped}
	for _, id := range slices.Sorted(maps.Keys(decided)) {
		p.Sends = p.Sends || decided[id].Send
		p.Findings = append(p.Findings, s.findings(id, decided[id])...)
	}
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
		withLedger(s, id, func(l *claims.Ledger) any { l.Claim(c.want(id)); return nil })
	}
	for id := range c.Was {
		if !c.Marks.Streams[id].Shared {
			s.stream(id).firstPlanned()
		}
	}
}

// awaitFirstPlans waits for the plans of the resources that were read first, of the streams that this one shares with them. Terraform
// is about to make these calls. Without them, the resource sends its sets, because the other objects may be old ones.
func (s *Session) awaitFirstPlans(ctx context.Context, c Change) {
	ctx, cancel := context.WithTimeout(ctx, claimDelay)
	defer cancel()
	for id := range c.Want {
		if c.Marks.Streams[id].Shared && withLedger(s, id, func(l *claims.Ledger) bool { return l.Reads > 1 }) {
			select {
			case <-s.stream(id).first:
			case <-ctx.Done():
				return
			}
		}
	}
}

// plannedMarks returns what a plan tells its apply: Terraform passes it to a create and to a destroy, and to the destroy of a
// replacement that of its create. An update is planned again, and gets nothing.
func (s *Session) plannedMarks(c Change, decided map[string]claims.Decision) Marks {
	marks := c.Marks.lasting()
	switch c.Kind {
	case Destroy:
		marks.All.Session = s.id
	case Create: // with what the first plan of a replacement says of the streams that its object leaves
		marks = c.Marks.clone()
		marks.All.OfCreate, marks.All.Resend = true, claims.Unknown // nobody knows the marks of a tainted object
	}
	for id, d := range decided {
		m := marks.Streams[id]
		_, stays := c.Want[id]
		m.Send = d.Send && c.entry(id) != nil
		if c.Kind == Create {
			m.Claim = d.Claim
		}
		switch {
		case stays:
			marks.add(id, m)
		case c.Leaving == claims.MayBeDropped: // the plan of the apply decides
		default: // also if the mark says nothing: that of all streams would hold instead
			m.Claim, m.Detach = d.Claim, c.Detach
			marks.set(id, m)
		}
	}
	return marks
}

// takeOver reads the streams that a resource takes over. The apply of a create plans, and so reads, again.
func (s *Session) takeOver(ctx context.Context, c Change) (found []Finding, _ CallRefusal) {
	ids := c.takenOver()
	takesOver := len(ids) > 0 || c.Kind == Create || c.Elsewhere // perhaps of streams that are known after apply
	switch refusal := s.ReadRefusal(); {
	case refusal == NeedsReads && c.Refuses && takesOver:
		return nil, NeedsReads
	case refusal != accepted:
		return nil, accepted
	}
	for _, read := range s.ReadEach(ctx, ids) {
		id, set := read.Stream, c.Want[read.Stream]
		gone := c.Marks.Streams[id].Gone || withLedger(s, id, func(l *claims.Ledger) bool {
			l.Found = l.Found || read.Err == nil
			return l.Gone
		})
		switch {
		case IsNotFound(read.Err) && gone:
			found = append(found, Finding{Stream: id, Warning: claims.CreateWillFail})
		case read.Err != nil && c.Elsewhere && !c.Refuses: // a destroy also plans an update, only to refresh
			found = append(found, Finding{Stream: id, Warning: claims.MayBeDetached, Err: read.Err})
		case read.Err != nil:
			found = append(found, Finding{Stream: id, Err: read.Err})
		case set != nil:
			found = append(found, s.findings(id, claims.TakeOver(read.Got.ProcessorIDs, *set, c.Refuses))...)
		}
	}
	return found, accepted
}
