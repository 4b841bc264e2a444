package streams

import (
	"fmt"
	"testing"
	"time"
)

// What an event makes of each condition, for an operation that began in the same condition, and for one that began before
// anything went wrong.
func TestCondition(t *testing.T) {
	t.Parallel()
	conditions := []condition{working, failing, mute, silent}
	for _, test := range []struct {
		event event
		began condition // -1: in the same condition
		want  [4]condition
	}{
		{worked, -1, [4]condition{working, working, working, working}},
		{answered, -1, [4]condition{working, failing, failing, failing}},
		{gaveUp, -1, [4]condition{failing, failing, mute, silent}},
		{unheard, -1, [4]condition{mute, mute, silent, silent}},
		{unheard, working, [4]condition{mute, mute, mute, silent}},
		{unheard, failing, [4]condition{mute, mute, mute, silent}},
		{unheard, mute, [4]condition{mute, mute, silent, silent}},
	} {
		for i, c := range conditions {
			began := test.began
			if began < 0 {
				began = c
			}
			if got := c.after(test.event, began); got != test.want[i] {
				t.Errorf("condition %d after event %d of an operation that began in condition %d: %d, want %d", c, test.event, began, got, test.want[i])
			}
		}
	}
}

// A success beside an operation that gives up counts more. A failure of an attempt is news in any case.
func TestHealth(t *testing.T) {
	t.Parallel()
	var h health
	began := h.now()
	for i, test := range []struct {
		event event
		began view
		want  condition
	}{
		{gaveUp, began, failing}, {unheard, began, mute}, {worked, began, working},
		{gaveUp, began, working}, {unheard, began, working},
		{unheard, view{mute, 1}, mute}, {unheard, view{mute, 1}, silent}, {answered, began, failing},
	} {
		if h.note(test.event, test.began); h.now().condition != test.want {
			t.Errorf("step %d: condition %d, want %d", i+1, h.now().condition, test.want)
		}
	}
}

// Only attempts to a silent endpoint are short.
func TestAttemptTime(t *testing.T) {
	t.Parallel()
	for full, want := range map[time.Duration]time.Duration{
		10 * time.Minute: 30 * time.Second, 30 * time.Second: 1500 * time.Millisecond, 6 * time.Second: 1500 * time.Millisecond, time.Second: time.Second,
	} {
		for _, c := range []condition{working, failing, mute} {
			if got := c.timeout(full); got != full {
				t.Errorf("condition %d: %s, want %s", c, got, full)
			}
		}
		if got := silent.timeout(full); got != want {
			t.Error(fmt.Sprint(full, ": ", got, ", want ", want))
		}
	}
}
