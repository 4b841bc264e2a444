package provider

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// This file reads streams, with detect_drift only: the interface specifies no read.

// reading is what the read of a stream returned.
type reading struct {
	got *streams.Stream
	err error
}

func (s *session) read(ctx context.Context, id string) reading {
	got, err := s.client.ReadStream(ctx, id)
	return reading{got, err}
}

// readEach reads streams, and yields the results in the order of ids.
func (s *session) readEach(ctx context.Context, ids []string) iter.Seq2[string, reading] {
	return forEach(s, ids, func(id string) reading { return s.read(ctx, id) })
}

// checkReads refuses what needs reads. otherwise is what to do without them.
func (s *session) checkReads(diags *diag.Diagnostics, summary, happened, otherwise string) {
	if !s.configured() {
		diags.Append(notConfiguredError(happened))
	} else if !s.detectDrift {
		diags.Append(needsReads(summary, otherwise))
	}
}

// readBeforeCreate reads the streams that a plan takes over, and warns about processors that the apply detaches.
func (s *session) readBeforeCreate(ctx context.Context, c change, t *tally) {
	for id, read := range s.readEach(ctx, c.takenOver()) {
		gone := c.marks[id].Gone || rules(s, id, (*claims.Stream).Facts).Gone
		switch set := c.want[id]; {
		case streamNotFound(read.err) && gone:
			t.add(id, diag.WithPath(path.Root("stream_id"), createOfGone.about(id)))
		case read.err != nil:
			t.add(id, diagnoseRead(id, read.err, withoutReads))
		case set == nil: // known after apply
		case c.refuses && s.ofOthers(id, read.got.ProcessorIDs, *set).Len() > 0:
			t.add(id, ofOthersError(id, s.client.Redact(s.ofOthers(id, read.got.ProcessorIDs, *set).String())))
		case read.got.ProcessorIDs.Minus(*set).Len() > 0:
			detached := s.client.Redact(read.got.ProcessorIDs.Minus(*set).String())
			t.add(id, diag.WithPath(path.Root("processor_ids"), detachedByCreate.with(detached).about(id)))
		}
	}
}

// noteShared marks the streams of a state that the refresh has also found in another state. It reports whether a mark has
// changed. No plan passes this to the apply of an object that was replaced.
func (s *session) noteShared(was entries, found marks) (changed bool) {
	for id := range was {
		m := found.of(id)
		if shared := rules(s, id, (*claims.Stream).Read) > 1; shared != m.Shared {
			m.Shared, changed = shared, true
			found[id] = m
		}
	}
	return changed
}

// refresh reads the streams of a state. A stream that the service does not know leaves the state, unless it is imported.
func (s *session) refresh(ctx context.Context, of subject, was entries, found marks) (newState, diag.Diagnostics) {
	t := &tally{subject: of, inFull: s.warned.inFull}
	after := newState{kept: entries{}, reported: map[string]*streams.Stream{}, marks: marks{}}
	for id, read := range s.readEach(ctx, was.without(nil)) {
		s.notePrior(id, was[id].Set)
		switch {
		case streamNotFound(read.err) && !found[id].Import: // of an imported one, Terraform would say so without the response
			rules(s, id, func(stream *claims.Stream) any { stream.SetGone(); return nil })
			after.marks[id] = mark{Gone: true} // the plan of the apply is made by another process
			t.add(id, streamGone.about(id))
		case read.err != nil:
			otherwise := withoutReads
			if of == ofGroup && found[id].Import {
				otherwise = withoutGroupImport
			}
			t.failures[streams.NotChanged]++
			t.add(id, diagnoseRead(id, read.err, otherwise))
		default:
			after.kept[id], after.reported[id] = &claims.Entry{Set: read.got.ProcessorIDs}, read.got
			m := mark{Shared: rules(s, id, (*claims.Stream).Reads) > 1, Failed: found[id].Failed} // or read meanwhile
			if found[id].Resend == claims.Unsent && was[id].Resend != claims.Unsent {             // an imported set is known now
				m.Resend = claims.Unsent
			}
			after.marks.add(id, m)
		}
	}
	return after, t.diagnostics("The state was not changed.")
}
