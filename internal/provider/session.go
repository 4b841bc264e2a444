package provider

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// session is one configuration of the provider, for a plan or an apply. Resources and actions plan and change streams only through a
// session; the rules are in package claims.
type session struct {
	client      *streams.Client // nil while the provider's configuration is not known
	deployment  deployment
	detectDrift bool

	warned  *warned
	id      string      // no other session has it
	created atomic.Bool // a create has succeeded in this session: it is that of an apply

	mu      sync.Mutex
	streams map[string]*sharedStream

	waiting     *semaphore.Weighted // held by each operation that waits for firstClaims
	firstClaims func() time.Time    // when the first calls have had time to claim their streams
}

// sharedStream is a stream that several resources may have.
type sharedStream struct {
	rules claims.Stream       // guarded by session.mu
	prior priorSets           // likewise
	turn  *semaphore.Weighted // held while an operation uses the stream
}

// claimDelay is how long the first resources of a session that leave streams wait for the claims of the calls beside them.
// They then know whether a renamed resource has the stream. No result depends on the delay.
const claimDelay = 50 * time.Millisecond

// maxWaiting is how many of them wait at the same time. It is less than Terraform's default parallelism, so that other
// resources can claim their streams meanwhile.
const maxWaiting = 8

func newSession(name string, detectDrift bool) *session {
	return &session{
		deployment:  deployment(name),
		detectDrift: detectDrift,
		warned:      newWarned(),
		id:          rand.Text(),
		streams:     map[string]*sharedStream{},
		waiting:     semaphore.NewWeighted(maxWaiting),
		firstClaims: sync.OnceValue(func() time.Time { return time.Now().Add(claimDelay) }),
	}
}

func (s *session) configured() bool { return s.client != nil }

func (s *session) readsStreams() bool { return s.configured() && s.detectDrift }

// awaitFirstClaims waits at most once in a session, for claimDelay after the first call that plans or leaves a stream.
func (s *session) awaitFirstClaims(ctx context.Context) { s.awaitClaims(ctx, s.firstClaims()) }

// awaitFirstLeaves waits until those that wait for the first claims have had time to plan how they leave their streams.
func (s *session) awaitFirstLeaves(ctx context.Context) {
	s.awaitClaims(ctx, s.firstClaims().Add(claimDelay))
}

func (s *session) awaitClaims(ctx context.Context, claimed time.Time) {
	if !s.waiting.TryAcquire(1) {
		return
	}
	defer s.waiting.Release(1)
	select {
	case <-time.After(time.Until(claimed)):
	case <-ctx.Done():
	}
}

