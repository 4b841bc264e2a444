// Package claims has the rules of one stream in one session: what is planned, what is sent, and what comes of it.
// It knows neither Terraform nor HTTP. DESIGN.md has its words, under "Words".
package claims

import (
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Ledger is what one session has planned for a stream, and done to it. The zero value stands for the beginning of a
// session. A Ledger is not safe for concurrent use, and at most one operation at a time may use it.
type Ledger struct {
	phase   phase
	intents []intent

	// Facts of the session. These are no phases: each can be true in any of them.
	reported *streams.Stream // the last report; nil if there is none
	unknown  bool            // the outcome of a request since then
	left     *remainder      // by a resource that left since then; nil if there is none
	underWay *update         // a request without an outcome yet; nil if there is none
	detached bool            // a leave has detached the processors, and no resource has set them since

	Gone  bool // the refresh found no such stream
	Found bool // the plan of a resource that takes the stream over has read it
	Reads int  // entries of the stream that the refresh has read: with several, resources share the stream
}

// intent is what one plan of a resource adds to a ledger, or what the apply claims without a plan.
type intent struct {
	plan     string // see [Want]
	claim    Claim
	leaves   *remainder // a leave that is planned, and not begun; nil if there is none
	detaches bool       // the resource leaves the stream and would detach its processors, as far as the plans tell

	// The primary object plans a set. Otherwise it may be an old object of an earlier apply: this apply destroys it, and Terraform
	// passes nothing of the plan to that destroy.
	primaryStays bool
}

// claim returns what the resources that have the stream do with it.
func (l *Ledger) claim() (claim Claim) {
	for _, i := range l.intents {
		if i.claim.Kind > claim.Kind {
			claim = i.claim
		}
	}
	return claim
}

// raise adds a claim that does not conflict to the intent of a plan.
func (l *Ledger) raise(plan string, claim Claim) *intent {
	at := slices.IndexFunc(l.intents, func(i intent) bool { return i.plan == plan && i.claim.Kind != Nobody })
	if at < 0 {
		at, l.intents = len(l.intents), append(l.intents, intent{plan: plan})
	}
	i := &l.intents[at]
	if claim.Kind > i.claim.Kind {
		i.claim = claim
	}
	return i
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
func (l *Ledger) advance(to phase) {
	if l.phase < blocked {
		l.phase = to
	}
}

// Claim is what the resources that have a stream do with it. The zero value stands for no resource.
type Claim struct {
	Kind ClaimKind            `json:"kind"`
	Set  streams.ProcessorSet `json:"set"` // of sends, resends and relies
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

// conflicts reports whether both claims have sets, and not the same.
func (c Claim) conflicts(other Claim) bool {
	return c.Kind >= sends && other.Kind >= sends && !c.Set.Equal(other.Set)
}

// allows reports whether a resource with the claim may send a set. One that has a set may not send another one, or nil, which is known
// after apply.
func (c Claim) allows(set *streams.ProcessorSet) bool {
	return c.Kind < sends || set != nil && c.Set.Equal(*set)
}

// remainder is what a leave leaves attached.
type remainder struct {
	set     streams.ProcessorSet
	unknown bool // the outcome of an operation before this session
	dropped bool // see Dropped
}

// is reports whether the remainder is a set, for sure.
func (r remainder) is(set streams.ProcessorSet) bool { return !r.unknown && r.set.Equal(set) }

// update is a request to set the processors of a stream.
type update struct {
	set      streams.ProcessorSet
	detaches bool // a resource leaves the stream, and the stream may have processors
}

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

// Decision is what a plan, or an operation, does with a stream.
type Decision struct {
	Send     bool                 // an operation sends Set; of a plan, its apply sends the set
	Set      streams.ProcessorSet // of an operation and of ConflictingSets
	Claim    Claim                // of a plan: what its resources do with the stream; the mark for a destroy
	Refusal  Refusal
	Other    streams.ProcessorSet // what a refusal or a warning is about; of a leave, the set of its entry
	Warnings []Warning            // of an operation: if it succeeds
}

// Refusal is why a plan fails, or why an operation sends nothing.
type Refusal int

// The refusals; 0 is none.
const (
	ConflictingSets Refusal = iota + 1 // another resource gives the stream the set Other
	StreamIsKept                       // a group drops the stream, with Other attached, and another resource relies on its set
	DetachesOthers                     // a resource that takes the stream over may only add, and would detach Other
	Blocked                            // an operation of another resource failed, and the state of that resource must stay true
	ImportDiffers                      // a resource was imported with the stream, and its configuration does not have it
)

// Warning is what a person should know of a stream, and what is no refusal. Package report has a sentence for each.
type Warning int

// The warnings; 0 is none.
const (
	_ Warning = iota

	// Of the plan.
	ResendingUnknown   // the outcome of an earlier operation is unknown, so the set is sent again
	StreamChangesHands // a resource leaves the stream and would detach its processors, and another one has the stream
	StreamIsDuplicated // two resources have the stream, with the same set
	MayBeEmpty         // a resource leaves the stream for one that is known after apply, perhaps the same
	WillBeDetached     // a resource that takes the stream over detaches Other
	MayBeDetached      // likewise, but the stream could not be read at the deployment that is configured now
	CreateWillFail     // the refresh found no such stream
	ImportIsLeft       // a resource that was imported may leave the stream, and then sends nothing
	LeavesGroup        // a group leaves the stream, and would detach Other
	MayLeaveGroup      // a group may leave the stream, and would detach its processors

	// Of the apply.
	DetachedForAMoment        // another resource that left the stream has detached the processors, and the set attaches some again
	WereDetached              // a leave has detached the processors, which the plan did not foresee
	StayAttached              // the destroy of an old object sent nothing, because another resource may have the stream
	StayAttachedBesideFailure // a leave sent nothing, and the other resource could not be applied
	NotFoundOnDestroy         // the service does not know the stream

	// Of reads.
	Gone      // the refresh found no such stream
	NotListed // a query found no such stream

	WarningCount // one more than the last
)

// Facts is what a session has found out about a stream.
type Facts struct {
	Reported  *streams.Stream      // the last report; nil if there is none
	Unknown   bool                 // the outcome of a request since then, or of one that is under way
	Detached  bool                 // a leave has detached the processors, and no resource has set them since
	Remainder streams.ProcessorSet // what a resource that left since then, and sent nothing, left attached, as far as known
}

// Facts returns what the session has found out about the stream.
func (l *Ledger) Facts() Facts {
	f := Facts{Reported: l.reported, Unknown: l.unknown || l.underWay != nil, Detached: l.detached}
	if l.left != nil && !l.left.unknown {
		f.Remainder = l.left.set
	}
	return f
}
