package session

import (
	"context"
	"maps"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// After is what the state has after a change or a refresh, and what a person should know.
type After struct {
	Kept      Entries
	Reported  map[string]*streams.Stream // what the service reported of them in this session
	Marks     Marks
	KeepState bool // the state stays as it was
	Refusal   CallRefusal
	Findings  []Finding
	Done      int  // streams that have their planned sets, or that the resource left, if the service knows them
	OldObject bool // the resource was replaced: no configuration has the object
	OfImport  bool // the refresh is that of an import
}

// Failed reports whether the call was refused, or failed for a stream.
func (a After) Failed() bool {
	return a.Refusal != 0 || slices.ContainsFunc(a.Findings, Finding.IsError)
}

// Apply sends the sets of a change, and then leaves streams: another resource may have sent its set by then.
func (s *Session) Apply(ctx context.Context, c Change) After {
	s.applies.Store(true)
	c.leaving = s.leaveKind(c, c.Marks.All.Session == s.id)
	c.imported = s.importOf(c)
	before := After{Kept: c.Was, Marks: c.lasting(), KeepState: true}
	before.Marks.All.Import = ImportMark{}
	switch {
	case s.mayNotDetach(c): // of a tainted or replaced object, without a plan
		before.Refusal = NotDetachable
	case s.client == nil:
		before.Refusal = NotConfigured
	}
	if before.Failed() {
		return before
	}
	after := After{Kept: Entries{}, Reported: map[string]*streams.Stream{}, OldObject: c.leaving.IsOfOldObject()}
	after.Marks.All = MarkOfAll{ReadAt: c.Marks.All.ReadAt, Failed: c.leaving == claims.Superseded}
	for id := range c.Want { // the framework passes a create nothing of its plan, which is planned again before
		if withLedger(s, id, func(l *claims.Ledger) bool { return l.Found }) {
			after.Marks.All.ReadAt = s.client.Address()
		}
	}
	s.applySets(ctx, c, &after)
	s.applyLeaves(ctx, c, &after)
	for id, entry := range after.Kept {
		after.Marks.set(id, Mark{Resend: entry.Resend})
	}
	after.KeepState = after.Failed() && !c.partial()
	switch {
	case c.Kind == Create && !after.Failed():
		s.created.Store(true)
	case c.Elsewhere && after.Failed() && after.Done == 0:
		before.Findings = after.Findings
		for id := range after.Kept { // the streams may have been changed, and both names may stand for one deployment
			before.Marks.set(id, Mark{Resend: claims.Unknown})
		}
		return before
	}
	return after
}

// applySets sends the sets that differ from the state or have a mark.
func (s *Session) applySets(ctx context.Context, c Change, after *After) {
	var sends []string
	for _, id := range slices.Sorted(maps.Keys(c.Want)) {
		if entry := c.entry(id); entry != nil && entry.Set.Equal(*c.Want[id]) && !c.Marks.Streams[id].Send {
			after.Kept[id] = entry
		} else {
			sends = append(sends, id)
		}
	}
	update := func(id string) operation {
		return s.operate(ctx, id,
			func(l *claims.Ledger) claims.Decision { return l.BeginUpdate(*c.Want[id]) },
			func(l *claims.Ledger, r claims.Effect) {
				l.EndUpdate(r, c.entry(id) != nil || c.partial() && r.Reported != nil)
			})
	}
	for _, o := range forEach(s, sends, update) {
		if o.failed() {
			s.keep(after, c, o)
			continue
		}
		id := o.Stream
		after.Done++
		after.Findings = append(after.Findings, s.findings(c, id, o.Decision)...)
		after.Kept[id], after.Reported[id] = &claims.Entry{Set: *c.Want[id]}, o.effect.Reported
	}
}

// applyLeaves leaves the streams that the resource drops.
func (s *Session) applyLeaves(ctx context.Context, c Change, after *After) {
	leaves := c.leaves()
	if len(leaves) > 0 {
		s.awaitClaims(ctx) // once, because only a few wait at the same time
	}
	leave := func(id string) operation {
		return s.operate(ctx, id,
			func(l *claims.Ledger) claims.Decision { return l.BeginLeave(c.leave(id), c.Marks.Streams[id].Claim) },
			(*claims.Ledger).EndLeave)
	}
	for _, o := range forEach(s, leaves, leave) {
		switch {
		case o.effect != nil && o.effect.NotFound:
			o.Warning = claims.NotFoundOnDestroy
			after.Findings = append(after.Findings, o.Finding)
		case o.failed():
			s.keep(after, c, o)
		default:
			after.Done++
			for _, f := range s.findings(c, o.Stream, o.Decision) {
				f.Facts = o.Facts
				after.Findings = append(after.Findings, f)
			}
		}
	}
}

// keep keeps a stream in the state after a failed operation.
func (s *Session) keep(after *After, c Change, o operation) {
	id := o.Stream
	after.Findings = append(after.Findings, o.Finding)
	kept := withLedger(s, id, func(l *claims.Ledger) *claims.Entry { return l.Keep(c.entry(id), o.Decision.Set, o.effect) })
	switch {
	case kept == nil:
		return
	case kept.Resend != claims.Settled:
	case o.Facts.Reported != nil:
		after.Reported[id] = o.Facts.Reported
	}
	after.Kept[id] = kept
	if want := c.Want[id]; want != nil && c.partial() && kept.Set.Equal(*want) && kept.Resend == claims.Settled {
		after.Kept[id] = &claims.Entry{Set: kept.Set, Resend: claims.Unsent} // the state alone would plan nothing
	}
}
