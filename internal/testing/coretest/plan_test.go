package coretest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// plan refreshes and plans each object. It returns no changes if there is an error.
func (c *terraformCore) plan(cfg config, opts options) (changes []change, refreshed map[string]*instance) {
	c.t.Helper()
	p := c.startProvider(1, opts.lateAddress)
	c.parallelism, c.calls, c.printed = opts.parallelism, nil, nil
	c.failures, c.announced, c.warned, c.interrupted = nil, streamNames{}, streamNames{}, false
	refreshed = map[string]*instance{}
	addrs := slices.Collect(maps.Keys(cfg))
	for addr := range c.state {
		if _, ok := cfg[addr]; !ok {
			addrs = append(addrs, addr)
		}
	}
	slices.Sort(addrs)
	var nodes []node
	for _, addr := range addrs {
		was, is := c.state[addr], &instance{}
		if was == nil {
			was = &instance{}
		}
		refreshed[addr] = is
		if !opts.targeted(addr) {
			*is = *was
			continue
		}
		add := func(name string, after []string, plan func(p *Process) (change, bool)) {
			nodes = append(nodes, node{name, after, func(p *Process) bool {
				ch, ok := plan(p)
				if ok && ch.verb != "" {
					c.t.Logf("plan %s: %s", ch.addr, ch.verb)
					changes = append(changes, ch)
				}
				return ok
			}})
		}
		_, configured := cfg[addr]
		forgotten := slices.Contains(opts.forgotten, addr)
		var after []string
		on := cfg[addr].dependsOn
		if _, exists := cfg[on]; exists && opts.targeted(on) {
			after = []string{"plan " + on}
		}
		add("plan "+addr, after, func(p *Process) (change, bool) {
			switch {
			case forgotten:
				is.current = was.current
				return c.forget(p, addr, was.current, opts)
			case configured:
				return c.planConfigured(p, addr, was.current, is, cfg, opts)
			}
			return c.planOrphan(p, addr, was.current, is, opts)
		})
		for i, old := range was.deposed {
			add(fmt.Sprintf("plan %s deposed %d", addr, i), nil, func(p *Process) (ch change, ok bool) {
				now := old
				if !forgotten {
					if now, ok = c.refresh(p, addr, old, opts); now.unlessGone() == nil || !ok {
						return ch, ok
					}
				}
				is.deposed = append(is.deposed, now)
				if !forgotten {
					return c.planDestroy(p, addr, now, true)
				}
				ch, ok = c.forget(p, addr, now, opts)
				ch.deposed = true
				return ch, ok
			})
		}
	}
	c.walk(p, nodes)
	if len(c.failures) > 0 {
		return nil, nil
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.addr, b.addr) })
	return changes, refreshed
}

// planConfigured imports, refreshes and plans a configured instance.
func (c *terraformCore) planConfigured(
	p *Process, addr string, current *stored, is *instance, cfg config, opts options,
) (change, bool) {
	imports := current == nil && slices.Contains(opts.imports, addr)
	if imports {
		got, diags := p.ImportState(cfg[addr].typeName(), opts.importID(addr, cfg))
		if !c.noErrors("import "+addr, diags) {
			return change{}, false
		}
		current, opts.keepsState = &stored{Managed: got}, false
	}
	current, ok := c.refresh(p, addr, current, opts)
	if !ok {
		return change{}, false
	}
	if imports {
		current.imported = inItsRun
		if c.command == nil { // it may be that of the command
			current.imported = unconfirmed
		}
	}
	on := cfg.dependencies(addr)
	if is.current = current.unlessGone(); is.current != nil {
		is.current = current.with(current.Managed)
		is.current.createBeforeDestroy = cfg.createsFirst(addr, opts.targeted)
		if !imports && !opts.keepsState {
			is.current.dependsOn = slices.Concat(current.dependsOn, on)
		}
		current = is.current
	}
	ch := change{addr: addr, block: cfg[addr], dependsOn: on, createsFirst: cfg.createsFirst(addr, opts.targeted)}
	ch.forced = slices.Contains(opts.replace, addr)
	ch, ok = c.planChange(p, ch, current, false)
	if ch.verb == noop {
		is.current.dependsOn = on
	}
	return ch, ok
}

// planOrphan refreshes an instance that is no longer configured, and plans its destroy. The change has no verb if there is
// nothing to destroy.
func (c *terraformCore) planOrphan(
	p *Process, addr string, current *stored, is *instance, opts options,
) (ch change, ok bool) {
	if is.current = current; current == nil {
		return change{}, true
	}
	if c.cli.destroysUnrefreshed {
		if ch, ok = c.planDestroy(p, addr, current, false); !ok {
			return change{}, false
		}
	}
	if current, ok = c.refresh(p, addr, current, opts); !ok {
		return change{}, false
	}
	if is.current = current.unlessGone(); is.current == nil {
		return change{}, true
	}
	if !c.cli.destroysUnrefreshed {
		return c.planDestroy(p, addr, is.current, false)
	}
	ch.prior = is.current
	return ch, true
}

