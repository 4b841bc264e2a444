package coretest

import (
	"maps"
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

var (
	historyAddrs   = []string{"a", "b", "c", "d", "g", "h"}
	historyGroups  = []string{"g", "h"} // the others are single resources
	historyStreams = []string{"s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"}
)

// runRandomHistory makes a few random runs with faults and changes by others, and then a run without, after which the
// service, the state and the configuration must agree.
func runRandomHistory(test historyT, inTurn bool) {
	t := test.T
	c := newTerraformCore(test, chance(t, 30, "detect_drift"), 1+evenIndex(t, 3, "max_attempts"), historyStreams...)
	c.cli.destroysUnrefreshed = chance(t, 20, "Terraform 1.9 to 1.11")
	if inTurn {
		c.next = func(names []string) int {
			if len(names) == 1 {
				return 0
			}
			name := rapid.SampledFrom(names).Draw(t, "next")
			return slices.Index(names, name)
		}
	}
	failed := true
	defer func() {
		if failed {
			t.Logf("%s", c.script)
		}
	}()
	if chance(t, 20, "another deployment without streams") {
		for _, id := range historyStreams {
			c.deployments[1].service.Remove(id)
		}
	}
	var past []config
	for i := range 3 + evenIndex(t, 4, "runs") {
		cfg := drawConfig(t, past)
		moves := i > 0 && c.drawDeployment(t) && chance(t, 70, "nothing else")
		if moves {
			cfg = maps.Clone(past[i-1])
		}
		past = append(past, cfg)
		failing, faulty := "", 95
		switch kind := evenIndex(t, 13, "failing operations"); {
		case kind > 6, moves:
			failing = "update"
		case kind > 1:
			failing = "destroy"
		case kind > 0:
			failing = "create"
		}
		if i == 0 {
			failing, faulty = "create", 50 // the later runs need a state
		}
		for _, addr := range slices.Sorted(maps.Keys(cfg)) {
			switch b := cfg[addr]; {
			case failing == "destroy" && chance(t, 85, "without "+addr):
				delete(cfg, addr)
			case failing == "update" && chance(t, 80, "triggered "+addr):
				b.trigger = strconv.Itoa(i)
				cfg[addr] = b
			}
		}
		c.script.add(c, cfg)
		stop := func() {}
		if chance(t, faulty, "faulty") {
			stop = c.injectRandomFaults(t, failing)
		}
		c.moveAndRemove(t, cfg)
		opts := c.drawOptions(t, cfg)
		c.script.last().options = opts
		c.run(cfg, opts)
		stop()
		if chance(t, 20, "changed by others") {
			c.changeByOthers(t)
		}
	}
	c.drawDeployment(t)
	for _, id := range historyStreams {
		if _, ok := c.service.Stream(id); !ok {
			c.service.Seed(streamstest.Stream{ID: id})
		}
	}
	cfg := drawConfig(t, past)
	if len(conflicts(cfg, true)) > 0 {
		cfg = withoutConflicts(cfg)
	}
	c.script.add(c, cfg)
	c.runClean(cfg)
	failed = false
}

func chance(t *rapid.T, percent int, what string) bool {
	return evenIndex(t, 100, what) >= 100-percent
}

// evenIndex draws an index, and zero for the simplest one. The generators of rapid prefer small numbers; their sum hardly
// does.
func evenIndex(t *rapid.T, n int, what string) int {
	sum := 0
	for range 3 {
		sum += rapid.IntRange(0, n-1).Draw(t, what)
	}
	return sum % n
}

// drawConfig edits the last configuration, or takes an older one, or makes a new one.
func drawConfig(t *rapid.T, past []config) config {
	cfg := config{}
	switch kind := evenIndex(t, 10, "kind of configuration"); {
	case len(past) > 0 && kind < 1:
		return maps.Clone(rapid.SampledFrom(past).Draw(t, "older configuration"))
	case len(past) > 0 && kind < 8:
		cfg = editConfig(t, past[len(past)-1])
	default:
		for _, addr := range historyAddrs {
			if chance(t, 60, addr) {
				cfg[addr] = drawBlock(t, addr)
			}
		}
	}
	if chance(t, 90, "without conflicts") {
		return withoutConflicts(cfg)
	}
	// The provider cannot compare a value that is known after apply with a resource without changes, because core does not
	// call the provider for this resource again.
	for addr, b := range cfg {
		b.lateStream, b.lateProcessors = false, false
		cfg[addr] = b
	}
	return cfg
}

// editConfig changes most resources of a configuration a little.
func editConfig(t *rapid.T, last config) config {
	cfg := maps.Clone(last)
	for _, addr := range historyAddrs {
		b, exists := cfg[addr]
		drawn := drawBlock(t, addr)
		edit := evenIndex(t, 10, "edit of "+addr)
		switch {
		case !exists && edit < 4:
			cfg[addr] = drawn
		case !exists, edit < 3:
		case edit == 3:
			delete(cfg, addr)
		case edit == 4 && b.group: // one stream comes or goes
			b.sets = maps.Clone(b.sets)
			id := rapid.SampledFrom(historyStreams).Draw(t, "edited stream")
			if _, has := b.sets[id]; has {
				delete(b.sets, id)
			} else {
				b.sets[id] = drawProcessors(t)
			}
			cfg[addr] = b
		case edit == 4:
			b.sets, b.lateStream = map[string][]string{drawn.stream(): b.sets[b.stream()]}, drawn.lateStream
			cfg[addr] = b
		case edit == 5:
			b.trigger, b.onDestroy, b.dependsOn = drawn.trigger, drawn.onDestroy, drawn.dependsOn
			b.createBeforeDestroy = b.createBeforeDestroy && b.dependsOn == ""
			cfg[addr] = b
		case len(b.sets) > 0:
			b.sets = maps.Clone(b.sets)
			b.sets[rapid.SampledFrom(slices.Sorted(maps.Keys(b.sets))).Draw(t, "edited stream")] = drawProcessors(t)
			b.lateProcessors, b.partlyLate = drawn.lateProcessors, drawn.partlyLate
			cfg[addr] = b
		}
	}
	return cfg
}

func drawBlock(t *rapid.T, addr string) resourceBlock {
	b := blockFor(historyStreams[evenIndex(t, len(historyStreams), "stream")], drawProcessors(t)...)
	if b.group = slices.Contains(historyGroups, addr); b.group {
		for _, id := range historyStreams {
			if b.sets[id] == nil && chance(t, 50, id) {
				b.sets[id] = drawProcessors(t)
			}
		}
	}
	b.onDestroy = rapid.SampledFrom([]string{"", "detach", "keep", "detach"}).Draw(t, "on_destroy")
	b.trigger = rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "triggers")
	b.createBeforeDestroy = chance(t, 30, "create_before_destroy")
	b.lateStream = chance(t, 5, "late stream_id")
	b.lateProcessors = chance(t, 10, "late processor_ids")
	b.partlyLate = chance(t, 50, "partly")
	if i := slices.Index(historyAddrs, addr); i > 0 && chance(t, 15, "depends_on") {
		b.dependsOn = historyAddrs[rapid.IntRange(0, i-1).Draw(t, "dependency")]
		b.createBeforeDestroy = false // Terraform would pass it on to the dependency
	}
	return b
}

