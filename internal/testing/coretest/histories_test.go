package coretest

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// TestHistories runs random histories one step at a time, in an order that is part of the history. So a counterexample
// can be repeated and reduced.
func TestHistories(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() { checkReached(t) })
	inBatches(t, runHistory)
}

// inBatches runs random cases. There are several batches. The number of cases in a batch is -rapid.checks. With RAPID_SEED, which make
// test sets, all batches have one seed; each batch skips another number of draws.
func inBatches(t *testing.T, run func(t historyT)) {
	t.Helper()
	for i := range 5 {
		t.Run(strconv.Itoa(i), func(batch *testing.T) {
			batch.Parallel()
			if t.Failed() {
				batch.Skip("another batch has failed")
			}
			rapid.Check(batch, func(t *rapid.T) {
				for range i {
					rapid.Uint64().Draw(t, "skipped")
				}
				inBubble(batch, func(bubble *testing.T) { run(historyT{t, bubble}) })
			})
		})
	}
}

func runHistory(t historyT) {
	h := drawHistory(t.T, false)
	reach("")
	c := newTerraformCore(t, h.drift, h.attempts)
	c.cli = cliVersion{
		destroysUnrefreshed: h.olderCLI, actionsInNodes: h.newerCLI, identities: true, actions: true, removes: true, readsForgotten: h.reads,
	}
	if h.tells {
		c.command = []string{"terraform", "apply"}
	}
	c.orderBy(func(n int, what string) int { return drawIndex(t.T, n, what) })
	c.overlaps, c.patient = h.overlaps, h.patient
	c.halts = func() bool { return rapid.Bool().Draw(t.T, "halts") }
	failed := true
	defer func() {
		if failed {
			t.Log(strings.Join(c.script, ""))
		}
	}()
	h.runAlone(c)
	failed = false
}

// orderBy lets a function that draws one of n decide the order of the calls.
func (c *terraformCore) orderBy(index func(n int, what string) int) {
	c.next = func(active []*activeNode) int {
		if len(active) == 1 {
			return 0
		}
		return index(len(active), "next")
	}
	c.starts = func(ready int) int { return index(ready, "starts") }
	c.timePasses = func() bool { return index(2, "time passes") == 1 }
}

// inBubble calls f in a bubble of synctest, whose clock goes on only when everything waits. So a timeout never depends on
// how busy the machine is, and takes no time. But the clock also stands while something waits for a mutex.
func inBubble(t *testing.T, f func(bubble *testing.T)) {
	var cause any
	defer func() {
		if cause == nil {
			return
		}
		_ = recover() // the bubble only says that calls were still under way
		// rapid tells panics apart by their lines: a history that asks for more than was recorded is not a failure.
		if fmt.Sprintf("%T", cause) == "rapid.invalidData" {
			panic(cause)
		}
		panic(cause)
	}()
	synctest.Test(t, func(bubble *testing.T) {
		defer func() {
			if cause = recover(); cause == nil {
				return
			}
			if err, ok := cause.(runtime.Error); ok {
				cause = fmt.Errorf("%w\n%s", err, debug.Stack())
			}
		}()
		f(bubble)
	})
}

// historyT is a test in a bubble, which ends before the test does.
type historyT struct {
	*rapid.T
	bubble *testing.T
}

func (t historyT) Cleanup(f func()) { t.bubble.Cleanup(f) }
