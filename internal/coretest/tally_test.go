package coretest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tally counts what random histories did. A test of histories logs it at its end: run it with -v.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func newTally(t *testing.T) *tally {
	ta := &tally{counts: map[string]int{}}
	t.Cleanup(func() { t.Log("\n" + ta.String()) })
	return ta
}

func (t *tally) add(names ...string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range names {
		t.counts[name]++
	}
}

// String is a line for each count, with its share of the applies.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(&b, "%-40s %7d %5.1f %%\n", name, t.counts[name], 100*float64(t.counts[name])/float64(max(1, t.counts["apply"])))
	}
	return b.String()
}
