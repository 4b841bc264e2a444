package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"
	"golang.org/x/sync/errgroup"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// session is one provider configuration in one run. Resources and actions plan and change streams only through a
// session; the rules are in package claims.
type session struct {
	client      *streams.Client // nil while the provider's configuration is not known
	deployment  string          // in the state, because two may have streams with the same ids; "" while it is not known
	detectDrift bool

	mu      sync.Mutex
	warned  map[string]bool // the streams whose warnings are shown
	streams map[string]*sharedStream

	applying   chan struct{} // closed when an operation has begun
	firstApply sync.Once     // closes applying

	noApply       chan struct{} // closed when no operation has begun for a while after the first conflict
	firstConflict sync.Once     // starts the time for noApply

	firstCall   sync.Once     // starts the time for firstClaims
	waiting     chan struct{} // holds an element for each waiting departure
	firstClaims chan struct{} // closed when the first calls of the run have had time to claim their streams
}

// sharedStream is a stream that several resources of a run may have.
type sharedStream struct {
	rules claims.Stream // guarded by session.mu
	turn  chan struct{} // holds an element while an operation uses the stream
}

// claimDelay is how long the first departures of a run wait for the claims of the calls beside them. A departure then
// knows whether a renamed resource has its stream. No result depends on the delay.
const claimDelay = 50 * time.Millisecond

// maxWaiting is how many departures wait at the same time. It is less than Terraform's default parallelism, so that
// other resources can claim their streams meanwhile.
const maxWaiting = 8

// conflictDelay is how long the first plan of a run with a conflict waits to see whether it is that of an apply.
const conflictDelay = time.Second

func newSession(deployment string, detectDrift bool) *session {
	return &session{
		deployment:  deployment,
		detectDrift: detectDrift,
		warned:      map[string]bool{},
		streams:     map[string]*sharedStream{},
		applying:    make(chan struct{}),
		noApply:     make(chan struct{}),
		waiting:     make(chan struct{}, maxWaiting),
		firstClaims: make(chan struct{}),
	}
}

func (s *session) configured() bool { return s != nil && s.client != nil }

// readsStreams reports whether the user turned detect_drift on.
func (s *session) readsStreams() bool { return s.configured() && s.detectDrift }

// elsewhere reports whether a state is that of another deployment: its streams only have the same ids.
func (s *session) elsewhere(deployment types.String) bool {
	return s != nil && s.deployment != "" && known(deployment) && deployment.ValueString() != s.deployment
}

// deploymentValue is the deployment in the plan and the state.
func (s *session) deploymentValue() types.String {
	if s == nil || s.deployment == "" {
		return types.StringUnknown()
	}
	return types.StringValue(s.deployment)
}

// noteCall starts the time of awaitFirstClaims at the first call of the run that plans or leaves a stream.
func (s *session) noteCall() {
	s.firstCall.Do(func() { time.AfterFunc(claimDelay, func() { close(s.firstClaims) }) })
}

// awaitFirstClaims waits at most once in a run, for claimDelay after the first call.
func (s *session) awaitFirstClaims(ctx context.Context) {
	s.noteCall()
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
	default:
		return
	}
	select {
	case <-s.firstClaims:
	case <-ctx.Done():
	}
}

// mayWarn reports whether a plan or a refresh shows its warnings about a stream: a run shows those about the first streams.
func (s *session) mayWarn(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.warned) < shownStreams {
		s.warned[id] = true
	}
	return s.warned[id]
}

func (s *session) stream(id string) *sharedStream {
	shared, ok := s.streams[id]
	if !ok {
		shared = &sharedStream{turn: make(chan struct{}, 1)}
		s.streams[id] = shared
	}
	return shared
}

// rules applies a rule to a stream. A rule takes no time: operations wait in [session.operate].
func rules[T any](s *session, id string, rule func(*claims.Stream) T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return rule(&s.stream(id).rules)
}

// Errors of operations that send nothing.
var (
	// errNotConfigured: Terraform invokes an action with -invoke although the provider's configuration depends on
	// resources that have not been applied.
	errNotConfigured = errors.New("the provider's configuration is not known yet")
	errLeftAlone     = errors.New("an operation of another resource on this stream has failed")
	errConflict      = errors.New("another resource gives the stream another set")
)

// interruptedError says that an operation ended before it did anything. It wraps the error of the context.
type interruptedError struct{ error }

func (interruptedError) Error() string {
	return "the operation was interrupted before anything was sent"
}

func (e interruptedError) Unwrap() error { return e.error }

// outcome is the outcome of an operation on one stream.
type outcome struct {
	decision claims.Decision
	got      *streams.Stream // after a success; nil if nothing was sent
	result   *claims.Result  // of the request; nil if nothing was sent
	known    claims.Known    // after the operation
	err      error
}

