package coretest

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// config has the resource blocks of a root module, by address.
type config map[string]resourceBlock

// dependencies returns the addresses on which an address depends, also indirectly.
func (cfg config) dependencies(addr string) (addrs []string) {
	for on := cfg[addr].dependsOn; cfg[on].sets != nil; on = cfg[on].dependsOn {
		addrs = append(addrs, on)
	}
	return addrs
}

// createsFirst reports whether a replacement of an address creates the new object first. Those that depend on it pass their
// create_before_destroy on, if they are in the same walk.
func (cfg config) createsFirst(addr string, walks func(addr string) bool) bool {
	for other, b := range cfg {
		if b.createBeforeDestroy && (other == addr || walks(other) && slices.Contains(cfg.dependencies(other), addr)) {
			return true
		}
	}
	return false
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
