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
	onCreate            string // "": none
	onDestroy           string // "": the default
	trigger             string // "": no triggers
	createBeforeDestroy bool
	dependsOn           string // an address; "": none

	lateStream, lateProcessors bool // known after apply: stream_id or streams; processor_ids
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
	if b.onCreate != "" {
		a["on_create"] = b.onCreate
	}
	if b.onDestroy != "" {
		a["on_destroy"] = b.onDestroy
	}
	if b.trigger != "" {
		a["triggers"] = map[string]string{"t": b.trigger}
	}
	sets := Attributes{}
	for id, set := range b.sets {
		sets[id] = set
		if b.lateProcessors && !applying {
			sets[id] = tftypes.UnknownValue
		}
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

// blockFor is a block for a stream and its processors.
func blockFor(stream string, processors ...string) resourceBlock {
	return resourceBlock{sets: map[string][]string{stream: append([]string{}, processors...)}}
}

// with returns the configuration with changed blocks.
func (cfg config) with(change func(addr string, b *resourceBlock)) config {
	changed := config{}
	for _, addr := range slices.Sorted(maps.Keys(cfg)) {
		b := cfg[addr]
		change(addr, &b)
		changed[addr] = b
	}
	return changed
}

// known has no value that is known after apply.
func (cfg config) known() config {
	return cfg.with(func(_ string, b *resourceBlock) { b.lateStream, b.lateProcessors = false, false })
}

// withNewTriggers makes all resources send their sets.
func (cfg config) withNewTriggers() config {
	return cfg.with(func(_ string, b *resourceBlock) { b.trigger += "'" })
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
	sets := map[string][]string{}
	return cfg.with(func(_ string, b *resourceBlock) {
		b.sets = maps.Clone(b.sets)
		for id, set := range b.sets {
			if _, ok := sets[id]; !ok {
				sets[id] = set
			}
			b.sets[id] = sets[id]
		}
	})
}
