package coretest

import (
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// node is a step of a walk. It calls pause where core may run another node in between.
type node struct {
	name  string
	after []string // nodes that must succeed before
	run   func(pause func()) (ok bool)
}

// failOnCycle fails the test if nodes wait for each other.
func (c *terraformCore) failOnCycle(nodes []node) {
	c.t.Helper()
	ended := map[string]bool{}
	for waiting := nodes; len(waiting) > 0; {
		left := slices.DeleteFunc(slices.Clone(waiting), func(n node) bool {
			ended[n.name] = !slices.ContainsFunc(n.after, func(name string) bool { return !ended[name] })
			return ended[n.name]
		})
		if len(left) == len(waiting) {
			c.t.Fatalf("nodes wait for each other, or for a node that does not exist: %v", left)
		}
		waiting = left
	}
}

// walk runs the nodes in an order that their dependencies allow, interleaved at their pauses.
func (c *terraformCore) walk(nodes []node) {
	c.t.Helper()
	c.failOnCycle(nodes)
	if c.next == nil {
		c.walkAtOnce(nodes)
		return
	}
	type running struct {
		node
		resume func() (struct{}, bool)
		ok     bool
	}
	waiting := nodes
	var active []*running
	ended := map[string]bool{}
	for {
		waiting = slices.DeleteFunc(slices.Clone(waiting), func(n node) bool {
			for _, name := range n.after {
				ok, done := ended[name]
				if !done {
					return false
				}
				if !ok {
					ended[n.name] = false
					return true
				}
			}
			r := &running{node: n}
			r.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
				r.ok = c.runNode(r.node, func() { yield(struct{}{}) })
			})
			active = append(active, r)
			return true
		})
		if len(active) == 0 {
			break
		}
		var names []string
		for _, r := range active {
			names = append(names, r.name)
		}
		i := c.next(names)
		if _, more := active[i].resume(); !more {
			ended[active[i].name] = active[i].ok
			active = slices.Delete(active, i, i+1)
		}
	}
	c.failOnProblems()
}

// walkAtOnce runs each node on a goroutine of its own.
func (c *terraformCore) walkAtOnce(nodes []node) {
	done := map[string]chan struct{}{}
	ok := make([]bool, len(nodes))
	index := map[string]int{}
	for i, n := range nodes {
		done[n.name], index[n.name] = make(chan struct{}), i
	}
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			defer close(done[n.name])
			for _, name := range n.after {
				if <-done[name]; !ok[index[name]] {
					return
				}
			}
			ok[i] = c.runNode(n, func() {})
		})
	}
	all.Wait()
	c.failOnProblems()
}

// runNode runs a node on a goroutine that need not be the goroutine of the test. A failed or panicking node becomes a
// problem, which fails the test at the end of the walk.
func (c *terraformCore) runNode(n node, pause func()) (ok bool) {
	defer func() {
		switch cause := recover().(type) {
		case nil, nodeFailed:
		default:
			c.problem("%s: panic: %v\n%s", n.name, cause, debug.Stack())
		}
	}()
	return n.run(pause)
}

// nodeFailer is the Failer of the calls within a node.
type nodeFailer struct{ core *terraformCore }

func (f nodeFailer) Helper() {}

func (f nodeFailer) Fatalf(format string, args ...any) {
	f.core.problem(format, args...)
	panic(nodeFailed{})
}

// nodeFailed is the value with which Fatalf panics.
type nodeFailed struct{}

// startProvider starts and configures a process of the provider, to be called from nodes.
func (c *terraformCore) startProvider() *Process {
	c.t.Helper()
	c.rules = newProcessRules(c.mayBeRepeated())
	if c.next != nil {
		c.provider["max_concurrent_requests"] = 1 // the streams of a group in turn
	}
	p := &Process{T: nodeFailer{c}, Server: newServer(), Schemas: schemas()}
	c.running.Store(p)
	c.interrupted.Store(false)
	c.walk([]node{{name: "configure the provider", run: func(func()) bool {
		p.Configure(c.provider)
		return true
	}}})
	return p
}

// inOrder makes each walk prefer the named nodes, in this order.
func (c *terraformCore) inOrder(names ...string) {
	c.next = func(ready []string) int {
		for _, name := range names {
			if i := slices.Index(ready, name); i >= 0 {
				return i
			}
		}
		return 0
	}
}

// failOnProblems fails the test if there are problems. It must be called on the goroutine of the test.
func (c *terraformCore) failOnProblems() {
	c.t.Helper()
	if len(c.problems) > 0 {
		c.t.Fatalf("%s", strings.Join(c.problems, "\n"))
	}
}

func (c *terraformCore) problem(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *terraformCore) logf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Logf(format, args...)
}

// note changes what the nodes share.
func (c *terraformCore) note(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// noErrors records the errors of an operation on streams, and reports whether there are none.
func (c *terraformCore) noErrors(what string, diags Diagnostics, streams ...string) bool {
	if len(diags) > 0 {
		c.logf("%s: %s", what, diags)
	}
	if !diags.Failed() {
		return true
	}
	c.markDoubtful(streams...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, what+": "+diags.String())
	return false
}

func (c *terraformCore) markDoubtful(streams ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range streams {
		c.doubtful[id] = true
	}
}

// recordingTB records the failures of a test.
type recordingTB struct {
	rapid.TB
	failures []string
}

func (t *recordingTB) Helper() {}

func (t *recordingTB) Fatalf(format string, args ...any) {
	t.failures = append(t.failures, fmt.Sprintf(format, args...))
}

func TestWalkFailsOnTheGoroutineOfTheTest(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func([]string) int{"in turn": func([]string) int { return 0 }, "at once": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tb := &recordingTB{TB: t}
			c := &terraformCore{t: tb, next: next}
			var succeeded atomic.Bool
			c.walk([]node{
				{name: "failing", run: func(func()) bool { nodeFailer{c}.Fatalf("%d problems", 2); return true }},
				{name: "panicking", run: func(func()) bool { panic("a bug") }},
				{name: "after", after: []string{"failing"}, run: func(func()) bool { t.Error("ran after a failed node"); return true }},
				{name: "succeeding", run: func(func()) bool { succeeded.Store(true); return true }},
			})
			if len(tb.failures) != 1 {
				t.Fatalf("failures: %q, want one", tb.failures)
			}
			for _, want := range []string{"2 problems", "panicking: panic: a bug"} {
				if !strings.Contains(tb.failures[0], want) {
					t.Errorf("no %q in: %s", want, tb.failures[0])
				}
			}
			if !succeeded.Load() {
				t.Error("a node without failed dependencies did not run")
			}
		})
	}
}
