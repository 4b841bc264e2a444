package provider

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestHistories runs random histories one step at a time, in an order that is part of the history: a
// counterexample can be repeated and made smaller.
func TestHistories(t *testing.T) {
	t.Parallel()
	histories(t, 20, true)
}

// TestHistoriesAtOnce leaves the order to chance, and overlaps what Terraform may overlap.
func TestHistoriesAtOnce(t *testing.T) {
	t.Parallel()
	histories(t, 5, false)
}

// histories runs batches of histories side by side, each of -rapid.checks: 100 if that is not set.
func histories(t *testing.T, batches int, inTurn bool) {
	if testing.Short() {
		batches = 1
	}
	for i := range batches {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { history(t, inTurn) })
		})
	}
}

// The histories below are counterexamples that were found, each in its shortest form.

// Of two resources that share a stream, one goes to another stream: Terraform plans that as a
// replacement, and never asks about its first half alone.
func TestHistoryOneOfTwoLeavesTheStream(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"plan a", "plan b"}, {"plan b", "plan a"}} {
		c := newCore(t, false, 1, "s1", "s2")
		c.inOrder(order...)
		c.runClean(config{"a": on("s1", "p1"), "b": on("s1", "p1")})
		c.runClean(config{"a": on("s1", "p1"), "b": on("s2", "p1")})
	}
}

// A destroy fails, another resource takes the stream over, and the destroy is repeated in the next run,
// as that of a deposed object: Terraform plans that anew in the apply walk, where the provider does not
// hear of resources that do not change.
func TestHistoryTakeoverAfterAFailedDestroy(t *testing.T) {
	t.Parallel()
	c := newCore(t, false, 1, "s1", "s2")
	c.runClean(config{"a": on("s1", "p1").createdFirst()})
	next := config{"a": on("s2", "p1").createdFirst(), "b": on("s1", "p2")}
	c.inOrder("plan a", "set a", "destroy a", "set b")
	c.service.Inject(streamstest.Fault{}, streamstest.Fault{Status: http.StatusServiceUnavailable})
	if c.run(next, nil, nil) {
		t.Fatal("no error")
	}
	if got := len(c.service.Requests()); got != 2 {
		t.Fatalf("%d requests were sent, want 2: none for b", got)
	}
	c.runClean(next)
}

// A resource is to leave its stream and fails, while another one takes it over. If the configuration
// goes back to what it was, two states contradict each other, and nothing but the destroy of the other
// resource can make the first one's true again.
func TestHistoryTakeoverTakenBack(t *testing.T) {
	t.Parallel()
	for i, order := range [][]string{
		{"plan a", "plan b"}, {"plan b", "plan a", "set a"}, {"plan b", "plan a", "destroy b"},
		{"plan a", "plan b"}, {"plan b", "plan a", "set a"}, {"plan b", "plan a", "destroy b"},
	} {
		c := newCore(t, false, 1, "s1", "s2")
		other := on("s1", "p2")
		if i > 2 {
			other.onDestroy = onDestroyKeep
		}
		first := config{"a": on("s1", "p1").createdFirst()}
		c.runClean(first)
		c.inOrder("plan a", "set a")
		c.service.Inject(streamstest.Fault{Status: http.StatusForbidden})
		if c.run(config{"a": on("s2", "p1").createdFirst(), "b": other}, nil, nil) {
			t.Fatal("no error")
		}
		c.inOrder(order...)
		c.runClean(first)
	}
}

// Of two resources that share a stream, one fails to change it and the other one goes: had that one
// emptied it, the way back would find the first one as it was.
func TestHistoryFailedUpdateBesideADestroy(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"plan a", "set a"}, {"plan b", "destroy b"}} {
		c := newCore(t, false, 1, "s1")
		first := config{"a": on("s1", "p1"), "b": on("s1", "p1")}
		c.runClean(first)
		c.inOrder(order...)
		c.service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
			if r.Body == patchBody([]string{"p2"}) {
				return &streamstest.Fault{Status: http.StatusForbidden}
			}
			return nil
		})
		if c.run(config{"a": on("s1", "p2")}, nil, nil) {
			t.Fatal("no error")
		}
		delete(first, "b")
		c.runClean(first)
	}
}

// Two resources that share a stream are to change it. The service refuses the first update and would
// take the second: on the way back without the second resource, the first one's state would be a lie.
func TestHistoryOneOfTwoIsRefused(t *testing.T) {
	t.Parallel()
	c := newCore(t, false, 1, "s1")
	c.runClean(config{"a": on("s1", "p1"), "b": on("s1", "p1")})
	c.inOrder("plan a", "set a")
	c.service.Inject(streamstest.Fault{Status: http.StatusForbidden}, streamstest.Fault{ResetAfter: true})
	if c.run(config{"a": on("s1", "p2"), "b": on("s1", "p2")}, nil, nil) {
		t.Fatal("no error")
	}
	c.runClean(config{"a": on("s1", "p1")})
}

