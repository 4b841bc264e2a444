package provider

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// ownership knows which streams the resources of one run claim, rely on and release, and lets one
// operation at a time use a stream. Terraform does not define the order of independent operations.
type ownership struct {
	mu      sync.Mutex
	streams map[string]*ownedStream

	firstCall   sync.Once     // starts the time for firstClaims
	waiting     chan struct{} // holds an element for each waiting destroy
	firstClaims chan struct{} // closed when the first calls of the run have had time to claim their streams
}

// ownedStream is what a run has planned for one stream, and done to it.
type ownedStream struct {
	inUse chan struct{} // holds an element while an operation uses the stream

	// Guarded by ownership.mu.
	claimed  bool                 // a resource has planned or sent set
	set      streams.ProcessorSet // see claimed
	reliedOn bool                 // a resource has planned to leave the stream as it is, with set
	releases []release            // departed resources
	gone     bool                 // the refresh of this run found no such stream

	// Guarded by inUse.
	written     bool                  // the set of a resource that stays has been sent
	reported    *streams.Stream       // the last report of the service in this run; nil if there is none
	unconfirmed bool                  // a request since then may or may not have taken effect
	blocked     bool                  // an operation failed whose resource stays in the state unchanged
	failed      bool                  // the set of a resource could not be sent
	abandoned   *streams.ProcessorSet // what a departed resource left for another resource to replace
}

// claimDelay is how long a run's first destroys wait for the claims of the calls beside them. A destroy
// then knows whether a renamed resource has its stream. No result depends on the delay. Tests set it to 0.
var claimDelay = 50 * time.Millisecond

func newOwnership() *ownership {
	return &ownership{
		streams: map[string]*ownedStream{}, firstClaims: make(chan struct{}), waiting: make(chan struct{}, maxWaiting),
	}
}

// maxWaiting is how many destroys wait at the same time. It is less than Terraform's default parallelism,
// so that other resources can claim their streams meanwhile.
const maxWaiting = 8

// noteCall starts the time of awaitFirstClaims at the first call of the run that claims or releases a stream.
func (o *ownership) noteCall() {
	o.firstCall.Do(func() { time.AfterFunc(claimDelay, func() { close(o.firstClaims) }) })
}

// awaitFirstClaims waits at most once in a run, for claimDelay after the first call.
func (o *ownership) awaitFirstClaims(ctx context.Context) {
	o.noteCall()
	select {
	case o.waiting <- struct{}{}:
		defer func() { <-o.waiting }()
	default:
		return
	}
	select {
	case <-o.firstClaims:
	case <-ctx.Done():
	}
}

func (o *ownership) stream(id string) *ownedStream {
	s, ok := o.streams[id]
	if !ok {
		s = &ownedStream{inUse: make(chan struct{}, 1)}
		o.streams[id] = s
	}
	return s
}

// successor is what another resource of the run does with the stream of a departed resource.
type successor struct {
	Set    streams.ProcessorSet `json:"set"`    // the other resource's set
	Relies bool                 `json:"relies"` // the other resource sends nothing, so Set must stay attached
}

// successor returns what a resource that has claimed the stream does with it, or nil.
func (s *ownedStream) successor() *successor {
	if !s.claimed {
		return nil
	}
	return &successor{s.set, s.reliedOn}
}

// claim registers the set that a resource gives a stream, and returns what a resource that has claimed the
// stream before does with it, or nil. Claiming the same set twice is no conflict: Terraform plans one
// instance twice when it replaces the instance.
func (o *ownership) claim(id string, set streams.ProcessorSet) (before *successor, err error) {
	o.noteCall()
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stream(id)
	if !s.claimed {
		s.claimed, s.set = true, set
		return nil, nil
	}
	if !s.set.Equal(set) {
		return nil, &conflictError{streamID: id, first: s.set, second: set}
	}
	return s.successor(), nil
}

// successor returns what a resource that has claimed a stream does with it, or nil.
func (o *ownership) successor(id string) *successor {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stream(id).successor()
}

// relyOn registers a resource that has claimed a stream and plans to send nothing. It reports false if
// a departed resource leaves another set attached: then the claimed set must be sent again. If a group
// drops the stream, the plan fails instead, and the resource sends nothing.
func (o *ownership) relyOn(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stream(id)
	attached := true
	for _, r := range s.releases {
		if !r.left.Equal(s.set) {
			attached = false
			s.reliedOn = s.reliedOn || r.dropped
		}
	}
	s.reliedOn = s.reliedOn || attached
	return attached
}

// release is a departed resource: one that is destroyed, or moves to another stream.
type release struct {
	left    streams.ProcessorSet // the set that stays attached
	planned bool                 // by a plan; otherwise the apply has destroyed the resource
	dropped bool                 // by the planned update of a group: Terraform passes no mark from that plan to its apply
}

// release registers a departed resource, unless another resource of the run has claimed the stream. Then
// it returns what that resource does, else nil.
func (o *ownership) release(id string, r release) *successor {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stream(id)
	if !r.planned { // this is the apply of the planned departure
		s.releases = slices.DeleteFunc(s.releases, func(r release) bool { return r.dropped })
	}
	next := s.successor()
	if next == nil {
		s.releases = append(s.releases, r)
	}
	return next
}

// leftBy returns the set that a departure leaves attached, if the departure is of the given kind and the set
// differs from the claimed one. Of several departures, one that detaches counts.
func (o *ownership) leftBy(id string, kind func(release) bool) (left streams.ProcessorSet, found bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stream(id)
	for _, r := range s.releases {
		if kind(r) && !r.left.Equal(s.set) && (!found || r.left.Len() == 0) {
			left, found = r.left, true
		}
	}
	return left, found
}

// markGone registers that the refresh found no stream with this id.
func (o *ownership) markGone(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stream(id).gone = true
}

func (o *ownership) isGone(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stream(id).gone
}

// use waits until no other operation uses a stream. The caller must call end, and must send nothing if the
// context has ended.
func (o *ownership) use(ctx context.Context, id string) (stream *ownedStream, end func(), err error) {
	o.mu.Lock()
	s := o.stream(id)
	o.mu.Unlock()
	end = func() { <-s.inUse }
	select {
	case s.inUse <- struct{}{}:
		return s, end, nil
	default:
	}
	if err := interrupted(ctx); err != nil {
		return nil, nil, err
	}
	select {
	case s.inUse <- struct{}{}:
		return s, end, nil
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("another operation on stream %q did not end in time: %w", id, ctx.Err())
	}
}

// peek returns what the run knows of a stream, for an operation that could not use it. While another
// operation uses the stream, nothing is certain.
func (o *ownership) peek(id string) knowledge {
	o.mu.Lock()
	s := o.stream(id)
	o.mu.Unlock()
	select {
	case s.inUse <- struct{}{}:
		defer func() { <-s.inUse }()
		return s.knowledge()
	default:
		return knowledge{unconfirmed: true}
	}
}

// interruptedError says that an operation ended before it did anything.
type interruptedError struct{ error }

func (interruptedError) Error() string {
	return "the operation was interrupted before anything was sent"
}
func (e interruptedError) Unwrap() error { return e.error }

func interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return interruptedError{ctx.Err()}
}

// conflictError says that a run would give one stream two different sets.
type conflictError struct {
	streamID      string
	first, second streams.ProcessorSet
	knowledge
}

func (e *conflictError) Error() string {
	return fmt.Sprintf("two resources set the processors of stream %q: one to %s, another one to %s",
		e.streamID, e.first, e.second)
}
