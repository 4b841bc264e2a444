package coretest

import (
	"fmt"
	"slices"
)

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
