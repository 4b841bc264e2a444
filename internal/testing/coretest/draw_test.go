package coretest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// history is what happens to one state, for the model and for a real CLI. What a state does not allow is left out of a run,
// such as the replacement of a resource that could not be created.
type history struct {
	drift     bool
	driftFrom int  // the first run with detect_drift
	tells     bool // the provider knows the CLI's command line
	olderCLI  bool // see cliVersion
	newerCLI  bool // likewise
	reads     bool // likewise: the CLI reads what it removes from the state
	overlaps  bool // see terraformCore
	patient   bool // likewise
	attempts  int
	runs      []historyRun
}

type historyRun struct {
	options
	drift          bool
	config         config
	deployment     int
	anotherAddress bool // of the deployment
	reading        int  // of historyReadings
	faults         []streamstest.RequestFault

	before, between streamChange // by others: before the run, and between the plan and the apply
}

// streamChange is a change of a stream by others.
type streamChange struct {
	stream streamstest.Stream // without an id: no change
	gone   bool
}

// historyReadings are how the service may read the interface, with the flag of the stand-in.
var historyReadings = []struct {
	flag string
	set  func(*streamstest.Options)
}{
	{"", func(*streamstest.Options) {}},
	{" -merge", func(o *streamstest.Options) { o.Merge = true }},
	{" -refuse-empty", func(o *streamstest.Options) { o.RefuseEmpty = true }},
	{" -known p1,p2", func(o *streamstest.Options) { o.KnownProcessors = []string{"p1", "p2"} }},
	{" -keep-last-edited", func(o *streamstest.Options) { o.KeepLastEdited = true }},
}

var (
	historyAddrs   = []string{"a", "b", "c", "d", "g", "h"}
	historyGroups  = []string{"g", "h"} // the others are single resources
	historyStreams = []string{"s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"}
)

// draws draws a history.
type draws struct {
	*rapid.T
	history
	streams []string // those of the history: with few, all operations meet
	withCLI bool     // for a real CLI, too, which nobody interrupts, and whose clock is real
}

func (d *draws) chance(percent int, what string) bool { return d.index(100, what) >= 100-percent }

// index draws an index, and zero for the simplest one. The generators of rapid prefer small numbers; their sum hardly does.
func (d *draws) index(n int, what string) int { return drawIndex(d.T, n, what) }

func drawIndex(t *rapid.T, n int, what string) int {
	sum := 0
	for range 3 {
		sum += rapid.IntRange(0, n-1).Draw(t, what)
	}
	return sum % n
}

func (d *draws) oneOf(all []string, what string) string {
	return rapid.SampledFrom(all).Draw(d.T, what)
}

func drawHistory(t *rapid.T, withCLI bool) history {
	d := &draws{T: t, withCLI: withCLI}
	d.streams = historyStreams[:[]int{8, 8, 8, 1, 2, 2, 3}[d.index(7, "streams")]]
	d.drift, d.olderCLI = d.chance(30, "detect_drift"), d.chance(20, "Terraform 1.9 to 1.11")
	d.newerCLI = !d.olderCLI && d.chance(30, "Terraform 1.16")
	d.reads = !d.olderCLI && !d.newerCLI && d.chance(50, "OpenTofu")
	d.tells = !withCLI && d.chance(70, "the command is known")
	d.overlaps, d.patient = !withCLI && d.chance(50, "overlapping calls"), d.chance(50, "fast machine")
	d.attempts = 1 + d.index(2, "max_attempts")
	if d.drift && d.chance(25, "detect_drift later") {
		d.driftFrom = 1 + d.index(2, "first run with detect_drift")
	}
	if story := d.index(9, "story"); story < len(stories) {
		stories[story](d)
	}
	runs := 3 + d.index(3, "runs")
	for i := len(d.runs); i < runs; i++ {
		run := d.run(i)
		if run.drift = d.reading(); run.drift && i > 0 && i == d.driftFrom {
			run.config = run.config.with(func(_ string, b *resourceBlock) { b.onCreate = d.onCreate() })
		}
		d.runs = append(d.runs, run)
	}
	return d.history
}

