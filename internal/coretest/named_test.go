package coretest

import (
	"maps"
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
		"handovers":                                     handovers,
		"takeover after a failed destroy":               takeoverAfterAFailedDestroy,
		"takeover taken back":                           takeoverTakenBack,
		"failed update beside a destroy":                failedUpdateBesideADestroy,
		"one of two is refused":                         oneOfTwoIsRefused,
		"group drops what another resource keeps":       groupDropsWhatAnotherResourceKeeps,
		"destroy after the set was sent":                destroyAfterTheSetWasSent,
		"failed destroy keeps no mark":                  failedDestroyKeepsNoMark,
		"read ends the doubt":                           readEndsTheDoubt,
		"read through a wrong proxy":                    readThroughAWrongProxy,
		"late conflict":                                 lateConflict,
		"late set beside a group that drops the stream": lateSetBesideAGroupThatDropsTheStream,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, history)
		})
	}
}

// A destroy fails, another resource takes the stream over, and the next run repeats the destroy of the deposed object.
// Terraform plans this destroy again during the apply, and does not call the provider for resources without changes.
func takeoverAfterAFailedDestroy(t *testing.T) {
	c := newTerraformCore(t, false, 1, "s1", "s2")
	c.runClean(config{"a": blockFor("s1", "p1").withCreateBeforeDestroy()})
	next := config{"a": blockFor("s2", "p1").withCreateBeforeDestroy(), "b": blockFor("s1", "p2")}
	c.inOrder("plan a", "set a", "destroy a", "set b")
	c.service.Inject(streamstest.Fault{}, streamstest.Fault{Status: http.StatusServiceUnavailable})
	if c.run(next, options{}) {
		t.Fatal("no error")
	}
	if got := len(c.service.Requests()); got != 2 {
		t.Fatalf("%d requests were sent, want 2: none for b", got)
	}
	c.runClean(next)
}

// A change of stream_id fails, while another resource takes the old stream over. When the configuration goes back, the
// two states contradict each other, until the destroy of the other resource restores the set of the first one.
func takeoverTakenBack(t *testing.T) {
	for i, order := range [][]string{
		{"plan a", "plan b"}, {"plan b", "plan a", "set a"}, {"plan b", "plan a", "destroy b"},
		{"plan a", "plan b"}, {"plan b", "plan a", "set a"}, {"plan b", "plan a", "destroy b"},
	} {
		c := newTerraformCore(t, false, 1, "s1", "s2")
		other := blockFor("s1", "p2")
		if i > 2 {
			other.onDestroy = "keep"
		}
		first := config{"a": blockFor("s1", "p1").withCreateBeforeDestroy()}
		c.runClean(first)
		c.inOrder("plan a", "set a")
		c.service.Inject(streamstest.Fault{Status: http.StatusForbidden})
		if c.run(config{"a": blockFor("s2", "p1").withCreateBeforeDestroy(), "b": other}, options{}) {
			t.Fatal("no error")
		}
		c.inOrder(order...)
		c.runClean(first)
	}
}

// The update of one of two resources of a stream fails, and the destroy of the other succeeds. The destroy must not detach:
// when the configuration goes back, the plan for the first resource would be empty.
func failedUpdateBesideADestroy(t *testing.T) {
	for _, order := range [][]string{{"plan a", "set a"}, {"plan b", "destroy b"}} {
		c := newTerraformCore(t, false, 1, "s1")
		first := config{"a": blockFor("s1", "p1"), "b": blockFor("s1", "p1")}
		c.runClean(first)
		c.inOrder(order...)
		c.service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
			if r.Body == patchBody([]string{"p2"}) {
				return &streamstest.Fault{Status: http.StatusForbidden}
			}
			return nil
		})
		if c.run(config{"a": blockFor("s1", "p2")}, options{}) {
			t.Fatal("no error")
		}
		delete(first, "b")
		c.runClean(first)
	}
}

// Two resources of a stream change their set. The service refuses the first update and would accept the second: when the
// configuration goes back without the second resource, the state of the first one would be wrong.
func oneOfTwoIsRefused(t *testing.T) {
	c := newTerraformCore(t, false, 1, "s1")
	c.runClean(config{"a": blockFor("s1", "p1"), "b": blockFor("s1", "p1")})
	c.inOrder("plan a", "set a")
	c.service.Inject(streamstest.Fault{Status: http.StatusForbidden}, streamstest.Fault{ResetAfter: true})
	if c.run(config{"a": blockFor("s1", "p2"), "b": blockFor("s1", "p2")}, options{}) {
		t.Fatal("no error")
	}
	c.runClean(config{"a": blockFor("s1", "p1")})
}

// A group drops a stream that another resource keeps. The apply calls the provider for the group only, so the plan must
// fail.
func groupDropsWhatAnotherResourceKeeps(t *testing.T) {
	one := map[string][]string{"s1": {"p1"}}
	for _, other := range []resourceBlock{blockFor("s1", "p1"), groupFor(one)} {
		for _, first := range []string{"plan a", "plan g"} {
			c := newTerraformCore(t, false, 1, "s1", "s2")
			c.inOrder(first)
			c.runClean(config{"a": other, "g": groupFor(map[string][]string{"s1": {"p1"}, "s2": {"p1"}})})
			next := config{"a": other, "g": groupFor(map[string][]string{"s2": {"p1"}})}
			if c.run(next, options{}) || !c.hasFailure("Another Resource Keeps the Stream") {
				t.Fatalf("the run did not fail as expected: %v", c.failures)
			}
			c.runClean(next)
		}
	}
}

