package session

import (
	"cmp"
	"reflect"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Marks are what the private state of a resource says: what neither state nor plan have. Most states have none.
type Marks struct {
	Streams map[string]Mark // by stream id
	All     MarkOfAll
}

// Mark is about one stream. Terraform passes what is planned only to the apply.
type Mark struct {
	Resend claims.Resend `json:"pending,omitempty"`
	Gone   bool          `json:"gone,omitempty"`   // the refresh found no such stream
	Shared bool          `json:"shared,omitempty"` // the refresh read another resource with the stream before
	Failed bool          `json:"failed,omitempty"` // the object was replaced, and its destroy failed in the same apply
	Import bool          `json:"import,omitempty"` // imported: the next call is the read of the import

	Send     bool         `json:"send,omitempty"`   // planned: the apply sends the set although the state has it
	Detach   bool         `json:"detach,omitempty"` // planned: the resource leaves the stream and may detach the processors
	Claim    claims.Claim `json:"next,omitzero"`    // planned: what resources of the plan do with the stream
	TakeOver *TakeOver    `json:"take_over,omitempty"`
}

// MarkOfAll is about the streams of a resource that have no mark of their own, and about the plan.
type MarkOfAll struct {
	Resend    claims.Resend `json:"pending,omitempty"`
	OfCreate  bool          `json:"create,omitempty"`    // planned by a create; a destroy with it is that of the old object
	Unchecked bool          `json:"unchecked,omitempty"` // planned: nobody can check the replacement before the destroy
	Session   string        `json:"session,omitempty"`   // planned: the session that planned the destroy
}

// TakeOver is planned for a stream of a resource that refuses to detach the processors of others. In a replacement, Terraform
// passes it to the destroy of the old object, and nothing to the create.
type TakeOver struct {
	Set *streams.ProcessorSet `json:"set"` // nil: known after apply
	Had streams.ProcessorSet  `json:"had"` // see [claims.Stream.Had]
}

// Of returns the mark of a stream.
func (m Marks) Of(id string) Mark {
	if found, ok := m.Streams[id]; ok {
		return found
	}
	return Mark{Resend: m.All.Resend}
}

// Entry adds the mark of a stream to what the state has of it.
func (m Marks) Entry(id string, set streams.ProcessorSet) *claims.Entry {
	return &claims.Entry{Set: set, Resend: m.Of(id).Resend}
}

// set sets a mark, also one that says nothing: that of all streams does not hold for the stream then.
func (m *Marks) set(id string, mark Mark) {
	if m.Streams == nil {
		m.Streams = map[string]Mark{}
	}
	m.Streams[id] = mark
}

// add sets a mark, unless it says nothing.
func (m *Marks) add(id string, mark Mark) {
	if !reflect.DeepEqual(mark, Mark{}) {
		m.set(id, mark)
	}
}

// lasting returns the marks without what a plan adds for its apply.
func (m Marks) lasting() Marks {
	kept := Marks{All: MarkOfAll{Resend: m.All.Resend}}
	for id, found := range m.Streams {
		resend := cmp.Or(found.Resend, m.All.Resend)
		kept.add(id, Mark{Resend: resend, Gone: found.Gone, Shared: found.Shared, Failed: found.Failed})
	}
	return kept
}

// IsImport reports whether the marks are those of an import that has not been read.
func (m Marks) IsImport() bool { return m.any(func(found Mark) bool { return found.Import }) }

// any reports whether a mark has a property.
func (m Marks) any(has func(Mark) bool) bool {
	for _, found := range m.Streams {
		if has(found) {
			return true
		}
	}
	return false
}
