package coretest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// apply applies changes, in a new process of the provider.
func (c *terraformCore) apply(changes []change, refreshed map[string]*instance, opts options) {
	c.t.Helper()
	p := c.startProvider()
	c.state = refreshed
	for _, s := range c.objects() {
		s.unchanged = slices.ContainsFunc(changes, func(ch change) bool { return ch.prior == s && ch.verb == noop })
	}
	var nodes []node
	for _, ch := range changes {
		set, gone := "set "+ch.addr, "destroy "+ch.addr
		switch ch.verb {
		case create, update:
			nodes = append(nodes, node{set, nil, func(pause func()) bool { return c.createOrUpdate(p, ch, pause) }})
		case deleteThenCreate:
			nodes = append(nodes,
				node{gone, nil, func(func()) bool { return c.destroy(p, ch) }},
				node{set, []string{gone}, func(pause func()) bool { return c.createOrUpdate(p, ch, pause) }})
		case createThenDelete:
			nodes = append(nodes,
				node{set, nil, func(pause func()) bool { return c.createOrUpdate(p, ch, pause) }},
				node{gone, []string{set}, func(pause func()) bool { return c.destroyDeposed(p, ch.addr, ch.prior, pause) }})
		case destroy:
			if !ch.deposed {
				nodes = append(nodes, node{gone, nil, func(func()) bool { return c.destroy(p, ch) }})
				continue
			}
			// Core creates a new object before it destroys the deposed ones.
			var after []string
			if slices.ContainsFunc(changes, func(other change) bool {
				return other.addr == ch.addr && (other.verb.replaces() || other.verb == create || other.verb == update)
			}) {
				after = []string{set}
			}
			nodes = append(nodes, node{fmt.Sprintf("%s deposed %d", gone, len(nodes)), after, func(pause func()) bool {
				return c.destroyDeposed(p, ch.addr, ch.prior, pause)
			}})
		}
	}
	nodes = inOrderOfDependencies(nodes, changes)
	c.note(func() { c.invoking = opts.action != nil })
	if opts.action != nil {
		nodes = append(nodes, c.actionNode(p, opts, nodes))
	}
	c.departed = nil
	c.walk(nodes)
	if opts.action != nil && c.next == nil {
		c.unrecorded[opts.action.stream()] = true // whichever request came last
	}
	for _, s := range c.objects() {
		if slices.ContainsFunc(changes, func(ch change) bool { return ch.prior == s && ch.verb != noop }) {
			c.noteLeftOver(s)
		}
	}
	for _, d := range c.departed {
		c.checkOthers(d)
	}
	c.failOnProblems()
	for addr, is := range c.state {
		if is.current == nil && len(is.deposed) == 0 {
			delete(c.state, addr)
		}
	}
}

// inOrderOfDependencies adds the order that depends_on asks for: a dependency is created or updated first, and destroyed
// after what is destroyed with it. An update that no longer depends on a destroyed resource comes after the destroy.
func inOrderOfDependencies(nodes []node, changes []change) []node {
	index := map[string]int{}
	for i, n := range nodes {
		index[n.name] = i
	}
	destroyed := map[string]bool{} // and not created again
	for _, ch := range changes {
		if ch.verb == destroy && !ch.deposed {
			destroyed[ch.addr] = true
		}
	}
	order := func(first, then string) {
		_, exists := index[first]
		if i, ok := index[then]; ok && exists && first != then && !slices.Contains(nodes[i].after, first) {
			nodes[i].after = append(nodes[i].after, first)
		}
	}
	for _, ch := range changes {
		if on := ch.wanted.dependsOn; on != "" {
			order("set "+on, "set "+ch.addr)
		}
		if ch.prior == nil || ch.prior.dependsOn == "" {
			continue
		}
		on := "destroy " + ch.prior.dependsOn
		order("destroy "+ch.addr, on)
		if ch.verb == update && destroyed[ch.prior.dependsOn] {
			order(on, "set "+ch.addr)
		}
	}
	return nodes
}

