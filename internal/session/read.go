package session

import (
	"context"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// This file reads streams, with detect_drift only: the interface specifies no read.

// Reading is what the read of a stream returned.
type Reading struct {
	Stream string // its id
	Got    *streams.Stream
	Err    error
}

// ReadRefusal returns why streams cannot be read, or 0.
func (s *Session) ReadRefusal() CallRefusal {
	switch {
	case s.client == nil:
		return NotConfigured
	case !s.detectDrift:
		return NeedsReads
	}
	return 0
}

// DetectsDrift reports whether streams are read, at the latest when all values of the provider block are known.
func (s *Session) DetectsDrift() bool { return s.detectDrift }

// ReadEach reads streams, and returns the results in the order of ids.
func (s *Session) ReadEach(ctx context.Context, ids []string) []Reading {
	return forEach(s, ids, func(id string) Reading {
		got, err := s.client.ReadStream(ctx, id)
		return Reading{id, got, err}
	})
}

// markShared marks the streams of a state that are also in another one: no plan tells that to the apply of an object that was
// replaced.
func (s *Session) markShared(was Entries, found *Marks) {
	for id := range was {
		m := found.Of(id)
		m.Shared = withLedger(s, id, func(l *claims.Ledger) bool {
			l.Reads++
			return l.Reads > 1
		})
		found.set(id, m)
	}
}

// Refresh marks what states share. With detect_drift, a stream that the service does not know leaves the state, unless it is
// imported. Gateways respond to unknown routes in the documented form, too, so some read of the same resource must have returned
// a stream at this address: a deployment may have several.
func (s *Session) Refresh(ctx context.Context, was Entries, found Marks) After {
	ofImport := found.All.Import.Session == s.id && found.All.ReadAt == "" // no read after the import has returned a stream
	found.All.Import = s.refreshed(found.All.Import)
	s.markShared(was, &found)
	if s.ReadRefusal() != 0 {
		return After{Kept: was, Marks: found, OfImport: ofImport}
	}
	after := After{Kept: Entries{}, Reported: map[string]*streams.Stream{}, Marks: Marks{All: found.All}, OfImport: ofImport}
	reads := s.ReadEach(ctx, was.Without(nil))
	if slices.ContainsFunc(reads, func(r Reading) bool { return r.Err == nil }) {
		after.Marks.All.ReadAt = s.client.Address()
	}
	proven := after.Marks.All.ReadAt == s.client.Address()
	for _, read := range reads {
		id := read.Stream
		gone := IsNotFound(read.Err) && proven && !ofImport // of an imported one, Terraform would say so without the response
		withLedger(s, id, func(l *claims.Ledger) any { l.Gone = l.Gone || gone; return nil })
		switch {
		case gone:
			after.Marks.set(id, Mark{Gone: true}) // the plan of the apply is made by another process
			after.Findings = append(after.Findings, Finding{Stream: id, Warning: claims.Gone})
		case read.Err != nil:
			after.Findings = append(after.Findings, Finding{Stream: id, Err: read.Err})
		default:
			after.Kept[id], after.Reported[id] = &claims.Entry{Set: read.Got.ProcessorIDs}, read.Got
			kept := Mark{Shared: found.Streams[id].Shared}
			if found.Of(id).Resend == claims.Unsent { // after a trigger, the set may be the one that was read
				kept.Resend = claims.Unsent
			}
			after.Marks.set(id, kept)
		}
	}
	return after
}