// reading reports whether the run that is drawn reads streams.
func (d *draws) reading() bool { return d.drift && len(d.runs) >= d.driftFrom }

func (d *draws) onCreate() string {
	if !d.reading() && !d.chance(3, "on_create without reads") {
		return ""
	}
	return d.oneOf([]string{"", "replace", "refuse", "refuse"}, "on_create")
}

func (d *draws) run(i int) (run historyRun) {
	run.config = d.config()
	d.addresses(&run, i)
	if i > 0 {
		last := d.runs[i-1]
		ended := last.killedAfter == 0 && !slices.ContainsFunc(last.faults, func(f streamstest.RequestFault) bool {
			return strings.HasPrefix(f.Name, interrupt)
		})
		if !ended && d.chance(60, "the same again") {
			return historyRun{config: last.config, deployment: last.deployment, options: options{keepsState: run.keepsState}}
		}
		if run.deployment = last.deployment; d.chance(40, "another deployment") {
			run.deployment = (last.deployment + 1 + d.index(2, "deployment")) % 3
			if d.chance(70, "only sets") { // most other changes would be refused
				run = historyRun{config: d.otherSets(last.config), deployment: run.deployment}
			}
		}
	}
	run.anotherAddress = d.withCLI || d.chance(15, "another address")
	if d.chance(10, "-target") {
		for _, addr := range historyAddrs {
			if d.chance(50, "target "+addr) {
				run.targets = append(run.targets, addr)
			}
		}
	}
	run.keepsState = d.chance(10, "-refresh=false") || len(run.adopted) > 0 && d.chance(60, "-refresh=false") ||
		i > 0 && len(d.runs[i-1].faults) > 0 && d.chance(20, "-refresh=false")
	run.parallelism, run.plansTwice = d.parallelism(), !d.withCLI && d.chance(20, "planned twice")
	run.lateAddress = d.chance(10, "late address")
	if d.chance(20, "action") {
		b := d.block("")
		run.action, run.actionAfter = &b, d.oneOf(historyAddrs, "action after")
	}
	if d.chance(20, "changed by others") {
		run.before = d.change()
	}
	if d.chance(10, "meanwhile") {
		run.between = d.change()
	}
	if !d.withCLI && len(run.replace) > 0 && d.chance(50, "killed") {
		run.killedAfter = 2 + d.index(12, "killed after")
	}
	if d.chance(20, "read differently") {
		run.reading = d.index(len(historyReadings), "reading")
	}
	if d.chance(min(90, 40+50*i), "faulty") {
		run.faults = d.faults()
	}
	return run
}

// addresses draws what happens to each address. In each run, one kind of change is frequent.
func (d *draws) addresses(run *historyRun, i int) {
	goes, triggered, replaced := 10, 10, 10
	switch kind := d.index(4, "kind of run"); {
	case i == 0:
		goes = 0
	case kind == 0:
		goes = 80
	case kind == 1:
		triggered = 80
	case kind == 2:
		replaced = 40
	}
	run.moved = map[string]string{}
	for _, addr := range historyAddrs {
		b, configured := run.config[addr]
		if configured && d.chance(goes, "without "+addr) {
			delete(run.config, addr)
			configured = false
		}
		switch {
		case !configured && d.chance(20, "moved "+addr):
			run.moved[addr] = d.oneOf(historyAddrs, "to")
		case !configured && d.chance(10, "removed "+addr):
			run.forgotten = append(run.forgotten, addr)
		case !configured:
		case (!b.group || d.reading()) && d.chance(10, "import "+addr):
			d.imports(run, addr, b.group, 40)
		case d.chance(replaced, "replace "+addr), b.createBeforeDestroy && d.chance(replaced, "replace "+addr):
			run.replace = append(run.replace, addr)
		case d.chance(10, "taint "+addr):
			run.tainted = append(run.tainted, addr)
		case d.chance(triggered, "triggered "+addr):
			b.trigger = strconv.Itoa(i)
			run.config[addr] = b
		}
	}
}

