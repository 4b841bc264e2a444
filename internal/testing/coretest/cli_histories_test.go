package coretest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
)

// TestAccHistories runs random histories with a real CLI, each in one folder, and then with the model of Terraform core: the
// calls to the provider must be the same. CLI_HISTORIES is the number of histories, and CLI_HISTORIES_SEED the seed of the
// first one; 0 draws it.
//
// Left out are interrupts, lost processes and slow responses, the calls that validate and that upgrade states, PlanAction,
// and runs for which Terraform reports a cycle, or a self reference of an object that was moved to what it depended on. An
// order that the model allows and Terraform does not is not found. CLIs without removed blocks use an older
// create_before_destroy with -refresh=false: there, each run refreshes. Terraform 1.16 has another order with depends_on, and
// 1.16.0-rc2 skips a planned destroy if the object depends on one with create_before_destroy: there, nothing depends.
func TestAccHistories(t *testing.T) {
	clitest.SkipUnlessAcc(t)
	program, err := cli.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_PROVIDER_STREAM"} {
		t.Setenv(name, "OFF") // the provider is in this process
	}
	version := versionOf(t)
	first, err1 := strconv.Atoi(cmp.Or(os.Getenv("CLI_HISTORIES_SEED"), "1"))
	count, err2 := strconv.Atoi(cmp.Or(os.Getenv("CLI_HISTORIES"), "20"))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if first == 0 {
		first = rand.IntN(1 << 30)
	}
	var mu sync.Mutex
	calls := map[string]int{}
	t.Cleanup(func() { t.Logf("%d histories, equal calls: %v", count, calls) })
	for seed := first; seed < first+count; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("make clihistories CLI_HISTORIES=1 SEED=%d", seed)
				}
			})
			h := rapid.Custom(func(t *rapid.T) history { return drawHistory(t, true) }).Example(seed)
			actual := startRealCore(t, program, version, h.drift)
			inBubble(t, func(bubble *testing.T) {
				compared := h.compare(bubble, actual, version)
				mu.Lock()
				defer mu.Unlock()
				for name, n := range compared {
					calls[name] += n
				}
			})
		})
	}
}

// compare makes the runs with the CLI and with the model. It returns how many calls are equal, by name.
func (h history) compare(t *testing.T, actual *realCore, version cliVersion) map[string]int {
	model := newTerraformCore(t, h.drift, h.attempts)
	model.cli = version
	for i, d := range model.deployments {
		d.seedMissing(actual.services[i])
	}
	order := &replay{t: t, model: model, compared: map[string]int{}}

	var recorded []call
	var out, late string
	defer func() {
		if !t.Failed() {
			return
		}
		for _, c := range recorded {
			out += c.String() + "\n"
		}
		t.Logf("%s\nThe output and the calls of the last run:\n%s", strings.Join(model.script, ""), out)
	}()
	for i, run := range h.runs {
		run.config = model.distinguishable(run.config)
		if version.actionsInNodes {
			run.config = run.config.with(func(_ string, b *resourceBlock) { b.dependsOn = "" })
		}
		run.keepsState = run.keepsState && version.removes
		imported := streamNames{} // imports and reads of the same streams are equal calls
		run.imports = slices.DeleteFunc(slices.Clone(run.imports), func(addr string) bool {
			id := run.importID(addr, run.config)
			again := imported[id]
			imported.add(id)
			return again
		})
		run = model.begin(run)
		service, url := actual.services[run.deployment], actual.urls[run.deployment]
		run.before.make(service, nil)
		late += run.config.lateResources(url, i, run.options)
		actual.adopt(model.terraformImport(run, url, i)+late, run)
		run.prepare(service, nil)
		var ok bool
		recorded, out, ok = actual.run(model.terraform(run, url, i)+late, run, func() { run.between.make(service, nil) })
		for _, refusal := range []string{"Error: Cycle", "Error: Self reference"} { // Terraform's own
			if strings.Contains(out, refusal) {
				order.compared["left out: "+refusal]++
				return order.compared
			}
		}
		modelOK := order.run(recorded, run)
		if model.cyclic {
			t.Fatalf("the nodes of the model wait for each other")
		}
		if ok != modelOK {
			t.Fatalf("success: the CLI says %t, the model %t: %v", ok, modelOK, model.failures)
		}
	}
	return order.compared
}

// distinguishable is a configuration in which no two calls are equal: two resources with the same stream have different
// triggers. Else the model could not know which one the CLI has called.
func (c *terraformCore) distinguishable(cfg config) config {
	return cfg.with(func(addr string, b *resourceBlock) {
		for _, other := range historyAddrs {
			ids := slices.Collect(maps.Keys(cfg[other].sets))
			if is := c.state[other]; is != nil {
				for _, s := range is.objects() {
					ids = append(ids, s.streams()...)
				}
			}
			if other != addr && slices.ContainsFunc(ids, func(id string) bool { return b.sets[id] != nil }) {
				b.trigger = addr + b.trigger
				return
			}
		}
	})
}

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
	run.parallelism = 0 // the recording has the order
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
		text += fmt.Sprintf("\n%s (-CLI +model):\n%s", a.name, gocmp.Diff(want.Request, a.call.Request))
	}
	r.t.Fatal(text)
	return 0
}

// responded compares the response to a call of the model with that of the recording.
func (r *replay) responded(got call) {
	want := r.recorded[0]
	r.recorded = r.recorded[1:]
	r.compared[got.Name]++
	if diff := gocmp.Diff(want.Response, got.Response); diff != "" {
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
