package coretest

import (
	"maps"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// stories draw the first runs of some histories: what random runs hardly come to.
var stories = []func(d *draws){(*draws).oldObject, (*draws).oldObject, (*draws).shiftedList, (*draws).unreadTakeOver, (*draws).goneUnread,
	(*draws).otherImport,
}

// otherImport imports other streams than the configuration has, or will have.
func (d *draws) otherImport() {
	cfg := d.with(config{}, map[string]string{"a": "s1", "c": "s3"}, 40)
	if group := d.resource("s2"); d.chance(60, "a group") { // which an import has to read
		d.drift, d.driftFrom, group.group = true, 0, true
		group.sets["s4"] = d.processors()
		cfg["g"] = group
	}
	run := historyRun{}
	for _, addr := range slices.Sorted(maps.Keys(cfg)) {
		b := cfg[addr]
		b.lateStream = d.chance(60, "late "+addr)
		cfg[addr] = b
		d.imports(&run, addr, b.group, 90)
	}
	run.config = cfg
	run.keepsState = d.chance(20, "-refresh=false")
	d.tell(run)
	if d.chance(50, "without one more") {
		cfg = maps.Clone(cfg)
		delete(cfg, d.oneOf(slices.Concat([]string{"a"}, slices.Sorted(maps.Keys(cfg))), "removed"))
		d.tell(historyRun{config: cfg})
	}
}

// tell adds a run of a story. Each has its own order of calls.
func (d *draws) tell(run historyRun) {
	run.drift, run.anotherAddress = d.reading(), d.withCLI
	run.config = maps.Clone(run.config)
	run.parallelism, run.plansTwice = d.parallelism(), !d.withCLI && d.chance(20, "planned twice")
	d.runs = append(d.runs, run)
}

func (d *draws) parallelism() int { return []int{0, 0, 0, 1, 2, 3, 10}[d.index(7, "-parallelism")] }

// resource draws a block for a stream, which has processors.
func (d *draws) resource(stream string) resourceBlock {
	b := blockFor(stream, d.oneOf([]string{"p1", "p2"}, "processor of "+stream))
	b.createBeforeDestroy = d.chance(30, "create_before_destroy")
	if d.chance(20, "on_destroy of "+stream) {
		b.onDestroy = "keep"
	}
	if d.chance(20, "on_create of "+stream) {
		b.onCreate = d.onCreate()
	}
	return b
}

// with adds resources for streams that no other resource has.
func (d *draws) with(cfg config, streams map[string]string, percent int) config {
	cfg = maps.Clone(cfg)
	for _, addr := range slices.Sorted(maps.Keys(streams)) {
		if _, exists := cfg[addr]; !exists && d.chance(percent, "with "+addr) {
			b := d.resource(streams[addr])
			b.group = slices.Contains(historyGroups, addr)
			cfg[addr] = b
		}
	}
	return cfg
}

// oldObject leaves an old object behind, beside its replacement or beside a resource that takes its stream. Then an apply destroys
// the old object, and creates other resources.
func (d *draws) oldObject() {
	others := map[string]string{"c": "s5", "g": "s7", "h": "s8"}
	replaced, taker := d.resource("s1"), d.resource("s1")
	replaced.createBeforeDestroy, replaced.onDestroy = true, ""
	cfg := d.with(config{"a": replaced}, others, 20)
	d.tell(historyRun{config: cfg})

	const duringReplacement, targeted, together = 1, 2, 3
	run, takes, stream := historyRun{config: cfg}, 0, "s1"
	switch d.index(4, "replacement") {
	case 0:
		run.replace = []string{"a"}
	case 1:
		run.tainted = []string{"a"}
	default:
		stream = "s2"
		replaced.sets = map[string][]string{stream: replaced.sets["s1"]}
		if d.chance(30, "and tainted") {
			run.tainted = []string{"a"}
		}
		run.config = config{"a": replaced}
		for addr := range others {
			if b, exists := cfg[addr]; exists {
				run.config[addr] = b
			}
		}
		if takes = d.index(4, "taker"); takes == duringReplacement {
			run.config["b"] = taker
		}
	}
	switch ends := d.index(3, "end of the replacement"); {
	case stream != "s1" && (ends == 0 || d.withCLI):
		for n := range d.attempts {
			run.faults = append(run.faults, streamstest.RequestFault{Method: "PATCH", StreamID: "s1", N: n + 1, Name: "401"})
		}
	case d.withCLI:
	case ends == 1:
		run.killedAfter = 3 + d.index(3, "killed after")
	default:
		run.faults = []streamstest.RequestFault{{Method: "PATCH", StreamID: stream, N: 1, Name: interrupt}}
	}
	d.tell(run)

	cfg = run.config
	if takes == targeted {
		cfg = maps.Clone(cfg)
		cfg["b"] = taker
		d.tell(historyRun{config: cfg, options: options{targets: []string{"b"}}})
	}
	if d.chance(20, "the old object moves") {
		cfg = maps.Clone(cfg)
		run.moved = map[string]string{"a": "d"}
		cfg["d"] = cfg["a"]
		delete(cfg, "a")
	} else {
		run.moved = nil
	}
	if takes == together {
		cfg = maps.Clone(cfg)
		cfg["b"] = taker
	}
	cfg = d.with(cfg, others, []int{0, 50, 90}[d.index(3, "others are created")])
	d.tell(historyRun{config: cfg, options: options{moved: run.moved, keepsState: d.chance(15, "-refresh=false")}})
	if d.chance(30, "the same again") {
		d.tell(historyRun{config: cfg})
	}
}

// shiftedList has resources behind count, of whose list of streams one is removed, and then perhaps one added: each resource
// goes to the stream of the next one.
func (d *draws) shiftedList() {
	var list []resourceBlock
	for _, id := range historyStreams[:2+d.index(3, "length")] {
		list = append(list, d.resource(id))
	}
	configured := func() config {
		cfg := config{}
		for i, b := range list {
			cfg[historyAddrs[i]] = b
		}
		return d.with(cfg, map[string]string{"g": "s7", "h": "s8"}, 20)
	}
	d.tell(historyRun{config: configured()})
	removed := d.index(len(list), "removed")
	list = slices.Delete(list, removed, removed+1)
	d.tell(historyRun{config: configured()})
	if d.chance(50, "an element is added") {
		list = slices.Insert(list, d.index(len(list), "at"), d.resource("s6"))
		d.tell(historyRun{config: configured()})
	}
}

// unreadTakeOver takes streams to a deployment at which others have set them, and whose reads fail.
func (d *draws) unreadTakeOver() {
	cfg := d.with(config{"a": d.resource("s1")}, map[string]string{"b": "s2", "g": "s3"}, 50)
	d.tell(historyRun{config: cfg})
	run := historyRun{deployment: 1, before: streamChange{stream: streamstest.Stream{ID: "s1", ProcessorIDs: []string{"p3"}}}}
	run.config = cfg.with(func(_ string, b *resourceBlock) {
		if b.onCreate == "" && d.reading() {
			b.onCreate = "refuse"
		}
	})
	for n := range 2 * d.attempts {
		if d.chance(80, "fault of a read") {
			f := streamstest.RequestFault{Method: "GET", StreamID: "s1", N: n + 1, Name: d.oneOf([]string{"401", "503"}, "fault")}
			run.faults = append(run.faults, f)
		}
	}
	d.tell(run)
}

// goneUnread sets streams without reads. One of them is gone when the first run reads them.
func (d *draws) goneUnread() {
	d.drift, d.driftFrom = true, 1
	cfg := d.with(config{"a": d.resource("s1")}, map[string]string{"b": "s2", "g": "s3"}, 50)
	d.tell(historyRun{config: cfg})
	gone := d.oneOf([]string{"s1", "s3"}, "gone")
	d.tell(historyRun{config: cfg, before: streamChange{stream: streamstest.Stream{ID: gone}, gone: true}})
}
