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
//	create; update of processor_ids or triggers      the set
//	any update after an unknown outcome              the set, again
//	any other update                                 nothing
//	destroy, on_destroy = "detach"                   the empty set
//	destroy, on_destroy = "keep"                     nothing
//	destroy of a stream that another resource has    nothing, or the other resource's set if the two differ
type session struct {
	client      *streams.Client // nil while the provider's configuration is not known
	ownership   *ownership
	detectDrift bool
}

var (
	// errNotConfigured: Terraform invokes an action with -invoke although the provider's configuration
	// depends on resources that have not been applied.
	errNotConfigured = errors.New("the provider's configuration is not known yet")

	// errBlocked: after a failed operation, a change by another resource would make the state of the
	// failed resource untrue, and later runs rely on that state.
	errBlocked = errors.New("an operation of another resource on this stream has failed")
)

func (s *session) configured() bool { return s != nil && s.client != nil }

// readsStreams reports whether the user turned detect_drift on.
func (s *session) readsStreams() bool { return s.configured() && s.detectDrift }

// knowledge is what a run knows of a stream after a failed operation.
type knowledge struct {
	reported    *streams.Stream // the last report of the service in this run; nil if there is none
	unconfirmed bool            // a request since then may or may not have taken effect
}

// set sends the set of a resource. inState says that the state has the resource with this stream, so
// that a failure leaves it there.
func (s *session) set(ctx context.Context, id string, set streams.ProcessorSet, inState bool) (*streams.Stream, knowledge, error) {
	if !s.configured() {
		return nil, knowledge{}, errNotConfigured
	}
	if err := s.ownership.claim(id, set); err != nil {
		return nil, knowledge{}, err
	}
	stream, unlock, err := s.ownership.lock(ctx, id)
	if err != nil {
		return nil, knowledge{}, err
	}
	defer unlock()
	if stream.blocked {
		return nil, stream.knowledge(), errBlocked
	}
	got, err := stream.send(ctx, s.client, id, set)
	stream.written = stream.written || err == nil
	stream.blocked = inState && !stream.written
	return got, stream.knowledge(), err
}

// departure is a resource that is destroyed, or moves to another stream.
type departure struct {
	was    streams.ProcessorSet  // the set in the resource's state
	detach bool                  // on_destroy = "detach"
	stays  *streams.ProcessorSet // the set of another resource that relies on the stream; nil if none is known
}

// leaves is the set that stays attached after the departure.
func (d departure) leaves() streams.ProcessorSet {
	switch {
	case d.stays != nil:
		return *d.stays
	case d.detach:
		return streams.ProcessorSet{}
	}
	return d.was
}

// leave ends a resource's use of a stream. Nothing is sent if another resource of this run has set the
// stream: Terraform often destroys an old object after that.
func (s *session) leave(ctx context.Context, id string, d departure) (knowledge, error) {
	if !s.configured() {
		return knowledge{}, errNotConfigured
	}
	stream, unlock, err := s.ownership.lock(ctx, id)
	if err != nil {
		return knowledge{}, err
	}
	defer unlock()
	if stream.blocked {
		return stream.knowledge(), errBlocked
	}
	if !stream.written && d.stays == nil {
		if set, reliedOn := s.ownership.release(id, d.leaves()); reliedOn {
			d.stays = &set
		}
	}
	detach := d.detach && d.stays == nil
	if stream.written || !detach && d.leaves().Equal(d.was) {
		tflog.Info(ctx, "the stream is left as it is; nothing is sent", map[string]any{"stream_id": id})
		return knowledge{}, nil
	}
	_, err = stream.send(ctx, s.client, id, d.leaves())
	stream.blocked = err != nil && asStreamError(err).Status != http.StatusNotFound
	return stream.knowledge(), err
}

// setOnce sends a set for an action, which claims nothing and has no state.
func (s *session) setOnce(ctx context.Context, id string, set streams.ProcessorSet) error {
	if !s.configured() {
		return errNotConfigured
	}
	stream, unlock, err := s.ownership.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = stream.send(ctx, s.client, id, set)
	return err
}

// send updates a stream and remembers the result. The caller has the stream's lock.
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

func (s *ownedStream) knowledge() knowledge { return knowledge{s.reported, s.unconfirmed} }
