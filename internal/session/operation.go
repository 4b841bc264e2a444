package session

import (
	"context"
	"errors"
	"net/http"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// operation is what a resource or an action has done with one stream.
type operation struct {
	Finding

	effect *claims.Effect // of the request; nil if nothing was sent
}

// failed reports whether the operation was refused, or failed.
func (o operation) failed() bool { return o.Err != nil || o.Decision.Refusal != 0 }

// SetOnce sends a set for an action, which claims nothing and has no state. It returns a finding if that fails.
func (s *Session) SetOnce(ctx context.Context, id string, set streams.ProcessorSet) (CallRefusal, []Finding) {
	if s.client == nil { // with -invoke, and a configuration that depends on resources which have not been applied
		return NotConfigured, nil
	}
	o := s.operate(ctx, id,
		func(l *claims.Ledger) claims.Decision { return l.BeginAction(set) },
		(*claims.Ledger).EndAction)
	if !o.failed() {
		return 0, nil
	}
	return 0, []Finding{o.Finding}
}

// operate runs an operation when no other one uses the stream.
func (s *Session) operate(ctx context.Context, id string,
	begin func(*claims.Ledger) claims.Decision, end func(*claims.Ledger, claims.Effect),
) (o operation) {
	o.Stream = id
	lock := s.stream(id).lock
	select {
	case lock <- struct{}{}: // also after an interrupt: the rules may decide that nothing is left to do
	default:
		select {
		case lock <- struct{}{}:
		case <-ctx.Done():
			o.Err, o.Facts = errors.Join(ErrWaitedForOther, ctx.Err()), new(withLedger(s, id, (*claims.Ledger).Facts))
			return o
		}
	}
	defer func() { <-lock }()
	defer func() {
		if cause := recover(); cause != nil { // nobody knows whether the request was sent
			o.Err, o.effect = Recovered(cause), &claims.Effect{Failed: true, Outcome: streams.Unknown}
			o.Facts = new(withLedger(s, id, func(l *claims.Ledger) claims.Facts { end(l, *o.effect); return l.Facts() }))
		}
	}()

	if o.Err = ctx.Err(); o.Err == nil || !withLedger(s, id, (*claims.Ledger).Interruptible) {
		o.Decision, o.Err = withLedger(s, id, begin), nil
	}
	if o.Decision.Send {
		reported, err := s.client.UpdateStream(ctx, id, o.Decision.Set)
		o.effect, o.Err = &claims.Effect{Reported: reported}, err
		if e, ok := errors.AsType[*streams.Error](err); ok { // every failure of the client
			o.effect = &claims.Effect{Failed: true, NotFound: IsNotFound(err), Outcome: e.Outcome, Reported: e.Stream}
		}
		withLedger(s, id, func(l *claims.Ledger) any { end(l, *o.effect); return nil })
	}
	o.Facts = new(withLedger(s, id, (*claims.Ledger).Facts))
	return o
}

// Finding is what a person should know of one stream after a call: a warning, or an error if Warning is 0.
type Finding struct {
	Stream   string // its id
	Warning  claims.Warning
	Decision claims.Decision // of a plan or an operation
	Err      error           // of a read, of a request or of the context
	Facts    *claims.Facts   // after an operation; nil if there was none
	Shown    string          // Decision.Other as a person may read it: known secrets are masked

	Of         int    // the streams that the resource has in the state
	Configured string // the stream that the configuration of a single resource has; "" if it is not known
}

// IsError reports whether the call fails.
func (f Finding) IsError() bool { return f.Warning == 0 }

// Now returns what is now true of the stream: what all operations of the session did counts.
func (f Finding) Now() (streams.Outcome, *streams.Stream) {
	switch {
	case f.Facts.Unknown:
		return streams.Unknown, nil
	case f.Facts.Reported != nil:
		return streams.Changed, f.Facts.Reported
	}
	return streams.NotChanged, nil
}

// findings returns what a person should know of what the plan of a change, or an operation, decided for a stream.
func (s *Session) findings(c Change, id string, decided claims.Decision) (all []Finding) {
	f := Finding{Stream: id, Decision: decided, Of: len(c.Was)}
	if !c.Group {
		for wanted := range c.Want {
			f.Configured = wanted
		}
	}
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

// CallRefusal is why a whole call is refused.
type CallRefusal int

// The refusals of calls; 0 is none.
const (
	NotConfigured CallRefusal = iota + 1 // the provider's configuration is known after apply
	NeedsReads                           // without detect_drift, nobody can check what a resource takes over
	NotDetachable                        // the state is that of another deployment, and a destroy would detach there
)

// ErrWaitedForOther says that an operation ended while it waited for another one on the stream.
var ErrWaitedForOther = errors.New("waited for another operation on the stream")

// IsNotFound reports whether the service itself said that there is no such stream. A 404 in another form may come from a
// proxy, and be about the route.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*streams.Error](err)
	return ok && e.Status == http.StatusNotFound && e.Documented()
}
