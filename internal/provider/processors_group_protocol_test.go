package provider

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const groupName = "stream_processors_group"

func groupSchema() *tfprotov6.Schema { return schemas().ResourceSchemas[groupName] }

func nullGroup() managed { return managed{value: nullOf(groupSchema().ValueType())} }

// group makes a configuration of a group.
func group(streams map[string][]string, others attributes) tftypes.Value {
	all := attributes{}
	for id, processors := range streams {
		all[id] = processors
	}
	a := attributes{"streams": all}
	maps.Copy(a, others)
	return toTerraform(groupSchema().ValueType(), a)
}

// sameSet gives n streams one set.
func sameSet(n int, processors ...string) map[string][]string {
	streams := map[string][]string{}
	for i := range n {
		streams[fmt.Sprintf("s%03d", i)] = processors
	}
	return streams
}

// with returns streams with another set for one of them.
func with(streams map[string][]string, id string, processors ...string) map[string][]string {
	streams = maps.Clone(streams)
	streams[id] = processors
	return streams
}

func without(streams map[string][]string, ids ...string) map[string][]string {
	streams = maps.Clone(streams)
	for _, id := range ids {
		delete(streams, id)
	}
	return streams
}

func seeds(streams map[string][]string) []streamstest.Stream {
	return streamstest.Streams(slices.Sorted(maps.Keys(streams))...)
}

// planGroup plans a configuration; nil plans the destroy.
func (p *process) planGroup(prior managed, config *tftypes.Value) (managed, diagnostics) {
	p.t.Helper()
	wanted := nullGroup().value
	if config != nil {
		wanted = *config
	}
	planned, _, diags := p.plan(prior, wanted, proposedState(prior.value, wanted))
	return planned, diags
}

func (p *process) applyGroup(prior, planned managed, config *tftypes.Value) (managed, diagnostics) {
	p.t.Helper()
	wanted := nullGroup().value
	if config != nil {
		wanted = *config
	}
	return p.apply(prior.value, planned, wanted)
}

// groupRun plans and applies as Terraform does: the apply is another process, which plans updates again.
type groupRun struct {
	t        *testing.T
	provider attributes
	state    managed
}

func newGroupRun(t *testing.T, provider attributes) *groupRun {
	return &groupRun{t, provider, nullGroup()}
}

// run returns the diagnostics of the plan and of the apply. A plan without a change is not applied.
func (r *groupRun) run(config *tftypes.Value) (planned, applied diagnostics) {
	r.t.Helper()
	plan, planned := startProvider(r.t, r.provider).planGroup(r.state, config)
	if planned.failed() || equalValues(plan.value, r.state.value) {
		return planned, nil
	}
	p := startProvider(r.t, r.provider)
	if config != nil {
		var again diagnostics
		if plan, again = p.planGroup(r.state, config); again.failed() {
			r.t.Fatalf("the apply cannot plan: %s", again)
		}
	}
	r.state, applied = p.applyGroup(r.state, plan, config)
	if !r.state.value.IsFullyKnown() {
		r.t.Fatalf("the state has unknown values: %v", fromTerraform(r.state.value))
	}
	if config != nil && !applied.failed() && !equalValues(attributesOf(r.state.value)["streams"], attributesOf(*config)["streams"]) {
		r.t.Fatal("the state after a success has other streams than the configuration")
	}
	return planned, applied
}

func (r *groupRun) mustRun(config *tftypes.Value) {
	r.t.Helper()
	for _, diags := range []diagnostics{first(r.run(config))} {
		if diags.failed() {
			r.t.Fatal(diags)
		}
	}
}

func (r *groupRun) wantNoChanges(config tftypes.Value) {
	r.t.Helper()
	plan, diags := startProvider(r.t, r.provider).planGroup(r.state, &config)
	if len(diags) > 0 || !equalValues(plan.value, r.state.value) {
		r.t.Fatalf("the plan is not empty: %s", diags)
	}
}

// wantStreams fails the test unless the state has exactly these streams.
func (r *groupRun) wantStreams(want map[string][]string) {
	r.t.Helper()
	if !equalValues(attributesOf(r.state.value)["streams"], attributesOf(group(want, nil))["streams"]) {
		r.t.Fatalf("the state has other streams: %v", fromTerraform(attributesOf(r.state.value)["streams"]))
	}
}

func first(planned, applied diagnostics) diagnostics { return slices.Concat(planned, applied) }

// errorsAt returns the summaries of the errors by the key in streams; "" is streams itself.
func errorsAt(diags diagnostics) map[string][]string {
	found := map[string][]string{}
	for _, d := range diags {
		if d.Severity != tfprotov6.DiagnosticSeverityError {
			continue
		}
		key := ""
		if steps := d.Attribute.Steps(); len(steps) > 1 {
			key = string(steps[1].(tftypes.ElementKeyString))
		}
		found[key] = append(found[key], d.Summary)
	}
	return found
}

// patches are the requests that set streams.
func patches(streams map[string][]string) []string {
	var lines []string
	for id, processors := range streams {
		lines = append(lines, "PATCH /v2/streams/"+id+" "+patchBody(processors))
	}
	return lines
}

// refuse makes the service respond to the requests for some streams with faults.
func refuse(service *streamstest.Service, faults map[string]streamstest.Fault) {
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if fault, ok := faults[r.Target[strings.LastIndex(r.Target, "/")+1:]]; ok {
			return &fault
		}
		return nil
	})
}
