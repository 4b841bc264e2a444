package claims

import "github.com/stream-management/terraform-provider-stream/internal/streams"

// Leave is what a resource that leaves a stream had of the stream, and how it leaves.
type Leave struct {
	Entry
	Detach     bool // on_destroy = "detach"
	Kind       LeaveKind
	Shared     bool // see [Stream.Reads]; not for sure, because another entry may be read later
	Unforeseen bool // the plan of the run did not know that the resource leaves the stream
}

// LeaveKind says what the apply of a leave knows of its plan.
type LeaveKind int

// The kinds of leaves.
const (
	Destroyed    LeaveKind = iota // the marks of the plan
	Superseded                    // nothing: the object was replaced in this apply, or its destroy failed in that of its replacement
	MayBeTaken                    // nothing: an earlier apply left the object behind, and another resource may have the stream now
	Replaced                      // the marks of the plan, unless the resource has create_before_destroy
	Dropped                       // no marks: a group is updated, and no longer has the stream
	MayBeDropped                  // likewise, if the streams of the group, which are known after apply, do not have it
)

// KindOfDestroy returns how an object leaves its streams. Terraform plans a destroy in the session of its apply only if the object
// was replaced. replaced says that a create has succeeded in this session, or that the destroy failed in the apply of the replacement.
func KindOfDestroy(plannedHere, replaced bool) LeaveKind {
	switch {
	case !plannedHere:
		return Destroyed
	case replaced:
		return Superseded
	}
	return MayBeTaken
}

// mayBeTaken reports whether the leave detaches nothing, because a live resource may have the stream.
func (l Leave) mayBeTaken() bool { return l.Kind == MayBeTaken || l.Kind == Superseded && l.Shared }

// request returns the set that a resource sends when it leaves a stream beside a claim of others. A resource that
// relies on its set needs it; one that sends its set does so itself.
func (l Leave) request(claim Claim) (set streams.ProcessorSet, send bool) {
	switch {
	case claim.Kind == relies:
		return claim.Set, true
	case claim.Kind == Nobody && l.Detach && !l.mayBeTaken():
		return streams.ProcessorSet{}, true
	}
	return streams.ProcessorSet{}, false
}

// remainder returns what a leave leaves attached, if nobody changes the claim.
func (l Leave) remainder(claim Claim) remainder {
	if l.Kind == Dropped { // its apply may not know the claim
		claim = Claim{}
	}
	r := remainder{set: l.Set, unknown: l.Resend != Settled, dropped: l.Kind == Dropped}
	if set, send := l.request(claim); send {
		r.emptied = claim.Kind == Nobody
		r.detached = r.emptied && !l.isEmpty()
		r.set, r.unknown = set, false
	}
	return r
}
