package session

import (
	"maps"
	"reflect"
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
	Deployment string  // of the state; "" if the state does not have it
	Elsewhere  bool    // the state is that of another deployment: the streams here have nothing of it
	Marks      Marks   // of the private state
	Refuses    bool    // on_create = "refuse"
	Triggered  bool    // triggers have changed: send all sets
	Detach     bool    // on_destroy = "detach", for the streams that the resource leaves

	leaving  claims.LeaveKind // of the streams that the resource leaves
	imported claims.Import    // see importOf
	plan     string           // its id, which both plans of a replacement have
}

// Kind is what becomes of a resource.
type Kind int

// The kinds of changes.
const (
	Create Kind = iota // there is no state, or Terraform does not show it: the old object is destroyed
	Edit               // state and configuration have the resource: an update in place, or the first plan of a replacement
	Destroy
)

// replaces reports whether Terraform replaces the object: a single resource goes to another stream. Other replacements are not known yet.
func (c Change) replaces() bool { return c.Kind == Edit && !c.Group && len(c.Was.Without(c.Want)) > 0 }

// replacing returns a change as the second plan of a replacement, which takes the place of the first one.
func (c Change) replacing(first Change) Change {
	c.plan, c.Was, c.Detach = first.plan, first.kept(), first.Detach
	return c
}

// partial reports whether the state takes what succeeds if a stream fails.
func (c Change) partial() bool { return c.Group && c.Kind == Edit }

// entry returns what the state has of a stream at the deployment that is configured, or nil.
func (c Change) entry(id string) *claims.Entry {
	if c.Elsewhere || c.Kind == Create { // which destroys what was
		return nil
	}
	return c.Was[id]
}

// kept returns what the state has of the streams that a plan keeps.
func (c Change) kept() Entries {
	kept := Entries{}
	for id := range c.Want {
		if entry := c.entry(id); entry != nil {
			kept[id] = entry
		}
	}
	return kept
}

// leaves returns the streams that the resource leaves at the deployment that is configured, in order.
func (c Change) leaves() []string {
	if c.Elsewhere {
		return nil
	}
	return c.Was.Without(c.Want)
}

// takenOver returns the streams that the state does not have, or that an import has not read, in order.
func (c Change) takenOver() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.Want)), func(id string) bool {
		entry := c.entry(id)
		return entry != nil && entry.Resend != claims.Unread
	})
}

// lasting returns the marks without what a plan adds for its apply.
func (c Change) lasting() Marks {
	kept := Marks{All: MarkOfAll{ReadAt: c.Marks.All.ReadAt, Failed: c.Marks.All.Failed, Import: c.Marks.All.Import}}
	for id, entry := range c.Was {
		kept.set(id, Mark{Resend: entry.Resend, Shared: c.Marks.Streams[id].Shared})
	}
	return kept
}

// want returns what the rules need to know of a stream that the resource plans a set for.
func (c Change) want(id string) claims.Want {
	return claims.Want{
		Plan: c.plan, Set: c.Want[id], Entry: c.entry(id), Shared: c.Marks.Streams[id].Shared, Triggered: c.Triggered,
	}
}

// leave returns what the rules need to know of a stream that the resource leaves.
func (c Change) leave(id string) claims.Leave {
	m := c.Marks.Streams[id]
	v := claims.Leave{Entry: *c.Was[id], Kind: c.leaving, Import: c.imported, Shared: m.Shared, Plan: c.plan}
	v.Detach = c.Detach && c.imported == claims.NotImported
	// With -replace, a destroy may detach although the update that was planned before does not.
	v.Unforeseen = c.Marks.All.OfCreate && !m.Detach && m.Claim.Kind == claims.Nobody
	return v
}

// Marks are what the private state of a resource says: what neither state nor plan have. Most states have none.
type Marks struct {
	Streams map[string]Mark // by stream id
	All     MarkOfAll
}

// Mark is about one stream. Terraform passes what is planned only to the apply.
type Mark struct {
	Resend claims.Resend `json:"resend,omitempty"`
	Gone   bool          `json:"gone,omitempty"`   // the refresh found no such stream
	Shared bool          `json:"shared,omitempty"` // the refresh read another resource with the stream before

	Send   bool         `json:"send,omitempty"`   // planned: the apply sends the set although the state has it
	Detach bool         `json:"detach,omitempty"` // planned: the resource leaves the stream and may detach the processors
	Claim  claims.Claim `json:"claim,omitzero"`   // planned: what resources of the plan do with the stream
}

// MarkOfAll is about a resource with all of its streams, and about the plan.
type MarkOfAll struct {
	ReadAt string     `json:"read_at_address,omitempty"` // the address at which a read of the resource has returned a stream
	Failed bool       `json:"failed,omitempty"`          // the object was replaced, and its destroy failed in the same apply
	Import ImportMark `json:"import,omitzero"`           // of an object that was imported

	OfCreate bool   `json:"of_create,omitempty"` // planned by a create; a destroy with it is that of the old object
	Session  string `json:"session,omitempty"`   // planned: the session that planned the destroy
	Plan     string `json:"plan,omitempty"`      // planned by an edit: its id, for the second plan of a replacement
}

// ImportMark says in whose run an object counts as imported.
type ImportMark struct {
	Session   string `json:"session"`
	ByCommand bool   `json:"by_command,omitempty"` // in that of each session, because `terraform import` made it, or perhaps did
}

// Of returns the mark of a stream. Nobody knows the marks of a tainted object: its destroy has those of a create without a first plan.
func (m Marks) Of(id string) Mark {
	found := m.Streams[id]
	if m.All.OfCreate && m.All.Plan == "" {
		found.Resend = claims.Unknown
	}
	return found
}

// Entries returns what a state has of its streams, of which an import may not have read the sets.
func (m Marks) Entries(sets Sets) Entries {
	was := Entries{}
	for id, set := range sets {
		if set != nil {
			was[id] = &claims.Entry{Set: *set, Resend: m.Of(id).Resend}
		} else {
			was[id] = &claims.Entry{Resend: claims.Unread}
		}
	}
	return was
}

// set sets a mark, or removes one that says nothing.
func (m *Marks) set(id string, mark Mark) {
	if delete(m.Streams, id); reflect.ValueOf(mark).IsZero() {
		return
	}
	if m.Streams == nil {
		m.Streams = map[string]Mark{}
	}
	m.Streams[id] = mark
}
