package coretest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// options are those of `terraform apply`, and what happens meanwhile.
type options struct {
	tainted          []string          // addresses, before the run
	moved            map[string]string // new addresses by old ones
	replace, imports []string          // addresses
	forgotten        []string          // addresses of removed blocks
	targets          []string          // addresses; nil: all
	keepsState       bool              // -refresh=false
	lateAddress      bool              // base_url is known after apply
	meanwhile        func()            // between the plan and the apply; may be nil

	action      *resourceBlock // of one stream; may be nil
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

func (is *instance) objects() []*stored {
	if is.current == nil {
		return is.deposed
	}
	return append([]*stored{is.current}, is.deposed...)
}

// stored is an object of an instance.
type stored struct {
	Managed
	tainted             bool
	dependsOn           []string // addresses, also of indirect dependencies
	createBeforeDestroy bool
}

// unlessGone returns nil for an object that a refresh did not find. Terraform shows its identity and its private state to the
// plan of a new one.
func (s *stored) unlessGone() *stored {
	if s == nil || s.Value.IsNull() {
		return nil
	}
	return s
}

// with is the object with another value.
func (s *stored) with(m Managed) *stored {
	changed := *s
	changed.Managed = m
	return &changed
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

func (s *stored) sets() map[string]any {
	if s == nil {
		return nil
	}
	return setsOf(s.Value)
}

// marked reports whether the private state says that each plan sends the set of a stream.
func (s *stored) marked(id string) bool {
	if s == nil {
		return false
	}
	var private map[string][]byte
	var marks map[string]struct{ Pending string }
	_ = json.Unmarshal(s.Private, &private)
	_ = json.Unmarshal(private["marks"], &marks)
	mark, ok := marks[id]
	if !ok {
		mark = marks[""] // of all streams without a mark of their own
	}
	return mark.Pending != "" || FromTerraform(AttributesOf(s.Value)["last_edited"]) == nil // imported
}

func (s *stored) streams() []string { return slices.Sorted(maps.Keys(s.sets())) }

func (s *stored) text(attribute string) string {
	text, _ := FromTerraform(AttributesOf(s.Value)[attribute]).(string)
	return text
}

// config has the resource blocks of a root module, by address.
type config map[string]resourceBlock

// dependencies returns the addresses on which an address depends, also indirectly.
func (cfg config) dependencies(addr string) (addrs []string) {
	for on := cfg[addr].dependsOn; cfg[on].sets != nil; on = cfg[on].dependsOn {
		addrs = append(addrs, on)
	}
	return addrs
}

type resourceBlock struct {
	sets                map[string][]string // processors by stream; one stream, unless the block is a group
	group               bool
	onDestroy           string // "": the default
	trigger             string // "": no triggers
	createBeforeDestroy bool
	dependsOn           string // an address; "": none

	lateStream, lateProcessors bool // known after apply: stream_id or streams; processor_ids
	partlyLate                 bool // with lateProcessors: all of the processor_ids but one are, at least one
}

// stream returns the stream of a single resource.
func (b resourceBlock) stream() string {
	for id := range b.sets {
		return id
	}
	return ""
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
	sets := Attributes{}
	for id, set := range b.sets {
		sets[id] = b.lateSet(set, applying)
	}
	name := SingleName
	if b.group {
		name = GroupName
		a["streams"] = b.late(sets, applying)
	} else {
		a["stream_id"], a["processor_ids"] = b.late(b.stream(), applying), sets[b.stream()]
	}
	return ToTerraform(schemas().ResourceSchemas[name].ValueType(), a)
}

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
		late := []any{set[0], tftypes.UnknownValue}
		for range len(set) - 2 {
			late = append(late, tftypes.UnknownValue)
		}
		return late
	}
	return tftypes.UnknownValue
}

// blockFor is a block for a stream and its processors.
func blockFor(stream string, processors ...string) resourceBlock {
	return resourceBlock{sets: map[string][]string{stream: append([]string{}, processors...)}}
}

func groupFor(sets map[string][]string) resourceBlock { return resourceBlock{sets: sets, group: true} }

// verb is an action of a plan.
type verb string

const (
	noop             verb = "no-op"
	create           verb = "create"
	update           verb = "update"
	destroy          verb = "destroy"
	forget           verb = "forget"
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
	deposed bool

	before    tftypes.Value // of a destroy; see cliVersion
	dependsOn []string      // addresses, also of indirect dependencies
}

// knownToBeAttached returns the streams that have processors in the service and in a state.
func (c *terraformCore) knownToBeAttached() streamNames {
	found, empty := streamNames{}, streamNames{}
	for _, s := range c.objects() {
		for id, set := range c.here(s).sets() {
			if reflect.DeepEqual(set, []string{}) && !s.marked(id) {
				empty.add(id)
			} else if truth, _ := c.attached(id).([]string); len(truth) > 0 {
				found.add(id)
			}
		}
	}
	// An earlier run may have left an untrue state, and a destroy relies on its state.
	maps.DeleteFunc(found, func(id string, _ bool) bool { return empty[id] && (c.limited[id] || c.sentAgain(c.deployment, id)) })
	return found
}

// sharedStreams returns the streams that several objects or resource blocks have, or an action sets.
func (c *terraformCore) sharedStreams(cfg config, opts options) streamNames {
	shared, found := streamNames{}, streamNames{}
	add := func(ids ...string) {
		for _, id := range ids {
			shared[id], found[id] = found[id], true
		}
	}
	for addr, is := range c.state {
		for _, s := range is.objects() {
			add(c.here(s).streams()...)
		}
		for id := range cfg[addr].sets {
			if _, has := c.here(is.current).sets()[id]; !has {
				add(id)
			}
		}
	}
	if opts.action != nil {
		shared.add(opts.action.stream())
	}
	for addr, b := range cfg {
		if c.state[addr] == nil {
			add(slices.Collect(maps.Keys(b.sets))...)
		}
	}
	return shared
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

// withoutConflicts gives all resources of a stream the set of the first one.
func (cfg config) withoutConflicts() config {
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
