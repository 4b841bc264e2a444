package provider

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// This file has on_create: a resource that takes a stream over refuses to detach the processors of others.

// Values of on_create. Null is replace.
const (
	onCreateReplace = "replace"
	onCreateRefuse  = "refuse"
)

// takeOver is the mark of a stream in the plan of a create with on_create = "refuse". In a replacement, Terraform passes
// it to the destroy of the old object, and nothing to the create.
type takeOver struct {
	Set *streams.ProcessorSet `json:"set"` // nil: known after apply
	Had streams.ProcessorSet  `json:"had"` // see priorSets
}

// takenOver returns the streams of a plan that the state does not have, in order.
func (c change) takenOver() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.want)), func(id string) bool { return c.was[id] != nil })
}

// priorSets is what objects of this session had of a stream in the state before the refresh. It counts for an object that is
// replaced: Terraform shows a tainted one only to the refresh.
type priorSets struct {
	set    *streams.ProcessorSet // nil: not known
	leaves bool                  // the set may be that of an object that leaves, and the apply may not know it in time
	used   streams.ProcessorSet  // what a plan may detach because of the set
}

// notePrior notes what an object had, and returns all that is known.
func (s *session) notePrior(id string, sets ...streams.ProcessorSet) *streams.ProcessorSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.stream(id).prior
	for _, set := range sets {
		if p.set != nil {
			set = streams.NewProcessorSet(append(p.set.IDs(), set.IDs()...)...)
		}
		p.set = &set
	}
	return p.set
}

// leavePrior notes that an object leaves a stream. It returns what another plan would detach because of the object.
func (s *session) leavePrior(id string) streams.ProcessorSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.stream(id).prior
	p.leaves = true
	return p.used
}

// ofOthers returns the attached processors that are neither planned nor those of an object that is replaced.
func (s *session) ofOthers(id string, attached, planned streams.ProcessorSet) streams.ProcessorSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, others := &s.stream(id).prior, attached.Minus(planned)
	if p.set == nil || p.leaves {
		return others
	}
	rest := others.Minus(*p.set)
	if rest.Len() == 0 {
		p.used = others
	}
	return rest
}

// markTakeOver returns the mark of a planned stream. If there was no refresh, the first plan of a replacement passes it to
// the second one, which is that of a create.
func (s *session) markTakeOver(c change, id string) *takeOver {
	was, first, prior := c.was[id], c.marks[id].TakeOver, s.notePrior(id)
	switch {
	case !c.refuses:
		return nil
	case was != nil && prior == nil && s.readsStreams():
		return &takeOver{Had: was.Set}
	case c.kind != create:
		return nil
	case first != nil:
		prior = s.notePrior(id, first.Had)
	}
	return &takeOver{c.want[id], *cmp.Or(prior, new(streams.ProcessorSet))}
}

// checkTakeOver reads the streams that a resource takes over. The plan of the apply calls it again.
func (s *session) checkTakeOver(ctx context.Context, c change, t *tally) diag.Diagnostics {
	takesOver := c.kind == create || c.kind == redeploy || len(c.takenOver()) > 0 // perhaps of streams that are known after apply
	switch {
	case !s.configured() || len(t.errors.kinds) > 0:
	case s.detectDrift && (c.kind != redeploy || c.refuses): // a destroy also plans a redeploy, only to refresh
		s.readBeforeCreate(ctx, c, t)
	case !s.detectDrift && c.refuses && takesOver:
		return diag.Diagnostics{diag.WithPath(path.Root("on_create"), needsReads("Streams Cannot Be Checked",
			`set on_create = "replace": then the apply detaches what else is attached. `+refreshOfDestroy))}
	}
	return nil
}

// checkReplacement checks the destroy of an object that is replaced: if the create were refused later, the destroy would
// have detached the processors of the old stream.
func (s *session) checkReplacement(ctx context.Context, c change) diag.Diagnostics {
	created := change{kind: update, want: sets{}, refuses: true, marks: c.marks}
	for id, m := range c.marks {
		if m.TakeOver != nil {
			created.want[id] = m.TakeOver.Set
			s.notePrior(id, m.TakeOver.Had)
		}
	}
	t := &tally{subject: c.of, inFull: func(string, string) bool { return false }} // the plan of the create warns
	return append(s.checkTakeOver(ctx, created, t), t.diagnostics(nothingDone)...).Errors()
}

const refreshOfDestroy = "To refresh, terraform destroy makes this plan, too: there, add -refresh=false."

func ofOthersError(id, attached string) diag.Diagnostic {
	return diag.WithPath(path.Root("processor_ids"), nothingSent("Processors Would Be Detached",
		fmt.Sprintf("Stream %q has processors that are not in the planned set: %s. The apply would detach them, and on_create is "+
			"\"refuse\".", id, attached),
		"To keep them, add them to the set, or adopt the stream with an import block. To detach them, set on_create = \"replace\". "+
			"If a resource was renamed, add a moved block. "+refreshOfDestroy,
		notChangedHere))
}
