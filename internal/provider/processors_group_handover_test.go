package provider

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// blocks are the resources of a configuration, by address: "single.…" or "group.…".
type blocks map[string]tftypes.Value

func single(stream string, processors ...string) tftypes.Value {
	return resourceValue(attributes{"stream_id": stream, "processor_ids": append([]string{}, processors...)})
}

// handover runs configurations with both kinds of resources, in a given order of plans and of applies.
type handover struct {
	t       *testing.T
	service *streamstest.Service
	url     string
	state   map[string]managed
}

func newHandover(t *testing.T, streams ...string) *handover {
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(streams...)...)
	return &handover{t, service, url, map[string]managed{}}
}

func isGroup(addr string) bool { return strings.HasPrefix(addr, "group.") }

func (h *handover) prior(addr string) managed {
	if state, ok := h.state[addr]; ok {
		return state
	}
	if isGroup(addr) {
		return nullGroup()
	}
	return managed{value: nullResource()}
}

func (h *handover) plan(p *process, addr string, cfg blocks) (managed, diagnostics) {
	config, ok := cfg[addr]
	prior := h.prior(addr)
	switch {
	case isGroup(addr) && ok:
		return p.planGroup(prior, &config)
	case isGroup(addr):
		return p.planGroup(prior, nil)
	case !ok:
		config = nullResource()
	}
	planned, _, diags := p.plan(prior, config, proposedState(prior.value, config))
	return planned, diags
}

func (h *handover) apply(p *process, addr string, planned managed, cfg blocks) diagnostics {
	config, ok := cfg[addr]
	prior := h.prior(addr)
	var after managed
	var diags diagnostics
	switch {
	case isGroup(addr) && ok:
		after, diags = p.applyGroup(prior, planned, &config)
	case isGroup(addr):
		after, diags = p.applyGroup(prior, planned, nil)
	case ok:
		after, diags = p.apply(prior.value, planned, config)
	default:
		after, diags = p.apply(prior.value, planned, nullResource())
	}
	if h.state[addr] = after; after.value.IsNull() {
		delete(h.state, addr)
	}
	return diags
}

// run plans in one order and applies in another, as Terraform does: an apply is another process, which
// plans changes again, destroys not, and does not call the provider for resources without changes.
func (h *handover) run(cfg blocks, plans, applies []string) (planned diagnostics) {
	h.t.Helper()
	p := startProvider(h.t, attributes{"base_url": h.url})
	changes := map[string]managed{}
	for _, addr := range plans {
		if _, configured := cfg[addr]; !configured && h.prior(addr).value.IsNull() {
			continue
		}
		change, diags := h.plan(p, addr, cfg)
		planned = append(planned, diags...)
		if !equalValues(change.value, h.prior(addr).value) {
			changes[addr] = change
		}
	}
	if planned.failed() {
		return planned
	}
	p = startProvider(h.t, attributes{"base_url": h.url})
	for _, addr := range applies {
		change, ok := changes[addr]
		if !ok {
			continue
		}
		if _, configured := cfg[addr]; configured {
			var diags diagnostics
			if change, diags = h.plan(p, addr, cfg); diags.failed() {
				h.t.Fatalf("the apply cannot plan %s: %s", addr, diags)
			}
			if equalValues(change.value, h.prior(addr).value) {
				continue
			}
		}
		if diags := h.apply(p, addr, change, cfg); diags.failed() {
			h.t.Fatalf("%s: %s", addr, diags)
		}
	}
	return planned
}

// wantTruth fails the test unless the state is what the service has, and a plan is empty.
func (h *handover) wantTruth(cfg blocks, order []string) {
	h.t.Helper()
	p := startProvider(h.t, attributes{"base_url": h.url})
	for _, addr := range order {
		sets := map[string]any{}
		if state, ok := h.state[addr]; ok {
			values := attributesOf(state.value)
			if isGroup(addr) {
				sets, _ = fromTerraform(values["streams"]).(map[string]any)
			} else {
				sets[fromTerraform(values["stream_id"]).(string)] = fromTerraform(values["processor_ids"])
			}
		}
		for id, set := range sets {
			stream, _ := h.service.Stream(id)
			if fmt.Sprint(slices.Sorted(slices.Values(stream.ProcessorIDs))) != fmt.Sprint(set) {
				h.t.Errorf("%s has %s in the state for stream %q, which has %s", addr, set, id, stream.ProcessorIDs)
			}
		}
		if _, ok := cfg[addr]; !ok {
			continue
		}
		if change, diags := h.plan(p, addr, cfg); len(diags) > 0 || !equalValues(change.value, h.state[addr].value) {
			h.t.Errorf("the plan of %s is not empty: %s", addr, diags)
		}
	}
}

// inEachOrder runs a test for each order of plans and of applies of two resources.
func inEachOrder(t *testing.T, a, b string, test func(t *testing.T, plans, applies []string)) {
	for _, plans := range [][]string{{a, b}, {b, a}} {
		for _, applies := range [][]string{{a, b}, {b, a}} {
			t.Run(fmt.Sprintf("plans %s, applies %s", plans, applies), func(t *testing.T) {
				t.Parallel()
				test(t, plans, applies)
			})
		}
	}
}

