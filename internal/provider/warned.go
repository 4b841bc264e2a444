package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// warned knows the warnings of a session. Those of a kind about the first streams are shown in full; the others have
// one summary, so that Terraform shows one of them and counts the rest, and -json shows each.
type warned struct {
	mu      sync.Mutex
	streams map[string][]string // by kind of warning: those whose warnings are shown in full

	applying   context.Context // ends when the session begins to apply changes
	startApply func()
	firstAsked func() time.Time // when the first applies would have begun; see applies
}

const (
	shownWarnings = 20 // of a kind
	fewWarnings   = 5  // if the plan of the run has said the same, in plans of groups, and if there may be a gap for a moment

	// applyDelay is how long the first plans wait that would repeat a warning if this is an apply. Only the number of
	// warnings that are shown in full depends on the delay.
	applyDelay = 200 * time.Millisecond
)

func newWarned() *warned {
	applying, startApply := context.WithCancel(context.Background())
	return &warned{
		streams:    map[string][]string{},
		applying:   applying,
		startApply: startApply,
		firstAsked: sync.OnceValue(func() time.Time { return time.Now().Add(applyDelay) }),
	}
}

// inFull reports whether a warning of a refresh, an apply or a query is shown in full.
func (w *warned) inFull(kind, id string) bool {
	return w.isFirst(fewWarnings, kind, id) || kind != wereDetached.summary && w.isFirst(shownWarnings, kind, id)
}

// inFullPlan reports whether a warning of a plan is shown in full. An apply plans most resources again, and a group before
// anybody can know that it is an apply.
func (w *warned) inFullPlan(of subject, kind, id string) bool {
	return w.isFirst(fewWarnings, kind, id) ||
		kind != detachedForAMoment && of != ofGroup && !w.applies() && w.isFirst(shownWarnings, kind, id)
}

func (w *warned) isFirst(limit int, kind, id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := slices.Contains(w.streams[kind], id)
	if !first && len(w.streams[kind]) < limit {
		w.streams[kind], first = append(w.streams[kind], id), true
	}
	return first
}

// applies reports whether the session is that of an apply. Plan and apply begin with the same calls.
func (w *warned) applies() bool {
	select {
	case <-w.applying.Done():
	case <-time.After(time.Until(w.firstAsked())):
	}
	return w.applying.Err() != nil
}

// asOneOfMany gives a warning the summary of those that are not shown in full. Terraform merges none of a destroy, so the
// detail has only what happened and what is now true.
func asOneOfMany(kind, id, detail string) diag.Diagnostic {
	if parts := strings.Split(detail, "\n\n"); len(parts) > 2 {
		detail = paragraphs(parts[0], parts[len(parts)-1])
	}
	return diag.NewWarningDiagnostic(kind+": more streams", paragraphs(
		fmt.Sprintf("Stream %q:\n%s", id, detail), "With -json, this command shows each of these warnings."))
}
