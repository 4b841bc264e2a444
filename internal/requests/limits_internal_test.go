package requests

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Attempts that are more urgent pass the others, of which one at most waits for a slot already.
func TestUrgency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, 0)
		var order []urgency
		for _, u := range []urgency{normal, later, later, normal, normal, urgent, urgent} {
			go func() {
				release, err := l.acquire(t.Context(), u, func() bool { return false })
				if err != nil {
					t.Error(err)
				}
				order = append(order, u)
				<-time.After(time.Second)
				release()
			}()
			synctest.Wait()
		}
		<-time.After(time.Minute)
		want := []urgency{normal, later, urgent, urgent, normal, normal, later}
		for i := range want {
			if order[i] != want[i] {
				t.Fatalf("order %d, want %d", order, want)
			}
		}
		if len(l.slots)+len(l.turns[0])+len(l.turns[1]) != 0 {
			t.Error("a slot or a turn is left")
		}
	})
}

// Eight requests for each slot have a place, which a request gives up at its end.
func TestPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(2, 0)
		var releases []func()
		for range 16 {
			release, err := l.enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			releases = append(releases, release)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.enter(ctx); !errors.Is(err, ErrSlotWait) {
			t.Errorf("the seventeenth request: %v", err)
		}
		releases[0]()
		if _, err := l.enter(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