// set sends the set of a resource. inState says that the state has the resource with this stream.
func (s *session) set(ctx context.Context, id string, set streams.ProcessorSet, inState bool) outcome {
	return s.operate(ctx, id,
		func(r *claims.Stream, interrupted bool) claims.Decision { return r.Set(set, interrupted) },
		func(r *claims.Stream, result claims.Result) { r.EndSet(result, inState) })
}

// leave ends a resource's use of a stream. mark is what the plan found.
func (s *session) leave(ctx context.Context, id string, d claims.Departure, mark claims.Claim) outcome {
	return s.operate(ctx, id,
		func(r *claims.Stream, interrupted bool) claims.Decision { return r.Leave(d, mark, interrupted) },
		(*claims.Stream).EndLeave)
}

// setOnce sends a set for an action, which claims nothing and has no state.
func (s *session) setOnce(ctx context.Context, id string, set streams.ProcessorSet) outcome {
	return s.operate(ctx, id,
		func(r *claims.Stream, interrupted bool) claims.Decision { return r.SetOnce(set, interrupted) },
		(*claims.Stream).EndOnce)
}

// inApply reports whether an operation has begun.
func (s *session) inApply() bool {
	select {
	case <-s.applying:
		return true
	default:
		return false
	}
}

// knownOfConflict returns what the run knows of a stream to which two resources give different sets. The plans of an
// apply look like those of a plan, but in an apply the other resource is about to send its set, or has sent it.
func (s *session) knownOfConflict(ctx context.Context, id string) claims.Known {
	s.firstConflict.Do(func() { time.AfterFunc(conflictDelay, func() { close(s.noApply) }) })
	select {
	case <-s.applying:
	case <-s.noApply:
		if !s.inApply() {
			return claims.Known{}
		}
	case <-ctx.Done():
	}
	if turn, err := s.waitForTurn(ctx, id); err == nil {
		defer func() { <-turn }()
	}
	known := rules(s, id, (*claims.Stream).Known)
	known.InDoubt = known.InDoubt || known.Reported == nil && !known.Failed
	return known
}

// operate runs an operation when no other one uses the stream.
func (s *session) operate(ctx context.Context, id string,
	begin func(r *claims.Stream, interrupted bool) claims.Decision, end func(*claims.Stream, claims.Result),
) (o outcome) {
	if !s.configured() {
		return outcome{err: errNotConfigured}
	}
	turn, err := s.waitForTurn(ctx, id)
	if err != nil {
		return outcome{err: err, known: rules(s, id, (*claims.Stream).Known)}
	}
	defer func() {
		o.known = rules(s, id, (*claims.Stream).Known)
		<-turn
	}()

	s.firstApply.Do(func() { close(s.applying) })
	o.decision = rules(s, id, func(r *claims.Stream) claims.Decision { return begin(r, ctx.Err() != nil) })
	switch o.decision.Refusal {
	case claims.ConflictingSets:
		o.err = errConflict
	case claims.LeftAlone:
		o.err = errLeftAlone
	case claims.Interrupted:
		o.err = interruptedError{ctx.Err()}
	}
	if !o.decision.Send {
		if o.err == nil {
			tflog.Info(ctx, "the stream is left as it is; nothing is sent", map[string]any{"stream_id": id})
		}
		return o
	}
	o.got, o.err = s.client.UpdateStream(ctx, id, o.decision.Set)
	o.result = resultOf(o.got, o.err)
	s.mu.Lock()
	defer s.mu.Unlock()
	end(&s.stream(id).rules, *o.result)
	return o
}

// waitForTurn waits until no other operation uses a stream. A receive from the returned channel ends the turn.
func (s *session) waitForTurn(ctx context.Context, id string) (<-chan struct{}, error) {
	s.mu.Lock()
	turn := s.stream(id).turn
	s.mu.Unlock()
	select {
	case turn <- struct{}{}: // also after an interrupt: the rules may decide that nothing is left to do
		return turn, nil
	default:
	}
	if ctx.Err() != nil {
		return nil, interruptedError{ctx.Err()}
	}
	select {
	case turn <- struct{}{}:
		return turn, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("another operation on stream %q did not end in time: %w", id, ctx.Err())
	}
}

func resultOf(got *streams.Stream, err error) *claims.Result {
	if err == nil {
		return &claims.Result{Reported: got}
	}
	e := asStreamError(err)
	return &claims.Result{Failed: true, NotFound: e.Status == http.StatusNotFound, Outcome: e.Outcome, Reported: e.Stream}
}

// forEach runs an operation for each stream, as many at the same time as the client sends requests, and returns the
// results in the order of ids.
func forEach[T any](s *session, ids []string, operation func(id string) T) []T {
	results := make([]T, len(ids))
	var running errgroup.Group
	running.SetLimit(s.client.MaxConcurrent())
	for i, id := range ids {
		running.Go(func() error {
			results[i] = operation(id)
			return nil
		})
	}
	_ = running.Wait() // the results have the errors
	return results
}
