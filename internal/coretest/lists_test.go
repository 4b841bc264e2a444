package coretest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
)

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
