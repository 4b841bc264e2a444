package coretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// replay lets the model make its calls in the order in which a real CLI made them. The order of independent calls is not
// defined, and decides what the provider does with a stream that resources share. So each call of the model waits until it
// is the next one of the recording.
type replay struct {
	t *testing.T

	mu       sync.Mutex
	recorded []call // of the current run, those that the model has not made yet
	waiting  []*waitingCall
	failed   bool
	compared map[string]int // calls by name
	arrived  chan struct{}
}

type waitingCall struct {
	call
	turn  chan error
	ended chan call
}

var errDifferent = errors.New("the calls of the CLI and of the model differ")

// begin waits for the turn of a call of the model.
func (r *replay) begin(c call) (end func(call), err error) {
	w := &waitingCall{call: c, turn: make(chan error), ended: make(chan call, 1)}
	r.mu.Lock()
	r.waiting = append(r.waiting, w)
	r.mu.Unlock()
	select {
	case r.arrived <- struct{}{}:
	default:
	}
	return func(c call) { w.ended <- c }, <-w.turn
}

// run makes the model's run. It fails the test at the first difference from the recording.
func (r *replay) run(recorded []call, run func()) {
	r.t.Helper()
	r.recorded, r.arrived = recorded, make(chan struct{}, 1)
	finished, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-finished:
				return
			case <-r.arrived:
			}
			synctest.Wait() // for the other calls that the model makes now
			for r.next() {
				synctest.Wait()
			}
		}
	}()
	defer func() {
		close(finished)
		<-stopped
		if !r.t.Failed() && len(r.recorded) > 0 {
			r.t.Errorf("the CLI makes a call that the model does not make:\n%s", r.recorded[0])
		}
		if r.t.Failed() {
			r.t.FailNow()
		}
	}()
	run()
}

// next lets the waiting call that is the next one of the recording go on, and waits for its end. It reports whether more
// calls may wait.
func (r *replay) next() bool {
	r.mu.Lock()
	waiting := slices.Clone(r.waiting)
	r.mu.Unlock()
	if len(waiting) == 0 {
		return false
	}
	i := 0
	if !r.failed {
		i = slices.IndexFunc(waiting, func(w *waitingCall) bool { return r.isNext(w.call) })
	}
	if i < 0 {
		r.failed, i = true, 0
		r.t.Errorf("%s", r.difference(waiting))
	}
	r.mu.Lock()
	r.waiting = slices.Delete(r.waiting, i, i+1)
	r.mu.Unlock()
	w := waiting[i]
	if r.failed {
		w.turn <- errDifferent
		return true
	}
	want := r.recorded[0]
	r.recorded = r.recorded[1:]
	w.turn <- nil
	if got := <-w.ended; !reflect.DeepEqual(want.Response, got.Response) {
		r.failed = true
		r.t.Errorf("the responses differ:\nCLI:   %s\nmodel: %s", want, got)
	}
	r.compared[w.Name]++
	return true
}

// isNext reports whether a call is the next one of the recording.
func (r *replay) isNext(c call) bool {
	if len(r.recorded) == 0 {
		return false
	}
	want := r.recorded[0]
	return c.Name == want.Name && c.Walk == want.Walk && reflect.DeepEqual(c.Request, want.Request)
}

// difference shows the next call of the CLI, and how those of the model differ from it.
func (r *replay) difference(waiting []*waitingCall) string {
	if len(r.recorded) == 0 {
		return fmt.Sprintf("the model makes a call that the CLI does not make:\n%s", waiting[0].call)
	}
	want := r.recorded[0]
	text := &strings.Builder{}
	fmt.Fprintf(text, "the next call of the CLI is not one of the model:\nCLI:   %s\n", want)
	for _, w := range waiting {
		fmt.Fprintf(text, "model: %s\n", w.call)
		if w.Name != want.Name || w.Request["TypeName"] != want.Request["TypeName"] {
			continue
		}
		all := maps.Clone(w.Request)
		maps.Copy(all, want.Request)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if got := w.Request[name]; !reflect.DeepEqual(got, want.Request[name]) {
				fmt.Fprintf(text, "  %s:\n    CLI:   %s\n    model: %s\n", name, asJSON(want.Request[name]), asJSON(got))
			}
		}
	}
	return text.String()
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
