// Package claims has the rules of one stream in one run: what resources plan for the stream, what is sent, and
// what is known afterwards. It knows neither Terraform nor HTTP.
package claims

import "github.com/stream-management/terraform-provider-stream/internal/streams"

// Stream is what one run has planned for a stream, and done to it. The zero value is a stream at the beginning
// of a run. Stream is not safe for concurrent use, and at most one operation at a time may use a stream.
type Stream struct {
	phase   Phase
	claim   Claim
	planned []remainder // of departures that are planned, but not applied

	// What the run knows. These are no phases: each can be true in any of them.
	reported *streams.Stream // the last report of the service; nil if there is none
	inDoubt  bool            // a request since then may or may not have taken effect
	left     *remainder      // of a departure since then that sent nothing; nil if there is none
	underWay *remainder      // what a request without an outcome yet is to leave; nil if there is none
	gone     bool            // the refresh found no such stream

	mayBeDropped   bool // a departure of the kind MayBeDropped detaches
	destroyPlanned bool // a departure of the kind Destroyed is planned
}

// Phase is what operations that set the processors have come to. A phase only goes forwards.
type Phase int

// The phases of a stream.
const (
	Untouched    Phase = iota // no operation has ended
	CreateFailed              // the set of a resource that is not in the state could not be sent
	Blocked                   // an operation failed whose resource stays in the state, and later runs rely on that state
	Written                   // the set of a resource was sent
)

// Event is the end of an operation.
type Event int

// The events of a stream.
const (
	SetSent      Event = iota // the service has the set of a resource
	CreateFails               // as in CreateFailed
	UpdateFails               // the resource stays in the state
	DestroyFails              // likewise
)

// transitions has the phase after each event.
var transitions = [...][4]Phase{
	//              SetSent  CreateFails   UpdateFails  DestroyFails
	Untouched:    {Written, CreateFailed, Blocked, Blocked},
	CreateFailed: {Written, CreateFailed, Blocked, Blocked},
	Blocked:      {Blocked, Blocked, Blocked, Blocked},
	Written:      {Written, Written, Written, Written},
}

// verdict is what a phase does to a request.
type verdict int

const (
	permit verdict = iota
	refuse
	omit // another resource has set the processors
)

// verdicts has what each phase does to the request of a resource that sets the processors, and of one that
// leaves the stream.
var verdicts = [...]struct{ set, leave verdict }{
	Untouched:    {permit, permit},
	CreateFailed: {permit, permit},
	Blocked:      {refuse, refuse},
	Written:      {permit, omit},
}

// Claim is what the resources that have a stream do with it, as far as plans of the run have told. The zero
// value stands for no resource.
type Claim struct {
	Kind ClaimKind
	Set  streams.ProcessorSet // of Sends, Resends and Relies
}

// ClaimKind only goes forwards: several resources with the same set count as the last kind of them.
type ClaimKind int

// The kinds of claims.
const (
	Nobody   ClaimKind = iota
	Expected           // a resource sends a set that is known after apply
	Sends              // a resource sends Set
	Resends            // a resource has Set in the state, and sends it again only because of a departure
	Relies             // a resource has Set in the state and sends nothing
)

// leaving has what a resource that leaves a stream sends, by the claim of others. relied stands for the set of
// the claim, unless the stream has that set already.
var leaving = [...]struct{ detach, keep request }{
	Nobody:   {empty, nothing},
	Expected: {nothing, nothing},
	Sends:    {nothing, nothing},
	Resends:  {nothing, nothing},
	Relies:   {relied, relied},
}

type request int

const (
	nothing request = iota
	empty
	relied
)

// conflicts reports whether the claim has another set.
func (c Claim) conflicts(set streams.ProcessorSet) bool {
	return c.Kind >= Sends && !c.Set.Equal(set)
}

// raise adds a claim that does not conflict.
func (c *Claim) raise(kind ClaimKind, set streams.ProcessorSet) {
	if kind > c.Kind {
		*c = Claim{kind, set}
	}
}

// Entry is what the state of one resource has of a stream.
type Entry struct {
	Set     streams.ProcessorSet
	Pending Pending
}

// Pending is why each plan sends a set again, although the state has the set.
type Pending string

// The reasons to send a set again.
const (
	Confirmed   Pending = ""            // there is none
	Unconfirmed Pending = "unconfirmed" // an operation failed, and may have taken effect
	Unsent      Pending = "unsent"      // the set of the state could not be sent again
)

// Departure is a resource that leaves a stream, with what its state has of the stream.
type Departure struct {
	Entry
	Detach bool // on_destroy = "detach"
	Kind   DepartureKind
}

// DepartureKind says what Terraform passes from the plan of a departure to its apply.
type DepartureKind int

// The kinds of departures.
const (
	Destroyed    DepartureKind = iota // the marks of the plan
	Replaced                          // the marks of the plan, unless the resource has create_before_destroy
	Dropped                           // no marks: a group is updated, and no longer has the stream
	MayBeDropped                      // likewise, if the streams of the group, which are known after apply, do not have it
)

// remainder is what a departure leaves attached.
type remainder struct {
	set      streams.ProcessorSet
	unsure   bool // an operation before this run may or may not have changed it
	emptied  bool // the departure sends the empty set
	detached bool // the departure detaches processors, as far as its resource knows
	dropped  bool // see Dropped
}

// is reports whether the remainder is a set, for sure.
func (r remainder) is(set streams.ProcessorSet) bool { return !r.unsure && r.set.Equal(set) }

// remainder returns what a departure leaves, if nobody changes the claim.
func (d Departure) remainder(claim Claim) remainder {
	r := remainder{set: d.Set, unsure: d.Pending != Confirmed, dropped: d.Kind == Dropped}
	if d.Kind == Dropped { // its apply may not know the claim
		claim = Claim{}
	}
	switch d.request(claim) {
	case empty:
		return remainder{emptied: true, detached: d.Set.Len() > 0 || r.unsure, dropped: r.dropped}
	case relied:
		return remainder{set: claim.Set, dropped: r.dropped}
	}
	return r
}

// request returns what a departure sends beside a claim.
func (d Departure) request(claim Claim) request {
	if d.Detach {
		return leaving[claim.Kind].detach
	}
	return leaving[claim.Kind].keep
}

// Known is what a run knows of a stream.
type Known struct {
	Reported *streams.Stream       // the last report of the service; nil if there is none
	InDoubt  bool                  // a request since then may or may not have taken effect
	Left     *streams.ProcessorSet // what a departure since then left without a request; nil if there is none, or nobody knows
	Pending  bool                  // a request has no outcome yet
	Failed   bool                  // an operation failed, and no resource has sent its set
}

// Known returns what the run knows of the stream.
func (s *Stream) Known() Known {
	k := Known{Reported: s.reported, InDoubt: s.inDoubt, Pending: s.underWay != nil, Failed: s.phase == CreateFailed || s.phase == Blocked}
	if s.left != nil && !s.left.unsure {
		k.Left = &s.left.set
	}
	return k
}

// SetGone registers that the refresh found no such stream.
func (s *Stream) SetGone() { s.gone = true }

// DestroyPlanned reports whether this run has planned a departure of the kind [Destroyed].
func (s *Stream) DestroyPlanned() bool { return s.destroyPlanned }

// Gone reports whether the refresh of this run found no such stream.
func (s *Stream) Gone() bool { return s.gone }