// actionNode invokes the action after the operation that triggers it, or at any time if there is none.
func (c *terraformCore) actionNode(p *Process, opts options, nodes []node) node {
	id, set := opts.action.stream(), opts.action.sets[opts.action.stream()]
	var after []string
	if trigger := "set " + opts.actionAfter; slices.ContainsFunc(nodes, func(n node) bool { return n.name == trigger }) {
		after = []string{trigger}
	}
	return node{"invoke", after, func(func()) bool {
		o := c.operate("invoke", []string{id}, map[string][]string{id: set}, nil, func() (diags Diagnostics) {
			_, diags = p.Invoke(Attributes{"stream_id": id, "processor_ids": set})
			return diags
		})
		c.markDoubtful(id)
		c.note(func() { c.unrecorded[id] = true }) // an action has no state
		return len(o.errors) == 0
	}}
}

// createOrUpdate creates or updates an instance.
func (c *terraformCore) createOrUpdate(p *Process, ch change, pause func()) bool {
	what, is := string(ch.verb)[:6]+" "+ch.addr, c.state[ch.addr]
	if ch.verb.replaces() {
		what = "create " + ch.addr
	}
	if ch.verb == createThenDelete {
		is.deposed, is.current = append(is.deposed, is.current), nil
	}
	prior := is.current
	ids := slices.Collect(maps.Keys(ch.wanted.sets))
	if ch.prior != nil {
		ids = append(ids, ch.prior.streams()...)
	}
	actual, ok := c.planChange(p, ch.addr, ch.wanted, prior, ch.forced, &ch, pause)
	if !ok {
		c.markDoubtful(ids...)
		return false
	}
	if actual.verb != ch.verb && (ch.verb != update || actual.verb != noop) {
		c.problem("%s: inconsistent final plan: %s became %s", what, ch.verb, actual.verb)
	}
	if c.changedByTaint(ch, actual) {
		c.noErrors(what, Diagnostics{{Severity: tfprotov6.DiagnosticSeverityError, Summary: "Provider produced inconsistent final plan"}}, ids...)
		c.note(func() {
			for _, id := range ids {
				c.unrecorded[id] = true
			}
		})
		return false
	}
	c.checkCompatible(what+": inconsistent final plan", ch.planned.Value, actual.planned.Value)
	if actual.verb == noop {
		return true
	}
	pause()

	before, was := nullOf(actual.planned.Value.Type()), map[string]any{}
	ids = slices.Sorted(maps.Keys(ch.wanted.sets))
	var dropped []string
	if prior != nil {
		before, was = prior.Value, prior.sets()
		dropped = slices.DeleteFunc(prior.streams(), func(id string) bool { return ch.wanted.sets[id] != nil })
		ids = append(ids, dropped...)
	}
	var sends, leaves map[string][]string
	var may map[string]bool
	c.note(func() {
		sends, may = c.rules.plannedSends(before, actual.planned.Value)
		leaves = c.rules.leaveSends(prior.departures(dropped, ch.wanted.onDestroy, actual.next), may)
	})
	for id := range sends {
		sends[id] = ch.wanted.sets[id] // the planned one may be unknown in part
	}
	expected := maps.Clone(sends)
	maps.Copy(expected, leaves)
	var got Managed
	o := c.operate(what, ids, expected, may, func() (diags Diagnostics) {
		got, diags = p.Apply(before, actual.planned, ch.wanted.configValue(true))
		return diags
	})
	if ok = len(o.errors) == 0; !ok && ch.verb.replaces() {
		c.markDoubtful(ch.prior.streams()...) // core may put the object back
	}
	c.note(func() {
		for id := range sends {
			if may[id] && len(o.requestsTo(id)) == 0 {
				continue
			}
			detail, failed := o.errors[id]
			_, inState := was[id]
			moved := strings.HasSuffix(detail, "The stream was changed.") // reported as an error, after the update
			c.rules.written[id] = c.rules.written[id] || !failed || moved
			if len(o.requestsTo(id)) > 0 {
				c.rules.blocked[id] = inState && !c.rules.written[id]
			}
			if !failed {
				delete(c.unrecorded, id)
			}
		}
		c.noteLeft(o, prior, dropped, leaves, ch.wanted.lateGroup())
	})
	if !got.Value.IsFullyKnown() {
		c.problem("%s: the result has unknown values: %v", what, FromTerraform(got.Value))
	}
	switch {
	case ok && got.Value.IsNull():
		c.problem("%s: success, but no object", what)
	case ok:
		c.checkCompatible(what+": inconsistent result", actual.planned.Value, got.Value)
		is.current = &stored{Managed: got, dependsOn: ch.wanted.dependsOn}
		c.checkResponse(o, is.current)
	case got.Value.IsNull(): // core keeps the prior state
	case prior == nil:
		c.problem("%s: a failed create leaves a tainted object", what)
	default:
		is.current = &stored{Managed: got, tainted: prior.tainted, dependsOn: prior.dependsOn}
		c.checkHonest(o, prior, ch.wanted.sets, is.current)
	}
	if !ok && ch.verb == createThenDelete && is.current == nil {
		is.current = is.deposed[len(is.deposed)-1]
		is.deposed = is.deposed[:len(is.deposed)-1]
	}
	return ok
}

