package coretest

import (
	"fmt"
	"iter"
	"slices"
	"testing/synctest"
)

// node is a step of a walk of Terraform core.
type node struct {
	name  string
	after []string // nodes that must succeed before
	run   func(p *Process) (ok bool)
}

// activeNode is a node that is about to make a call, or whose call waits in the provider.
type activeNode struct {
	name   string
	call   call          // only if c.responded is set
	ended  chan struct{} // closed at the end of the call; nil: no call waits
	resume func() (struct{}, bool)
	stop   func()
	ok     bool
}

// waits reports whether the node waits for its call, which goes on when time passes.
func (a *activeNode) waits() bool {
	select {
	case <-a.ended:
		return false
	default:
		return a.ended != nil
	}
}

// walk runs the nodes in an order that their dependencies allow. c.next decides which node makes the next call. With
// c.parallelism, no more nodes are active at the same time, and c.starts decides which one is started.
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
	start := func(n node) {
		a := &activeNode{name: n.name}
		a.resume, a.stop = iter.Pull(func(yield func(struct{}) bool) { a.ok = n.runUntilStopped(c.inTurn(p, a, yield)) })
		active = append(active, a)
		resume(a) // to its first call
	}
	for {
		var ready, later []node
		for _, n := range nodes {
			switch failed, waits := n.dependsOn(ended); {
			case failed:
				ended[n.name] = false
			case waits:
				later = append(later, n)
			default:
				ready = append(ready, n)
			}
		}
		skipped := len(ready)+len(later) < len(nodes)
		nodes = slices.Concat(ready, later)
		callers := slices.DeleteFunc(slices.Clone(active), (*activeNode).waits)
		switch {
		case skipped: // perhaps others depend on them
		case len(ready) > 0 && (c.parallelism == 0 || len(active) < c.parallelism):
			i := 0
			if c.parallelism > 0 {
				i = c.starts(len(ready))
			}
			nodes = slices.Delete(nodes, i, i+1)
			start(ready[i])
		case len(callers) > 0 && (len(callers) == len(active) || c.patient || !c.timePasses()):
			if len(callers) < len(active) {
				reach(waitsMeanwhile)
			}
			resume(callers[c.next(callers)])
		case len(active) > 0:
			<-active[slices.IndexFunc(active, (*activeNode).waits)].ended // the clock goes on
			synctest.Wait()
		default:
			if len(nodes) > 0 {
				c.t.Fatalf("nodes wait for each other, or for a node that does not exist: %v", nodes)
			}
			return
		}
	}
}

// dependsOn reports whether a node cannot run because another one has failed, or not yet.
func (n node) dependsOn(ended map[string]bool) (failed, waits bool) {
	for _, name := range n.after {
		ok, done := ended[name]
		failed, waits = failed || done && !ok, waits || !done
	}
	return failed, waits
}

// inTurn is the process for a node that waits before each call until it is resumed. In a plan with c.overlaps, other nodes make their
// calls while one waits for time to pass. If several calls wait for the same moment, what they do then has no order.
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
		c.calls = append(c.calls, a.name+" "+name)
		sent := len(c.service.Requests())
		c.sent = sent
		return func(resp any) {
			c.sent = sent
			if c.responded != nil {
				c.responded(c.cli.ended(a.call, resp))
			}
		}
	}
	if c.overlaps && c.walks == 1 {
		turns.Run = func(call func()) {
			a.ended = make(chan struct{})
			go func() {
				defer close(a.ended)
				call()
			}()
			synctest.Wait()
			for a.waits() {
				if !yield(struct{}{}) {
					panic(stopped{})
				}
			}
			a.ended = nil
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

// destroyer is a node that destroys or forgets an object.
type destroyer struct {
	node, addr   string
	dependsOn    []string // those of the current object, also for a deposed one
	createsFirst bool     // create_before_destroy
}

// destroyerOf returns the node that destroys the object of a change, if there is one. The number makes the names of deposed
// objects different.
func (c *terraformCore) destroyerOf(ch change, number int) (d destroyer, destroys bool) {
	d = destroyer{node: "destroy " + ch.addr, addr: ch.addr, createsFirst: ch.verb == createThenDelete}
	if current := c.state[ch.addr].current; current != nil {
		d.dependsOn = current.dependsOn
	}
	switch {
	case ch.deposed:
		d.node, d.createsFirst = fmt.Sprintf("%s deposed %d", d.node, number), true
	case ch.verb == destroy:
		d.createsFirst = ch.prior.createBeforeDestroy
	}
	return d, ch.verb == destroy || ch.verb == forget || ch.verb.replaces()
}

// inOrderOfDependencies adds the order that dependencies ask for, those of the configuration and those of the state. A
// dependency is created or updated first, and destroyed after what is destroyed with it. What depended on a destroyed object
// is changed after the destroy, and what a destroyed object depended on, too; with create_before_destroy, before.
func inOrderOfDependencies(nodes []node, changes []change, destroyers []destroyer) []node {
	nodes = slices.Clone(nodes)
	index := map[string]int{}
	for i, n := range nodes {
		index[n.name] = i
	}
	order := func(first, then string) {
		_, exists := index[first]
		if i, ok := index[then]; ok && exists && first != then && !slices.Contains(nodes[i].after, first) {
			nodes[i].after = append(nodes[i].after, first)
		}
	}
	afterDestroy := func(d destroyer, set string) {
		if d.createsFirst {
			order(set, d.node)
		} else {
			order(d.node, set)
		}
	}
	for _, ch := range changes {
		set := "set " + ch.addr
		for _, on := range ch.dependsOn {
			order("set "+on, set)
		}
		stored := ch.dependsOn // of a new object
		if ch.prior != nil {
			stored = ch.prior.dependsOn
		}
		for _, d := range destroyers {
			if !ch.deposed && slices.Contains(stored, d.addr) {
				afterDestroy(d, set)
			}
		}
	}
	for _, d := range destroyers {
		for _, other := range destroyers {
			if slices.Contains(d.dependsOn, other.addr) {
				order(d.node, other.node)
			}
		}
		for _, on := range d.dependsOn {
			afterDestroy(d, "set "+on)
		}
	}
	return nodes
}

// cyclic reports whether nodes wait for each other. Terraform fails then: for some resources with create_before_destroy that
// no longer depend on one that is destroyed.
func cyclic(nodes []node) bool {
	ended := map[string]bool{}
	for range nodes {
		for _, n := range nodes {
			if !slices.ContainsFunc(n.after, func(name string) bool { return !ended[name] }) {
				ended[n.name] = true
			}
		}
	}
	return len(ended) < len(nodes)
}