// forget plans to remove an object from the state only.
func (c *terraformCore) forget(p *Process, addr string, s *stored, opts options) (change, bool) {
	if s == nil {
		return change{}, true
	}
	ok := true
	if c.cli.readsForgotten {
		_, ok = c.refresh(p, addr, s, opts)
	}
	return change{addr: addr, verb: forget, prior: s}, ok
}

// refresh reads an object. The value of one that is gone is null.
func (c *terraformCore) refresh(p *Process, addr string, s *stored, opts options) (*stored, bool) {
	if s == nil || opts.keepsState {
		return s, true
	}
	got, diags := p.Read(s.Managed)
	c.checkNotRead("refresh "+addr, s)
	c.checkDropped("refresh "+addr, s, s.with(got))
	switch {
	case !c.noErrors("refresh "+addr, diags):
		return s, false
	case got.Value.IsNull():
	case !got.Value.IsFullyKnown():
		c.t.Fatalf("refresh %s: the state has unknown values: %v", addr, FromTerraform(got.Value))
	}
	after := s.with(got)
	if c.here(s) != nil || c.lateDeployment { // a state of another deployment stays as it is
		after.imported = s.imported.refreshed()
	}
	return after, true
}

// planChange plans a configured instance. An apply does so again, with the change from the plan.
func (c *terraformCore) planChange(p *Process, ch change, prior *stored, again bool) (change, bool) {
	what, earlier := "plan "+ch.addr, ch.verb
	ch.prior = prior.unlessGone()
	replacement := deleteThenCreate
	if ch.createsFirst {
		replacement = createThenDelete
	}
	configured := ch.block.configValue(again)
	before := Managed{Value: nullOf(configured.Type())}
	if prior != nil && !prior.tainted {
		before = prior.Managed
	}
	if !c.noErrors(what, p.Validate(configured)) {
		return ch, false
	}
	ch.wanted = ch.block.over(before.Value)
	b, cfg := ch.wanted, Ignored(ch.block.schema(), before.Value, configured, ch.block.ignores...)
	planned, replace, diags := p.Plan(before, cfg)
	c.checkRefused(what, ch, diags)
	c.checkUnread(what, b, c.here(prior), diags)
	c.checkImport(what, prior, b, again, diags)
	if !before.Value.IsNull() {
		_, stays := prior.sets()[b.stream()]
		c.checkRefusal(what, prior, !b.group && (!stays || b.lateStream && !again), diags)
	}
	if again {
		for id, detail := range c.errorsOf(what, slices.Collect(maps.Keys(b.sets)), diags) {
			c.checkLastSentence(&applyCall{what: what}, id, detail)
		}
	}
	ids := append(slices.Collect(maps.Keys(b.sets)), ch.prior.streams()...)
	if !c.noErrors(what, diags, ids...) {
		return ch, false
	}
	c.checkPlan(what, before.Value, cfg, planned.Value)
	different := func(attribute string) bool {
		was, is := AttributesOf(before.Value)[attribute], AttributesOf(planned.Value)[attribute]
		return !is.IsFullyKnown() || !EqualValues(was, is)
	}
	switch {
	case before.Value.IsNull() && (ch.prior != nil || earlier.replaces()):
		ch.verb = replacement
	case before.Value.IsNull():
		ch.verb = create
	case ch.forced || slices.ContainsFunc(replace, different):
		ch.verb, ch.wanted = replacement, ch.block
		planned, _, diags = p.Plan(Managed{nullOf(cfg.Type()), planned.Private, planned.Identity}, configured)
		c.checkRefused(what, ch, diags)
		c.checkImport(what, prior, ch.block, again, diags)
		if diags.Failed() { // otherwise, core shows no warning of a second plan
			return ch, c.noErrors(what, diags, append(slices.Collect(maps.Keys(ch.wanted.sets)), ids...)...)
		}
		c.checkPlan(what, nullOf(cfg.Type()), configured, planned.Value)
	case planned.Value.IsFullyKnown() && EqualValues(before.Value, planned.Value):
		ch.verb = noop
	default:
		ch.verb = update
	}
	ch.planned = planned
	return ch, true
}

// checkPlan checks what core accepts of a plan.
func (c *terraformCore) checkPlan(what string, before, cfg, planned tftypes.Value) {
	if wrong := InvalidPlan(schemas().ResourceSchemas[typeNameOf(cfg)], before, cfg, planned); len(wrong) > 0 {
		c.t.Fatalf("%s: invalid plan: %q", what, wrong)
	}
}

func (c *terraformCore) planDestroy(p *Process, addr string, s *stored, deposed bool) (change, bool) {
	none := nullOf(s.Value.Type())
	planned, _, diags := p.Plan(s.Managed, none)
	ch := change{addr: addr, verb: destroy, prior: s, before: s.Value, planned: planned, deposed: deposed}
	c.checkRefusal("plan "+addr, s, !c.created, diags)
	if !c.noErrors("plan "+addr, diags, s.streams()...) {
		return change{}, false
	}
	if !planned.Value.IsNull() {
		c.t.Fatalf("plan %s: a destroy plans %v", addr, FromTerraform(planned.Value))
	}
	return ch, true
}