func drawProcessors(t *rapid.T) []string {
	set := []string{}
	mask := evenIndex(t, 8, "processors")
	for i, id := range []string{"p1", "p2", "p3"} {
		if mask>>i&1 == 1 {
			set = append(set, id)
		}
	}
	return set
}

// withoutConflicts gives all resources of a stream the set of the first one.
func withoutConflicts(cfg config) config {
	cfg = maps.Clone(cfg)
	sets := map[string][]string{}
	for _, addr := range slices.Sorted(maps.Keys(cfg)) {
		b := cfg[addr]
		b.sets = maps.Clone(b.sets)
		for id, set := range b.sets {
			if _, ok := sets[id]; !ok {
				sets[id] = set
			}
			b.sets[id] = sets[id]
		}
		cfg[addr] = b
	}
	return cfg
}

// moveAndRemove changes the state as moved and removed blocks do.
func (c *terraformCore) moveAndRemove(t *rapid.T, cfg config) {
	for _, addr := range slices.Sorted(maps.Keys(c.state)) {
		if _, stays := cfg[addr]; stays || !chance(t, 20, "moved or removed "+addr) {
			continue
		}
		to := slices.IndexFunc(historyAddrs, func(to string) bool {
			_, inState := c.state[to]
			b, configured := cfg[to]
			return configured && !inState && b.group == slices.Contains(historyGroups, addr)
		})
		if is := c.state[addr]; to >= 0 {
			c.script.command("state mv %s %s", addressOf(addr), addressOf(historyAddrs[to]))
			c.state[historyAddrs[to]] = is
			delete(c.state, addr)
		} else if len(is.deposed) == 0 {
			c.script.command("state rm %s", addressOf(addr))
			c.limitMarked(is.current)
			delete(c.state, addr)
		}
	}
}

// drawOptions makes the options of an apply. It also taints objects.
func (c *terraformCore) drawOptions(t *rapid.T, cfg config) (o options) {
	if chance(t, 10, "-target") {
		o.targets = []string{}
		for _, addr := range historyAddrs {
			if chance(t, 50, "target "+addr) {
				o.targets = append(o.targets, addr)
			}
		}
		for i := range slices.Backward(historyAddrs) {
			if on := cfg[historyAddrs[i]].dependsOn; on != "" && o.targeted(historyAddrs[i]) {
				o.targets = append(o.targets, on)
			}
		}
	}
	o.keepsState = chance(t, 10, "-refresh=false")
	o.lateAddress = chance(t, 10, "late base_url")
	if chance(t, 10, "meanwhile") {
		o.meanwhile = func() { c.changeByOthers(t) }
	}
	if chance(t, 15, "action") {
		b := drawBlock(t, "")
		o.action, o.actionAfter = &b, rapid.SampledFrom(historyAddrs).Draw(t, "action after")
	}
	for _, addr := range slices.Sorted(maps.Keys(cfg)) {
		switch is := c.state[addr]; {
		case is == nil:
			if !cfg[addr].group && chance(t, 10, "import "+addr) {
				o.imports = append(o.imports, addr)
			}
		case is.current == nil:
		case chance(t, 10, "replace "+addr):
			o.replace = append(o.replace, addr)
		case chance(t, 10, "taint "+addr):
			is.current.tainted = true
			c.script.command("taint %s", addressOf(addr))
		}
	}
	return o
}
