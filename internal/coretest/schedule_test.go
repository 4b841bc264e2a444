package coretest

import (
	"iter"
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
			a.resume, a.stop = iter.Pull(func(yield func(struct{}) bool) { a.ok = n.runUntilStopped(c.inTurn(p, a, yield)) })
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
				c.t.Fatalf("nodes wait for each other, or for a node that does not exist: %v", nodes)
			}
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
			panic(stopped{})
		}
		if c.ends() {
			c.failures = append(c.failures, a.name+" was not run to its end")
			panic(stopped{})
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

// ends reports whether a node ends before its next call. After an interrupt, some nodes have made their next call before. A
// killed apply makes no more calls.
func (c *terraformCore) ends() bool {
	if c.callsLeft > 1 {
		c.callsLeft--
		return false
	}
	return c.callsLeft == 1 || c.interrupted && c.halts != nil && c.halts()
}

// runUntilStopped runs a node until its end, or until it is stopped.
func (n node) runUntilStopped(p *Process) (ok bool) {
	defer func() {
		if cause := recover(); cause != nil && cause != any(stopped{}) {
			panic(cause)
		}
	}()
	return n.run(p)
}

// stopped is the value with which a call of a stopped node panics: the test has failed in another node, or core ends.
type stopped struct{}