// A destroy comes after another resource has sent its set to the stream, and nothing is left to send: not even the set of a
// third resource, which relies on the stream.
func destroyAfterTheSetWasSent(t *testing.T) {
	c := newTerraformCore(t, false, 1, "s1")
	c.runClean(config{"c": blockFor("s1", "p2")})
	a, b := blockFor("s1", "p1"), blockFor("s1", "p1")
	c.run(config{"a": a, "b": b, "c": blockFor("s1", "p2")}, options{targets: []string{"a", "b"}})
	b.trigger = "1"
	c.inOrder("plan a", "plan b", "plan c", "set b", "destroy c")
	c.runClean(config{"a": a, "b": b})
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

// A 404 that is not the service's own says nothing about the stream.
func readThroughAWrongProxy(t *testing.T) {
	c := newTerraformCore(t, true, 1, "s1")
	cfg := config{"a": blockFor("s1", "p1")}
	c.runClean(cfg)
	c.service.Inject(streamstest.Fault{Status: http.StatusNotFound, Body: new("not found")})
	if c.run(cfg, options{}) {
		t.Fatal("no error")
	}
	c.runClean(cfg)
}

// A set that is known after apply conflicts with the set that another resource has sent.
func lateConflict(t *testing.T) {
	c := newTerraformCore(t, false, 1, "s1")
	late := blockFor("s1", "p2")
	late.lateProcessors = true
	c.inOrder("plan a", "plan b", "set a")
	if c.run(config{"a": blockFor("s1", "p1"), "b": late}, options{}) || !c.hasFailure(reportedNow+`["p1"]`) {
		t.Fatalf("the conflict does not say what the stream has: %v", c.failures)
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
		c.next = func(ready []string) int {
			if i := slices.Index(ready, "set g"); i >= 0 && !planned {
				planned = true
				return i
			}
			return 0
		}
		if c.run(config{"a": late, "g": group}, options{}) || !c.hasFailure("Another Resource Keeps the Stream") {
			t.Fatalf("the run did not fail as expected: %v", c.failures)
		}
		if got := c.attached("s1"); !reflect.DeepEqual(got, []string{"p2"}) {
			t.Errorf("the stream has %v, and the state of the other resource [p2]", got)
		}
		c.runClean(config{"a": late, "g": group})
	}
}

// A stream moves between two resources, in each order of plans and applies. If a run empties a stream that stays, its plan
// has warned: see runClean.
func handovers(t *testing.T) {
	one, two := map[string][]string{"s1": {"p1"}}, map[string][]string{"s1": {"p1"}, "s2": {"p1"}}
	only2, other2, three := map[string][]string{"s2": {"p1"}}, map[string][]string{"s2": {"p2"}}, map[string][]string{"s3": {"p1"}}
	for name, test := range map[string]struct{ before, after config }{
		"group to group": {
			config{"g": groupFor(two), "h": groupFor(three)},
			config{"g": groupFor(one), "h": groupFor(map[string][]string{"s2": {"p1"}, "s3": {"p1"}})},
		},
		"group to group, with another set": {
			config{"g": groupFor(two), "h": groupFor(three)},
			config{"g": groupFor(one), "h": groupFor(map[string][]string{"s2": {"p2"}, "s3": {"p1"}})},
		},
		"swap":          {config{"g": groupFor(one), "h": groupFor(other2)}, config{"g": groupFor(only2), "h": groupFor(map[string][]string{"s1": {"p2"}})}},
		"renamed group": {config{"g": groupFor(two)}, config{"h": groupFor(two)}},
		"one of two leaves the stream": { // a replacement: core calls the provider for no plan of the destroy alone
			config{"a": blockFor("s1", "p1"), "b": blockFor("s1", "p1")}, config{"a": blockFor("s1", "p1"), "b": blockFor("s2", "p1")},
		},
		"renamed":         {config{"a": blockFor("s1", "p1")}, config{"b": blockFor("s1", "p1")}},
		"group to single": {config{"g": groupFor(two)}, config{"g": groupFor(one), "a": blockFor("s2", "p2")}},
		"single to group": {config{"g": groupFor(one), "a": blockFor("s2", "p2")}, config{"g": groupFor(two)}},
		"the single resource of a shared stream is destroyed": {config{"g": groupFor(two), "a": blockFor("s2", "p1")}, config{"g": groupFor(two)}},
		"the group of a shared stream is destroyed":           {config{"g": groupFor(two), "a": blockFor("s2", "p1")}, config{"a": blockFor("s2", "p1")}},
		"a group drops a shared stream with keep": {
			config{"g": groupFor(two), "h": groupFor(one)}, config{"g": {sets: only2, group: true, onDestroy: "keep"}, "h": groupFor(one)},
		},
		"a group drops a shared stream, and the other one has a trigger": {
			config{"g": groupFor(two), "h": groupFor(one)}, config{"g": groupFor(only2), "h": {sets: one, group: true, trigger: "1"}},
		},
	} {
		addrs := slices.Sorted(maps.Keys(test.before))
		for addr := range test.after {
			if !slices.Contains(addrs, addr) {
				addrs = append(addrs, addr)
			}
		}
		for i := range 4 {
			first, second := addrs[i/2%len(addrs)], addrs[i%2%len(addrs)]
			t.Logf("%s: plan %s first, apply %s first", name, first, second)
			c := newTerraformCore(t, false, 1, "s1", "s2", "s3")
			c.inOrder("plan "+first, "set "+second, "destroy "+second)
			c.runClean(test.before)
			c.runClean(test.after)
			if len(c.failures) > 0 {
				t.Errorf("%s", c.failures)
			}
		}
	}
}
