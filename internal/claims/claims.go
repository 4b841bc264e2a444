// Package claims has the rules of one stream in one session: what is planned, what is sent, and what is the result.
// It knows neither Terraform nor HTTP. Its words, each with one meaning in the whole program:
//
//   - run: a command of Terraform, such as an apply together with the plan before it.
//   - session: one configuration of the provider. The plan and the apply of a run have a session each.
//   - call: what Terraform asks of the provider at once, such as to plan or apply a resource with all of its streams.
//   - operation: what a call does with one stream: it sends at most one request, with all attempts.
//   - route: a method and a path of the service.
//   - known: said of a value in a configuration or plan, as opposed to "known after apply".
//   - set: the processor ids of a stream; an update replaces the whole set.
//   - entry: what the state of one resource has of a stream.
//   - claim: what the resources that have a stream do with it, as far as the plans of the session tell.
//   - leave: a resource leaves a stream if it is destroyed, moves to another stream, or drops the stream from its map.
//   - remainder: what a leave leaves attached.
//   - take over: to set a stream that the state of the resource does not have, or that nobody has read.
//   - had: said of the set that the entries of a stream had before the refresh.
//   - mark: what a private state says of a stream, such as the claim that a plan passes to a destroy.
//   - outcome: what a failed request did to the stream: nothing, another change than planned, or unknown.
//   - unknown: said of an outcome: the request may or may not have taken effect.
//   - report: what the service last said of a stream.
//   - resend: to send the set of an entry again, although the configuration did not change it.
//   - refusal: why the provider lets a plan fail, or lets an operation send nothing. A service rejects.
//   - finding: what a person should know of a stream. Package report has the sentences.
package claims

import "github.com/stream-management/terraform-provider-stream/internal/streams"

// Stream is what one session has planned for a stream, and done to it. The zero value is a stream at the beginning
// of a session. Stream is not safe for concurrent use, and at most one operation at a time may use a stream.
type Stream struct {
	phase  phase
	claim  Claim
	leaves []remainder // planned, but not applied

	// Facts of the session. These are no phases: each can be true in any of them.
	reported *streams.Stream      // the last report; nil if there is none
	unknown  bool                 // the outcome of a request since then
	left     *remainder           // by a resource that left since then and sent nothing; nil if there is none
	underWay *remainder           // what a request without an outcome yet is to leave; nil if there is none
	detached bool                 // a leave has detached the processors, and no resource has set them since
	had      streams.ProcessorSet // by entries, before the refresh or before their replacement
	takes    streams.ProcessorSet // what the plan of a take-over detaches, and had has

	Gone  bool // the refresh found no such stream
	Reads int  // entries of the stream that the refresh has read: with several, resources share the stream

	// The resource whose entry was read first plans a set. Otherwise the entry may be that of an object which an earlier apply left
	// behind: this one destroys it, and Terraform passes nothing of the plan to that destroy.
	firstStays bool

	mayBeDropped    bool // a resource with the leave MayBeDropped detaches
	mayBeLeftBehind bool // a destroy relies on the claim of another resource, and would not in the apply of an old object
}

// phase is what operations that set the processors have come to. The last two hold for the rest of the session.
type phase int

const (
	untouched    phase = iota // no operation has ended
	createFailed              // the set of a resource that is not in the state could not be sent
	blocked                   // an operation failed whose resource stays in the state, and later runs rely on that state
	written                   // the set of a resource was sent
)

// advance ends an operation in a phase.
func (s *Stream) advance(to phase) {
	if s.phase < blocked {
		s.phase = to
	}
}

// Claim is what the resources that have a stream do with it. The zero value stands for no resource.
type Claim struct {
	Kind ClaimKind
	Set  streams.ProcessorSet // of sends, resends and relies
}

// ClaimKind only goes forwards: several resources with the same set count as the last kind of them.
type ClaimKind int

// The kinds of claims.
const (
	Nobody   ClaimKind = iota
	expected           // a resource sends a set that is known after apply
	sends              // a resource sends Set
	resends            // a resource has Set in the state, and resends it only because another resource leaves
	relies             // a resource has Set in the state and sends nothing
)

// conflicts reports whether the claim has another set.
func (c Claim) conflicts(set streams.ProcessorSet) bool {
	return c.Kind >= sends && !c.Set.Equal(set)
}

// raise adds a claim that does not conflict.
func (c *Claim) raise(kind ClaimKind, set streams.ProcessorSet) {
	if kind > c.Kind {
		*c = Claim{kind, set}
	}
}

// remainder is what a leave leaves attached.
type remainder struct {
	set      streams.ProcessorSet
	unknown  bool // the outcome of an operation before this session
	emptied  bool // the leave sends the empty set
	detached bool // the leave detaches processors, as far as its resource knows
	dropped  bool // see Dropped
}

// is reports whether the remainder is a set, for sure.
func (r remainder) is(set streams.ProcessorSet) bool { return !r.unknown && r.set.Equal(set) }

// Entry is what the state of one resource has of a stream.
type Entry struct {
	Set    streams.ProcessorSet
	Resend Resend
}

// isEmpty reports whether the stream had no processors, for sure.
func (e Entry) isEmpty() bool { return e.Set.Len() == 0 && e.Resend == Settled }

// Resend is why each plan resends the set of an entry. Private states have these texts.
type Resend string

// The reasons to resend a set.
const (
	Settled Resend = ""            // there is none
	Unknown Resend = "unconfirmed" // the outcome of an operation is unknown
	Unsent  Resend = "unsent"      // the set of the state could not be sent
	Unread  Resend = "unread"      // imported without a read: nobody knows the set
)

// Facts is what a session has found out about a stream.
type Facts struct {
	Reported  *streams.Stream      // the last report; nil if there is none
	Unknown   bool                 // the outcome of a request since then, or of one that is under way
	Remainder streams.ProcessorSet // what a resource that left since then, and sent nothing, left attached, as far as known
	Failed    bool                 // an operation failed, and no resource has sent its set
}

// Facts returns what the session has found out about the stream.
func (s *Stream) Facts() Facts {
	f := Facts{
		Reported: s.reported, Unknown: s.unknown || s.underWay != nil, Failed: s.phase == createFailed || s.phase == blocked,
	}
	if s.left != nil && !s.left.unknown {
		f.Remainder = s.left.set
	}
	return f
}
