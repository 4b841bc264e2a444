package coretest

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// apply applies changes, in a new process of the provider.
func (c *terraformCore) apply(changes []change, refreshed map[string]*instance, opts options) {
	c.t.Helper()
	p := c.startProvider(2, false)
	c.state = refreshed
	var nodes []node
	var destroyers []destroyer
	for _, ch := range changes {
		ch.createsFirst = ch.verb == createThenDelete || slices.ContainsFunc(changes, func(other change) bool {
			return other.verb.sets() && other.wanted.createBeforeDestroy && (other.addr == ch.addr || slices.Contains(other.dependsOn, ch.addr))
		})
		set := node{name: "set " + ch.addr, run: func(p *Process) bool {
			applied, ok := c.createOrUpdate(p, ch)
			if applied && c.cli.actionsInNodes && opts.action != nil && opts.actionAfter == ch.addr {
				ok = c.invoke(p, opts.action) && ok
			}
			return ok
		}}
		d, destroys := c.destroyerOf(ch, len(nodes))
		gone := node{name: d.node, run: func(p *Process) bool {
			switch {
			case ch.verb == forget:
				return c.forgetObject(ch)
			case ch.deposed, ch.verb == createThenDelete:
				return c.destroyDeposed(p, ch)
			}
			return c.destroy(p, ch)
		}}
		switch {
		case ch.verb == deleteThenCreate:
			set.after = []string{gone.name}
		case ch.verb == createThenDelete, ch.deposed && slices.ContainsFunc(changes, func(other change) bool {
			return other.addr == ch.addr && other.verb.sets()
		}):
			gone.after = []string{set.name} // core creates a new object before it destroys the deposed ones
		}
		if destroys {
			nodes, destroyers = append(nodes, gone), append(destroyers, d)
		}
		if ch.verb.sets() {
			nodes = append(nodes, set)
		}
	}
	ordered := inOrderOfDependencies(nodes, changes, destroyers)
	if c.cyclic = cyclic(ordered); !c.cyclic {
		nodes = ordered
	}
	if !slices.ContainsFunc(nodes, func(n node) bool { return n.name == "set "+opts.actionAfter }) {
		opts.action = nil // nothing triggers it
	}
	c.invoking = opts.action != nil
	if opts.action != nil && !c.cli.actionsInNodes {
		nodes = append(nodes, node{"invoke", []string{"set " + opts.actionAfter}, func(p *Process) bool { return c.invoke(p, opts.action) }})
	}
	c.leftBehind, c.unforeseen = streamNames{}, streamNames{}
	c.forewarned = maps.Clone(c.warned)
	for _, ch := range changes {
		switch {
		case ch.prior == nil:
		case ch.deposed:
			for _, id := range c.here(ch.prior).streams() {
				c.unforeseen.add(id)
				if slices.ContainsFunc(changes, func(other change) bool { return other.verb == noop && other.wanted.sets[id] != nil }) {
					c.leftBehind.add(id)
				}
			}
		case ch.wanted.group && ch.wanted.lateStream, ch.verb == createThenDelete,
			ch.verb.replaces() && (ch.forced || ch.prior.tainted):
			c.unforeseen.add(c.here(ch.prior).streams()...)
		}
	}
	c.unforeseen.add(slices.Collect(maps.Keys(c.limited))...) // an earlier action or somebody else has changed them
	if opts.action != nil {
		c.unforeseen.add(opts.action.stream())
	}
	c.called, c.detached = map[*stored]bool{}, streamNames{}
	c.callsLeft = opts.killedAfter
	c.walk(p, nodes)
	c.callsLeft = 0
	if opts.action != nil {
		c.limit(opts.action.stream()) // an action has no state
	}
	for _, s := range c.objects() {
		if !c.called[s] && slices.ContainsFunc(changes, func(ch change) bool { return ch.prior == s && ch.verb != noop }) {
			// No call can record what other objects did to its streams: a dependency failed, or the create of the replacement.
			for _, id := range c.here(s).streams() {
				if slices.ContainsFunc(c.service.Requests(), func(r streamstest.Request) bool { return r.Applied && r.StreamID == id }) {
					c.limit(id)
				}
			}
		}
	}
	for addr, is := range c.state {
		for _, s := range is.objects() {
			s.imported = s.imported.ended()
		}
		if is.current == nil && len(is.deposed) == 0 {
			delete(c.state, addr)
		}
	}
}

