package coretest

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

var (
	newServer = provider.NewServerWithDial("test", dialInMemory)
	schemas   = sync.OnceValue(func() *Schemas { return SchemasOf(newServer()) })
)

// terraformCore is a model of Terraform core, as a provider sees it: which calls core makes for a configuration and a
// state, with which arguments and in which order, and which responses core accepts.
type terraformCore struct {
	t        rapid.TB
	service  *streamstest.Service
	provider Attributes
	drift    bool
	attempts int
	state    map[string]*instance // by address

	// next chooses which of the named nodes of a walk continues. If next is nil, each node has a goroutine of its own.
	next func(names []string) int

	running     atomic.Pointer[Process] // the last one that was started
	interrupted atomic.Bool             // the running process

	mu       sync.Mutex      // guards the fields below while the nodes run
	failures []string        // errors that the provider reported in this run
	problems []string        // violations by the provider, and failures of the test
	doubtful map[string]bool // streams that may differ from the state: an operation failed, or somebody else changed them

	tally     *tally            // may be nil
	operating map[string]string // the kind of the operation in progress on a stream, or of the last that began

	departed []departed // in the current apply
	invoking bool       // the current apply has an action

	rules  *processRules   // of the current process of the provider
	warned map[string]bool // streams that a warning of the last plan names
	// unforeseen are streams that the last plan could not warn about: of an object that is tainted, replaced or deposed, whose
	// destroy does not get the marks of the plan, or of a group whose streams are known after apply.
	unforeseen map[string]bool

	// unrecorded are the streams of Known Limits: their state may be untrue, and no call of core could have recorded it.
	unrecorded map[string]bool
}

// options are those of `terraform apply`, and what happens meanwhile.
type options struct {
	replace, imports []string // addresses
	targets          []string // addresses; nil: all
	keepsState       bool     // -refresh=false
	meanwhile        func()   // between the plan and the apply; may be nil

	action      *resourceBlock // sets the processors of a stream; may be nil
	actionAfter string         // the address whose operation triggers the action
}

func (o options) targeted(addr string) bool {
	return o.targets == nil || slices.Contains(o.targets, addr)
}

// instance is a resource instance in the state.
type instance struct {
	current *stored
	deposed []*stored // replaced, but not destroyed yet
}

// stored is an object of an instance.
type stored struct {
	Managed
	tainted   bool
	unchanged bool // by the current apply
	dependsOn string
}

// setsOf returns the processors of an object in a plan or state, by stream.
func setsOf(v tftypes.Value) map[string]any {
	a := AttributesOf(v)
	if typeNameOf(v) == GroupName {
		sets, _ := FromTerraform(a["streams"]).(map[string]any)
		return sets
	}
	id, ok := FromTerraform(a["stream_id"]).(string)
	if !ok {
		return nil
	}
	return map[string]any{id: FromTerraform(a["processor_ids"])}
}

func (s *stored) sets() map[string]any { return setsOf(s.Value) }

func (s *stored) streams() []string { return slices.Sorted(maps.Keys(s.sets())) }

func (s *stored) has(stream string) bool {
	_, ok := s.sets()[stream]
	return ok
}

func (s *stored) text(attribute string) string {
	text, _ := FromTerraform(AttributesOf(s.Value)[attribute]).(string)
	return text
}

// config has the resource blocks of a root module, by address.
type config map[string]resourceBlock

type resourceBlock struct {
	stream              string
	processors          []string
	group               map[string][]string // processors by stream; not nil: the block is a stream_processors_group
	onDestroy           string              // "": the default
	trigger             string              // "": no triggers
	createBeforeDestroy bool
	dependsOn           string // an address; "": none

	lateStream, lateProcessors bool // known after apply: stream_id or streams; processor_ids
	partlyLate                 bool // with lateProcessors: only one of the processor_ids is
}

// sets returns the processors by stream.
func (b resourceBlock) sets() map[string][]string {
	if b.group != nil {
		return b.group
	}
	return map[string][]string{b.stream: b.processors}
}

// configValue is the configuration that the provider gets during a plan or an apply.
func (b resourceBlock) configValue(applying bool) tftypes.Value {
	a := Attributes{}
	if b.onDestroy != "" {
		a["on_destroy"] = b.onDestroy
	}
	if b.trigger != "" {
		a["triggers"] = map[string]string{"t": b.trigger}
	}
	if b.group == nil {
		a["stream_id"], a["processor_ids"] = b.late(b.stream, applying), b.lateSet(b.processors, applying)
		return ToTerraform(schemas().ResourceSchemas[SingleName].ValueType(), a)
	}
	sets := Attributes{}
	for id, set := range b.group {
		sets[id] = b.lateSet(set, applying)
	}
	a["streams"] = b.late(sets, applying)
	return ToTerraform(schemas().ResourceSchemas[GroupName].ValueType(), a)
}

