package coretest

import (
	"net/http"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestNamedHistories runs counterexamples that random histories found, each in its shortest form.
func TestNamedHistories(t *testing.T) {
	t.Parallel()
	for name, history := range map[string]func(*testing.T){
		"failed destroy keeps no mark":                  failedDestroyKeepsNoMark,
		"read ends the doubt":                           readEndsTheDoubt,
		"late set beside a group that drops the stream": lateSetBesideAGroupThatDropsTheStream,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, history)
		})
	}
}

// A destroy that leaves the set of another resource attached fails. When both resources are destroyed next, the plan of the
// failed destroy must not count any more.
func failedDestroyKeepsNoMark(t *testing.T) {
	c := newTerraformCore(t, false, 1, "s1")
	a, b := blockFor("s1", "p1"), blockFor("s1", "p2")
	c.runClean(config{"a": a})
	c.run(config{"a": a, "b": b}, options{targets: []string{"b"}})
	c.inOrder("plan a", "plan b")
	c.service.Inject(streamstest.Fault{Status: http.StatusInternalServerError})
	if c.run(config{"a": a}, options{}) {
		t.Fatal("no error")
	}
	c.inOrder("destroy a", "destroy b")
	c.runClean(config{})
}

// With detect_drift, a read after an update in doubt says what the stream has, and the next apply sends nothing.
func readEndsTheDoubt(t *testing.T) {
	for _, group := range []bool{false, true} {
		c := newTerraformCore(t, true, 1, "s1")
		first, next := blockFor("s1", "p1"), blockFor("s1", "p2")
		first.group, next.group = group, group
		c.runClean(config{"a": first})
		c.service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
			return &streamstest.Fault{ResetAfter: r.Method == http.MethodPatch}
		})
		if c.run(config{"a": next}, options{}) {
			t.Fatal("no error")
		}
		c.service.InjectFunc(nil)
		c.runClean(config{"a": next})
		for _, r := range c.service.Requests() {
			if r.Method == http.MethodPatch {
				t.Errorf("sent %s", r)
			}
		}
	}
}

// A set that is known after apply turns out to be the one in the state, while a group drops the stream. The resource stays
// in the state as it is, so the group must leave its set attached.
func lateSetBesideAGroupThatDropsTheStream(t *testing.T) {
	for _, late := range []resourceBlock{blockFor("s1", "p2"), groupFor(map[string][]string{"s1": {"p2"}})} {
		c := newTerraformCore(t, false, 1, "s1", "s2")
		c.runClean(config{"a": late})
		late.lateProcessors = true
		group := groupFor(map[string][]string{"s1": {"p1"}, "s2": {"p1"}})
		c.run(config{"a": late, "g": group}, options{targets: []string{"g"}})
		group.sets = map[string][]string{"s2": {"p1"}}
		planned := false
		c.next = func(active []*activeNode) int {
			if i := slices.IndexFunc(active, func(a *activeNode) bool { return a.name == "set g" }); i >= 0 && !planned {
				planned = true
				return i
			}
			return 0
		}
		if c.run(config{"a": late, "g": group}, options{}) || !c.hasFailure(keepsTheStream) {
			t.Fatalf("the run did not fail as expected: %v", c.failures)
		}
		if got := c.attached("s1"); !reflect.DeepEqual(got, []string{"p2"}) {
			t.Errorf("the stream has %v, and the state of the other resource [p2]", got)
		}
		c.runClean(config{"a": late, "g": group})
	}
}
