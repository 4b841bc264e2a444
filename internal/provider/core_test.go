package provider

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// core does what Terraform core does with a configuration and a state, as far as a provider can tell:
// the calls, their arguments and their order, and the rules by which core judges the answers.
type core struct {
	t        rapid.TB
	service  *streamstest.Service
	provider attributes
	drift    bool
	state    map[string]*instance // by address

	// next picks which of the named nodes of a walk goes on. Nil: each has a goroutine of its own.
	next func(names []string) int

	mu       sync.Mutex      // of the rest, while the nodes have goroutines
	failures []string        // errors that the provider reported in this run
	problems []string        // what core or this test holds against the provider
	doubtful map[string]bool // streams with a failed operation, or changed by somebody else, since all agreed
}

// instance is what the state has under one address.
type instance struct {
	current *stored
	deposed []*stored // replaced, but not destroyed yet
}

type stored struct {
	managed
	tainted  bool
	restored bool // put back by core when its replacement could not be created
}

func (s *stored) text(attribute string) string {
	text, _ := plain(fields(s.value)[attribute]).(string)
	return text
}

// config is a root module: resource blocks by address.
type config map[string]wanted

type wanted struct {
	stream     string
	processors []string
	onDestroy  string // "" leaves it to the default
	trigger    string // "" for no triggers
	replaceNew bool   // create_before_destroy

	lateStream, lateProcessors bool // known after apply only
}

// value is the block as the provider gets it, in the plan walk or in the apply walk.
func (b wanted) value(applying bool) tftypes.Value {
	a := attributes{"stream_id": b.stream, "processor_ids": b.processors}
	if b.onDestroy != "" {
		a["on_destroy"] = b.onDestroy
	}
	if b.trigger != "" {
		a["triggers"] = map[string]string{"t": b.trigger}
	}
	if b.lateStream && !applying {
		a["stream_id"] = tftypes.UnknownValue
	}
	if b.lateProcessors && !applying {
		a["processor_ids"] = tftypes.UnknownValue
	}
	return value(resourceSchema().ValueType(), a)
}

func on(stream string, processors ...string) wanted {
	return wanted{stream: stream, processors: append([]string{}, processors...)}
}

func (b wanted) createdFirst() wanted { b.replaceNew = true; return b }

type verb string

const (
	noop             verb = "no-op"
	create           verb = "create"
	update           verb = "update"
	destroy          verb = "destroy"
	deleteThenCreate verb = "destroy and then create"
	createThenDelete verb = "create and then destroy"
)

func (a verb) replaces() bool { return a == deleteThenCreate || a == createThenDelete }

// change is what a plan says of one object.
type change struct {
	addr    string
	verb    verb
	wanted  wanted
	forced  bool // -replace
	prior   *stored
	planned managed
	deposed bool
}

// node is one piece of work of a walk. It pauses where core might do something else meanwhile.
type node struct {
	name  string
	after []string // nodes that must end well before
	run   func(pause func()) bool
}

// walk runs the nodes in any order that their dependencies allow, interleaved at their pauses.
func (c *core) walk(nodes []node) {
	if c.next == nil {
		c.walkAtOnce(nodes)
		return
	}
	type running struct {
		node
		resume func() (struct{}, bool)
		ok     bool
	}
	waiting := nodes
	var active []*running
	ended := map[string]bool{}
	for {
		waiting = slices.DeleteFunc(slices.Clone(waiting), func(n node) bool {
			for _, name := range n.after {
				ok, done := ended[name]
				if !done {
					return false
				}
				if !ok {
					ended[n.name] = false
					return true
				}
			}
			r := &running{node: n}
			r.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
				r.ok = r.run(func() { yield(struct{}{}) })
			})
			active = append(active, r)
			return true
		})
		if len(active) == 0 {
			break
		}
		var names []string
		for _, r := range active {
			names = append(names, r.name)
		}
		i := c.next(names)
		if _, more := active[i].resume(); !more {
			ended[active[i].name] = active[i].ok
			active = slices.Delete(active, i, i+1)
		}
	}
	c.judge()
}

func (c *core) walkAtOnce(nodes []node) {
	done := map[string]chan struct{}{}
	ok := make([]bool, len(nodes))
	index := map[string]int{}
	for i, n := range nodes {
		done[n.name], index[n.name] = make(chan struct{}), i
	}
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			defer close(done[n.name])
			for _, name := range n.after {
				if <-done[name]; !ok[index[name]] {
					return
				}
			}
			ok[i] = n.run(func() {})
		})
	}
	all.Wait()
	c.judge()
}

