package coretest

import (
	"reflect"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// departed is an object that an apply has destroyed, or a group that has dropped streams. unmarked says that core does
// not pass the marks of the plan, or that the plan has none because another resource of the stream was planned after it.
type departed struct {
	what     string
	object   *stored
	streams  []string
	unmarked bool
}

// noteLeftOver notes an object that was to be changed and is in the state as before: a dependency failed, or the create of
// its replacement, after which core puts the object back. If an operation of another object changed a stream of this one,
// and one failed, no call of core can record that.
func (c *terraformCore) noteLeftOver(s *stored) {
	for _, id := range s.streams() {
		applied := slices.ContainsFunc(c.service.Requests(), func(r streamstest.Request) bool { return r.Applied && r.StreamID == id })
		partly := typeNameOf(s.Value) == GroupName // a group is not saved if one of its streams fails
		if applied && (c.doubtful[id] || partly) && !c.drift {
			c.unrecorded[id] = true
		}
	}
	c.markDoubtful(s.streams()...)
}

// noteLeft takes note of the departures of an object from streams. The caller holds the lock.
func (c *terraformCore) noteLeft(o *operation, s *stored, ids []string, sends map[string][]string, unmarked bool) {
	left := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		_, failed := o.errors[id]
		if len(o.requestsTo(id)) > 0 {
			c.rules.blocked[id] = failed
		}
		return failed
	})
	if len(left) > 0 {
		d := departed{o.what, s, left, unmarked}
		if unmarked && len(sends) > 0 {
			c.departed = slices.Insert(c.departed, 0, d) // the first one to look at, if a state is untrue
		} else {
			c.departed = append(c.departed, d)
		}
	}
}

// checkOthers checks the state of resources without changes after the destroy of another object of their stream. Only two
// kinds of destroy may make such a state untrue: core gives them no mark of a plan.
func (c *terraformCore) checkOthers(d departed) {
	for _, id := range d.streams {
		for _, other := range c.objects() {
			if other == d.object || !other.unchanged || !other.has(id) || c.unrecorded[id] || c.doubtful[id] && !d.unmarked {
				continue
			}
			if reflect.DeepEqual(other.sets()[id], c.attached(id)) {
				continue
			}
			if c.doubtful[id] {
				c.t.Logf("%s: stream %q was in doubt before", d.what, id)
			} else if !d.unmarked {
				c.problem("%s: the state of another resource is untrue: stream %q has %v", d.what, id, c.attached(id))
			} else if !d.object.tainted && !c.unforeseen[id] && !c.warned[id] {
				c.problem("%s: the state of another resource is untrue, and no plan warned about stream %q", d.what, id)
			}
			c.unrecorded[id] = true
		}
	}
}