var (
	historyAddrs   = []string{"a", "b", "c", "d"}
	historyStreams = []string{"s1", "s2", "s3"}
)

// history makes up a few runs with faults and changes by others, and then one without: after that, all
// must agree.
func history(t *rapid.T, inTurn bool) {
	c := newCore(t, chance(t, 30, "detect_drift"), rapid.IntRange(1, 2).Draw(t, "max_attempts"), historyStreams...)
	if inTurn {
		c.next = func(names []string) int {
			if len(names) == 1 {
				return 0
			}
			name := rapid.SampledFrom(names).Draw(t, "next")
			return slices.Index(names, name)
		}
	}
	var past []config
	for range rapid.IntRange(1, 4).Draw(t, "runs") {
		cfg := drawConfig(t, past)
		past = append(past, cfg)
		cfg = c.within(cfg)
		t.Logf("run %+v", cfg)
		stop := func() {}
		if chance(t, 70, "faulty") {
			stop = c.disturb(t)
		}
		replace, imports := c.drawOptions(t, cfg)
		c.run(cfg, replace, imports)
		stop()
		if c.drift && chance(t, 50, "changed by others") {
			c.meddle(t)
		}
	}
	for _, id := range historyStreams {
		if _, ok := c.service.Stream(id); !ok {
			c.service.Seed(streamstest.Stream{ID: id})
		}
	}

	for _, s := range c.objects() {
		id := s.text("stream_id")
		if s.restored && !c.shared(id) && !c.drift && !reflect.DeepEqual(plain(fields(s.value)["processor_ids"]), c.attached(id)) {
			t.Skip("Terraform put an object back without a word to the provider, after the service took its stream's set from " +
				"a create that got no good answer: without a read, nobody can know")
		}
	}

	cfg := drawConfig(t, past)
	if len(conflicts(cfg, true)) > 0 {
		cfg = agreeable(cfg)
	}
	cfg = c.within(cfg)
	t.Logf("last run %+v", cfg)
	c.runClean(cfg)
}

func chance(t *rapid.T, percent int, what string) bool {
	return rapid.IntRange(0, 99).Draw(t, what) >= 100-percent
}

// drawConfig makes up a configuration, or goes back to an older one, all or in part.
func drawConfig(t *rapid.T, past []config) config {
	cfg := config{}
	if len(past) > 0 && chance(t, 50, "older configuration") {
		cfg = maps.Clone(rapid.SampledFrom(past).Draw(t, "which"))
		if chance(t, 50, "as it was") {
			return cfg
		}
		addr := rapid.SampledFrom(historyAddrs).Draw(t, "but for")
		delete(cfg, addr)
		if chance(t, 70, "another one") {
			cfg[addr] = drawBlock(t)
		}
	} else {
		for _, addr := range historyAddrs {
			if chance(t, 50, addr) {
				cfg[addr] = drawBlock(t)
			}
		}
	}
	if chance(t, 90, "without conflicts") {
		return agreeable(cfg)
	}
	// What is known late cannot be compared in time with a resource that does not change: core does not
	// call the provider for that one again.
	for addr, b := range cfg {
		b.lateStream, b.lateProcessors = false, false
		cfg[addr] = b
	}
	return cfg
}

func drawBlock(t *rapid.T) wanted {
	b := wanted{stream: rapid.SampledFrom(historyStreams).Draw(t, "stream"), processors: []string{}}
	mask := rapid.IntRange(0, 7).Draw(t, "processors")
	for i, id := range []string{"p1", "p2", "p3"} {
		if mask>>i&1 == 1 {
			b.processors = append(b.processors, id)
		}
	}
	b.onDestroy = rapid.SampledFrom([]string{"", onDestroyDetach, onDestroyKeep}).Draw(t, "on_destroy")
	b.trigger = rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "triggers")
	b.replaceNew = chance(t, 30, "create_before_destroy")
	b.lateStream = chance(t, 5, "late stream_id")
	b.lateProcessors = chance(t, 10, "late processor_ids")
	return b
}

// agreeable gives all resources of a stream the set of the first.
func agreeable(cfg config) config {
	cfg = maps.Clone(cfg)
	sets := map[string][]string{}
	for _, addr := range slices.Sorted(maps.Keys(cfg)) {
		b := cfg[addr]
		if _, ok := sets[b.stream]; !ok {
			sets[b.stream] = b.processors
		}
		b.processors = sets[b.stream]
		cfg[addr] = b
	}
	return cfg
}

