package session

import (
	"context"
	"crypto/rand"
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
	Read     int // streams that the plan has read
}

// Plan plans a change. With detect_drift it reads the streams that the resource takes over.
//
// Terraform plans a replacement twice, and does not tell the first plan. That is the plan of an edit, with what ignore_changes keeps.
// The second plan is that of a create, with the configuration, and has the private state that the first one planned.
func (s *Session) Plan(ctx context.Context, c Change) Planned {
	planned, found := s.firstPlans.Load(c.Marks.All.Plan)
	if !found {
		if c.plan = rand.Text(); c.Kind == Edit {
			s.firstPlans.Store(c.plan, c)
		}
		return s.plan(ctx, c)
	}
	first, _ := planned.(Change) // there are no others
	for id := range first.Want {
		if _, stays := c.Want[id]; !stays {
			withLedger(s, id, func(l *claims.Ledger) any { l.Withdraw(first.plan); return nil })
		}
	}
	p := s.plan(ctx, c.replacing(first))
	p.Findings = slices.DeleteFunc(p.Findings, func(f Finding) bool { return !f.IsError() }) // Terraform shows no others
	return p
}

// plan makes a plan that is the first of its change, or takes the place of the first one.
func (s *Session) plan(ctx context.Context, c Change) Planned {
	c.leaving = s.leaveKind(c, s.applies.Load())
	if s.mayNotDetach(c) {
		return Planned{Marks: c.Marks, Refusal: NotDetachable}
	}
	c.imported = s.importOf(c)
	leaves := c.leaves()
	s.claim(c)
	s.awaitPrimaries(ctx, c)
	if len(leaves) > 0 {
		s.awaitClaims(ctx)
	}
	decided := map[string]claims.Decision{}
	for id := range c.Want {
		decided[id] = withLedger(s, id, func(l *claims.Ledger) claims.Decision { return l.PlanSet(c.want(id)) })
	}
	for _, id := range leaves {
		decided[id] = withLedger(s, id, func(l *claims.Ledger) claims.Decision { return l.PlanLeave(c.leave(id)) })
	}

	p := Planned{Marks: s.plannedMarks(c, decided), Sends: len(leaves) > 0 || c.leaving == claims.MayBeDropped}
	mayLeave := false
	for _, id := range slices.Sorted(maps.Keys(decided)) {
		p.Sends = p.Sends || decided[id].Send
		for _, f := range s.findings(c, id, decided[id]) {
			if f.Warning != claims.MayLeaveGroup || !mayLeave { // which is a warning of the whole group
				p.Findings = append(p.Findings, f)
			}
			mayLeave = mayLeave || f.Warning == claims.MayLeaveGroup
		}
	}
	if !slices.ContainsFunc(p.Findings, Finding.IsError) {
		s.takeOver(ctx, c, &p)
	}
	return p
}

// claim claims all streams before the plan waits, so that a resource that leaves one of them knows it.
func (s *Session) claim(c Change) {
	s.claimsDue()
	for id := range c.Want {
		withLedger(s, id, func(l *claims.Ledger) any { l.Claim(c.want(id)); return nil })
	}
	for id := range c.Was {
		if !c.Marks.Streams[id].Shared {
			s.stream(id).planPrimary()
		}
	}
}

// plannedMarks returns what a plan tells its apply: Terraform passes it to a create and to a destroy, and to the destroy of a
// replacement that of its create. An update is planned again, and gets nothing.
func (s *Session) plannedMarks(c Change, decided map[string]claims.Decision) Marks {
	marks := c.lasting()
	switch c.Kind {
	case Destroy:
		marks.All.Session = s.id
	case Create: // with what the first plan of a replacement says of the streams that its object leaves
		marks.All, marks.Streams = c.Marks.All, maps.Clone(c.Marks.Streams)
		marks.All.OfCreate = true
	default:
		marks.All.Plan = c.plan
	}
	if c.imported == claims.NotImported {
		marks.All.Import = ImportMark{}
	}
	for id, d := range decided {
		m := marks.Of(id)
		_, stays := c.Want[id]
		m.Send = d.Send
		if c.Kind == Create {
			m.Claim = d.Claim
		}
		switch {
		case stays:
			marks.set(id, m)
		case c.leaving == claims.MayBeDropped: // the plan of the apply decides
		default:
			m.Claim, m.Detach = d.Claim, c.Detach
			marks.set(id, m)
		}
	}
	return marks
}

// takeOver reads the streams that a resource takes over, for its plan. The apply of a create plans, and so reads, again.
func (s *Session) takeOver(ctx context.Context, c Change, p *Planned) {
	ids := c.takenOver()
	takesOver := len(ids) > 0 || c.Kind == Create // perhaps of a stream that is known after apply
	if refusal := s.ReadRefusal(); refusal != 0 {
		if refusal == NeedsReads && c.Refuses && takesOver {
			p.Refusal = NeedsReads
		}
		return
	}
	p.Read = len(ids)
	for _, read := range s.ReadEach(ctx, ids) {
		id, set := read.Stream, c.Want[read.Stream]
		gone := c.Marks.Streams[id].Gone || withLedger(s, id, func(l *claims.Ledger) bool {
			l.Found = l.Found || read.Err == nil
			return l.Gone
		})
		switch {
		case IsNotFound(read.Err) && gone:
			p.Findings = append(p.Findings, Finding{Stream: id, Warning: claims.CreateWillFail})
		case read.Err != nil && c.Elsewhere && !c.Refuses: // a destroy also plans an update, only to refresh
			p.Findings = append(p.Findings, Finding{Stream: id, Warning: claims.MayBeDetached, Err: read.Err})
		case read.Err != nil:
			p.Findings = append(p.Findings, Finding{Stream: id, Err: read.Err})
		case set != nil:
			p.Findings = append(p.Findings, s.findings(c, id, claims.TakeOver(read.Got.ProcessorIDs, *set, c.Refuses))...)
		}
	}
}
