package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// This file reads streams, with detect_drift only: the interface specifies no read.

// readStream reads a stream.
func (s *session) readStream(ctx context.Context, id string) operation {
	got, err := s.client.ReadStream(ctx, id)
	return operation{got: got, err: err}
}

// readBeforeCreate reads the streams that a plan takes over, and warns about processors that the apply detaches.
func (s *session) readBeforeCreate(ctx context.Context, c change, r *report) {
	added := slices.DeleteFunc(slices.Sorted(maps.Keys(c.want)), func(id string) bool { return c.was[id] != nil })
	for id, o := range forEach(s, added, func(id string) operation { return s.readStream(ctx, id) }) {
		gone := c.marks[id].Gone || rules(s, id, (*claims.Stream).Gone)
		switch set := c.want[id]; {
		case streamNotFound(o.err) && gone:
			r.add(id, createOfGoneStreamWarning(id))
		case o.err != nil:
			r.add(id, diagnoseRead(id, o.err))
		case set == nil: // known after apply
		case o.got.ProcessorIDs.Minus(*set).Len() > 0:
			r.add(id, detachedByCreateWarning(id, s.client.Redact(o.got.ProcessorIDs.Minus(*set).String())))
		}
	}
}

// refresh reads the streams of a state. A stream that the service does not know leaves the state, unless it is imported.
func (s *session) refresh(ctx context.Context, of subject, was entries, found marks) (applied, diag.Diagnostics) {
	r := newReport(of, s.mayWarn)
	a := applied{kept: entries{}, reported: map[string]*streams.Stream{}, marks: marks{}}
	for id, o := range forEach(s, was.without(nil), func(id string) operation { return s.readStream(ctx, id) }) {
		switch {
		case streamNotFound(o.err) && !found[id].Import:
			rules(s, id, func(stream *claims.Stream) any { stream.SetGone(); return nil })
			a.marks[id] = mark{Gone: true} // the plan of the apply is made by another process
			r.add(id, streamGoneWarning(id))
		case o.err != nil:
			r.failures[streams.NotChanged]++
			r.add(id, diagnoseRead(id, o.err))
		default:
			a.kept[id], a.reported[id] = &claims.Entry{Set: o.got.ProcessorIDs}, o.got
			if found[id].Resend == claims.Unsent && was[id].Resend != claims.Unsent { // an imported set is known now
				a.marks[id] = mark{Resend: claims.Unsent}
			}
		}
	}
	return a, r.diagnostics("The state was not changed.")
}