// inOrder makes each walk prefer the named nodes, in this order.
func (c *core) inOrder(names ...string) {
	c.next = func(ready []string) int {
		for _, name := range names {
			if i := slices.Index(ready, name); i >= 0 {
				return i
			}
		}
		return 0
	}
}

func (c *core) judge() {
	c.t.Helper()
	if len(c.problems) > 0 {
		c.t.Fatalf("%s", strings.Join(c.problems, "\n"))
	}
}

func (c *core) problem(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *core) logf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Logf(format, args...)
}

// report notes the errors of an operation on streams. It reports whether there are none.
func (c *core) report(what string, diags diagnostics, streams ...string) bool {
	if len(diags) > 0 {
		c.logf("%s: %s", what, diags)
	}
	if !diags.failed() {
		return true
	}
	c.doubt(streams...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, what+": "+diags.String())
	return false
}

// plan is the plan walk: refresh and plan of each object. It returns no changes if there was an error.
func (c *core) plan(cfg config, replace, imports []string) (changes []change, refreshed map[string]*instance) {
	c.t.Helper()
	p := startProvider(c.t, c.provider)
	c.failures = nil
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
		add := func(ch change, ok bool) bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			if ok {
				c.t.Logf("plan %s: %s", ch.addr, ch.verb)
				changes = append(changes, ch)
			}
			return ok
		}
		nodes = append(nodes, node{name: "plan " + addr, run: func(pause func()) bool {
			b, configured := cfg[addr]
			current := was.current
			if current == nil && configured && slices.Contains(imports, addr) {
				got, diags := p.importState(b.stream)
				if !c.report("import "+addr, diags) {
					return false
				}
				current = &stored{managed: got}
			}
			is.current, _ = c.refresh(p, addr, current)
			pause()
			switch {
			case configured:
				return add(c.planChange(p, addr, b, is.current, slices.Contains(replace, addr), nil, pause))
			case is.current != nil:
				return add(c.planDestroy(p, addr, is.current, false))
			}
			return true
		}})
		for i, old := range was.deposed {
			nodes = append(nodes, node{name: fmt.Sprintf("plan %s deposed %d", addr, i), run: func(pause func()) bool {
				old, _ := c.refresh(p, addr, old)
				if old == nil {
					return true
				}
				c.mu.Lock()
				is.deposed = append(is.deposed, old)
				c.mu.Unlock()
				pause()
				return add(c.planDestroy(p, addr, old, true))
			}})
		}
	}
	c.walk(nodes)
	if len(c.failures) > 0 {
		return nil, nil
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.addr, b.addr) })
	return changes, refreshed
}

func (c *core) refresh(p *process, addr string, s *stored) (*stored, bool) {
	if s == nil {
		return nil, true
	}
	got, diags := p.read(s.managed)
	switch {
	case !c.report("refresh "+addr, diags):
		return s, false
	case got.value.IsNull():
		return nil, true
	case !got.value.IsFullyKnown():
		c.problem("refresh %s: the state has unknown values: %v", addr, plain(got.value))
	}
	return &stored{got, s.tainted, s.restored}, true
}

// planChange plans a configured instance. In the apply walk it does so again, with the earlier change.
func (c *core) planChange(p *process, addr string, b wanted, prior *stored, forced bool, earlier *change, pause func()) (change, bool) {
	what := "plan " + addr
	ch := change{addr: addr, wanted: b, forced: forced, prior: prior}
	replaceNew := b.replaceNew
	if earlier != nil {
		replaceNew = earlier.verb == createThenDelete
	}
	before := managed{value: nothing()}
	if prior != nil && !prior.tainted {
		before = prior.managed
	}
	cfg := b.value(earlier != nil)
	if !c.report(what, p.validate(cfg)) {
		return ch, false
	}
	planned, replace, diags := p.plan(before, cfg, proposed(before.value, cfg))
	if !c.report(what, diags) {
		return ch, false
	}
	c.checkPlan(what, cfg, planned.value)
	different := func(attribute string) bool {
		was, is := fields(before.value)[attribute], fields(planned.value)[attribute]
		return !is.IsFullyKnown() || !same(was, is)
	}
	switch {
	case before.value.IsNull():
		ch.verb = create
	case forced || slices.ContainsFunc(replace, different):
		ch.verb = deleteThenCreate
		if replaceNew {
			ch.verb = createThenDelete
		}
		pause()
		planned, _, diags = p.plan(managed{nothing(), planned.private, planned.identity}, cfg, cfg)
		if !c.report(what, diags) {
			return ch, false
		}
		c.checkPlan(what, cfg, planned.value)
	case planned.value.IsFullyKnown() && same(before.value, planned.value):
		ch.verb = noop
	default:
		ch.verb = update
	}
	if ch.verb == create && prior != nil {
		ch.verb = deleteThenCreate
		if replaceNew {
			ch.verb = createThenDelete
		}
	}
	if ch.verb == create && earlier != nil && earlier.verb.replaces() {
		ch.verb = earlier.verb
	}
	ch.planned = planned
	return ch, true
}