// drawOptions makes up what a user may ask for beside the configuration.
func (c *core) drawOptions(t *rapid.T, cfg config) (replace, imports []string) {
	for _, addr := range slices.Sorted(maps.Keys(cfg)) {
		switch is := c.state[addr]; {
		case is == nil:
			if chance(t, 10, "import "+addr) {
				imports = append(imports, addr)
			}
		case is.current == nil || c.shared(is.current.text("stream_id")):
		case chance(t, 10, "replace "+addr):
			replace = append(replace, addr)
		case chance(t, 10, "taint "+addr):
			is.current.tainted = true
		}
	}
	return replace, imports
}

// within leaves out what nobody can promise without a read. In the apply walk, Terraform plans the
// destroy of a deposed object (create_before_destroy) without the plan walk's private state, plans a
// tainted resource without its state, and does not call the provider for what does not change. So if
// such an object leaves a stream that another resource has too, its destroy cannot know of that one.
// drawOptions does the same for -replace and taint: there, a failed create leaves the other's stream empty.
func (c *core) within(cfg config) config {
	cfg = maps.Clone(cfg)
	for addr, b := range cfg {
		if is := c.state[addr]; is != nil && is.current != nil && c.shared(is.current.text("stream_id")) {
			b.replaceNew = false
			cfg[addr] = b
		}
	}
	return cfg
}

// meddle changes streams as somebody else would.
func (c *core) meddle(t *rapid.T) {
	id := rapid.SampledFrom(historyStreams).Draw(t, "changed stream")
	c.doubtful[id] = true
	switch rapid.IntRange(0, 2).Draw(t, "change") {
	case 0:
		c.service.Seed(streamstest.Stream{ID: id, ProcessorIDs: drawBlock(t).processors})
	case 1:
		c.service.Seed(streamstest.Stream{ID: id, TerminalID: "terminal-" + strconv.Itoa(rapid.IntRange(1, 3).Draw(t, "terminal"))})
	case 2:
		c.service.Remove(id)
	}
}

// disturb makes the service and the network fail until the returned function is called.
func (c *core) disturb(t *rapid.T) (stop func()) {
	switch rapid.IntRange(0, 9).Draw(t, "reading") {
	case 0:
		c.service.Configure(func(o *streamstest.Options) { o.Merge = true })
	case 1:
		c.service.Configure(func(o *streamstest.Options) { o.RefuseEmpty = true })
	case 2:
		c.service.Configure(func(o *streamstest.Options) { o.KnownProcessors = []string{"p1", "p2"} })
	}
	faults := rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(historyFaults))), 0, 20).Draw(t, "faults")
	c.service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if len(faults) == 0 {
			return nil
		}
		name := faults[0]
		faults = faults[1:]
		fault := historyFaults[name]
		if name == "moved" {
			if stream, ok := c.service.Stream(r.StreamID); ok {
				stream.TerminalID += "'"
				c.service.Seed(stream)
			}
		}
		return &fault
	})
	return func() {
		c.service.InjectFunc(nil)
		c.service.Configure(func(o *streamstest.Options) { *o = streamstest.Options{ServeGet: c.drift} })
	}
}

// historyFaults are what may become of a request. None makes the service say that the stream is what
// it is not: against that there is no help.
var historyFaults = map[string]streamstest.Fault{
	"":                 {},
	"400":              {Status: 400},
	"401":              {Status: 401},
	"404":              {Status: 404},
	"404 of a proxy":   {Status: 404, Body: new("not found")},
	"409":              {Status: 409},
	"429":              {Status: 429},
	"408":              {Status: 408},
	"408 applied":      {Status: 408, Apply: true},
	"500":              {Status: 500},
	"500 applied":      {Status: 500, Apply: true},
	"501":              {Status: 501},
	"503":              {Status: 503},
	"504 applied":      {Status: 504, Apply: true},
	"302":              {Status: 302, Header: http.Header{"Location": {"/login"}}},
	"303 applied":      {Status: 303, Apply: true, Header: http.Header{"Location": {"/v2"}}},
	"204 applied":      {Status: 204, Apply: true},
	"200 not applied":  {Status: 200},
	"login page":       {Status: 200, Body: new("<html>")},
	"garbage":          {Body: new("{")},
	"no processor_ids": {EditJSON: func(o map[string]any) { delete(o, "processor_ids") }},
	"another stream":   {Edit: func(s *streamstest.Stream) { s.ID += "'" }},
	"reset before":     {ResetBefore: true},
	"reset after":      {ResetAfter: true},
	"cut off":          {Truncate: true},
	"moved":            {},
}