func (s *session) stream(id string) *sharedStream {
	shared, ok := s.streams[id]
	if !ok {
		shared = &sharedStream{turn: semaphore.NewWeighted(1)}
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

// interruptedError says that an operation ended before it did anything. It wraps the error of the context.
type interruptedError struct{ error }

func (e interruptedError) Error() string {
	if errors.Is(e.error, context.DeadlineExceeded) {
		return "the time limit was over before anything was sent"
	}
	return "the operation was interrupted before anything was sent"
}

func (e interruptedError) Unwrap() error { return e.error }

// operation is what a resource or an action has done with one stream.
type operation struct {
	decision claims.Decision
	result   *claims.Result // of the request; nil if nothing was sent
	notFound error          // a resource that leaves is done if the service does not know the stream
	facts    claims.Facts   // after the operation
	err      error
}

// leftAttached reports whether an object of this run has left the stream and its processors.
func (o operation) leftAttached() bool { return o.facts.Left != nil && o.facts.Left.Len() > 0 }

// set sends the planned set of a stream. After a failure, the state may have the stream: as before, or as reported.
func (s *session) set(ctx context.Context, c change, id string) operation {
	return s.operate(ctx, id,
		func(stream *claims.Stream, interrupted bool) claims.Decision {
			return stream.Set(*c.want[id], interrupted)
		},
		func(stream *claims.Stream, o *operation) {
			stream.EndSet(*o.result, c.was[id] != nil || c.partial() && o.result.Reported != nil)
		})
}

// leave ends a resource's use of a stream. mark is the claim that the plan found.
func (s *session) leave(ctx context.Context, id string, l claims.Leave, mark claims.Claim) operation {
	return s.operate(ctx, id,
		func(stream *claims.Stream, interrupted bool) claims.Decision {
			return stream.Leave(l, mark, interrupted)
		},
		func(stream *claims.Stream, o *operation) {
			if o.err != nil && asStreamError(o.err).Status == http.StatusNotFound {
				o.notFound, o.err, o.result.Failed = o.err, nil, false
			}
			stream.EndLeave(*o.result)
		})
}

// setOnce sends a set for an action, which claims nothing and has no state.
func (s *session) setOnce(ctx context.Context, id string, set streams.ProcessorSet) operation {
	return s.operate(ctx, id,
		func(stream *claims.Stream, interrupted bool) claims.Decision { return stream.SetOnce(set, interrupted) },
		func(stream *claims.Stream, o *operation) { stream.EndOnce(*o.result) })
}

// operate runs an operation when no other one uses the stream.
func (s *session) operate(ctx context.Context, id string,
	begin func(stream *claims.Stream, interrupted bool) claims.Decision, end func(*claims.Stream, *operation),
) (o operation) {
	turn, err := s.waitForTurn(ctx, id)
	if err != nil {
		return operation{err: err, facts: rules(s, id, (*claims.Stream).Facts)}
	}
	defer func() {
		o.facts = rules(s, id, (*claims.Stream).Facts)
		turn.Release(1)
	}()

	o.decision = rules(s, id, func(stream *claims.Stream) claims.Decision { return begin(stream, ctx.Err() != nil) })
	switch o.decision.Refusal {
	case claims.ConflictingSets, claims.Blocked:
		o.err = errors.New("another resource has the stream") // diagnose says more, by the refusal
	case claims.Interrupted:
		o.err = interruptedError{ctx.Err()}
	}
	if !o.decision.Send {
		if o.err == nil {
			tflog.Info(ctx, "the stream stays as it is; nothing is sent", map[string]any{"stream_id": id})
		}
		return o
	}
	reported, err := s.client.UpdateStream(ctx, id, o.decision.Set)
	o.result, o.err = &claims.Result{Reported: reported}, err
	if o.err != nil {
		e := asStreamError(o.err)
		o.result = &claims.Result{Failed: true, Outcome: e.Outcome, Reported: e.Stream}
	}
	return rules(s, id, func(stream *claims.Stream) operation { end(stream, &o); return o })
}

// waitForTurn waits until no other operation uses a stream. The caller releases what it returns.
func (s *session) waitForTurn(ctx context.Context, id string) (*semaphore.Weighted, error) {
	s.mu.Lock()
	turn := s.stream(id).turn
	s.mu.Unlock()
	if turn.TryAcquire(1) { // also after an interrupt: the rules may decide that nothing is left to do
		return turn, nil
	}
	if ctx.Err() != nil {
		return nil, interruptedError{ctx.Err()}
	}
	if err := turn.Acquire(ctx, 1); err != nil {
		if errors.Is(err, context.Canceled) {
			return nil, fmt.Errorf("the operation was interrupted while it waited for another one on stream %q: %w", id, err)
		}
		return nil, fmt.Errorf("another operation on stream %q did not end in time: %w", id, err)
	}
	return turn, nil
}

// forEach calls do for each stream, as many at the same time as the client sends requests, and yields the results in the
// order of ids.
func forEach[T any](s *session, ids []string, do func(id string) T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		results := make([]chan T, len(ids))
		for i := range ids {
			results[i] = make(chan T, 1)
		}
		go func() {
			var running errgroup.Group
			running.SetLimit(s.client.MaxConcurrent())
			for i, id := range ids {
				running.Go(func() error { results[i] <- do(id); return nil })
			}
		}()
		for i, id := range ids {
			if !yield(id, <-results[i]) {
				return
			}
		}
	}
}
