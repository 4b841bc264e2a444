package coretest

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
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
	dependsOn           string   // an address; "": none
	ignores             []string // ignore_changes

	lateStream, lateProcessors bool // known after apply: stream_id or streams; processor_ids
}

func (b resourceBlock) typeName() string {
	if b.group {
		return GroupName
	}
	return SingleName
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
	if b.group {
		a["streams"] = b.late(sets, applying)
	} else {
		a["stream_id"], a["processor_ids"] = b.late(b.stream(), applying), sets[b.stream()]
	}
	return ToTerraform(b.schema().ValueType(), a)
}

func (b resourceBlock) late(v any, applying bool) any {
	if b.lateStream && !applying {
		return tftypes.UnknownValue
	}
	return v
}

// schema is that of the resource.
func (b resourceBlock) schema() *tfprotov6.Schema {
	return schemas().ResourceSchemas[b.typeName()]
}

// over is the block after ignore_changes, for an object of the state.
func (b resourceBlock) over(before tftypes.Value) resourceBlock {
	if len(b.ignores) == 0 || before.IsNull() {
		return b
	}
	ignored := func(applying bool) *stored {
		return &stored{Managed: Managed{Value: Ignored(b.schema(), before, b.configValue(applying), b.ignores...)}}
	}
	planned, final := ignored(false), ignored(true)
	b.onCreate, b.onDestroy = final.text("on_create"), final.text("on_destroy")
	if sets := final.sets(); sets != nil {
		b.sets = map[string][]string{}
		for id, set := range sets {
			b.sets[id], _ = set.([]string)
		}
	}
	late := AttributesOf(planned.Value)
	if b.group {
		b.lateStream, b.lateProcessors = !late["streams"].IsKnown(), !late["streams"].IsFullyKnown()
	} else {
		b.lateStream, b.lateProcessors = !late["stream_id"].IsKnown(), !late["processor_ids"].IsKnown()
	}
	return b
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

// ignoringNothing has no ignore_changes.
func (cfg config) ignoringNothing() config {
	return cfg.with(func(_ string, b *resourceBlock) { b.ignores = nil })
}

// withNewTriggers makes all resources send their sets.
func (cfg config) withNewTriggers() config {
	return cfg.with(func(_ string, b *resourceBlock) { b.trigger += "'" })
}

// conflicts returns the streams to which a configuration gives two sets. During a plan, it ignores unknown values. former is what
// ignore_changes may keep of resources, also in the first plan of a replacement.
func conflicts(cfg, former config, applying bool) []string {
	type owned struct {
		addr string
		set  []string
	}
	sets := map[string][]owned{}
	var ids []string
	for _, addr := range slices.Sorted(maps.Keys(cfg)) {
		for _, b := range []resourceBlock{cfg[addr], former[addr]} {
			if !applying && (b.lateStream || b.lateProcessors) {
				continue
			}
			for id, processors := range b.sets {
				if slices.ContainsFunc(sets[id], func(o owned) bool { return o.addr != addr && !slices.Equal(o.set, processors) }) {
					ids = append(ids, id)
				}
				sets[id] = append(sets[id], owned{addr, processors})
			}
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
