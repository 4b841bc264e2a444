package coretest

import (
	"iter"
	"runtime/debug"
	"slices"
)

// node is a step of a walk of Terraform core.
type node struct {
	name  string
	after []string // nodes that must succeed before
	run   func(p *Process) (ok bool)
}

// activeNode is a node that is about to make a call.
type activeNode struct {
	name   string
	call   call // only if c.responded is set
	resume func() (struct{}, bool)
	stop   func()
	ok     bool
}

// walk runs the nodes in an order that their dependencies allow. c.next decides which node makes the next call.
func (c *terraformCore) walk(p *Process, nodes []node) {
	c.t.Helper()
	var active []*activeNode
	defer func() {
		for _, a := range active {
			a.stop()
		}
	}()
	ended := map[string]bool{}
	resume := func(a *activeNode) {
		if _, more := a.resume(); !more {
			ended[a.name] = a.ok
			active = slices.DeleteFunc(active, func(other *activeNode) bool { return other == a })
		}
	}
	for {
		waiting := slices.DeleteFunc(slices.Clone(nodes), func(n node) bool {
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
			a := &activeNode{name: n.name}
			a.resume, a.stop = iter.Pull(func(yield func(struct{}) bool) { a.ok = c.runNode(n, c.inTurn(p, a, yield)) })
			active = append(active, a)
			resume(a) // to its first call
			return true
		})
		started := len(waiting) < len(nodes)
		nodes = waiting
		switch {
		case started:
		case len(active) > 0:
			resume(active[c.next(active)])
		default:
			if len(nodes) > 0 {
				c.problem("nodes wait for each other, or for a node that does not exist: %v", nodes)
			}
			c.failOnProblems()
			return
		}
	}
}

// inTurn is the process for a node that waits before each call until it is resumed.
func (c *terraformCore) inTurn(p *Process, a *activeNode, yield func(struct{}) bool) *Process {
	turns := *p
	turns.Begin = func(name string, req any) (end func(resp any)) {
		if c.responded != nil {
			a.call = c.cli.newCall(name, c.walks, req)
		}
		if !yield(struct{}{}) {
			panic(nodeFailed{})
		}
		c.sent = len(c.service.Requests())
		return func(resp any) {
			if c.responded != nil {
				c.responded(c.cli.ended(a.call, resp))
			}
		}
	}
	return &turns
}

// runNode runs a node on a goroutine that need not be the goroutine of the test. A failed or panicking node becomes a
// problem, which fails the test at the end of the walk.
func (c *terraformCore) runNode(n node, p *Process) (ok bool) {
	defer func() {
		switch cause := recover().(type) {
		case nil, nodeFailed:
		default:
			c.problem("%s: panic: %v\n%s", n.name, cause, debug.Stack())
		}
	}()
	return n.run(p)
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
