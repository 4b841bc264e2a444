package coretest

import (
	"fmt"
	"slices"
	"strings"
)

const otherProcessors, cannotBeChecked = "Processors Would Be Detached", "Streams Cannot Be Checked"

// priorSets is what a run may detach with on_create = "refuse".
type priorSets struct {
	own  map[string]map[string]any // in the state of a current object, before the refresh: by address and stream
	all  map[string][]string       // likewise of all objects, and what is configured: by stream
	late bool                      // the plan does not know the deployment, or does not see a tainted object
}

func (c *terraformCore) notePrior(cfg config, opts options) {
	c.prior = priorSets{map[string]map[string]any{}, map[string][]string{}, opts.lateAddress || opts.keepsState}
	add := func(id string, set any) {
		processors, _ := set.([]string)
		c.prior.all[id] = append(c.prior.all[id], processors...)
	}
	for addr, is := range c.state {
		c.prior.own[addr] = c.here(is.current).sets()
		for _, s := range is.objects() {
			for id, set := range c.here(s).sets() {
				add(id, set)
			}
		}
	}
	blocks := []resourceBlock{}
	for _, b := range cfg {
		blocks = append(blocks, b)
	}
	if opts.action != nil {
		blocks = append(blocks, *opts.action)
	}
	for _, b := range blocks {
		for id, set := range b.sets {
			add(id, set)
		}
	}
}

func minus(set any, others []string) []string {
	processors, _ := set.([]string)
	return slices.DeleteFunc(slices.Clone(processors), func(id string) bool { return slices.Contains(others, id) })
}

// checkRefused checks that a plan refuses to detach only what is neither planned nor that of the object that is replaced.
func (c *terraformCore) checkRefused(what string, ch change, prior *stored, again bool, diags Diagnostics) {
	for id, set := range ch.wanted.sets {
		leaves := ch.wanted.lateStream && !again // and another plan relied on what the object had
		if leaves || !strings.Contains(diags.String(), otherProcessors+fmt.Sprintf(": Stream %q has", id)) {
			continue
		}
		others := minus(c.attached(id), set)
		replaced := ch.forced || prior != nil && prior.tainted
		if own, _ := c.prior.own[ch.addr][id].([]string); replaced && !again && !c.prior.late && c.shared[id] < 2 {
			others = minus(others, own)
		}
		if len(others) == 0 || ch.wanted.onCreate != "refuse" {
			c.t.Fatalf("%s: refuses to detach from %q, which has %v", what, id, c.attached(id))
		}
	}
}

// attachedToNew returns what the streams have that a call takes over.
func (c *terraformCore) attachedToNew(o *applyCall) map[string]any {
	attached := map[string]any{}
	for id := range o.sets {
		if _, has := o.prior.sets()[id]; !has {
			attached[id] = c.attached(id)
		}
	}
	return attached
}

// checkTakenOver checks that a call with on_create = "refuse" has detached no processors of others.
func (c *terraformCore) checkTakenOver(o *applyCall, attached map[string]any) {
	for id, before := range attached {
		if others := minus(before, append(o.sets[id], c.prior.all[id]...)); len(o.requestsTo(id)) > 0 && (!c.drift || len(others) > 0) {
			c.t.Fatalf("%s: takes %q over, which has %v of others", o.what, id, others)
		}
	}
}