// lateGroup reports whether the streams of a group are known after apply.
func (b resourceBlock) lateGroup() bool { return b.group != nil && b.lateStream }

func (b resourceBlock) late(v any, applying bool) any {
	if b.lateStream && !applying {
		return tftypes.UnknownValue
	}
	return v
}

func (b resourceBlock) lateSet(set []string, applying bool) any {
	switch {
	case !b.lateProcessors || applying:
		return set
	case b.partlyLate && len(set) > 0:
		return []any{set[0], tftypes.UnknownValue}
	}
	return tftypes.UnknownValue
}

// blockFor is a block for a stream and its processors.
func blockFor(stream string, processors ...string) resourceBlock {
	return resourceBlock{stream: stream, processors: append([]string{}, processors...)}
}

func (b resourceBlock) withCreateBeforeDestroy() resourceBlock {
	b.createBeforeDestroy = true
	return b
}

// verb is an action of a plan.
type verb string

const (
	noop             verb = "no-op"
	create           verb = "create"
	update           verb = "update"
	destroy          verb = "destroy"
	deleteThenCreate verb = "destroy and then create"
	createThenDelete verb = "create and then destroy"
)

func (v verb) replaces() bool { return v == deleteThenCreate || v == createThenDelete }

// change is the planned change of one object.
type change struct {
	addr    string
	verb    verb
	wanted  resourceBlock
	forced  bool // -replace
	prior   *stored
	planned Managed
	next    map[string]*claimed // the successors that the plan found on the prior streams
	deposed bool
}

// departed is an object that an apply has destroyed, or a group that has dropped streams. unmarked says that core does
// not pass the marks of the plan, or that the plan has none because another resource of the stream was planned after it.
type departed struct {
	what     string
	object   *stored
	streams  []string
	unmarked bool
}

// attached returns the processors of a stream in the service, in the form of FromTerraform.
func (c *terraformCore) attached(id string) any {
	stream, ok := c.service.Stream(id)
	if !ok {
		return nil
	}
	slices.Sort(stream.ProcessorIDs)
	return stream.ProcessorIDs
}

// objects returns all objects of the state.
func (c *terraformCore) objects() []*stored {
	var all []*stored
	for _, addr := range slices.Sorted(maps.Keys(c.state)) {
		if is := c.state[addr]; is.current != nil {
			all = append(all, is.current)
		}
		all = append(all, c.state[addr].deposed...)
	}
	return all
}

// isShared reports whether several objects of the state have the same stream.
func (c *terraformCore) isShared(id string) bool {
	n := 0
	for _, s := range c.objects() {
		if s.has(id) {
			n++
		}
	}
	return n > 1
}

// mayBeRepeated are the streams whose sets a group may send again although its configuration has not changed: an earlier
// operation failed, or another object of the stream may leave it.
func (c *terraformCore) mayBeRepeated() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	repeats, found := maps.Clone(c.doubtful), map[string]bool{}
	for _, s := range c.objects() {
		for _, id := range s.streams() {
			repeats[id], found[id] = repeats[id] || found[id], true
		}
	}
	return repeats
}

// historyService has a latency, without which no two requests would overlap by the clock of a bubble.
func historyService(drift bool) streamstest.Options {
	return streamstest.Options{ServeGet: drift, Latency: time.Millisecond}
}

// newTerraformCore returns a core with an empty state, and a service with the given streams.
func newTerraformCore(t interface {
	rapid.TB
	Cleanup(func())
}, drift bool, attempts int, streams ...string,
) *terraformCore {
	t.Helper()
	service := streamstest.New(historyService(drift), streamstest.Streams(streams...)...)
	server := serveInMemory(service)
	t.Cleanup(server.Close)
	return &terraformCore{
		t:        t,
		service:  service,
		drift:    drift,
		attempts: attempts,
		provider: Attributes{
			"base_url":     server.URL,
			"detect_drift": drift,
			"retry": Attributes{
				"max_attempts": attempts, "min_backoff": "1ns", "max_backoff": "1ns",
			},
		},
		state:    map[string]*instance{},
		doubtful: map[string]bool{},

		operating: map[string]string{},

		warned:     map[string]bool{},
		unrecorded: map[string]bool{},
	}
}
