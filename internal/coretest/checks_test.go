package coretest

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// run runs `terraform apply` and checks what must hold after every run. It reports whether there was no error.
func (c *terraformCore) run(cfg config, opts options) bool {
	c.t.Helper()
	c.service.ForgetRequests()
	changes, refreshed := c.plan(cfg, opts)
	for _, r := range c.service.Requests() {
		if !c.drift || r.Method != http.MethodGet {
			c.t.Fatalf("a plan sent %s", r)
		}
	}
	if len(c.failures) > 0 {
		return false
	}
	targeted := maps.Clone(cfg)
	maps.DeleteFunc(targeted, func(addr string, _ resourceBlock) bool { return !opts.targeted(addr) })
	if ids := conflicts(targeted, false); len(ids) > 0 {
		c.t.Fatalf("a plan gives streams %q two sets each", ids)
	}
	c.service.ForgetRequests()
	if opts.meanwhile != nil {
		opts.meanwhile()
	}
	c.apply(changes, refreshed, opts)
	c.checkRequests(cfg, opts)
	c.checkWarnings(cfg, opts)
	c.noteUntargeted(opts)
	if len(c.failures) == 0 {
		c.checkAgreement(cfg, opts)
		return true
	}
	for _, s := range c.objects() {
		for id, got := range s.sets() {
			if truth := c.attached(id); !c.doubtful[id] && !c.unrecorded[id] && !reflect.DeepEqual(got, truth) {
				c.t.Fatalf("no operation on stream %q failed, but the state has %v and the service %v", id, got, truth)
			}
		}
	}
	return false
}

// runClean is a run without faults, which must reach the configuration.
func (c *terraformCore) runClean(cfg config) {
	c.t.Helper()
	before := map[string][]string{} // on_destroy of the objects of each stream
	sets := map[string]any{}
	for addr, is := range c.state {
		for i, s := range append([]*stored{is.current}, is.deposed...) {
			if s == nil {
				continue
			}
			onDestroy := s.text("on_destroy")
			if b, stays := cfg[addr]; i == 0 && stays && b.group && !s.tainted {
				onDestroy = cmp.Or(b.onDestroy, "detach") // an update of a group drops streams
			}
			for _, id := range s.streams() {
				before[id] = append(before[id], onDestroy)
				sets[id] = c.attached(id)
			}
		}
	}
	reported := map[string]bool{}
	for !c.run(cfg, options{}) {
		for _, failure := range c.failures {
			if reported[failure] || !slices.ContainsFunc(reportedOnce, func(summary string) bool { return strings.Contains(failure, summary) }) {
				c.t.Fatalf("a run without faults fails: %s", failure)
			}
			reported[failure] = true
		}
		if c.hasFailure("Another Resource Keeps the Stream") {
			cfg = withNewTriggers(cfg) // as the diagnostic says
		}
	}
	c.checkAgreement(cfg, options{})
	for _, b := range cfg {
		for id := range b.sets {
			delete(before, id)
		}
	}
	for id, onDestroy := range before {
		switch slices.Sort(onDestroy); {
		case onDestroy[len(onDestroy)-1] == "detach":
			if got := c.attached(id); !reflect.DeepEqual(got, []string{}) {
				c.t.Fatalf("stream %q should be detached and has %v", id, got)
			}
		case onDestroy[0] == "keep":
			if got := c.attached(id); !reflect.DeepEqual(got, sets[id]) {
				c.t.Fatalf("stream %q should keep %v and has %v", id, sets[id], got)
			}
		}
	}
	c.checkNextPlanEmpty(cfg)
}

// reportedOnce are the errors of a run without faults. Each resource reports one at most once.
var reportedOnce = []string{
	"Unexpected Change of the Stream", // somebody else has moved the stream
	"inconsistent final plan",         // see changedByTaint
	"Another Resource Keeps the Stream",
}

func (c *terraformCore) hasFailure(summary string) bool {
	return slices.ContainsFunc(c.failures, func(failure string) bool { return strings.Contains(failure, summary) })
}

// withNewTriggers makes all resources send their sets.
func withNewTriggers(cfg config) config {
	cfg = maps.Clone(cfg)
	for addr, b := range cfg {
		b.trigger += "'"
		cfg[addr] = b
	}
	return cfg
}

// conflicts returns the streams to which a configuration gives two sets. During a plan, it ignores unknown values.
func conflicts(cfg config, applying bool) []string {
	sets := map[string][]string{}
	var ids []string
	for _, addr := range slices.Sorted(maps.Keys(cfg)) {
		b := cfg[addr]
		if !applying && (b.lateStream || b.lateProcessors) {
			continue
		}
		for id, processors := range b.sets {
			if set, ok := sets[id]; ok && !slices.Equal(set, processors) {
				ids = append(ids, id)
			}
			sets[id] = processors
		}
	}
	return ids
}

