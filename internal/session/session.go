// Package session does what one configuration of the provider is asked to: it plans and applies changes of streams, and reads
// them. It knows nothing of Terraform's framework, and writes no sentences: what a person should know is a finding about a
// stream. The rules of one stream are in package claims.
package session

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Session is one configuration of the provider, for a plan or an apply. It is safe for concurrent use.
type Session struct {
	client      *streams.Client // nil while the provider's configuration is not known
	deployment  string          // "" while it is not known
	detectDrift bool

	id      string      // no other session has it
	applies atomic.Bool // an apply has begun: Terraform plans and applies in two sessions
	created atomic.Bool // a create has succeeded, perhaps that of a replacement

	mu      sync.Mutex // also of the ledgers: a rule takes no time
	streams map[string]*stream

	firstPlans sync.Map // of Change, by id: the plans of objects that Terraform may replace

	waiting   chan struct{}    // has an element for each call that waits for claimsDue
	claimsDue func() time.Time // when the calls beside the one that is made first have had time to claim their streams
}

// stream is a stream that several resources may have.
type stream struct {
	lock   chan struct{} // has an element while an operation uses the stream
	ledger claims.Ledger

	primaryPlanned <-chan struct{} // closed when the primary object is planned
	planPrimary    func()          // closes it
}

// claimDelay is how long calls wait for the claims of the calls beside them. The requests depend on it; what is attached at the end does
// not.
const claimDelay = 50 * time.Millisecond

// maxWaiting is how many calls that leave streams wait at the same time. It is less than Terraform's default parallelism, so that other
// resources can claim their streams meanwhile.
const maxWaiting = 8

// New returns a session. client is nil, and deployment "", while they are known after apply.
func New(client *streams.Client, deployment string, detectDrift bool) *Session {
	return &Session{
		client:      client,
		deployment:  deployment,
		detectDrift: detectDrift,
		id:          rand.Text(),
		streams:     map[string]*stream{},
		waiting:     make(chan struct{}, maxWaiting),
		claimsDue:   sync.OnceValue(func() time.Time { return time.Now().Add(claimDelay) }),
	}
}

// Deployment returns the name of the deployment that is configured; "" while it is known after apply.
func (s *Session) Deployment() string { return s.deployment }

// Differs reports whether a state is that of another deployment. Streams of two deployments may have the same ids.
func (s *Session) Differs(state string) bool {
	return s.deployment != "" && state != "" && state != s.deployment
}

// leaveKind returns how a change leaves streams. plannedHere says that a destroy was planned in the session of the apply, which happens
// only to an old object. Terraform does not tell which create replaces it.
func (s *Session) leaveKind(c Change, plannedHere bool) claims.LeaveKind {
	switch {
	case c.Kind == Destroy && plannedHere && (s.created.Load() || c.Marks.All.Failed):
		return claims.Superseded
	case c.Kind == Destroy && plannedHere:
		return claims.LeftBehind
	case c.partial() && c.Want == nil:
		return claims.MayBeDropped
	case c.partial():
		return claims.Dropped
	case c.Want == nil && (c.Kind == Create || c.replaces()):
		return claims.PlannedLate
	}
	return claims.Planned
}

// mayNotDetach reports whether a change would detach the processors of streams that may never have had them from the object: the
// state is that of another deployment, or no refresh has recorded yet of which one it is.
func (s *Session) mayNotDetach(c Change) bool {
	switch {
	case !c.Detach || c.Kind == Create || len(c.Was.Without(c.Want)) == 0:
		return false
	case c.Elsewhere:
		return c.replaces() || c.Kind == Destroy && c.leaving != claims.Superseded
	}
	return c.Deployment == "" && s.deployment != "" && c.leaving != claims.MayBeDropped
}

// Redact masks known secrets in a text that the service reported.
func (s *Session) Redact(text string) string {
	if s.client == nil {
		return text
	}
	return s.client.Redact(text)
}

// awaitClaims waits at most once in a session, for claimDelay after the first call that plans or leaves a stream.
func (s *Session) awaitClaims(ctx context.Context) {
	due := s.claimsDue()
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
		waitUntil(ctx, due, nil)
	default:
	}
}

// awaitPrimaries waits for the plans of the primary objects of the streams that a resource shares with them. Terraform is about to make
// these calls. Without them, the resource sends its sets, because the other objects may be old ones.
func (s *Session) awaitPrimaries(ctx context.Context, c Change) {
	due := time.Now().Add(claimDelay)
	for id := range c.Want {
		if c.Marks.Streams[id].Shared && withLedger(s, id, func(l *claims.Ledger) bool { return l.Reads > 1 }) {
			waitUntil(ctx, due, s.stream(id).primaryPlanned)
		}
	}
}

// waitUntil waits until a time, or for an event before it. nil never happens.
func waitUntil(ctx context.Context, due time.Time, event <-chan struct{}) {
	select {
	case <-event:
	case <-time.After(time.Until(due)):
	case <-ctx.Done():
	}
}

// stream returns what the session has of a stream, which it may not have met before.
func (s *Session) stream(id string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[id] == nil {
		planned := make(chan struct{})
		s.streams[id] = &stream{
			lock: make(chan struct{}, 1), primaryPlanned: planned, planPrimary: sync.OnceFunc(func() { close(planned) }),
		}
	}
	return s.streams[id]
}

// withLedger applies a rule to the ledger of a stream. Operations wait in [Session.operate].
func withLedger[T any](s *Session, id string, rule func(*claims.Ledger) T) T {
	stream := s.stream(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	return rule(&stream.ledger)
}

// forEach calls do for each stream, as many at the same time as the client lets be under way or wait, and returns the results in the
// order of ids. A panic ends only this call.
func forEach[T any](s *Session, ids []string, do func(id string) T) []T {
	results := make([]T, len(ids))
	var running errgroup.Group
	running.SetLimit(s.client.MaxUnderWay())
	for i, id := range ids {
		running.Go(func() (err error) {
			defer func() {
				if cause := recover(); cause != nil {
					err = Recovered(cause)
				}
			}()
			results[i] = do(id)
			return nil
		})
	}
	if err := running.Wait(); err != nil {
		panic(err)
	}
	return results
}
