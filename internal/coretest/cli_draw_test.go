package coretest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// history is what happens to one state, for a real CLI and for the model. What a state does not allow is left out of a run,
// such as the replacement of a resource that could not be created.
type history struct {
	drift    bool
	attempts int
	runs     []historyRun
}

type historyRun struct {
	deployment int
	config     config
	moved      map[string]string // new addresses by old ones
	tainted    []string          // addresses
	options    options
	reading    int // of historyReadings
	faults     []streamstest.RequestFault

	before, between streamChange // by others: before the run, and between the plan and the apply
}

// streamChange is a change of a stream by others.
type streamChange struct {
	stream streamstest.Stream // without an id: no change
	gone   bool
}

// historyReadings are how the service may read the interface.
var historyReadings = []func(*streamstest.Options){
	func(*streamstest.Options) {},
	func(o *streamstest.Options) { o.Merge = true },
	func(o *streamstest.Options) { o.RefuseEmpty = true },
	func(o *streamstest.Options) { o.KnownProcessors = []string{"p1", "p2"} },
	func(o *streamstest.Options) { o.KeepLastEdited = true },
}

func drawHistory(t *rapid.T) history {
	h := history{drift: chance(t, 30, "detect_drift"), attempts: 1 + evenIndex(t, 2, "max_attempts")}
	var past []config
	for i := range 2 + evenIndex(t, 3, "runs") {
		run := historyRun{config: drawConfig(t, past), moved: map[string]string{}}
		past = append(past, run.config)
		run.drawAddresses(t, i)
		if chance(t, 10, "another deployment") {
			run.deployment = 1
		}
		if chance(t, 10, "-target") {
			for _, addr := range historyAddrs {
				if chance(t, 50, "target "+addr) {
					run.options.targets = append(run.options.targets, addr)
				}
			}
		}
		run.options.keepsState = chance(t, 10, "-refresh=false")
		run.options.lateAddress = chance(t, 10, "late address")
		if chance(t, 20, "action") {
			b := drawBlock(t, "")
			run.options.action, run.options.actionAfter = &b, rapid.SampledFrom(historyAddrs).Draw(t, "action after")
		}
		if chance(t, 20, "changed by others") {
			run.before = drawChange(t)
		}
		if chance(t, 10, "meanwhile") {
			run.between = drawChange(t)
		}
		if chance(t, 20, "read differently") {
			run.reading = evenIndex(t, len(historyReadings), "reading")
		}
		if chance(t, 70, "faulty") {
			run.faults = drawFaults(t, h.attempts)
		}
		h.runs = append(h.runs, run)
	}
	return h
}

// drawAddresses draws what happens to each address. In each run, one kind of operation is frequent.
func (run *historyRun) drawAddresses(t *rapid.T, i int) {
	goes, triggered := 10, 10
	switch kind := evenIndex(t, 4, "kind of run"); {
	case i == 0:
		goes = 0
	case kind == 0:
		goes = 80
	case kind == 1:
		triggered = 80
	}
	for _, addr := range historyAddrs {
		b, configured := run.config[addr]
		if configured && chance(t, goes, "without "+addr) {
			delete(run.config, addr)
			configured = false
		}
		switch {
		case !configured && chance(t, 20, "moved "+addr):
			run.moved[addr] = rapid.SampledFrom(historyAddrs).Draw(t, "to")
		case !configured && chance(t, 10, "removed "+addr):
			run.options.forgotten = append(run.options.forgotten, addr)
		case !configured:
		case !b.group && chance(t, 10, "import "+addr):
			run.options.imports = append(run.options.imports, addr)
		case chance(t, 10, "replace "+addr):
			run.options.replace = append(run.options.replace, addr)
		case chance(t, 10, "taint "+addr):
			run.tainted = append(run.tainted, addr)
		case chance(t, triggered, "triggered "+addr):
			b.trigger = strconv.Itoa(i)
			run.config[addr] = b
		}
	}
}

func drawChange(t *rapid.T) streamChange {
	ch := streamChange{stream: streamstest.Stream{ID: rapid.SampledFrom(historyStreams).Draw(t, "changed stream")}}
	switch rapid.IntRange(0, 2).Draw(t, "change") {
	case 0:
		ch.stream.ProcessorIDs = drawProcessors(t)
	case 1:
		ch.stream.TerminalID = "terminal-" + strconv.Itoa(rapid.IntRange(1, 3).Draw(t, "terminal"))
	case 2:
		ch.gone = true
	}
	return ch
}

