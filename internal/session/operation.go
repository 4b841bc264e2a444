package session

import (
	"context"
	"errors"
	"net/http"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Operation is what a resource or an action has done with one stream.
type Operation struct {
	Stream   string // its id
	Decision claims.Decision
	Result   *claims.Result // of the request; nil if nothing was sent
	Facts    claims.Facts   // after the operation
	Err      error          // of a request or of the context; nil for a refusal
}

// Failed reports whether the operation was refused, or failed.
func (o Operation) Failed() bool { return o.Err != nil || o.Decision.Refusal != 0 }

// Now returns what is now true of the stream. If the operation sent nothing, what other operations of the session did counts.
func (o Operation) Now() (streams.Outcome, *streams.Stream) {
	if e, ok := errors.AsType[*streams.Error](o.Err); ok && e.Attempts > 0 {
		return e.Outcome, e.Stream
	}
	if o.Facts.Unknown {
		return streams.Unknown, nil
	}
	return streams.NotChanged, o.Facts.Reported
}

// finding returns the finding of an operation that failed.
func (o Operation) finding() Finding {
	return Finding{Stream: o.Stream, Decision: o.Decision, Err: o.Err, Operation: &o}
}

// SetOnce sends a set for an action, which claims nothing and has no state. It returns a finding if that fails.
func (s *Session) SetOnce(ctx context.Context, id string, set streams.ProcessorSet) (Refusal, []Finding) {
	if s.client == nil { // with -invoke, and a configuration that depends on resources which have not been applied
		return NotConfigured, nil
	}
	o := s.operate(ctx, id,
		func(stream *claims.Stream, interrupted bool) claims.Decision { return stream.SetOnce(set, interrupted) },
		(*claims.Stream).EndOnce)
	if !o.Failed() {
		return accepted, nil
	}
	return accepted, []Finding{o.finding()}
}

// operate runs an operation when no other one uses the stream.
func (s *Session) operate(ctx context.Context, id string,
	begin func(stream *claims.Stream, interrupted bool) claims.Decision, end func(*claims.Stream, claims.Result),
) Operation {
	o := Operation{Stream: id}
	lock := s.stream(id).lock
	if !lock.TryAcquire(1) { // also after an interrupt: the rules may decide that nothing is left to do
		if err := lock.Acquire(ctx, 1); err != nil {
			o.Err, o.Facts = errors.Join(ErrWaitedForOther, err), rules(s, id, (*claims.Stream).Facts)
			return o
		}
	}
	defer lock.Release(1)

	o.Decision = rules(s, id, func(stream *claims.Stream) claims.Decision { return begin(stream, ctx.Err() != nil) })
	switch {
	case o.Decision.Send:
		reported, err := s.client.UpdateStream(ctx, id, o.Decision.Set)
		o.Result, o.Err = &claims.Result{Reported: reported}, err
		if e, ok := errors.AsType[*streams.Error](err); ok { // every failure of the client
			notFound := e.Status == http.StatusNotFound
			o.Result = &claims.Result{Failed: true, NotFound: notFound, Outcome: e.Outcome, Reported: e.Stream}
		}
		rules(s, id, func(stream *claims.Stream) any { end(stream, *o.Result); return nil })
	case o.Decision.Refusal == claims.Interrupted:
		o.Err = ctx.Err()
	}
	o.Facts = rules(s, id, (*claims.Stream).Facts)
	return o
}

// Finding is what a person should know of one stream after a call: a warning if it has a kind, otherwise an error.
type Finding struct {
	Stream    string
	Kind      claims.Finding
	Decision  claims.Decision // of a plan or an operation
	Err       error           // of a read or an operation
	Operation *Operation      // nil if there was none
	Shown     string          // Decision.Other as a person may read it: known secrets are masked
}

// IsError reports whether the call fails.
func (f Finding) IsError() bool { return f.Kind == 0 }

// Refusal is why a whole call is refused.
type Refusal int

// The refusals of calls.
const (
	accepted      Refusal = iota
	NotConfigured         // the provider's configuration is known after apply
	NeedsReads            // without detect_drift, nobody can check what a resource takes over
	NotDetachable         // the state is that of another deployment, and a destroy would detach there
)

// ErrWaitedForOther says that an operation ended while it waited for another one on the stream.
var ErrWaitedForOther = errors.New("waited for another operation on the stream")

// IsNotFound reports whether the service itself said that there is no such stream. A 404 in another form may come from a
// proxy, and be about the route.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*streams.Error](err)
	return ok && e.Status == http.StatusNotFound && e.Documented
}
