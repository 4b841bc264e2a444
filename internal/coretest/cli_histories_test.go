package coretest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestAccHistories runs random histories with a real CLI, and then with the model of Terraform core: the calls to the
// provider must be the same. CLI_HISTORIES is the number of histories, and CLI_HISTORIES_SEED the seed of the first one; 0
// draws it.
//
// Left out are interrupts, lost processes and slow responses, the calls that validate and that upgrade states, PlanAction,
// and runs for which Terraform reports a cycle, or a self reference of an object that was moved to what it depended on. An
// order that the model allows and Terraform does not is not found.
func TestAccHistories(t *testing.T) {
	clitest.SkipUnlessAcc(t)
	program, err := cli.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_PROVIDER_STREAM"} {
		t.Setenv(name, "OFF") // the provider is in this process
	}
	version := versionOf(t, program)
	first, count := fromEnvironment(t, "CLI_HISTORIES_SEED", 1), fromEnvironment(t, "CLI_HISTORIES", 20)
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
			h := rapid.Custom(drawHistory).Example(seed)
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

func fromEnvironment(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text, set := os.LookupEnv(name)
	if !set {
		return otherwise
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return number
}

// compare makes the runs with the CLI and with the model. It returns how many calls are equal, by name.
func (h history) compare(t *testing.T, actual *realCore, version cliVersion) map[string]int {
	model := newTerraformCore(t, h.drift, h.attempts)
	model.cli = version
	model.provider["max_concurrent_requests"] = 1
	for i, d := range model.deployments {
		seedHistory(d.service)
		seedHistory(actual.services[i])
	}
	order := &replay{t: t, compared: map[string]int{}}
	recorder := newRecorder(model.start, order.begin)
	recorder.withoutIdentities = !version.identities
	model.start = func() tfprotov6.ProviderServer { return recorder }

	var recorded []call
	var out, late string
	defer func() {
		if !t.Failed() {
			return
		}
		for _, c := range recorded {
			out += c.String() + "\n"
		}
		t.Logf("%s\nThe output and the calls of the last run:\n%s", model.script, out)
	}()
	for i, run := range h.runs {
		run = model.possible(run)
		model.configureFor(model.deployments[run.deployment], true)
		service, url := actual.services[run.deployment], actual.urls[run.deployment]
		run.before.make(model.service, model)
		run.before.make(service, nil)
		run.show(model)
		run.prepare(model.service)
		run.prepare(service)

		late += run.config.lateResources(url, i, run.options)
		configuration := run.config.terraform(url, model.providerBlock(), i, run.options) + late + run.blocks()
		var ok, modelOK bool
		recorded, out, ok = actual.run(configuration, run, func() { run.between.make(service, nil) })
		for _, refusal := range []string{"Error: Cycle", "Error: Self reference"} { // Terraform's own
			if strings.Contains(out, refusal) {
				order.compared["left out: "+refusal]++
				return order.compared
			}
		}
		order.run(recorded, func() { modelOK = model.runLike(run, recorder) })
		if model.cyclic {
			t.Fatalf("the nodes of the model wait for each other")
		}
		if ok != modelOK {
			t.Fatalf("success: the CLI says %t, the model %t: %v", ok, modelOK, model.failures)
		}
		if want, got := actual.objects(), model.objectNames(); !slices.Equal(want, got) {
			t.Fatalf("the state of the CLI has %q, that of the model %q", want, got)
		}
	}
	return order.compared
}

// runLike makes a run of the model.
func (c *terraformCore) runLike(run historyRun, recorder *recorder) bool {
	before := maps.Clone(c.state)
	for from, to := range run.moved {
		c.state[to] = c.state[from]
		delete(c.state, from)
	}
	for _, addr := range run.tainted {
		c.state[addr].current.tainted = true
	}
	opts := run.options
	opts.meanwhile = func() { run.between.make(c.service, c) }
	recorder.newRun()
	ok := c.run(run.config, opts)
	if _, walk := recorder.current(); walk < 2 {
		c.state = before // a plan that fails changes no state
	}
	return ok
}

// lastEdited is in the future, so that the values of last_edited do not depend on the clock.
const lastEdited = 4e12

func seedHistory(service *streamstest.Service) {
	for _, id := range historyStreams {
		service.Seed(streamstest.Stream{ID: id, TerminalID: "terminal-1", LastEdited: lastEdited})
	}
}

// make changes a stream as somebody else would. The model takes note of it; nil: there is none.
func (ch streamChange) make(service *streamstest.Service, model *terraformCore) {
	stream := ch.stream
	if model != nil && stream.ID != "" {
		model.limit(stream.ID)
	}
	switch _, exists := service.Stream(stream.ID); {
	case stream.ID == "":
	case ch.gone:
		service.Remove(stream.ID)
	case !exists:
		stream.LastEdited = lastEdited
		service.Seed(stream)
	default:
		service.Seed(stream)
	}
}

func (ch streamChange) String() string {
	if ch.gone {
		return "removes the stream " + ch.stream.ID
	}
	return fmt.Sprintf("changes the stream: %+v", ch.stream)
}

// prepare makes the service ready for a run.
func (run historyRun) prepare(service *streamstest.Service) {
	service.Configure(func(o *streamstest.Options) {
		*o = streamstest.Options{ServeGet: o.ServeGet, Latency: o.Latency}
		historyReadings[run.reading](o)
	})
	service.InjectByStream(run.faults...)
}

// show adds the run to the script.
func (run historyRun) show(c *terraformCore) {
	c.script.add(c, run.config)
	shown := c.script.last()
	shown.options, shown.blocks, shown.faults = run.options, run.blocks(), run.faults
	historyReadings[run.reading](&shown.service)
	for _, addr := range run.tainted {
		c.script.command("taint %s", addressOf(addr))
	}
	if run.between.stream.ID != "" {
		shown.notes = append(shown.notes, "Between the plan and the apply, somebody "+run.between.String())
	}
}