// forgetObject removes an object from the state without a call, and with it the marks that an operation may have taken effect.
func (c *terraformCore) forgetObject(ch change) bool {
	for _, id := range ch.prior.streams() {
		if ch.prior.marked(id) {
			c.deploymentOf(ch.prior).limit(id)
		}
	}
	is := c.state[ch.addr]
	if is.deposed = slices.DeleteFunc(is.deposed, func(s *stored) bool { return s == ch.prior }); !ch.deposed {
		is.current = nil
	}
	return true
}

func (c *terraformCore) invoke(p *Process, action *resourceBlock) bool {
	id, set := action.stream(), action.sets[action.stream()]
	o := &applyCall{what: "invoke", sets: action.sets}
	c.makeCall(o, func() (diags Diagnostics) {
		_, diags = p.Invoke(Attributes{"stream_id": id, "processor_ids": set})
		return diags
	})
	return len(o.errors) == 0
}

// createOrUpdate creates or updates an instance. It reports whether it came to that, and whether there was no error.
func (c *terraformCore) createOrUpdate(p *Process, ch change) (applied, ok bool) {
	what, is := string(ch.verb)[:6]+" "+ch.addr, c.state[ch.addr]
	if ch.verb.replaces() {
		what = "create " + ch.addr
	}
	if ch.verb == createThenDelete {
		is.deposed, is.current = append(is.deposed, is.current), nil
	}
	prior := is.current
	actual, ok := c.planChange(p, ch, prior, true)
	if c.husks[ch.addr] = !ok && prior == nil; !ok {
		return false, false
	}
	if actual.verb != ch.verb && (ch.verb != update || actual.verb != noop) {
		c.t.Fatalf("%s: inconsistent final plan: %s became %s", what, ch.verb, actual.verb)
	}
	if late := AttributesOf(actual.planned.Value)["last_edited"]; ch.verb == update && !late.IsKnown() &&
		AttributesOf(ch.planned.Value)["last_edited"].IsKnown() {
		// The operation of an object whose plan core does not ask for, or an action, has changed a stream of an update that
		// would send nothing. To send nothing would leave the state untrue.
		if !slices.ContainsFunc(ch.prior.streams(), func(id string) bool { return c.unforeseen[id] }) {
			c.t.Fatalf("%s: inconsistent final plan: the set is sent again", what)
		}
		c.failures = append(c.failures, what+": Provider produced inconsistent final plan")
		return false, false
	}
	c.checkCompatible(what+": inconsistent final plan", ch.planned.Value, actual.planned.Value)
	if actual.verb == noop {
		return false, true
	}

	before := nullOf(actual.planned.Value.Type())
	o := &applyCall{what: what, sets: ch.wanted.sets}
	if prior != nil {
		before = prior.Value
		o.object, o.prior, o.detaches = prior, c.here(prior), ch.wanted.onDestroy != "keep" && prior.imported == confirmed
		if prior.imported != confirmed {
			c.noteLeft(prior, ch.wanted)
		}
	}
	var got Managed
	attached := c.attachedToNew(o)
	c.makeCall(o, func() (diags Diagnostics) {
		got, diags = p.Apply(before, actual.planned, ch.block.configValue(true))
		return diags
	})
	c.checkTakenOver(o, ch, attached)
	ok = len(o.errors) == 0
	if !got.Value.IsFullyKnown() {
		c.t.Fatalf("%s: the result has unknown values: %v", what, FromTerraform(got.Value))
	}
	switch {
	case ok && got.Value.IsNull():
		c.t.Fatalf("%s: success, but no object", what)
	case ok:
		c.created = c.created || prior == nil
		c.checkCompatible(what+": inconsistent result", actual.planned.Value, got.Value)
		is.current = &stored{Managed: got, dependsOn: ch.dependsOn, createBeforeDestroy: ch.createsFirst}
		is.current.ask(prior, o.sets)
	case got.Value.IsNull(): // core keeps the prior state
	case prior == nil:
		c.t.Fatalf("%s: a failed create leaves a tainted object", what)
	default:
		is.current = prior.with(got)
		is.current.dependsOn, is.current.imported = ch.dependsOn, confirmed
		is.current.ask(prior, o.sets)
		c.checkFailed(o, is.current)
	}
	if !ok && ch.verb == createThenDelete && is.current == nil {
		c.checkRestored(o, ch.prior)
		is.current = is.deposed[len(is.deposed)-1]
		is.deposed = is.deposed[:len(is.deposed)-1]
	}
	return true, ok
}

