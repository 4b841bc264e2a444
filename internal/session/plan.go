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
}

// Plan plans a change. With detect_drift it reads the streams that the resource takes over.
//
// Terraform plans a replacement twice: as an update, with what ignore_changes keeps, and then as a create, with the configuration.
// The second plan takes the place of the first one, and has the private state that the first one planned. Terraform shows only its
// errors.
func (s *Session) Plan(ctx context.Context, c Change) Planned {
	first, isSecond := s.firstPlan(c.Marks.All.Plan)
	if c.plan = c.Marks.All.Plan; isSecond {
		c.Was, c.Detach = first.kept(), first.Detach
	} else {
		c.plan = s.newPlan(c)
	}
	if c.Kind == Destroy {
		c.Leaving = claims.Destroy{PlannedHere: s.applies.Load(), Created: s.created.Load()}.Kind()
	}
	if s.mayNotDetach(c) {
		return Planned{Marks: c.Marks, Refusal: NotDetachable}
	}
	leaves := c.leaves()
	s.claim(c, first)
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
	if isSecond {
		p.Findings = slices.DeleteFunc(p.Findings, func(f Finding) bool { return !f.IsError() })
	}
	return p
}

// newPlan returns a new id of a plan, and remembers the plan of an object that may be replaced.
func (s *Session) newPlan(c Change) string {
	plan := rand.Text()
	if c.Kind == Update || c.Kind == Replacement {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.plans[plan] = c
	}
	return plan
}

// firstPlan returns the plan of a session with an id.
func (s *Session) firstPlan(plan string) (c Change, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, found = s.plans[plan]
	return c, found
}

// claim claims all streams before the plan waits, so that a resource that leaves one of them knows it. A second plan withdraws at once
// what it does not confirm of the first one.
func (s *Session) claim(c, first Change) {
	s.firstClaims()
	for id := range first.Want {
		if _, stays := c.Want[id]; !stays {
			withLedger(s, id, func(l *claims.Ledger) any { l.Withdraw(c.plan); return nil })
		}
	}
	for id, set := range c.Want {
		before := first.Want[id]
		withLedger(s, id, func(l *claims.Ledger) any {
			if before != nil && (set == nil || !set.Equal(*before)) {
				l.Withdraw(c.plan)
			}
			l.Claim(c.want(id))
			return nil
		})
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
		marks.All.OfCreate, marks.All.Late = true, c.Want == nil
		marks.All.Resend = claims.Unknown // nobody knows the marks of a tainted object
	default:
		marks.All.Plan = c.plan
	}
	for id, d := range decided {
		m := marks.Streams[id]
		_, stays := c.Want[id]
		m.Send = d.Send
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
	takesOver := len(ids) > 0 || c.Kind == Create // perhaps of a stream that is known after apply
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
