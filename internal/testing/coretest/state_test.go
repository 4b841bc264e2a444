package coretest

import (
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// options are those of `terraform apply`, and what happens meanwhile.
type options struct {
	tainted          []string            // addresses, before the run
	moved            map[string]string   // new addresses by old ones
	replace, imports []string            // addresses
	importIDs        map[string][]string // the streams of imports that are not those of the configuration, by address
	adopted          []string            // those of imports that are imported before the run, by the command
	adoptedByReads   bool                // with reads
	forgotten        []string            // addresses of removed blocks
	targets          []string            // addresses; nil: all
	keepsState       bool                // -refresh=false
	lateAddress      bool                // base_url is known after apply
	plansTwice       bool                // in two orders of the calls
	parallelism      int                 // 0: no limit
	meanwhile        func()              // between the plan and the apply; may be nil
	killedAfter      int                 // calls of the apply; 0: never

	action      *resourceBlock // of one stream; may be nil
	actionAfter string         // the address that triggers the action
}

func (o options) targeted(addr string) bool {
	return o.targets == nil || slices.Contains(o.targets, addr)
}

// importIDs returns what is imported to an address: the streams of a group, or the only one.
func (o options) importedTo(addr string, cfg config) (ids []string) {
	if ids = o.importIDs[addr]; ids == nil {
		ids = slices.Sorted(maps.Keys(cfg[addr].sets))
	}
	return ids
}

// importID is the id of an import.
func (o options) importID(addr string, cfg config) string {
	ids := o.importedTo(addr, cfg)
	if cfg[addr].group {
		return asJSON(ids)
	}
	return ids[0]
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
	destroyFailed       bool // in the apply of its replacement
	imported            imported
	asked               streamNames // the streams of all calls for the object, also those that are not in the state
}

// imported is what an object is since its import.
type imported int

const (
	confirmed   imported = iota // an apply has written the state, and a later refresh has found it
	unconfirmed                 // no refresh has found it yet
	inItsRun                    // the run is that of the import, or finds it first
	former                      // such a run has ended
)

// refreshed is what it is after a refresh, but that of the import itself.
func (i imported) refreshed() imported {
	switch i {
	case unconfirmed:
		return inItsRun
	case former:
		return confirmed
	}
	return i
}

// ended is what it is after a run.
func (i imported) ended() imported {
	if i == inItsRun {
		return former
	}
	return i
}

// ask notes the streams of a call, for an object that may have had another one before.
func (s *stored) ask(before *stored, sets map[string][]string) {
	s.asked = streamNames{}
	if before != nil {
		maps.Copy(s.asked, before.asked)
		s.asked.add(before.streams()...)
	}
	s.asked.add(slices.Collect(maps.Keys(sets))...)
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

// sets returns the processors of an object by stream.
func (s *stored) sets() map[string]any {
	if s == nil {
		return nil
	}
	a := AttributesOf(s.Value)
	if typeNameOf(s.Value) == GroupName {
		sets, _ := FromTerraform(a["streams"]).(map[string]any)
		return sets
	}
	id, ok := FromTerraform(a["stream_id"]).(string)
	if !ok {
		return nil
	}
	return map[string]any{id: FromTerraform(a["processor_ids"])}
}

// marked reports whether the private state says that each plan sends the set of a stream.
func (s *stored) marked(id string) bool {
	if s == nil {
		return false
	}
	return resends(s.Private, id) || FromTerraform(AttributesOf(s.Value)["last_edited"]) == nil // imported
}

func (s *stored) streams() []string { return slices.Sorted(maps.Keys(s.sets())) }

func (s *stored) text(attribute string) string {
	text, _ := FromTerraform(AttributesOf(s.Value)[attribute]).(string)
	return text
}

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

// sets reports whether the apply has a node that creates or updates the object.
func (v verb) sets() bool { return v == create || v == update || v.replaces() }

func (v verb) replaces() bool { return v == deleteThenCreate || v == createThenDelete }

// change is the planned change of one object.
type change struct {
	addr   string
	verb   verb
	block  resourceBlock // of the configuration
	wanted resourceBlock // after ignore_changes, which a replacement does not have
	forced bool          // -replace

	createsFirst bool // a replacement does; in an apply, what the state gets as create_before_destroy
	prior        *stored
	planned      Managed
	deposed      bool

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

// sharedStreams counts the objects and resource blocks that have each stream. An action counts as two.
func (c *terraformCore) sharedStreams(cfg config, opts options) map[string]int {
	count := map[string]int{}
	for _, s := range c.objects() {
		for _, id := range c.here(s).streams() {
			count[id]++
		}
	}
	for addr, b := range cfg {
		var current *stored
		if is := c.state[addr]; is != nil {
			current = c.here(is.current)
		}
		for id := range b.sets {
			if _, has := current.sets()[id]; !has {
				count[id]++
			}
		}
	}
	for addr, ids := range opts.importIDs {
		for _, id := range ids {
			if _, has := cfg[addr].sets[id]; !has {
				count[id]++
			}
		}
	}
	if opts.action != nil {
		count[opts.action.stream()] += 2
	}
	return count
}
