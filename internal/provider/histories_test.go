package provider

import (
	"fmt"
	"net/http"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestHistories runs random histories one step at a time, in an order that is part of the history. So a counterexample
// can be repeated and reduced.
func TestHistories(t *testing.T) {
	t.Parallel()
	runHistories(t, 20, true)
}

// TestHistoriesAtOnce runs all steps that Terraform may run at once on goroutines of their own.
func TestHistoriesAtOnce(t *testing.T) {
	t.Parallel()
	runHistories(t, 5, false)
}

// runHistories runs batches of random histories. The number of histories in a batch is -rapid.checks. With RAPID_SEED,
// which make test sets, all batches have one seed; each batch skips another number of draws.
func runHistories(t *testing.T, batches int, inTurn bool) {
	if testing.Short() {
		batches = 1
	}
	counts := newTally(t)
	for i := range batches {
		t.Run(strconv.Itoa(i), func(batch *testing.T) {
			batch.Parallel()
			if t.Failed() {
				batch.Skip("another batch has failed")
			}
			rapid.Check(batch, func(t *rapid.T) {
				for range i {
					rapid.Uint64().Draw(t, "skipped")
				}
				inBubble(batch, func(bubble *testing.T) { runRandomHistory(historyT{t, bubble}, inTurn, counts) })
			})
		})
	}
}

// inBubble calls f in a bubble of synctest, whose clock goes on only when everything waits. So a timeout never depends on
// how busy the machine is, and takes no time. But the clock also stands while something waits for a mutex.
func inBubble(t *testing.T, f func(bubble *testing.T)) {
	var cause any
	synctest.Test(t, func(bubble *testing.T) {
		defer func() {
			if cause = recover(); cause == nil {
				return
			}
			if err, ok := cause.(runtime.Error); ok {
				cause = fmt.Errorf("%w\n%s", err, debug.Stack())
			}
		}()
		f(bubble)
	})
	// rapid tells panics apart by their lines: a history that asks for more than was recorded is not a failure.
	if fmt.Sprintf("%T", cause) == "rapid.invalidData" {
		panic(cause)
	}
	if cause != nil {
		panic(cause)
	}
}

// historyT is a test in a bubble, which ends before the test does.
type historyT struct {
	*rapid.T
	bubble *testing.T
}

func (t historyT) Cleanup(f func()) { t.bubble.Cleanup(f) }

// The histories below are counterexamples that random histories found, each in its shortest form.

// One of two resources of a stream changes to another stream. Terraform plans a replacement, and calls the provider for
// no plan of the destroy alone.
func TestHistoryOneOfTwoLeavesTheStream(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"plan a", "plan b"}, {"plan b", "plan a"}} {
		c := newTerraformCore(t, false, 1, "s1", "s2")
		c.inOrder(order...)
		c.runClean(config{"a": blockFor("s1", "p1"), "b": blockFor("s1", "p1")})
		c.runClean(config{"a": blockFor("s1", "p1"), "b": blockFor("s2", "p1")})
	}
}

