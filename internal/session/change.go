package session

import (
	"maps"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Sets are processor sets by stream id; nil stands for a set that is known after apply.
type Sets map[string]*streams.ProcessorSet

// Entries are what the state of a resource has, by stream id.
type Entries map[string]*claims.Entry

// Without returns the ids that are not in other, in order.
func (e Entries) Without(other Sets) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(e)), func(id string) bool { _, found := other[id]; return found })
}

// Change is what a resource wants of its streams. A single resource is a group of one.
type Change struct {
	Kind       Kind
	Group      bool // the state takes what succeeds if an update fails for some streams
	Want       Sets
	Was        Entries // in the state
	Former     Entries // in the state of another deployment; Was is empty then
	Deployment string  // of the state; "" if the state does not have it
	Marks      Marks   // of the private state
	Refuses    bool    // on_create = "refuse"
	Triggered  bool    // triggers have changed: send all sets
	Leaving    claims.LeaveKind
	Detach     bool // on_destroy = "detach", for the streams that the resource leaves
}

// Kind is what becomes of a resource.
type Kind int

// The kinds of changes.
const (
	Create   Kind = iota // there is no state, or Terraform does not show it: the old object is destroyed
	Update               // Terraform also plans a replacement as an update first
	Redeploy             // Update, and the state is that of another deployment
	Destroy
	Forget // Destroy, and the state is that of another deployment
)

func (c Change) destroys() bool { return c.Kind == Destroy || c.Kind == Forget }

// partial reports whether the state takes what succeeds if a stream fails.
func (c Change) partial() bool { return c.Group && (c.Kind == Update || c.Kind == Redeploy) }

// takenOver returns the streams that the state does not have, or that an import has not read, in order.
func (c Change) takenOver() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.Want)), func(id string) bool {
		return c.Was[id] != nil && c.Was[id].Resend != claims.Unread
	})
}

func (c Change) leave(id string) claims.Leave {
	m := c.Marks.Streams[id]
	l := claims.Leave{Entry: *c.Was[id], Detach: c.Detach, Kind: c.Leaving, Shared: m.Shared}
	// With -replace, a destroy may detach although the update that was planned before does not.
	l.Unforeseen = c.Marks.All.OfCreate && !m.Detach && m.Claim.Kind == claims.Nobody
	return l
}

// AtDeployment makes a change one of streams that the state does not have, if the state is that of another deployment:
// nothing is sent there. Streams of two deployments may have the same ids.
func (s *Session) AtDeployment(c Change) Change {
	if !s.Differs(c.Deployment) {
		return c
	}
	c.Was, c.Former = nil, c.Was
	switch c.Kind {
	case Update:
		c.Kind = Redeploy
	case Destroy:
		c.Kind = Forget
	}
	return c
}

// Differs reports whether a state is that of another deployment.
func (s *Session) Differs(state string) bool {
	return s.deployment != "" && state != "" && state != s.deployment
}

// mayNotDetach reports whether a destroy would detach the processors of streams that never had them from the object: the state
// is that of another deployment.
func (c Change) mayNotDetach() bool {
	moves := c.Kind == Redeploy && c.Leaving == claims.Replaced
	forgets := c.Kind == Forget && c.Leaving != claims.Superseded
	return c.Detach && (moves || forgets) && len(c.Former.Without(c.Want)) > 0
}