// changedByTaint reports whether the destroy of a tainted or replaced resource, for which core does not ask for a plan, has
// made an update that would send nothing into one that sends the set of a shared stream again (Known Limits).
func (c *terraformCore) changedByTaint(ch, actual change) bool {
	was, is := AttributesOf(ch.planned.Value)["last_edited"], AttributesOf(actual.planned.Value)["last_edited"]
	return ch.verb == update && was.IsKnown() && !is.IsKnown() &&
		slices.ContainsFunc(ch.prior.streams(), func(id string) bool { return c.unforeseen[id] })
}

// destroy destroys the current object of an instance. In a replacement, the provider gets the private state that it
// planned for the new object.
func (c *terraformCore) destroy(p *Process, ch change) bool {
	is := c.state[ch.addr]
	planned := Managed{Value: nullOf(is.current.Value.Type()), Private: ch.planned.Private}
	if ch.verb == destroy {
		planned.Identity = ch.planned.Identity
	}
	var ok bool
	is.current, ok = c.applyDestroy(p, "destroy "+ch.addr, is.current, planned, ch.next, is.current.tainted || ch.forced)
	return ok
}

func (c *terraformCore) destroyDeposed(p *Process, addr string, s *stored, pause func()) bool {
	is := c.state[addr]
	ch, ok := c.planDestroy(p, addr, s, true)
	if !ok {
		return false
	}
	pause()
	left, ok := c.applyDestroy(p, "destroy deposed "+addr, s, ch.planned, ch.next, true)
	c.mu.Lock()
	defer c.mu.Unlock()
	is.deposed = slices.DeleteFunc(is.deposed, func(d *stored) bool { return d == s })
	if left != nil {
		is.deposed = append(is.deposed, left)
	}
	return ok
}

// applyDestroy destroys an object. unmarked says that core does not pass the marks of the plan.
func (c *terraformCore) applyDestroy(p *Process, what string, s *stored, planned Managed, next map[string]*claimed, unmarked bool) (*stored, bool) {
	var got Managed
	ids, may := s.streams(), map[string]bool{}
	var sends map[string][]string
	c.note(func() { sends = c.rules.leaveSends(s.departures(ids, s.text("on_destroy"), next), may) })
	o := c.operate(what, ids, sends, may, func() (diags Diagnostics) {
		got, diags = p.Apply(s.Value, planned, nullOf(s.Value.Type()))
		return diags
	})
	c.note(func() { c.noteLeft(o, s, ids, sends, unmarked) })
	ok := len(o.errors) == 0
	switch {
	case ok && !got.Value.IsNull():
		c.problem("%s: success, but the object is still there", what)
	case ok:
		return nil, true
	case got.Value.IsNull():
		return s, false
	}
	left := &stored{Managed: got, tainted: s.tainted, dependsOn: s.dependsOn}
	c.checkHonest(o, s, nil, left)
	return left, false
}
