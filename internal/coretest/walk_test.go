package coretest

import (
	"iter"
	"runtime/debug"
	"slices"
	"sync"
)

// node is a step of a walk. It calls pause where core may run another node in between.
type node struct {
	name  string
	after []string // nodes that must succeed before
	run   func(pause func()) (ok bool)
}

// walk runs the nodes in an order that their dependencies allow, interleaved at their pauses.
func (c *terraformCore) walk(nodes []node) {
	c.t.Helper()
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
		before := len(waiting)
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
			if len(waiting) < before {
				continue // what waits for a skipped node is skipped, too
			}
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
	if len(waiting) > 0 {
		c.problem("nodes wait for each other, or for a node that does not exist: %v", waiting)
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