// A destroy fails, another resource takes the stream over, and the next run repeats the destroy of the deposed object.
// Terraform plans this destroy again during the apply, and does not call the provider for resources without changes.
func TestHistoryTakeoverAfterAFailedDestroy(t *testing.T) {
	t.Parallel()
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
func TestHistoryTakeoverTakenBack(t *testing.T) {
	t.Parallel()
	for i, order := range [][]string{
		{"plan a", "plan b"}, {"plan b", "plan a", "set a"}, {"plan b", "plan a", "destroy b"},
		{"plan a", "plan b"}, {"plan b", "plan a", "set a"}, {"plan b", "plan a", "destroy b"},
	} {
		c := newTerraformCore(t, false, 1, "s1", "s2")
		other := blockFor("s1", "p2")
		if i > 2 {
			other.onDestroy = onDestroyKeep
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
func TestHistoryFailedUpdateBesideADestroy(t *testing.T) {
	t.Parallel()
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
func TestHistoryOneOfTwoIsRefused(t *testing.T) {
	t.Parallel()
	c := newTerraformCore(t, false, 1, "s1")
	c.runClean(config{"a": blockFor("s1", "p1"), "b": blockFor("s1", "p1")})
	c.inOrder("plan a", "set a")
	c.service.Inject(streamstest.Fault{Status: http.StatusForbidden}, streamstest.Fault{ResetAfter: true})
	if c.run(config{"a": blockFor("s1", "p2"), "b": blockFor("s1", "p2")}, options{}) {
		t.Fatal("no error")
	}
	c.runClean(config{"a": blockFor("s1", "p1")})
}

// A group drops a stream that another resource keeps and was planned before. The apply calls the provider for the group
// only, so the plan must fail.
func TestHistoryGroupDropsWhatAnotherResourceKeeps(t *testing.T) {
	t.Parallel()
	c := newTerraformCore(t, false, 1, "s1", "s2")
	c.inOrder("plan a", "plan g")
	group := resourceBlock{group: map[string][]string{"s1": {"p1"}, "s2": {"p1"}}}
	c.runClean(config{"a": blockFor("s1", "p1"), "g": group})
	group.group = map[string][]string{"s2": {"p1"}}
	if c.run(config{"a": blockFor("s1", "p1"), "g": group}, options{}) || !c.hasFailure("Another Resource Keeps the Stream") {
		t.Fatalf("the run did not fail as expected: %v", c.failures)
	}
	c.runClean(config{"a": blockFor("s1", "p1"), "g": group})
}

// A destroy comes after another resource has sent its set to the stream, and nothing is left to send: not even the set of a
// third resource, which relies on the stream.
func TestHistoryDestroyAfterTheSetWasSent(t *testing.T) {
	t.Parallel()
	c := newTerraformCore(t, false, 1, "s1")
	c.runClean(config{"c": blockFor("s1", "p2")})
	a, b := blockFor("s1", "p1"), blockFor("s1", "p1")
	c.run(config{"a": a, "b": b, "c": blockFor("s1", "p2")}, options{targets: []string{"a", "b"}})
	b.trigger = "1"
	c.inOrder("plan a", "plan b", "plan c", "set b", "destroy c")
	c.runClean(config{"a": a, "b": b})
}

// With detect_drift, a read after an update in doubt says what the stream has, and the next apply sends nothing.
func TestHistoryReadEndsTheDoubt(t *testing.T) {
	t.Parallel()
	c := newTerraformCore(t, true, 1, "s1")
	c.runClean(config{"a": blockFor("s1", "p1")})
	next := config{"a": blockFor("s1", "p2")}
	c.service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		return &streamstest.Fault{ResetAfter: r.Method == http.MethodPatch}
	})
	if c.run(next, options{}) {
		t.Fatal("no error")
	}
	c.service.InjectFunc(nil)
	c.runClean(next)
	for _, r := range c.service.Requests() {
		if r.Method == http.MethodPatch {
			t.Errorf("sent %s", r)
		}
	}
}

// A 404 that is not the service's own says nothing about the stream.
func TestHistoryReadThroughAWrongProxy(t *testing.T) {
	t.Parallel()
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
func TestHistoryLateConflict(t *testing.T) {
	t.Parallel()
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
func TestHistoryLateSetBesideAGroupThatDropsTheStream(t *testing.T) {
	t.Parallel()
	for _, late := range []resourceBlock{blockFor("s1", "p2"), {group: map[string][]string{"s1": {"p2"}}}} {
		c := newTerraformCore(t, false, 1, "s1", "s2")
		c.runClean(config{"a": late})
		late.lateProcessors = true
		group := resourceBlock{group: map[string][]string{"s1": {"p1"}, "s2": {"p1"}}}
		c.run(config{"a": late, "g": group}, options{targets: []string{"g"}})
		group.group = map[string][]string{"s2": {"p1"}}
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
