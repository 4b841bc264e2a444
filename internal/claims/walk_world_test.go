package claims

import (
	"fmt"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// set is a set of the processors "a" and "b", as bits.
type set uint8

const (
	none set = iota
	setA
	setB
)

var (
	processorSets = [4]streams.ProcessorSet{
		streams.NewProcessorSet(), streams.NewProcessorSet("a"), streams.NewProcessorSet("b"), streams.NewProcessorSet("a", "b"),
	}
	reports  [4]*streams.Stream
	pendings = [3]Pending{Confirmed, Unconfirmed, Unsent}
)

func init() {
	for i := range reports {
		reports[i] = &streams.Stream{ProcessorIDs: processorSets[i]}
	}
}

func setOf(p streams.ProcessorSet) set {
	for i := range processorSets {
		if p.Equal(processorSets[i]) {
			return set(i)
		}
	}
	panic("a set that nobody sent: " + p.String())
}

// world is everything that decides how a run goes on: comparable, so that a walk visits each one once.
type world struct {
	service     set
	stream      packed // of the process of the provider: of the plan, then of the apply
	actors      [3]actor
	applying    bool
	refused     uint8 // a plan failed
	interrupted bool
	failed      bool // an operation did not succeed
	written     bool // a resource has set the processors to writtenSet
	writtenSet  set
	doubt       bool // a request since the last report may or may not have taken effect
	said        bool // a diagnostic has named the stream
	warned      bool // a plan has warned that the processors may be detached
	exceptions  exception
}

// actor is a resource in a run.
type actor struct {
	current, deposed object
	step             uint8 // of its plan, then of its program
	deposedPlanned   bool
	verb             verb
	send             bool // the plan sends the set
	mark             claim
	marked           bool // the plan of the departure has been called
	late             bool // another resource had planned the stream before the plan of the departure, which passes its mark
	underWay         bool
	sends            set
	failed           bool // an operation has failed
	called           bool // an operation of the apply has begun
	stale            bool // another resource has changed the stream, and is not in the state
}

// object is what the state has of a resource.
type object struct {
	exists, has, tainted, triggered bool
	set                             set
	pending                         uint8
}

func (o object) entry() *Entry {
	if !o.has {
		return nil
	}
	return &Entry{processorSets[o.set], pendings[o.pending]}
}

func (o object) withEntry(e *Entry) object {
	if o.has = e != nil; !o.has {
		return object{exists: o.exists, tainted: o.tainted, triggered: o.triggered}
	}
	o.exists, o.set = true, setOf(e.Set)
	for i, p := range pendings {
		if p == e.Pending {
			o.pending = uint8(i)
		}
	}
	return o
}

func (o object) untrue(service set) bool {
	return o.has && pendings[o.pending] == Confirmed && o.set != service
}

func (o object) String() string {
	if !o.has {
		return "-"
	}
	return fmt.Sprint(processorSets[o.set], strings.Repeat(" ", min(1, int(o.pending))), pendings[o.pending])
}

type claim struct {
	kind uint8
	set  set
}

func packClaim(c Claim) claim { return claim{uint8(c.Kind), setOf(c.Set)} }
func (c claim) unpack() Claim { return Claim{ClaimKind(c.kind), processorSets[c.set]} }

// packed is a Stream in a comparable form.
type packed struct {
	phase          uint8
	claim          claim
	planned        [6]packedRemainder
	reported       set
	hasReported    bool
	left, underWay packedRemainder
	inDoubt        bool
}

type packedRemainder struct {
	exists, unsure, emptied, detached, dropped bool
	set                                        set
}

func packRemainder(r remainder) packedRemainder {
	return packedRemainder{true, r.unsure, r.emptied, r.detached, r.dropped, setOf(r.set)}
}

func (r packedRemainder) unpack() remainder {
	return remainder{processorSets[r.set], r.unsure, r.emptied, r.detached, r.dropped}
}

func pack(s *Stream) packed {
	p := packed{phase: uint8(s.phase), claim: packClaim(s.claim), inDoubt: s.inDoubt}
	for i, r := range s.planned {
		p.planned[i] = packRemainder(r)
	}
	if s.reported != nil {
		p.reported, p.hasReported = setOf(s.reported.ProcessorIDs), true
	}
	if s.left != nil {
		p.left = packRemainder(*s.left)
	}
	if s.underWay != nil {
		p.underWay = packRemainder(*s.underWay)
	}
	return p
}

func (p packed) unpack() *Stream {
	s := &Stream{phase: Phase(p.phase), claim: p.claim.unpack(), inDoubt: p.inDoubt}
	for _, r := range p.planned {
		if r.exists {
			s.planned = append(s.planned, r.unpack())
		}
	}
	if p.hasReported {
		s.reported = reports[p.reported]
	}
	if p.left.exists {
		left := p.left.unpack()
		s.left = &left
	}
	if p.underWay.exists {
		underWay := p.underWay.unpack()
		s.underWay = &underWay
	}
	return s
}

// event is what happens between two worlds.
type event struct {
	actor   int8
	what    string
	outcome string
}

var actorNames = [...]string{"A", "B", "group"}

func (e event) String() string {
	if e.actor < 0 {
		return e.what
	}
	return strings.TrimSpace(actorNames[e.actor] + ": " + e.what + " " + e.outcome)
}