// destroy destroys the current object of an instance. In a replacement, the provider gets the private state that it
// planned for the new object.
func (c *terraformCore) destroy(p *Process, ch change) bool {
	is := c.state[ch.addr]
	planned := Managed{Value: nullOf(is.current.Value.Type()), Private: ch.planned.Private}
	if ch.verb == destroy {
		planned.Identity = ch.planned.Identity
	}
	before := is.current.Value
	if ch.verb == destroy {
		before = ch.before
	}
	var ok bool
	// Terraform shows a tainted object to no plan.
	keeps := ch.verb.replaces() && !is.current.tainted && (is.current.imported == unconfirmed || is.current.imported == inItsRun)
	if keeps {
		c.noteLeft(is.current, ch.wanted)
	}
	is.current, ok = c.applyDestroy(p, "destroy "+ch.addr, is.current, before, planned, keeps, false, false)
	return ok
}

func (c *terraformCore) destroyDeposed(p *Process, planned change) bool {
	is, addr, s := c.state[planned.addr], planned.addr, planned.prior
	ch, ok := c.planDestroy(p, addr, s, true)
	if !ok {
		return false
	}
	if s.imported != confirmed {
		c.noteLeft(s, planned.wanted)
	}
	left, ok := c.applyDestroy(p, "destroy deposed "+addr, s, s.Value, ch.planned, s.imported != confirmed, true, planned.deposed)
	if planned.deposed && !c.created && !s.destroyFailed { // nothing says that this apply has replaced the object
		c.checkLeftAlone(addr)
	}
	is.deposed = slices.DeleteFunc(is.deposed, func(d *stored) bool { return d == s })
	if ok && s.destroyFailed {
		c.checkDetached(addr, s)
	}
	if left != nil {
		is.deposed = append(is.deposed, left)
	}
	return ok
}

func (c *terraformCore) applyDestroy(
	p *Process, what string, s *stored, before tftypes.Value, planned Managed, keeps, deposed, old bool,
) (*stored, bool) {
	var got Managed
	o := &applyCall{what: what, prior: c.here(s.with(Managed{Value: before, Private: s.Private})), old: old}
	o.detaches = s.text("on_destroy") != "keep" && !keeps
	c.makeCall(o, func() (diags Diagnostics) {
		got, diags = p.Apply(before, planned, nullOf(s.Value.Type()))
		c.called[s] = true
		c.checkRefusal(what, s, !deposed || !c.created, diags)
		return diags
	})
	ok := len(o.errors) == 0
	switch {
	case ok && !got.Value.IsNull():
		c.t.Fatalf("%s: success, but the object is still there", what)
	case ok:
		return nil, true
	case got.Value.IsNull():
		return s, false
	}
	left := s.with(got)
	left.imported = confirmed
	left.createBeforeDestroy = false // core writes that of no configuration
	_, refused := o.errors[""]
	left.destroyFailed = s.destroyFailed || deposed && !old && !refused
	c.checkFailed(o, left)
	return left, false
}
