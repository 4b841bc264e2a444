package coretest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// runAlone makes the runs of a history, and then one without faults, after which the service, the state and the
// configuration must agree.
func (h history) runAlone(c *terraformCore) {
	for _, run := range h.runs {
		run = c.begin(run)
		c.run(run.config, run.options)
	}
	last := h.runs[len(h.runs)-1]
	c.seedMissing(c.service)
	run := c.begin(historyRun{drift: last.drift, config: last.config.ignoringNothing().withoutConflicts(), deployment: last.deployment})
	c.runClean(run.config)
}

// begin prepares the service for a run, and adds the run to the script. It returns the run without what the state does not
// allow.
func (c *terraformCore) begin(run historyRun) historyRun {
	run = c.possible(run)
	c.configureFor(c.deployments[run.deployment], run.anotherAddress)
	c.adopt(run) // as the service was in the run before
	c.drift, c.provider["detect_drift"] = run.drift, run.drift
	run.before.make(c.service, c)
	c.changed = streamNames{run.between.stream.ID: true}
	readFaults := slices.ContainsFunc(run.faults, func(f streamstest.RequestFault) bool { return f.Method == "GET" })
	run.plansTwice = run.plansTwice && !readFaults // they are counted
	run.meanwhile = func() { run.between.make(c.service, c) }
	c.addToScript(run)
	run.prepare(c.service, c.interrupt)
	return run
}

// adopt runs `terraform import`.
func (c *terraformCore) adopt(run historyRun) {
	command := c.command
	defer func() { c.command = command }()
	if command != nil {
		c.command = []string{"terraform", "import"}
	}
	for _, addr := range run.adopted {
		p := &Process{T: c.t, Server: c.start(), Schemas: schemas(), Limit: time.Hour}
		c.provider["detect_drift"] = run.adoptedByReads
		p.Configure(c.provider)
		imported, diags := p.ImportState(run.config[addr].typeName(), run.importID(addr, run.config))
		if diags.Failed() {
			c.t.Fatalf("import %s: %s", addr, diags)
		}
		got, diags := p.Read(imported)
		c.noteFound()
		switch {
		case !diags.Failed():
			c.state[addr] = &instance{current: &stored{Managed: got, imported: unconfirmed}}
		case !run.adoptedByReads:
			c.t.Fatalf("import %s: %s", addr, diags)
		}
	}
}

// possible leaves out what the state or the CLI does not allow.
func (c *terraformCore) possible(run historyRun) historyRun {
	cfg := run.config.with(func(_ string, b *resourceBlock) {
		if _, exists := run.config[b.dependsOn]; !exists {
			b.dependsOn = ""
		}
	})
	run.config = cfg
	keep := func(addrs []string, possible func(addr string, configured bool) bool) []string {
		return slices.DeleteFunc(slices.Clone(addrs), func(addr string) bool {
			_, configured := cfg[addr]
			return !possible(addr, configured)
		})
	}
	current := func(addr string) bool { return c.state[addr] != nil && c.state[addr].current != nil }
	run.imports = keep(run.imports, func(addr string, configured bool) bool {
		return configured && c.state[addr] == nil && (run.drift || !cfg[addr].group)
	})
	run.adoptedByReads = run.adoptedByReads && run.drift
	run.adopted = keep(run.adopted, func(addr string, _ bool) bool {
		return slices.Contains(run.imports, addr) && !c.husks[addr] && (run.adoptedByReads || !cfg[addr].group)
	})
	run.replace = keep(run.replace, func(addr string, configured bool) bool { return configured && current(addr) })
	run.tainted = keep(run.tainted, func(addr string, _ bool) bool { return current(addr) && !c.state[addr].current.tainted })
	run.forgotten = keep(run.forgotten, func(addr string, configured bool) bool {
		return c.cli.removes && !configured && c.state[addr] != nil && run.targets == nil
	})
	for i := range slices.Backward(historyAddrs) { // Terraform adds the dependencies of targets
		if on := cfg[historyAddrs[i]].dependsOn; on != "" && run.targeted(historyAddrs[i]) && !run.targeted(on) {
			run.targets = append(slices.Clone(run.targets), on)
		}
	}
	moved := map[string]string{}
	for _, from := range slices.Sorted(maps.Keys(run.moved)) {
		to := run.moved[from]
		b, configured := cfg[to]
		_, stays := cfg[from]
		taken := c.state[to] != nil || c.husks[to] || slices.Contains(run.imports, to) || slices.Contains(slices.Collect(maps.Values(moved)), to)
		if c.state[from] != nil && !stays && configured && !taken && run.targets == nil && b.group == slices.Contains(historyGroups, from) {
			moved[from] = to
		}
	}
	run.moved = moved
	run.imports = slices.DeleteFunc(run.imports, func(addr string) bool { return slices.Contains(run.adopted, addr) })
	if _, configured := cfg[run.actionAfter]; !configured || !c.cli.actions {
		run.action = nil
	}
	return run
}

// prepare makes the service ready for a run. interrupt is called within the requests during which somebody interrupts
// Terraform.
func (run historyRun) prepare(service *streamstest.Service, interrupts func()) {
	service.Configure(func(o *streamstest.Options) {
		*o = streamstest.Options{ServeGet: o.ServeGet}
		historyReadings[run.reading].set(o)
	})
	counts := map[string]int{}
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		counts[r.Method+r.StreamID]++
		for _, f := range run.faults {
			if f.Method == r.Method && f.StreamID == r.StreamID && f.N == counts[r.Method+r.StreamID] {
				name, interrupted := strings.CutPrefix(f.Name, interrupt)
				if interrupted {
					interrupts()
				}
				return service.FaultByName(name, r.StreamID)
			}
		}
		return nil
	})
}

// interrupt interrupts Terraform while a request is under way, whose response must count. With an action, nothing happens:
// StopProvider waits for the action, and the action for this request or the clock.
func (c *terraformCore) interrupt() {
	c.interrupted = true
	if !c.invoking {
		c.running.Load().Interrupt()
	}
}

// lastEdited is in the future, so that the values of last_edited do not depend on the clock.
const lastEdited = 4e12

// seedMissing makes the streams of histories that do not exist, on this service of the deployment or on one like it.
func (d *deployment) seedMissing(service *streamstest.Service) {
	for _, id := range historyStreams {
		if _, exists := service.Stream(id); !exists {
			service.Seed(streamstest.Stream{ID: id, TerminalID: "terminal of " + d.address, LastEdited: lastEdited})
		}
	}
}

// make changes a stream as somebody else would. The model takes note of it; nil: there is none.
func (ch streamChange) make(service *streamstest.Service, model *terraformCore) {
	stream := ch.stream
	if model != nil && stream.ID != "" {
		model.limit(stream.ID)
		model.limitOthers(stream.ID, nil)
	}
	switch _, exists := service.Stream(stream.ID); {
	case stream.ID == "":
	case ch.gone:
		service.Remove(stream.ID)
	case !exists:
		stream.LastEdited = lastEdited
		service.Seed(stream)
	default:
		service.Seed(stream)
	}
}
