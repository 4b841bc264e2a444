package provider

import (
	"context"
	"fmt"
	"sync"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// ownership knows which streams the resources of one run claim, rely on and release, and lets one
// operation at a time use a stream. Terraform does not define the order of independent operations.
type ownership struct {
	mu      sync.Mutex
	streams map[string]*ownedStream
}

// ownedStream is what a run has planned for one stream, and done to it.
type ownedStream struct {
	lock chan struct{} // held by the operation that uses the stream

	// Guarded by ownership.mu.
	claimed  bool                   // a resource has planned or sent set
	set      streams.ProcessorSet   // see claimed
	reliedOn bool                   // a resource has planned to leave the stream as it is, with set
	releases []streams.ProcessorSet // what destroyed resources leave attached

	// Guarded by lock.
	written     bool            // the set of a resource that stays has been sent
	reported    *streams.Stream // the last report of the service in this run; nil if there is none
	unconfirmed bool            // a request since then may or may not have taken effect
	blocked     bool            // an operation failed whose resource stays in the state unchanged
}

func newOwnership() *ownership {
	return &ownership{streams: map[string]*ownedStream{}}
}

func (o *ownership) stream(id string) *ownedStream {
	s, ok := o.streams[id]
	if !ok {
		s = &ownedStream{lock: make(chan struct{}, 1)}
		o.streams[id] = s
	}
	return s
}

// claim registers the set that a resource gives a stream. Claiming the same set twice is no conflict:
// Terraform plans one instance twice when it replaces the instance.
func (o *ownership) claim(id string, set streams.ProcessorSet) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stream(id)
	if !s.claimed {
		s.claimed, s.set = true, set
	}
	if !s.set.Equal(set) {
		return &conflictError{streamID: id, first: s.set, second: set}
	}
	return nil
}

// relyOn registers a resource that has claimed a stream and plans to send nothing. It reports false if
// a destroyed resource leaves another set attached: then the claimed set must be sent again.
func (o *ownership) relyOn(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stream(id)
	for _, left := range s.releases {
		if !left.Equal(s.set) {
			return false
		}
	}
	s.reliedOn = true
	return true
}

// release registers a destroyed resource and the set that it leaves attached. If another resource relies
// on the stream, release returns that resource's set, which must stay attached, and true.
func (o *ownership) release(id string, left streams.ProcessorSet) (streams.ProcessorSet, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stream(id)
	if s.reliedOn {
		return s.set, true
	}
	s.releases = append(s.releases, left)
	return streams.ProcessorSet{}, false
}

// lock waits until no other operation uses a stream. The caller must call unlock.
func (o *ownership) lock(ctx context.Context, id string) (stream *ownedStream, unlock func(), err error) {
	o.mu.Lock()
	s := o.stream(id)
	o.mu.Unlock()
	select {
	case s.lock <- struct{}{}:
		return s, func() { <-s.lock }, nil
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("another operation on stream %q did not end in time: %w", id, ctx.Err())
	}
}

// conflictError says that a run would give one stream two different sets.
type conflictError struct {
	streamID      string
	first, second streams.ProcessorSet
}

func (e *conflictError) Error() string {
	return fmt.Sprintf("two resources set the processors of stream %q: one to %s, another one to %s",
		e.streamID, e.first, e.second)
}