// checkRequests checks the requests of an apply: the updates of a stream do not overlap, and each sends a configured set
// or, in a destroy, the empty set.
func (c *terraformCore) checkRequests(cfg config, opts options) {
	c.t.Helper()
	last := map[string]streamstest.Request{}
	for _, r := range c.service.Requests() {
		c.t.Logf("%s", r)
		if c.drift && r.Method == http.MethodGet {
			continue // core plans each create again before it applies the create
		}
		if before, ok := last[r.StreamID]; ok && before.Status != 0 && r.Start.Before(before.End) {
			c.t.Fatalf("two operations on stream %q overlap", r.StreamID)
		}
		last[r.StreamID] = r
		allowed := []string{`{"processor_ids":[]}`}
		if opts.action != nil {
			allowed = append(allowed, patchBody(opts.action.sets[opts.action.stream()]))
		}
		for _, b := range cfg {
			if set, ok := b.sets[r.StreamID]; ok {
				allowed = append(allowed, patchBody(set))
			}
		}
		if r.Method != http.MethodPatch || !slices.Contains(allowed, r.Body) {
			c.t.Fatalf("an apply sent %s", r)
		}
	}
}

// checkWarnings fails if a stream of the configuration passed through an empty set, and the plan did not warn. A plan
// cannot warn about a resource that is replaced on its own stream, or whose values are known after apply.
func (c *terraformCore) checkWarnings(cfg config, opts options) {
	c.t.Helper()
	for _, r := range c.service.Requests() {
		if r.Method != http.MethodPatch || !r.Applied || r.Body != patchBody(nil) || c.warned[r.StreamID] || c.unforeseen[r.StreamID] ||
			opts.action != nil && opts.action.stream() == r.StreamID {
			continue
		}
		for addr, b := range cfg {
			if opts.targeted(addr) && len(b.sets[r.StreamID]) > 0 && !b.lateStream && !b.lateProcessors {
				c.t.Fatalf("%s has stream %q, which was emptied, and the plan did not warn", addr, r.StreamID)
			}
		}
	}
}

func patchBody(ids []string) string {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = strconv.Quote(id)
	}
	return `{"processor_ids":[` + strings.Join(quoted, ",") + `]}`
}

// noteUntargeted notes the streams of resources outside of -target whose state this run has made untrue: the provider
// is not called for these resources.
func (c *terraformCore) noteUntargeted(opts options) {
	for addr, is := range c.state {
		if opts.targeted(addr) || is.current == nil {
			continue
		}
		for id, set := range is.current.sets() {
			if !reflect.DeepEqual(set, c.attached(id)) {
				c.unrecorded[id] = true
			}
		}
	}
}

// checkAgreement fails unless the service, the state and the configuration agree.
func (c *terraformCore) checkAgreement(cfg config, opts options) {
	c.t.Helper()
	for addr, is := range c.state {
		b, ok := cfg[addr]
		if !opts.targeted(addr) {
			continue
		}
		if !ok || len(is.deposed) > 0 || is.current == nil {
			c.t.Fatalf("%s: the state has what the configuration does not", addr)
		}
		got, want := AttributesOf(is.current.Value), AttributesOf(b.configValue(true))
		for _, name := range []string{"stream_id", "processor_ids", "streams", "triggers"} {
			if _, ok := want[name]; !ok {
				continue
			}
			if !EqualValues(got[name], want[name]) {
				c.t.Fatalf("%s: %s is %v in the state, %v in the configuration", addr, name, FromTerraform(got[name]), FromTerraform(want[name]))
			}
		}
		if got, want := is.current.text("on_destroy"), cmp.Or(b.onDestroy, "detach"); got != want {
			c.t.Fatalf("%s: on_destroy is %s in the state, %s in the configuration", addr, got, want)
		}
		for id, set := range is.current.sets() {
			if truth := c.attached(id); !reflect.DeepEqual(set, truth) && !c.unrecorded[id] {
				c.t.Fatalf("%s: stream %q has %v in the state, %v in the service", addr, id, set, truth)
			}
		}
	}
	if opts.targets != nil {
		return
	}
	if len(c.state) != len(cfg) {
		c.t.Fatalf("the state has %d resources, the configuration %d", len(c.state), len(cfg))
	}
	clear(c.doubtful)
}

// checkNextPlanEmpty fails unless the next plan has no changes.
func (c *terraformCore) checkNextPlanEmpty(cfg config) {
	c.t.Helper()
	cfg = maps.Clone(cfg)
	for addr, b := range cfg {
		b.lateStream, b.lateProcessors = false, false
		cfg[addr] = b
	}
	changes, _ := c.plan(cfg, options{})
	if len(c.failures) > 0 {
		c.t.Fatalf("the next plan fails: %s", c.failures)
	}
	for _, ch := range changes {
		unrecorded := slices.ContainsFunc(slices.Collect(maps.Keys(ch.wanted.sets)), func(id string) bool { return c.unrecorded[id] })
		if ch.verb != noop && !unrecorded {
			c.t.Fatalf("the next plan is not empty: %s %s", ch.verb, ch.addr)
		}
	}
}