// imports draws an import, perhaps of other streams than the configuration has.
func (d *draws) imports(run *historyRun, addr string, group bool, others int) {
	if run.imports = append(run.imports, addr); d.chance(40, "terraform import") {
		run.adopted = append(run.adopted, addr)
		run.adoptedByReads = run.adoptedByReads || !d.withCLI && d.reading() && d.chance(50, "with reads")
	}
	if !d.chance(others, "another id") {
		return
	}
	if run.importIDs == nil {
		run.importIDs = map[string][]string{}
	}
	ids := []string{d.oneOf(d.streams, "imported stream")}
	for _, id := range d.streams {
		if group && id != ids[0] && d.chance(40, "imported "+id) {
			ids = append(ids, id)
		}
	}
	run.importIDs[addr] = ids
}

func (d *draws) change() streamChange {
	ch := streamChange{stream: streamstest.Stream{ID: d.oneOf(d.streams, "changed stream")}}
	switch d.index(3, "change") {
	case 0:
		ch.stream.ProcessorIDs = d.processors()
	case 1:
		ch.stream.TerminalID = "terminal-" + strconv.Itoa(1+d.index(3, "terminal"))
	case 2:
		ch.gone = true
	}
	return ch
}

// interrupt is the beginning of the names of faults during which somebody interrupts Terraform.
const interrupt = "interrupt, "

var (
	interruptions = []string{interrupt, interrupt + "500 applied", interrupt + "late"}
	// slowFaults are responses that come after the request timeout, or after the client has given up.
	slowFaults = []string{interrupt + "no response", interrupt + "too late", "no response", "too late"}
)

// faults draws what becomes of the first requests to each stream.
func (d *draws) faults() (faults []streamstest.RequestFault) {
	names := slices.Sorted(maps.Keys(streamstest.Faults))
	switch kind := d.index(6, "kind of faults"); {
	case kind == 2:
		return d.noRoute()
	case d.withCLI:
	case kind == 0:
		names = interruptions // one ends the run
	case kind == 1:
		names = slowFaults
	}
	method := "PATCH"
	if d.drift && d.chance(20, "of reads") {
		method = "GET"
	}
	for _, id := range d.streams {
		for n := range 3 * d.attempts {
			if d.chance(40, "fault of "+id) {
				name := names[d.index(len(names), "fault")]
				faults = append(faults, streamstest.RequestFault{Method: method, StreamID: id, N: n + 1, Name: name})
			}
		}
	}
	return faults
}

// noRoutes are responses of a gateway that has no route to the service.
var noRoutes = []string{"404 of a proxy", "404 page", "404, no body", "404, other JSON", "404, cut off"}

// noRoute draws a gateway that has no route for a while: for some streams, or for a method.
func (d *draws) noRoute() (faults []streamstest.RequestFault) {
	name, methods := d.oneOf(noRoutes, "no route"), [][]string{{"PATCH"}, {"GET"}, {"GET", "PATCH"}}[d.index(3, "methods")]
	first := 1 + d.index(2*d.attempts, "first without a route")
	last := first + d.index(3*d.attempts, "more without a route")
	for _, id := range d.streams {
		if !d.chance(70, "no route to "+id) {
			continue
		}
		for _, method := range methods {
			for n := first; n <= last; n++ {
				faults = append(faults, streamstest.RequestFault{Method: method, StreamID: id, N: n, Name: name})
			}
		}
	}
	return faults
}

// config edits the last configuration, or takes an older one, or makes a new one.
func (d *draws) config() config {
	cfg := config{}
	switch kind := d.index(10, "kind of configuration"); {
	case len(d.runs) > 0 && kind < 1:
		return maps.Clone(d.runs[d.index(len(d.runs), "older configuration")].config)
	case len(d.runs) > 0 && kind < 9:
		cfg = d.edit(d.runs[len(d.runs)-1].config)
	default:
		for _, addr := range historyAddrs {
			if d.chance(60, addr) {
				cfg[addr] = d.block(addr)
			}
		}
	}
	if d.chance(90, "without conflicts") {
		return cfg.withoutConflicts()
	}
	// The provider cannot compare a value that is known after apply with a resource without changes, because core does not
	// call the provider for this resource again.
	return cfg.known()
}

