package provider

import (
	"context"
	"iter"
	"maps"
	"slices"

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

// lookUp reads streams for a data source. A stream that does not exist is an error.
func (s *session) lookUp(ctx context.Context, of subject, ids []string, limit timeLimit) (map[string]*streams.Stream, diag.Diagnostics) {
	switch {
	case !s.configured():
		return nil, diag.Diagnostics{notConfiguredError("the streams could not be read")}
	case !s.detectDrift:
		return nil, diag.Diagnostics{
			needsReads("Streams Cannot Be Read", "remove the data source: nobody can ask the service what is attached."),
		}
	}
	var diags diag.Diagnostics
	ctx, cancel := withTimeLimit(ctx, limit, &diags)
	defer cancel()
	found, t := map[string]*streams.Stream{}, &tally{subject: of}
	for id, read := range s.readEach(ctx, ids) {
		if found[id] = read.got; read.err != nil {
			t.failures[streams.NotChanged]++
			t.add(id, diagnoseRead(id, read.err))
		}
	}
	return found, append(diags, t.diagnostics("A data source changes nothing.")...)
}

// readBeforeCreate reads the streams that a plan takes over, and warns about processors that the apply detaches.
func (s *session) readBeforeCreate(ctx context.Context, c change, t *tally) {
	added := slices.DeleteFunc(slices.Sorted(maps.Keys(c.want)), func(id string) bool { return c.was[id] != nil })
	for id, read := range s.readEach(ctx, added) {
		gone := c.marks[id].Gone || rules(s, id, (*claims.Stream).Known).Gone
		switch set := c.want[id]; {
		case streamNotFound(read.err) && gone:
			t.add(id, diag.WithPath(path.Root("stream_id"), createOfGone.about(id)))
		case read.err != nil:
			t.add(id, diagnoseRead(id, read.err))
		case set == nil: // known after apply
		case read.got.ProcessorIDs.Minus(*set).Len() > 0:
			detached := s.client.Redact(read.got.ProcessorIDs.Minus(*set).String())
			t.add(id, diag.WithPath(path.Root("processor_ids"), detachedByCreate.with(detached).about(id)))
		}
	}
}

// refresh reads the streams of a state. A stream that the service does not know leaves the state, unless it is imported.
func (s *session) refresh(ctx context.Context, of subject, was entries, found marks) (applied, diag.Diagnostics) {
	t := &tally{subject: of, mayWarn: s.mayWarn}
	a := applied{kept: entries{}, reported: map[string]*streams.Stream{}, marks: marks{}}
	for id, read := range s.readEach(ctx, was.without(nil)) {
		switch {
		case streamNotFound(read.err) && !found[id].Import:
			rules(s, id, func(stream *claims.Stream) any { stream.SetGone(); return nil })
			a.marks[id] = mark{Gone: true} // the plan of the apply is made by another process
			t.add(id, streamGone.about(id))
		case read.err != nil:
			t.failures[streams.NotChanged]++
			t.add(id, diagnoseRead(id, read.err))
		default:
			a.kept[id], a.reported[id] = &claims.Entry{Set: read.got.ProcessorIDs}, read.got
			if found[id].Resend == claims.Unsent && was[id].Resend != claims.Unsent { // an imported set is known now
				a.marks[id] = mark{Resend: claims.Unsent}
			}
		}
	}
	return a, t.diagnostics("The state was not changed.")
}
