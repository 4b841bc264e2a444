package coretest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
)

// An interrupted apply leaves the old object of a replacement behind. The next one creates other resources, and destroys the old
// object: no order of the calls empties the stream, which the replacement has, or another resource.
func TestOldObjects(t *testing.T) {
	t.Parallel()
	for seed := range uint64(48) {
		drift, taken, creates := seed%2 == 0, seed/2%2 == 0, seed/4%4 > 0
		t.Run(fmt.Sprintf("detect_drift %t, taken %t, creates %t, seed %d", drift, taken, creates, seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 0))
				c := newTerraformCore(t, drift, 1)
				c.orderBy(func(n int, _ string) int { return random.IntN(n) })
				c.overlaps = random.IntN(2) == 0
				replaced := blockFor("s1", "p1")
				replaced.createBeforeDestroy = true
				cfg := config{"a": replaced}
				c.run(cfg, options{})
				replacement := options{replace: []string{"a"}, killedAfter: 3}
				if taken {
					replacement.replace = nil
					replaced.sets = blockFor("s2", "p1").sets
					cfg = config{"a": replaced}
				}
				c.run(cfg, replacement)
				if taken {
					cfg["b"] = blockFor("s1", "p1")
					c.run(cfg, options{targets: []string{"b"}})
				}
				if len(c.state["a"].deposed) != 1 {
					t.Fatal("there is no old object")
				}
				if creates {
					cfg["c"], cfg["d"] = blockFor("s3", "p1"), blockFor("s4", "p1")
				}
				c.run(cfg, options{parallelism: random.IntN(4)}) // which checks the state
				if c.service.WantAttached(t, "s1", "p1"); len(c.failures) > 0 || len(c.objects()) != len(cfg) {
					t.Errorf("%d objects, %v", len(c.objects()), c.failures)
				}
			})
		})
	}
}

// A list of streams behind count loses an element: each later resource goes to the stream of the next one. If all plans begin
// while the first ones wait, each registers its stream before another one decides how it leaves that. So no stream that stays
// in the list is emptied, in any order of the calls.
func TestShiftedLists(t *testing.T) {
	t.Parallel()
	for seed := range uint64(32) {
		n := []int{2, 3, 5, len(historyStreams)}[seed%4]
		t.Run(fmt.Sprintf("%d elements, seed %d", n, seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 0))
				c := newTerraformCore(t, random.IntN(2) == 0, 1)
				c.orderBy(func(n int, _ string) int { return random.IntN(n) })
				c.overlaps, c.patient = true, true
				list, removed := slices.Clone(historyStreams[:n]), random.IntN(n)
				c.run(listBehindCount(list), options{})
				list = slices.Delete(list, removed, removed+1)
				c.run(listBehindCount(list), options{})
				want := []string{"PATCH /v2/streams/" + historyStreams[removed] + " " + patchBody(nil) + " → 200"}
				for _, id := range list[removed:] {
					want = append(want, "PATCH /v2/streams/"+id+" "+patchBody([]string{"of " + id})+" → 200")
				}
				var got []string
				for _, r := range c.service.Requests() {
					if r.Method != http.MethodGet {
						got = append(got, r.String())
					}
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("the apply sent %q, want %q", got, want)
				}
			})
		})
	}
}

// listBehindCount is what Terraform makes of a resource with count and a list of streams.
func listBehindCount(list []string) config {
	cfg := config{}
	for i, id := range list {
		cfg[fmt.Sprintf("list[%d]", i)] = blockFor(id, "of "+id)
	}
	return cfg
}