// edit changes most resources of a configuration a little.
func (d *draws) edit(last config) config {
	cfg := maps.Clone(last)
	for _, addr := range historyAddrs {
		b, exists := cfg[addr]
		drawn := d.block(addr)
		b.sets = maps.Clone(b.sets)
		switch edit := d.index(12, "edit of "+addr); {
		case !exists && edit < 4:
			b = drawn
		case !exists, edit < 3:
			continue
		case edit == 3:
			delete(cfg, addr)
			continue
		case edit < 9 && b.group: // streams come or go
			for _, id := range d.streams {
				if _, has := b.sets[id]; has && d.chance(40, "without "+id) {
					delete(b.sets, id)
				} else if !has && d.chance(40, "with "+id) {
					b.sets[id] = d.processors()
				}
			}
		case edit < 7:
			b.sets, b.lateStream = map[string][]string{drawn.stream(): b.sets[b.stream()]}, drawn.lateStream
		case edit == 7:
			b.trigger, b.onCreate, b.onDestroy, b.dependsOn = drawn.trigger, drawn.onCreate, drawn.onDestroy, drawn.dependsOn
		case len(b.sets) > 0:
			b.sets[d.oneOf(slices.Sorted(maps.Keys(b.sets)), "edited stream")] = d.processors()
			b.lateProcessors = drawn.lateProcessors
		}
		cfg[addr] = b
	}
	return cfg
}

// otherSets gives some streams of a configuration another set.
func (d *draws) otherSets(cfg config) config {
	return cfg.with(func(_ string, b *resourceBlock) {
		b.sets = maps.Clone(b.sets)
		for _, id := range slices.Sorted(maps.Keys(b.sets)) {
			if d.chance(60, "another set of "+id) {
				b.sets[id] = d.processors()
			}
		}
	}).withoutConflicts()
}

func (d *draws) block(addr string) resourceBlock {
	b := blockFor(d.streams[d.index(len(d.streams), "stream")], d.processors()...)
	if b.group = slices.Contains(historyGroups, addr); b.group {
		for _, id := range d.streams {
			if b.sets[id] == nil && d.chance(50, id) {
				b.sets[id] = d.processors()
			}
		}
	}
	b.onCreate = d.onCreate()
	b.onDestroy = d.oneOf([]string{"", "detach", "keep", "detach"}, "on_destroy")
	b.trigger = d.oneOf([]string{"", "1", "2"}, "triggers")
	b.createBeforeDestroy = d.chance(40, "create_before_destroy")
	b.ignores = d.ignored(b.group)
	b.lateStream = d.chance(15, "late stream_id")
	b.lateProcessors = d.chance(10, "late processor_ids")
	if i := slices.Index(historyAddrs, addr); i > 0 && d.chance(15, "depends_on") {
		b.dependsOn = d.oneOf(historyAddrs[:i], "dependency")
	}
	return b
}

// ignored draws ignore_changes. For a real CLI, triggers tell equal calls apart.
func (d *draws) ignored(group bool) []string {
	if !d.chance(12, "ignore_changes") {
		return nil
	}
	all := []string{"on_destroy", "deployment", "last_edited"}
	if group {
		all = append(all, "streams", fmt.Sprintf("streams[%q]", d.oneOf(d.streams, "ignored stream")))
	} else {
		all = append(all, "processor_ids", "processor_ids", "stream_id", "terminal_id")
	}
	if !d.withCLI {
		all = append(all, "all", "triggers", `triggers["t"]`, "on_create")
	}
	first := d.oneOf(all, "ignored")
	if second := d.oneOf(all, "ignored, too"); first != "all" && second != "all" && second != first {
		return []string{first, second}
	}
	return []string{first}
}

func (d *draws) processors() []string {
	set := []string{}
	mask := d.index(8, "processors")
	for i, id := range []string{"p1", "p2", "p3"} {
		if mask>>i&1 == 1 {
			set = append(set, id)
		}
	}
	return set
}
