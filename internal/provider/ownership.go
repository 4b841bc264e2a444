package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// ownership keeps the resources of one run from undoing each other. An update replaces the whole set
// of a stream, and Terraform does not say in which order independent operations run.
type ownership struct {
	mu      sync.Mutex
	streams map[string]*ownedStream
}

// ownedStream is what the run has planned for, and done to, one stream. Its sets are sorted, and
// nil only if there is none.
type ownedStream struct {
	turn chan struct{} // held by the one operation that may talk about this stream

	claim  []string   // the set planned or sent; nil if none is
	kept   bool       // a resource relies on the stream as it is, and sends nothing
	leaves [][]string // the sets with which resources that go leave the stream

	// These belong to the operation that holds the turn.
	held      bool            // a resource of the new state has this stream: to empty it would make a lie of that
	confirmed *streams.Stream // what the service said last in this run; nil if nothing
	uncertain bool            // a write since then has an unknown outcome
	stuck     bool            // an operation failed whose resource stays in the state as it was
}

// errNotConfigured is why nothing can be sent: the provider's own configuration is still not known.
// Terraform lets it come to that when it invokes an action by -invoke.
var errNotConfigured = errors.New("the configuration of the provider is not known yet")

// errStuck is why a stream is left alone for the rest of a run: what another resource did to it now
// would make the state of the one that failed a lie, and later runs would go by that.
var errStuck = errors.New("an operation of another resource on this stream has failed")

func newOwnership() *ownership {
	return &ownership{streams: map[string]*ownedStream{}}
}

// conflictError says that a run would give one stream two different sets.
type conflictError struct {
	streamID string
	first    []string
	second   []string
}

func (e *conflictError) Error() string {
	return fmt.Sprintf("two resources set the processors of stream %q: one to %s, another one to %s",
		e.streamID, listed(e.first), listed(e.second))
}

// listed shows ids, which may hold anything, as Terraform writes them.
func listed(ids []string) string {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = strconv.Quote(id)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func (o *ownership) stream(id string) *ownedStream {
	s, ok := o.streams[id]
	if !ok {
		s = &ownedStream{turn: make(chan struct{}, 1)}
		o.streams[id] = s
	}
	return s
}

// claimSet registers the set that a resource gives a stream. The same set twice is no conflict:
// Terraform plans one instance twice when it is replaced.
func (o *ownership) claimSet(id string, processorIDs []string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stream(id)
	if s.claim == nil {
		s.claim = processorIDs
	}
	if !slices.Equal(s.claim, processorIDs) {
		return &conflictError{streamID: id, first: s.claim, second: processorIDs}
	}
	return nil
}

// keep registers a resource that relies on a stream as it is, with the set that it has claimed. It
// reports false if another one goes and leaves another set: then the set must be sent again.
func (o *ownership) keep(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stream(id)
	for _, set := range s.leaves {
		if !slices.Equal(set, s.claim) {
			return false
		}
	}
	s.kept = true
	return true
}

// release registers a resource that goes, and the set with which it would leave its stream. If another
// one relies on the stream as it is, it returns that one's set, else nil.
func (o *ownership) release(id string, leaves []string) (kept []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stream(id)
	if s.kept {
		return s.claim
	}
	s.leaves = append(s.leaves, leaves)
	return nil
}

// take waits for the turn of an operation on a stream, and returns how to end it.
func (o *ownership) take(ctx context.Context, id string) (*ownedStream, func(), error) {
	o.mu.Lock()
	s := o.stream(id)
	o.mu.Unlock()
	select {
	case s.turn <- struct{}{}:
		return s, func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("another operation on stream %q did not end in time: %w", id, ctx.Err())
	}
}

// set sends the set of a resource that is in the state, or will be after a success. It returns what
// the service reported last in this run, and whether that is in doubt.
func (s *session) set(ctx context.Context, id string, processorIDs []string, inState bool) (last *streams.Stream, uncertain bool, err error) {
	if !s.configured() {
		return nil, false, errNotConfigured
	}
	if err := s.ownership.claimSet(id, processorIDs); err != nil {
		return nil, false, err
	}
	stream, done, err := s.ownership.take(ctx, id)
	if err != nil {
		return nil, false, err
	}
	defer done()
	if stream.stuck {
		return stream.confirmed, stream.uncertain, errStuck
	}
	err = stream.send(ctx, s.client, id, processorIDs)
	stream.held = stream.held || err == nil
	stream.stuck = inState && !stream.held
	return stream.confirmed, stream.uncertain, err
}

// leave ends the use of a stream by a resource whose state has the set was, and leaves it with another
// set, nil for none. If another resource relies on the stream as it is, kept is its set, and prevails; if
// one has been written, nothing is sent: Terraform often destroys an old object after that.
func (s *session) leave(ctx context.Context, id string, was, leaves, kept []string) (last *streams.Stream, uncertain bool, err error) {
	if !s.configured() {
		return nil, false, errNotConfigured
	}
	stream, done, err := s.ownership.take(ctx, id)
	if err != nil {
		return nil, false, err
	}
	defer done()
	if stream.stuck {
		return stream.confirmed, stream.uncertain, errStuck
	}
	if kept == nil && !stream.held {
		kept = s.ownership.release(id, leaves)
	}
	if kept != nil {
		leaves = kept
	}
	if stream.held || leaves != nil && slices.Equal(was, leaves) {
		tflog.Info(ctx, "stream is left as it is; nothing is sent", map[string]any{"stream_id": id})
		return nil, false, nil
	}
	err = stream.send(ctx, s.client, id, leaves)
	stream.stuck = err != nil && asStreamError(err).Status != http.StatusNotFound
	return stream.confirmed, stream.uncertain, err
}

// write sends a set for an action, which has no state and answers for none.
func (s *session) write(ctx context.Context, id string, processorIDs []string) error {
	if !s.configured() {
		return errNotConfigured
	}
	stream, done, err := s.ownership.take(ctx, id)
	if err != nil {
		return err
	}
	defer done()
	return stream.send(ctx, s.client, id, processorIDs)
}

// send updates a stream and remembers what became of it. The caller has the turn.
func (s *ownedStream) send(ctx context.Context, client *streams.Client, id string, processorIDs []string) error {
	got, err := client.UpdateStream(ctx, id, streams.NewProcessorSet(processorIDs...))
	if err != nil {
		e := asStreamError(err)
		got = e.Stream
		s.uncertain = s.uncertain || e.Outcome == streams.Unknown
	}
	if got != nil {
		s.confirmed, s.uncertain = got, false
	}
	return err
}