// run is `terraform apply`. It reports whether there was no error, after it has checked what is true of
// every run.
func (c *core) run(cfg config, replace, imports []string) bool {
	c.t.Helper()
	c.service.ForgetRequests()
	apart := map[string]bool{} // streams of which one object at most hears
	for _, id := range historyStreams {
		apart[id] = !c.shared(id)
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
	if len(c.failures) == 0 {
		c.checkAgreement(cfg)
		c.checkAnswers(apart)
		return true
	}
	for _, s := range c.objects() {
		id := s.text("stream_id")
		if got, truth := plain(fields(s.value)["processor_ids"]), c.attached(id); !c.doubtful[id] && !reflect.DeepEqual(got, truth) {
			c.t.Fatalf("no operation on stream %q failed, but the state has %v and the service %v", id, got, truth)
		}
	}
	return false
}

// runClean is a run without faults: it must reach what is configured.
func (c *core) runClean(cfg config) {
	c.t.Helper()
	before := map[string][]string{} // on_destroy of each stream's objects
	sets := map[string]any{}
	for _, s := range c.objects() {
		id := s.text("stream_id")
		before[id] = append(before[id], s.text("on_destroy"))
		sets[id] = c.attached(id)
	}
	c.run(cfg, nil, nil)
	for _, failure := range c.failures {
		// Somebody else has moved the stream: said once, and in the state.
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
				c.t.Fatalf("stream %q was to be detached and has %v", id, got)
			}
		case onDestroy[0] == onDestroyKeep:
			if got := c.attached(id); !reflect.DeepEqual(got, sets[id]) {
				c.t.Fatalf("stream %q was to be kept as %v and has %v", id, sets[id], got)
			}
		}
	}
	c.checkNextPlanEmpty(cfg)
}

// conflicts are the streams to which a configuration gives two sets, as far as that is known.
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

// checkRequests looks at what an apply has sent: updates of one stream one after the other, each to
// the configured set or, from a destroy, to the empty one.
func (c *core) checkRequests(cfg config) {
	c.t.Helper()
	last := map[string]streamstest.Request{}
	for _, r := range c.service.Requests() {
		c.t.Logf("%s", r)
		if c.drift && r.Method == http.MethodGet {
			continue // core plans a create again before it applies it
		}
		if before, ok := last[r.StreamID]; ok && r.Start.Before(before.End) {
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

func patchBody(ids []string) string {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = strconv.Quote(id)
	}
	return `{"processor_ids":[` + strings.Join(quoted, ",") + `]}`
}

// checkAgreement fails unless the service, the state and the configuration agree, and the next plan
// has nothing to do.
func (c *core) checkAgreement(cfg config) {
	c.t.Helper()
	for addr, is := range c.state {
		b, ok := cfg[addr]
		if !ok || len(is.deposed) > 0 || is.current == nil {
			c.t.Fatalf("%s: the state has what the configuration does not", addr)
		}
		got, want := fields(is.current.value), fields(b.value(true))
		for _, name := range []string{"stream_id", "processor_ids", "triggers"} {
			if !same(got[name], want[name]) {
				c.t.Fatalf("%s: %s is %v in the state, %v in the configuration", addr, name, plain(got[name]), plain(want[name]))
			}
		}
		if got, want := is.current.text("on_destroy"), cmp.Or(b.onDestroy, onDestroyDetach); got != want {
			c.t.Fatalf("%s: on_destroy is %s in the state, %s in the configuration", addr, got, want)
		}
		if set, truth := plain(got["processor_ids"]), c.attached(b.stream); !reflect.DeepEqual(set, truth) {
			c.t.Fatalf("%s: stream %q has %v in the state, %v in the service", addr, b.stream, set, truth)
		}
	}
	if len(c.state) != len(cfg) {
		c.t.Fatalf("the state has %d resources, the configuration %d", len(c.state), len(cfg))
	}
	clear(c.doubtful)
}

// checkAnswers fails unless the state has what the service answered last. Of two objects that share a
// stream, one does not hear what the service told the other: those are left out.
func (c *core) checkAnswers(apart map[string]bool) {
	c.t.Helper()
	written := map[string]bool{}
	for _, r := range c.service.Requests() {
		written[r.StreamID] = written[r.StreamID] || r.Status == http.StatusOK && r.Method == http.MethodPatch
	}
	for _, s := range c.objects() {
		id := s.text("stream_id")
		stream, _ := c.service.Stream(id)
		if written[id] && apart[id] && !c.shared(id) && (s.text("last_edited") != strconv.FormatInt(stream.LastEdited, 10) ||
			s.text("terminal_id") != stream.TerminalID) {
			c.t.Fatalf("the state is not what the service answered last: %v, want %+v", plain(s.value), stream)
		}
	}
}

// checkNextPlanEmpty fails unless there is nothing left to do.
func (c *core) checkNextPlanEmpty(cfg config) {
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
		if ch.verb != noop {
			c.t.Fatalf("the next plan is not empty: %s %s", ch.verb, ch.addr)
		}
	}
}