// checkPlan holds a planned object against the configuration: only what is computed and not set may
// be anything else.
func (c *core) checkPlan(what string, cfg, planned tftypes.Value) {
	if planned.IsNull() {
		c.problem("%s: nothing is planned", what)
		return
	}
	want, got := fields(cfg), fields(planned)
	for _, a := range resourceSchema().Block.Attributes {
		if a.Computed && want[a.Name].IsNull() {
			continue
		}
		if !same(want[a.Name], got[a.Name]) {
			c.problem("%s: %s is configured as %v, but planned as %v", what, a.Name, plain(want[a.Name]), plain(got[a.Name]))
		}
	}
}

func (c *core) planDestroy(p *process, addr string, s *stored, deposed bool) (change, bool) {
	planned, _, diags := p.plan(s.managed, nothing(), nothing())
	if !c.report("plan "+addr, diags) {
		return change{}, false
	}
	if !planned.value.IsNull() {
		c.problem("plan %s: a destroy plans %v", addr, plain(planned.value))
	}
	return change{addr: addr, verb: destroy, prior: s, planned: planned, deposed: deposed}, true
}

// apply is the apply walk, in a new process of the provider.
func (c *core) apply(changes []change, refreshed map[string]*instance) {
	c.t.Helper()
	p := startProvider(c.t, c.provider)
	c.state = refreshed
	var nodes []node
	for _, ch := range changes {
		set, gone := "set "+ch.addr, "destroy "+ch.addr
		switch ch.verb {
		case create, update:
			nodes = append(nodes, node{set, nil, func(pause func()) bool { return c.set(p, ch, pause) }})
		case deleteThenCreate:
			nodes = append(nodes,
				node{gone, nil, func(func()) bool { return c.destroy(p, ch) }},
				node{set, []string{gone}, func(pause func()) bool { return c.set(p, ch, pause) }})
		case createThenDelete:
			nodes = append(nodes,
				node{set, nil, func(pause func()) bool { return c.set(p, ch, pause) }},
				node{gone, []string{set}, func(pause func()) bool { return c.destroyDeposed(p, ch.addr, ch.prior, pause) }})
		case destroy:
			if !ch.deposed {
				nodes = append(nodes, node{gone, nil, func(func()) bool { return c.destroy(p, ch) }})
				continue
			}
			// A new object comes before its predecessors go.
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
	c.walk(nodes)
	for addr, is := range c.state {
		if is.current == nil && len(is.deposed) == 0 {
			delete(c.state, addr)
		}
	}
}

// set creates or updates an instance.
func (c *core) set(p *process, ch change, pause func()) bool {
	what, is := "set "+ch.addr, c.state[ch.addr]
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
		c.doubt(streams...)
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

	before := nothing()
	if prior != nil {
		before = prior.value
	}
	asked := len(c.service.Requests())
	got, diags := p.apply(before, actual.planned, ch.wanted.value(true))
	ok = c.report(what, diags, streams...)
	if !got.value.IsFullyKnown() {
		c.problem("%s: the result has unknown values: %v", what, plain(got.value))
	}
	if actual.planned.value.IsFullyKnown() && c.next != nil && len(c.service.Requests()) > asked {
		c.problem("%s: a request was sent although nothing was planned that needs one", what)
	}
	switch {
	case ok && got.value.IsNull():
		c.problem("%s: success, but no object", what)
	case ok:
		c.checkCompatible(what+": inconsistent result", actual.planned.value, got.value)
		is.current = &stored{managed: got}
	case got.value.IsNull(): // as it was
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

func (c *core) doubt(streams ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range streams {
		c.doubtful[id] = true
	}
}

// checkCompatible fails unless the second object is what the first one promised, where that is known.
func (c *core) checkCompatible(what string, planned, actual tftypes.Value) {
	if actual.IsNull() {
		return
	}
	want, got := fields(planned), fields(actual)
	for name := range want {
		if want[name].IsFullyKnown() && !same(want[name], got[name]) {
			c.problem("%s: %s was %v and is %v", what, name, plain(want[name]), plain(got[name]))
		}
	}
}

// checkHonest fails if a failed operation made the state say what nobody did: it may say what it said,
// or what the service says.
func (c *core) checkHonest(what string, before, after *stored) {
	is := plain(fields(after.value)["processor_ids"])
	was := plain(fields(before.value)["processor_ids"])
	if reflect.DeepEqual(is, was) || c.next == nil {
		return
	}
	if truth := c.attached(after.text("stream_id")); !reflect.DeepEqual(is, truth) {
		c.problem("%s: failed, and the state went from %v to %v, but the service has %v", what, was, is, truth)
	}
}

// destroy ends the current object of an instance, also as the first half of a replacement: then the
// provider only gets what it planned for the other half.
func (c *core) destroy(p *process, ch change) bool {
	is := c.state[ch.addr]
	planned := managed{value: nothing(), private: ch.planned.private}
	if ch.verb == destroy {
		planned.identity = ch.planned.identity
	}
	var ok bool
	is.current, ok = c.end(p, "destroy "+ch.addr, is.current, planned)
	return ok
}

func (c *core) destroyDeposed(p *process, addr string, s *stored, pause func()) bool {
	is := c.state[addr]
	ch, ok := c.planDestroy(p, addr, s, true)
	if !ok {
		return false
	}
	pause()
	left, ok := c.end(p, "destroy deposed "+addr, s, ch.planned)
	c.mu.Lock()
	defer c.mu.Unlock()
	is.deposed = slices.DeleteFunc(is.deposed, func(d *stored) bool { return d == s })
	if left != nil {
		is.deposed = append(is.deposed, left)
	}
	return ok
}

func (c *core) end(p *process, what string, s *stored, planned managed) (*stored, bool) {
	got, diags := p.apply(s.value, planned, nothing())
	ok := c.report(what, diags, s.text("stream_id"))
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

// attached is what the service has on a stream, in the form of plain.
func (c *core) attached(id string) any {
	stream, ok := c.service.Stream(id)
	if !ok {
		return nil
	}
	slices.Sort(stream.ProcessorIDs)
	return stream.ProcessorIDs
}

// objects are all objects of the state.
func (c *core) objects() []*stored {
	var all []*stored
	for _, addr := range slices.Sorted(maps.Keys(c.state)) {
		if is := c.state[addr]; is.current != nil {
			all = append(all, is.current)
		}
		all = append(all, c.state[addr].deposed...)
	}
	return all
}

// shared reports whether several objects of the state have a stream.
func (c *core) shared(id string) bool {
	n := 0
	for _, s := range c.objects() {
		if s.text("stream_id") == id {
			n++
		}
	}
	return n > 1
}

func same(a, b tftypes.Value) bool { return reflect.DeepEqual(plain(a), plain(b)) }

// newCore returns an empty state beside a service that has the given streams.
func newCore(t interface {
	rapid.TB
	Cleanup(func())
}, drift bool, attempts int, streams ...string,
) *core {
	t.Helper()
	service := streamstest.New(streamstest.Options{ServeGet: drift})
	for _, id := range streams {
		service.Seed(streamstest.Stream{ID: id})
	}
	server := httptest.NewUnstartedServer(service)
	// Thousands of closed connections would otherwise hold their ports for a minute each.
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if tcp, ok := conn.(*net.TCPConn); ok && state == http.StateNew {
			_ = tcp.SetLinger(0)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return &core{
		t:       t,
		service: service,
		drift:   drift,
		provider: attributes{
			"base_url":     server.URL,
			"detect_drift": drift,
			"retry": attributes{
				"max_attempts": attempts, "min_backoff": "1ns", "max_backoff": "1ns",
			},
		},
		state:    map[string]*instance{},
		doubtful: map[string]bool{},
	}
}