// A stream moves between two resources. It ends with the set of the new one, and where it is emptied for a
// moment, the plan warns.
func TestGroupHandover(t *testing.T) {
	t.Parallel()
	one, two := map[string][]string{"s1": {"p1"}}, map[string][]string{"s1": {"p1"}, "s2": {"p1"}}
	for name, test := range map[string]struct {
		a, b          string
		before, after blocks
		want          map[string]string // processors by stream
	}{
		"group to group": {
			"group.a", "group.b",
			blocks{"group.a": group(two, nil), "group.b": group(map[string][]string{"s3": {"p1"}}, nil)},
			blocks{"group.a": group(one, nil), "group.b": group(map[string][]string{"s2": {"p1"}, "s3": {"p1"}}, nil)},
			map[string]string{"s1": "p1", "s2": "p1", "s3": "p1"},
		},
		"group to group, with another set": {
			"group.a", "group.b",
			blocks{"group.a": group(two, nil), "group.b": group(map[string][]string{"s3": {"p1"}}, nil)},
			blocks{"group.a": group(one, nil), "group.b": group(map[string][]string{"s2": {"p2"}, "s3": {"p1"}}, nil)},
			map[string]string{"s1": "p1", "s2": "p2", "s3": "p1"},
		},
		"swap": {
			"group.a", "group.b",
			blocks{"group.a": group(one, nil), "group.b": group(map[string][]string{"s2": {"p2"}}, nil)},
			blocks{"group.a": group(map[string][]string{"s2": {"p1"}}, nil), "group.b": group(map[string][]string{"s1": {"p2"}}, nil)},
			map[string]string{"s1": "p2", "s2": "p1"},
		},
		"renamed group": {
			"group.a", "group.b",
			blocks{"group.a": group(two, nil)}, blocks{"group.b": group(two, nil)},
			map[string]string{"s1": "p1", "s2": "p1"},
		},
		"group to single": {
			"group.a", "single.b",
			blocks{"group.a": group(two, nil)}, blocks{"group.a": group(one, nil), "single.b": single("s2", "p2")},
			map[string]string{"s1": "p1", "s2": "p2"},
		},
		"single to group": {
			"group.a", "single.b",
			blocks{"group.a": group(one, nil), "single.b": single("s2", "p2")}, blocks{"group.a": group(two, nil)},
			map[string]string{"s1": "p1", "s2": "p1"},
		},
		"the single resource of a shared stream is destroyed": {
			"group.a", "single.b",
			blocks{"group.a": group(two, nil), "single.b": single("s2", "p1")}, blocks{"group.a": group(two, nil)},
			map[string]string{"s1": "p1", "s2": "p1"},
		},
		"the group of a shared stream is destroyed": {
			"group.a", "single.b",
			blocks{"group.a": group(two, nil), "single.b": single("s2", "p1")}, blocks{"single.b": single("s2", "p1")},
			map[string]string{"s1": "", "s2": "p1"},
		},
		"a group drops a shared stream with keep": {
			"group.a", "group.b",
			blocks{"group.a": group(two, nil), "group.b": group(one, nil)},
			blocks{"group.a": group(without(two, "s1"), attributes{"on_destroy": "keep"}), "group.b": group(one, nil)},
			map[string]string{"s1": "p1", "s2": "p1"},
		},
		"a group drops a shared stream, and the other one has a trigger": {
			"group.a", "group.b",
			blocks{"group.a": group(two, nil), "group.b": group(one, nil)},
			blocks{"group.a": group(without(two, "s1"), nil), "group.b": group(one, attributes{"triggers": map[string]string{"t": "1"}})},
			map[string]string{"s1": "p1", "s2": "p1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inEachOrder(t, test.a, test.b, func(t *testing.T, plans, applies []string) {
				h := newHandover(t, "s1", "s2", "s3")
				if diags := h.run(test.before, plans, applies); len(diags) > 0 {
					t.Fatal(diags)
				}
				h.wantTruth(test.before, plans)
				h.service.ForgetRequests()
				diags := h.run(test.after, plans, applies)
				if diags.failed() {
					t.Fatal(diags)
				}
				emptied := false
				for _, request := range h.service.DrainRequests() {
					for id, processors := range test.want {
						emptied = emptied || processors != "" && request == patches(map[string][]string{id: {}})[0]
					}
				}
				if emptied && !strings.Contains(diags.String(), "Processors May Be Detached for a Moment") {
					t.Errorf("a stream was emptied without a warning: %s", diags)
				}
				for id, processors := range test.want {
					h.service.WantAttached(t, id, strings.Fields(processors)...)
				}
				h.wantTruth(test.after, plans)
			})
		})
	}
}

// A group drops a stream that another resource keeps, and would empty it. Terraform passes the apply nothing
// that the plan found out, so the plan is refused.
func TestGroupDropsSharedStream(t *testing.T) {
	t.Parallel()
	two := map[string][]string{"s1": {"p1"}, "s2": {"p1"}}
	for other, config := range map[string]tftypes.Value{"group.b": group(without(two, "s1"), nil), "single.b": single("s2", "p1")} {
		t.Run(other, func(t *testing.T) {
			t.Parallel()
			inEachOrder(t, "group.a", other, func(t *testing.T, plans, applies []string) {
				h := newHandover(t, "s1", "s2")
				h.run(blocks{"group.a": group(two, nil), other: config}, plans, applies)
				h.service.ForgetRequests()
				diags := h.run(blocks{"group.a": group(without(two, "s2"), nil), other: config}, plans, applies)
				if !diags.failed() || !strings.Contains(diags.String(), "Another Resource Keeps the Stream") {
					t.Error(diags)
				}
				h.service.WantRequests(t)
			})
		})
	}
}
