package provider

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
func (c *terraformCore) run(cfg config, replace, imports []string) bool {
	c.t.Helper()
	c.service.ForgetRequests()
	apart := map[string]bool{} // streams of one object at most
	for _, id := range historyStreams {
		apart[id] = !c.isShared(id)
	}
	for _, addr := range imports {
		apart[cfg[addr].stream] = false
	}
	changes, refreshed := c.plan(cfg, replace, imports)
	for _, r := range c.service.Requests() {
		if !c.drift || r.Method != http.MethodGet {
			c.t.Fatalf("a plan sent %s", r)
		}
	}
	if len(c.failures) > 0 {
		return false
	}
	if ids := conflicts(cfg, false); len(ids) > 0 {
		c.t.Fatalf("a plan gives streams %q two sets each", ids)
	}
	c.service.ForgetRequests()
	c.apply(changes, refreshed)
	c.checkRequests(cfg)
	c.checkWarnings(cfg)
	if len(c.failures) == 0 {
		c.checkAgreement(cfg)
		c.checkLastResponses(apart)
		return true
	}
	for _, s := range c.objects() {
		id := s.text("stream_id")
		if got, truth := fromTerraform(attributesOf(s.value)["processor_ids"]), c.attached(id); !c.doubtful[id] && !c.unrecorded[id] && !reflect.DeepEqual(got, truth) {
			c.t.Fatalf("no operation on stream %q failed, but the state has %v and the service %v", id, got, truth)
		}
	}
	return false
}

// runClean is a run without faults, which must reach the configuration.
func (c *terraformCore) runClean(cfg config) {
	c.t.Helper()
	before := map[string][]string{} // on_destroy of the objects of each stream
	sets := map[string]any{}
	for _, s := range c.objects() {
		id := s.text("stream_id")
		before[id] = append(before[id], s.text("on_destroy"))
		sets[id] = c.attached(id)
	}
	c.run(cfg, nil, nil)
	for _, failure := range c.failures {
		// Somebody else has moved the stream: the provider reports this once.
		if !strings.Contains(failure, "Unexpected Change of the Stream") {
			c.t.Fatalf("a run without faults fails: %s", failure)
		}
	}
	c.checkAgreement(cfg)
	for _, b := range cfg {
		delete(before, b.stream)
	}
	for id, onDestroy := range before {
		switch slices.Sort(onDestroy); {
		case onDestroy[len(onDestroy)-1] == onDestroyDetach:
			if got := c.attached(id); !reflect.DeepEqual(got, []string{}) {
				c.t.Fatalf("stream %q should be detached and has %v", id, got)
			}
		case onDestroy[0] == onDestroyKeep:
			if got := c.attached(id); !reflect.DeepEqual(got, sets[id]) {
				c.t.Fatalf("stream %q should keep %v and has %v", id, sets[id], got)
			}
		}
	}
	c.checkNextPlanEmpty(cfg)
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
		if set, ok := sets[b.stream]; ok && !slices.Equal(set, b.processors) {
			ids = append(ids, b.stream)
		}
		sets[b.stream] = b.processors
	}
	return ids
}

// checkRequests checks the requests of an apply: the updates of a stream do not overlap, and each sends a configured set
// or, in a destroy, the empty set.
func (c *terraformCore) checkRequests(cfg config) {
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
		for _, b := range cfg {
			if b.stream == r.StreamID {
				allowed = append(allowed, patchBody(b.processors))
			}
		}
		if r.Method != http.MethodPatch || !slices.Contains(allowed, r.Body) {
			c.t.Fatalf("an apply sent %s", r)
		}
	}
}

// checkWarnings fails if a stream of the configuration passed through an empty set, and the plan did not warn. A plan
// cannot warn about a resource that is replaced on its own stream, or whose values are known after apply.
func (c *terraformCore) checkWarnings(cfg config) {
	c.t.Helper()
	for _, r := range c.service.Requests() {
		if r.Method != http.MethodPatch || !r.Applied || r.Body != patchBody(nil) || c.warned[r.StreamID] || c.replacedInPlace[r.StreamID] {
			continue
		}
		for addr, b := range cfg {
			if b.stream == r.StreamID && len(b.processors) > 0 && !b.lateStream && !b.lateProcessors {
				c.t.Fatalf("%s has stream %q, which was emptied, and the plan did not warn", addr, b.stream)
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

// checkAgreement fails unless the service, the state and the configuration agree.
func (c *terraformCore) checkAgreement(cfg config) {
	c.t.Helper()
	for addr, is := range c.state {
		b, ok := cfg[addr]
		if !ok || len(is.deposed) > 0 || is.current == nil {
			c.t.Fatalf("%s: the state has what the configuration does not", addr)
		}
		got, want := attributesOf(is.current.value), attributesOf(b.configValue(true))
		for _, name := range []string{"stream_id", "processor_ids", "triggers"} {
			if !equalValues(got[name], want[name]) {
				c.t.Fatalf("%s: %s is %v in the state, %v in the configuration", addr, name, fromTerraform(got[name]), fromTerraform(want[name]))
			}
		}
		if got, want := is.current.text("on_destroy"), cmp.Or(b.onDestroy, onDestroyDetach); got != want {
			c.t.Fatalf("%s: on_destroy is %s in the state, %s in the configuration", addr, got, want)
		}
		if set, truth := fromTerraform(got["processor_ids"]), c.attached(b.stream); !reflect.DeepEqual(set, truth) && !c.unrecorded[b.stream] {
			c.t.Fatalf("%s: stream %q has %v in the state, %v in the service", addr, b.stream, set, truth)
		}
	}
	if len(c.state) != len(cfg) {
		c.t.Fatalf("the state has %d resources, the configuration %d", len(c.state), len(cfg))
	}
	clear(c.doubtful)
}

// checkLastResponses fails unless the state has the values of the last response. It ignores streams of several objects,
// because each object gets the responses to its own requests only.
func (c *terraformCore) checkLastResponses(apart map[string]bool) {
	c.t.Helper()
	written := map[string]bool{}
	for _, r := range c.service.Requests() {
		written[r.StreamID] = written[r.StreamID] || r.Status == http.StatusOK && r.Method == http.MethodPatch
	}
	for _, s := range c.objects() {
		id := s.text("stream_id")
		stream, _ := c.service.Stream(id)
		if written[id] && apart[id] && !c.isShared(id) && (s.text("last_edited") != strconv.FormatInt(stream.LastEdited, 10) ||
			s.text("terminal_id") != stream.TerminalID) {
			c.t.Fatalf("the state is not the last response: %v, want %+v", fromTerraform(s.value), stream)
		}
	}
}

// checkNextPlanEmpty fails unless the next plan has no changes.
func (c *terraformCore) checkNextPlanEmpty(cfg config) {
	c.t.Helper()
	cfg = maps.Clone(cfg)
	for addr, b := range cfg {
		b.lateStream, b.lateProcessors = false, false
		cfg[addr] = b
	}
	changes, _ := c.plan(cfg, nil, nil)
	if len(c.failures) > 0 {
		c.t.Fatalf("the next plan fails: %s", c.failures)
	}
	for _, ch := range changes {
		if ch.verb != noop && !c.unrecorded[ch.wanted.stream] {
			c.t.Fatalf("the next plan is not empty: %s %s", ch.verb, ch.addr)
		}
	}
}
