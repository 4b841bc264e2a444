package provider

import (
	"context"
	"errors"
	"net/http"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// session is one provider configuration in one run. Resources and actions change streams only through
// a session, which decides what is sent:
//
//	create; update of processor_ids or triggers            the set
//	any update after an unknown outcome                    the set, again
//	any other update                                       nothing
//	destroy, on_destroy = "detach"                         the empty set
//	destroy, on_destroy = "keep"                           nothing
//	destroy, another resource of the run sets the stream   nothing
//	destroy, another resource of the run relies on it      nothing, or the other resource's set if the two differ
type session struct {
	client      *streams.Client // nil while the provider's configuration is not known
	ownership   *ownership
	detectDrift bool
}

// errNotConfigured: Terraform invokes an action with -invoke although the provider's configuration
// depends on resources that have not been applied.
var errNotConfigured = errors.New("the provider's configuration is not known yet")

// blockedError says that an operation of another resource on the stream has failed. A change by this
// resource could make the state of the other resource untrue, and later runs rely on that state.
type blockedError struct{ knowledge }

func (*blockedError) Error() string {
	return "an operation of another resource on this stream has failed"
}

func (s *session) configured() bool { return s != nil && s.client != nil }

// readsStreams reports whether the user turned detect_drift on.
func (s *session) readsStreams() bool { return s.configured() && s.detectDrift }

// knowledge is what a run knows of a stream after an operation.
type knowledge struct {
	reported    *streams.Stream       // the last report of the service in this run; nil if there is none
	unconfirmed bool                  // a request since then may or may not have taken effect
	abandoned   *streams.ProcessorSet // the set of a destroyed resource that another resource failed to replace; or nil
}

func (s *ownedStream) knowledge() knowledge {
	k := knowledge{reported: s.reported, unconfirmed: s.unconfirmed}
	if s.failed {
		k.abandoned = s.abandoned
	}
	return k
}

// claim is ownership.claim. If there is a conflict, the error says what an operation of the other resource
// did to the stream.
func (s *session) claim(ctx context.Context, id string, set streams.ProcessorSet) (before *successor, err error) {
	before, err = s.ownership.claim(id, set)
	if conflict := (*conflictError)(nil); errors.As(err, &conflict) {
		if stream, end, inUse := s.ownership.use(ctx, id); inUse == nil {
			conflict.knowledge = stream.knowledge()
			end()
		}
	}
	return before, err
}

// set sends the set of a resource. inState says that the state has the resource with this stream, so
// that a failure leaves it there.
func (s *session) set(ctx context.Context, id string, set streams.ProcessorSet, inState bool) (*streams.Stream, knowledge, error) {
	if !s.configured() {
		return nil, knowledge{}, errNotConfigured
	}
	if _, err := s.claim(ctx, id, set); err != nil {
		return nil, knowledge{}, err
	}
	stream, end, err := s.ownership.use(ctx, id)
	if err != nil {
		return nil, s.ownership.peek(id), err
	}
	defer end()
	if err := interrupted(ctx); err != nil {
		return nil, stream.knowledge(), err
	}
	if stream.blocked {
		return nil, stream.knowledge(), &blockedError{stream.knowledge()}
	}
	got, err := stream.send(ctx, s.client, id, set)
	stream.written = stream.written || err == nil
	stream.failed = stream.failed || err != nil
	stream.blocked = inState && !stream.written
	return got, stream.knowledge(), err
}

// departure is a resource that is destroyed, or moves to another stream.
type departure struct {
	was    streams.ProcessorSet // the set in the resource's state
	detach bool                 // on_destroy = "detach"
	next   *successor           // as the plan found it; nil if the plan found none
}

// left is the set that stays attached if no other resource of the run has the stream.
func (d departure) left() streams.ProcessorSet {
	if d.detach {
		return streams.ProcessorSet{}
	}
	return d.was
}

// leave ends a resource's use of a stream.
func (s *session) leave(ctx context.Context, id string, d departure) (knowledge, error) {
	if !s.configured() {
		return knowledge{}, errNotConfigured
	}
	if d.next == nil {
		s.ownership.awaitFirstClaims(ctx)
	}
	stream, end, err := s.ownership.use(ctx, id)
	if err != nil {
		return s.ownership.peek(id), err
	}
	defer end()
	// With create_before_destroy, an object that stays in the state would be destroyed in a run of its own,
	// without the mark that the new object has the stream.
	if err := interrupted(ctx); err != nil && !stream.written {
		return stream.knowledge(), err
	}
	if d.next == nil {
		d.next = s.ownership.release(id, release{left: d.left()})
	}
	set, send := d.left(), d.detach
	switch {
	case stream.written:
		send = false
	case d.next != nil && !d.next.Relies:
		send = false
		stream.abandoned = &d.was
	case d.next != nil:
		set, send = d.next.Set, !d.next.Set.Equal(d.was)
	}
	if !send {
		tflog.Info(ctx, "the stream is left as it is; nothing is sent", map[string]any{"stream_id": id})
		return stream.knowledge(), nil
	}
	if stream.blocked {
		return stream.knowledge(), &blockedError{stream.knowledge()}
	}
	_, err = stream.send(ctx, s.client, id, set)
	stream.blocked = err != nil && asStreamError(err).Status != http.StatusNotFound
	return stream.knowledge(), err
}

// setOnce sends a set for an action, which claims nothing and has no state.
func (s *session) setOnce(ctx context.Context, id string, set streams.ProcessorSet) error {
	if !s.configured() {
		return errNotConfigured
	}
	stream, end, err := s.ownership.use(ctx, id)
	if err != nil {
		return err
	}
	defer end()
	if err := interrupted(ctx); err != nil {
		return err
	}
	_, err = stream.send(ctx, s.client, id, set)
	return err
}

// send updates a stream and remembers the result. The caller uses the stream.
func (s *ownedStream) send(ctx context.Context, client *streams.Client, id string, set streams.ProcessorSet) (*streams.Stream, error) {
	got, err := client.UpdateStream(ctx, id, set)
	reported := got
	if err != nil {
		e := asStreamError(err)
		reported = e.Stream
		s.unconfirmed = s.unconfirmed || e.Outcome == streams.Unknown
	}
	if reported != nil {
		s.reported, s.unconfirmed = reported, false
	}
	return got, err
}
