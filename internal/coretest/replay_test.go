package coretest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// replay lets the model make its calls in the order in which a real CLI made them. The order of independent calls is not
// defined, and decides what the provider does with a stream that resources share.
type replay struct {
	t        *testing.T
	model    *terraformCore
	recorded []call         // of the current run, those that the model has not made yet
	compared map[string]int // calls by name
}

// run makes the model's run. It fails the test at the first difference from the recording.
func (r *replay) run(recorded []call, run historyRun) (ok bool) {
	r.t.Helper()
	r.recorded = recorded
	r.model.next, r.model.responded = r.next, r.responded
	ok = r.model.run(run.config, run.options)
	if len(r.recorded) > 0 {
		r.t.Fatalf("the CLI makes a call that the model does not make:\n%s", r.recorded[0])
	}
	return ok
}

// next returns the node whose call is the next one of the recording.
func (r *replay) next(active []*activeNode) int {
	r.t.Helper()
	if len(r.recorded) == 0 {
		r.t.Fatalf("the model makes a call that the CLI does not make:\n%s", active[0].call)
	}
	want := r.recorded[0]
	i := slices.IndexFunc(active, func(a *activeNode) bool {
		return a.call.Name == want.Name && a.call.Walk == want.Walk && reflect.DeepEqual(a.call.Request, want.Request)
	})
	if i >= 0 {
		return i
	}
	text := fmt.Sprintf("the next call of the CLI is not one of the model:\n%s", want)
	for _, a := range active {
		text += fmt.Sprintf("\n%s (-CLI +model):\n%s", a.name, cmp.Diff(want.Request, a.call.Request))
	}
	r.t.Fatal(text)
	return 0
}

// responded compares the response to a call of the model with that of the recording.
func (r *replay) responded(got call) {
	want := r.recorded[0]
	r.recorded = r.recorded[1:]
	r.compared[got.Name]++
	if diff := cmp.Diff(want.Response, got.Response); diff != "" {
		r.t.Fatalf("the responses to %s differ (-CLI +model):\n%s", got, diff)
	}
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