func drawFaults(t *rapid.T, attempts int) (faults []streamstest.RequestFault) {
	names := slices.Sorted(maps.Keys(streamstest.Faults))
	method := "PATCH"
	if chance(t, 20, "of reads") {
		method = "GET"
	}
	for _, id := range historyStreams {
		if !chance(t, 30, "faults of "+id) {
			continue
		}
		for n := range 1 + evenIndex(t, 2*attempts, "faults") {
			name := names[evenIndex(t, len(names), "fault")]
			faults = append(faults, streamstest.RequestFault{Method: method, StreamID: id, N: n + 1, Name: name})
		}
	}
	return faults
}

// possible leaves out what the state or the CLI does not allow.
func (c *terraformCore) possible(run historyRun) historyRun {
	cfg := c.distinguishable(run.config)
	run.config = cfg
	keep := func(addrs []string, possible func(addr string, b resourceBlock, configured bool) bool) []string {
		return slices.DeleteFunc(slices.Clone(addrs), func(addr string) bool {
			b, configured := cfg[addr]
			return !possible(addr, b, configured)
		})
	}
	current := func(addr string) bool { return c.state[addr] != nil && c.state[addr].current != nil }
	o := &run.options
	o.imports = keep(o.imports, func(addr string, _ resourceBlock, configured bool) bool { return configured && c.state[addr] == nil })
	o.replace = keep(o.replace, func(addr string, _ resourceBlock, configured bool) bool { return configured && current(addr) })
	run.tainted = keep(run.tainted, func(addr string, _ resourceBlock, _ bool) bool {
		return current(addr) && !c.state[addr].current.tainted
	})
	o.forgotten = keep(o.forgotten, func(addr string, _ resourceBlock, configured bool) bool {
		return c.cli.removes && !configured && c.state[addr] != nil && o.targets == nil
	})
	for i := range slices.Backward(historyAddrs) { // Terraform adds the dependencies of targets
		if on := cfg[historyAddrs[i]].dependsOn; on != "" && o.targeted(historyAddrs[i]) && !o.targeted(on) {
			o.targets = append(slices.Clone(o.targets), on)
		}
	}
	moved := map[string]string{}
	for _, from := range slices.Sorted(maps.Keys(run.moved)) {
		to := run.moved[from]
		b, configured := cfg[to]
		_, stays := cfg[from]
		taken := c.state[to] != nil || c.husks[to] || slices.Contains(o.imports, to) || slices.Contains(slices.Collect(maps.Values(moved)), to)
		if c.state[from] != nil && !stays && configured && !taken && o.targets == nil && b.group == slices.Contains(historyGroups, from) {
			moved[from] = to
		}
	}
	run.moved = moved
	if _, configured := cfg[o.actionAfter]; !configured || !c.cli.actions {
		o.action = nil
	}
	return run
}

// distinguishable is a configuration without dependencies that do not exist, in which no two calls are equal: two resources
// with the same stream have different triggers. Else the model could not know which one the CLI has called.
func (c *terraformCore) distinguishable(cfg config) config {
	changed := maps.Clone(cfg)
	for addr, b := range cfg {
		if _, exists := cfg[b.dependsOn]; !exists {
			b.dependsOn = ""
		}
		for _, other := range historyAddrs {
			ids := slices.Collect(maps.Keys(cfg[other].sets))
			if is := c.state[other]; is != nil {
				for _, s := range append([]*stored{is.current}, is.deposed...) {
					ids = append(ids, s.streams()...)
				}
			}
			if other != addr && slices.ContainsFunc(ids, func(id string) bool { return b.sets[id] != nil }) {
				b.trigger = addr + b.trigger
				break
			}
		}
		changed[addr] = b
	}
	return changed
}

// blocks are the moved and removed blocks of a run.
func (run historyRun) blocks() (text string) {
	for _, from := range slices.Sorted(maps.Keys(run.moved)) {
		text += fmt.Sprintf("\nmoved {\n  from = %s\n  to   = %s\n}\n", addressOf(from), addressOf(run.moved[from]))
	}
	for _, addr := range run.options.forgotten {
		text += fmt.Sprintf("\nremoved {\n  from = %s\n  lifecycle {\n    destroy = false\n  }\n}\n", addressOf(addr))
	}
	return text
}
