package requests

import (
	"testing"
	"testing/synctest"
	"time"
)

// What operations show together about an endpoint. A success beside an operation counts more than its end, and the
// attempts of one stream do not show that nothing responds at all.
func TestHealth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var h health
		start := time.Now()
		later := func() time.Time { <-time.After(time.Second); return time.Now() }
		for i, step := range []struct {
			happens func()
			want    condition
		}{
			{func() { h.failed(0) }, failing},
			{h.heard, failing},
			{func() { h.took(false) }, working},
			{func() { h.failed(0) }, working},
			{func() { later(); h.heardNothing(start, nil) }, working},
			{func() { h.heardNothing(start, nil) }, working},
			{h.heard, working},
			{func() { h.heardNothing(later(), nil) }, working},
			{func() { h.heardNothing(later(), nil) }, mute},
			{func() { h.failed(1) }, mute},
			{h.heard, failing},
			{func() { h.heardNothing(later(), nil) }, failing},
			{func() { h.heardNothing(later(), nil) }, mute},
			{func() { h.took(false) }, working},
			{func() { h.heardNothing(later(), nil) }, working},
		} {
			if step.happens(); h.now().condition != step.want {
				t.Fatalf("step %d: condition %d, want %d", i+1, h.now().condition, step.want)
			}
		}
	})
}

func TestShortAttempt(t *testing.T) {
	t.Parallel()
	for full, want := range map[time.Duration]time.Duration{
		10 * time.Minute: 30 * time.Second, 30 * time.Second: 5 * time.Second, 6 * time.Second: 5 * time.Second,
		time.Second: time.Second, 1: 1,
	} {
		if got := shortened(full); got != want {
			t.Errorf("%s: %s, want %s", full, got, want)
		}
	}
}

// A success after a response to wait shows more than one of a request that was taken at once.
func TestTakenLate(t *testing.T) {
	t.Parallel()
	var h health
	h.took(true)
	h.took(false)
	h.took(true)
	if got := h.now(); got.taken != 3 || got.takenLate != 2 {
		t.Errorf("%+v", got)
	}
}
