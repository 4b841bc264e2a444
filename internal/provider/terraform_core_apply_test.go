package provider

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// apply applies changes, in a new process of the provider.
func (c *terraformCore) apply(changes []change, refreshed map[string]*instance) {
	c.t.Helper()
	c.tally.add("apply")
	if !slices.ContainsFunc(changes, func(ch change) bool { return ch.verb != noop }) {
		c.tally.add("apply without changes")
	}
	p := c.startProvider()
	c.state = refreshed
	for _, s := range c.objects() {
		s.unchanged = !slices.ContainsFunc(changes, func(ch change) bool { return ch.prior == s && ch.verb != noop })
	}
	var restored []*stored
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
	c.destroyed = nil
	c.walk(nodes)
	for _, d := range c.destroyed {
		c.checkOthers(d.what, d.object, d.unmarked)
	}
	c.failOnProblems()
	for _, s := range c.objects() {
		if s.restored {
			restored = append(restored, s)
		}
	}
	c.noteRestored(restored)
	for addr, is := range c.state {
		if is.current == nil && len(is.deposed) == 0 {
			delete(c.state, addr)
		}
	}
}

// createOrUpdate creates or updates an instance.
func (c *terraformCore) createOrUpdate(p *process, ch change, pause func()) bool {
	what, is := string(ch.verb)[:6]+" "+ch.addr, c.state[ch.addr]
	if ch.verb.replaces() {
		what = "create " + ch.addr
	}
	if ch.verb == createThenDelete {
		is.deposed, is.current = append(is.deposed, is.current), nil
	}
	prior := is.current
	streams := []string{ch.wanted.stream}
	if ch.prior != nil {
		streams = append(streams, ch.prior.text("stream_id"))
	}
	actual, ok := c.planChange(p, ch.addr, ch.wanted, prior, ch.forced, &ch, pause)
	if !ok {
		c.markDoubtful(streams...)
		return false
	}
	if actual.verb != ch.verb && (ch.verb != update || actual.verb != noop) {
		c.problem("%s: inconsistent final plan: %s became %s", what, ch.verb, actual.verb)
	}
	c.checkCompatible(what+": inconsistent final plan", ch.planned.value, actual.planned.value)
	if actual.verb == noop {
		return true
	}
	pause()

	before := nullResource()
	if prior != nil {
		before = prior.value
	}
	var got managed
	var sends []string
	if !actual.planned.value.IsFullyKnown() {
		sends = ch.wanted.processors
	}
	c.operate(what, ch.wanted.stream, sends, func() (diags diagnostics) {
		got, diags = p.apply(before, actual.planned, ch.wanted.configValue(true))
		ok = c.noErrors(what, diags, streams...)
		return diags
	})
	c.note(func() {
		if id := ch.wanted.stream; sends != nil {
			c.rules.written[id] = c.rules.written[id] || ok
			c.rules.blocked[id] = prior != nil && !c.rules.written[id]
			if ok {
				delete(c.unrecorded, id)
			}
		}
	})
	if !got.value.IsFullyKnown() {
		c.problem("%s: the result has unknown values: %v", what, fromTerraform(got.value))
	}
	switch {
	case ok && got.value.IsNull():
		c.problem("%s: success, but no object", what)
	case ok:
		c.checkCompatible(what+": inconsistent result", actual.planned.value, got.value)
		is.current = &stored{managed: got}
	case got.value.IsNull(): // core keeps the prior state
	case prior == nil:
		c.problem("%s: a failed create leaves a tainted object", what)
	default:
		is.current = &stored{managed: got, tainted: prior.tainted}
		c.checkHonest(what, prior, is.current)
	}
	if !ok && ch.verb == createThenDelete && is.current == nil {
		is.current = is.deposed[len(is.deposed)-1]
		is.current.restored = true
		is.deposed = is.deposed[:len(is.deposed)-1]
	}
	return ok
}

// checkCompatible checks that an object has the known values of the planned one.
func (c *terraformCore) checkCompatible(what string, planned, actual tftypes.Value) {
	if actual.IsNull() {
		return
	}
	want, got := attributesOf(planned), attributesOf(actual)
	for name := range want {
		if want[name].IsFullyKnown() && !equalValues(want[name], got[name]) {
			c.problem("%s: %s was %v and is %v", what, name, fromTerraform(want[name]), fromTerraform(got[name]))
		}
	}
}

// noteRestored notes objects that core has put back, because the create of their replacement failed: if another create
// of this run changed their stream and failed, no call of core can record that.
func (c *terraformCore) noteRestored(restored []*stored) {
	for _, s := range restored {
		s.restored = false
		id := s.text("stream_id")
		applied := slices.ContainsFunc(c.service.Requests(), func(r streamstest.Request) bool { return r.Applied && r.StreamID == id })
		if applied && c.doubtful[id] && !c.drift {
			c.unrecorded[id] = true
		}
	}
}

// checkHonest checks the state after a failed operation: the processors are the prior ones, or those in the service.
func (c *terraformCore) checkHonest(what string, before, after *stored) {
	is := fromTerraform(attributesOf(after.value)["processor_ids"])
	was := fromTerraform(attributesOf(before.value)["processor_ids"])
	if reflect.DeepEqual(is, was) || c.next == nil {
		return
	}
	if truth := c.attached(after.text("stream_id")); !reflect.DeepEqual(is, truth) {
		c.problem("%s: failed, and the state went from %v to %v, but the service has %v", what, was, is, truth)
	}
}

// destroy destroys the current object of an instance. In a replacement, the provider gets the private state that it
// planned for the new object.
func (c *terraformCore) destroy(p *process, ch change) bool {
	is := c.state[ch.addr]
	planned := managed{value: nullResource(), private: ch.planned.private}
	if ch.verb == destroy {
		planned.identity = ch.planned.identity
	}
	var ok bool
	is.current, ok = c.applyDestroy(p, "destroy "+ch.addr, is.current, planned, ch.next, is.current.tainted || ch.forced)
	return ok
}

func (c *terraformCore) destroyDeposed(p *process, addr string, s *stored, pause func()) bool {
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
func (c *terraformCore) applyDestroy(p *process, what string, s *stored, planned managed, next *claimed, unmarked bool) (*stored, bool) {
	var got managed
	var ok bool
	var sends []string
	id := s.text("stream_id")
	c.note(func() { sends = c.rules.destroySends(s, next) })
	c.operate(what, id, sends, func() (diags diagnostics) {
		got, diags = p.apply(s.value, planned, nullResource())
		ok = c.noErrors(what, diags, id)
		return diags
	})
	c.note(func() {
		if sends != nil {
			c.rules.blocked[id] = !ok
		}
	})
	c.note(func() {
		if ok {
			c.destroyed = append(c.destroyed, destroyed{what, s, unmarked})
		}
	})
	switch {
	case ok && !got.value.IsNull():
		c.problem("%s: success, but the object is still there", what)
	case ok:
		return nil, true
	case got.value.IsNull():
		return s, false
	}
	left := &stored{managed: got, tainted: s.tainted}
	c.checkHonest(what, s, left)
	return left, false
}
