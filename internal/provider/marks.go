package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// marks are the private state of a resource, by stream id. The state of a resource whose operations succeeded has none.
type marks map[string]mark

// mark is what the state and the plan do not say of a stream. Terraform passes planned marks only to the apply.
type mark struct {
	Resend claims.Resend `json:"pending,omitempty"`
	Gone   bool          `json:"gone,omitempty"`   // the refresh found no such stream
	Shared bool          `json:"shared,omitempty"` // the refresh read another resource with the stream before
	Failed bool          `json:"failed,omitempty"` // the object was replaced, and its destroy failed in the same apply

	Import  bool `json:"import,omitempty"`  // imported: the next call is the read of the import
	Send    bool `json:"send,omitempty"`    // planned: the apply sends the set although the state has it
	Created bool `json:"created,omitempty"` // planned with anyStream: the marks come from the plan of a create
	Detach  bool `json:"detach,omitempty"`  // planned: the resource leaves the stream and may detach the processors

	TakeOver *takeOver    `json:"take_over,omitempty"` // planned
	Claim    claims.Claim `json:"next,omitzero"`       // planned: what resources of the plan do with the stream
	Session  string       `json:"session,omitempty"`   // planned with anyStream: the session that planned the destroy
}

// foreseen reports whether the plan knew that the resource detaches the processors. With -replace, a destroy may detach
// although the update that was planned before does not.
func (m mark) foreseen() bool { return m.Detach || m.Claim.Kind != claims.Nobody }

// privateState is the part of the framework's private state that is used here. The framework's own type is internal.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

const (
	marksKey  = "marks" // in the private state
	anyStream = ""      // has the mark that is about every stream
)

// readMarks reads a private state. What is not readable counts as not there.
func readMarks(ctx context.Context, private privateState) marks {
	m := marks{}
	value, _ := private.GetKey(ctx, marksKey)
	_ = json.Unmarshal(value, &m)
	return m
}

// add adds a mark, unless it says nothing.
func (m marks) add(id string, added mark) {
	if !reflect.DeepEqual(added, mark{}) {
		m[id] = added
	}
}

// lasting returns the marks without what a plan adds for its apply.
func (m marks) lasting() marks {
	kept := marks{}
	for id, found := range m {
		resend := cmp.Or(found.Resend, m[anyStream].Resend)
		kept.add(id, mark{Resend: resend, Gone: found.Gone, Shared: found.Shared, Failed: found.Failed})
	}
	return kept
}

// save replaces a private state.
func (m marks) save(ctx context.Context, private privateState) diag.Diagnostics {
	if len(m) == 0 {
		return private.SetKey(ctx, marksKey, nil) // removes the key
	}
	value, _ := json.Marshal(m) // texts and truth values always encode
	return private.SetKey(ctx, marksKey, value)
}

// entry adds the mark of a stream to what the state has of it.
func (m marks) entry(id string, set streams.ProcessorSet) *claims.Entry {
	return &claims.Entry{Set: set, Resend: m.of(id).Resend}
}

// of returns the mark of a stream, as far as a state has it.
func (m marks) of(id string) mark {
	if found, ok := m[id]; ok {
		return found
	}
	return mark{Resend: m[anyStream].Resend}
}
