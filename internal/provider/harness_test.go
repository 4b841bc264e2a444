package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

var schemas = sync.OnceValue(func() *coretest.Schemas { return coretest.SchemasOf(server.New("test", nil)()) })

func resourceSchema() *tfprotov6.Schema { return schemas().ResourceSchemas[coretest.SingleName] }

func groupSchema() *tfprotov6.Schema { return schemas().ResourceSchemas[coretest.GroupName] }

// newProcess starts the provider.
func newProcess(t coretest.Failer, server tfprotov6.ProviderServer) *coretest.Process {
	return &coretest.Process{T: t, Server: server, Schemas: schemas()}
}

// startProvider starts the provider and configures it.
func startProvider(t coretest.Failer, config coretest.Attributes) *coretest.Process {
	t.Helper()
	p := newProcess(t, server.New("test", nil)())
	p.Configure(config)
	return p
}

func resourceValue(a coretest.Attributes) tftypes.Value {
	return coretest.ToTerraform(resourceSchema().ValueType(), a)
}

// nullResource is a resource that does not exist.
func nullResource() tftypes.Value { return tftypes.NewValue(resourceSchema().ValueType(), nil) }

// single makes a configuration of a single resource. Both values may be unknown.
func single(id, processors any) tftypes.Value {
	return resourceValue(coretest.Attributes{"stream_id": id, "processor_ids": processors})
}

// cam1 is a configuration of stream cam-1.
func cam1(processors ...string) tftypes.Value {
	return single("cam-1", append([]string{}, processors...))
}

func nullGroup() coretest.Managed {
	return coretest.Managed{Value: tftypes.NewValue(groupSchema().ValueType(), nil)}
}

// group makes a configuration of a group.
func group(streams map[string][]string, others coretest.Attributes) tftypes.Value {
	all := coretest.Attributes{}
	for id, processors := range streams {
		all[id] = processors
	}
	return coretest.ToTerraform(groupSchema().ValueType(), merge(coretest.Attributes{"streams": all}, others))
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

// merge returns the attributes of both objects. Those of the second one come first.
func merge(a, b coretest.Attributes) coretest.Attributes {
	merged := maps.Clone(a)
	maps.Copy(merged, b)
	return merged
}

// resourceRun plans and applies one resource as Terraform does: the apply is another process, which plans updates again.
type resourceRun struct {
	t        *testing.T
	provider coretest.Attributes
	state    coretest.Managed
	deposed  *coretest.Managed // an old object that could not be destroyed
}

// startRun starts a service with streams, for a resource that does not exist. The provider makes one attempt.
func startRun(
	t *testing.T, null tftypes.Value, config coretest.Attributes, seed ...streamstest.Stream,
) (*streamstest.Service, *resourceRun) {
	t.Helper()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, seed...)
	provider := merge(coretest.Attributes{"base_url": url, "retry": oneAttempt}, config)
	return service, &resourceRun{t: t, provider: provider, state: coretest.Managed{Value: null}}
}

// null is the configuration of a destroy.
func (r *resourceRun) null() tftypes.Value { return tftypes.NewValue(r.state.Value.Type(), nil) }

func (r *resourceRun) plan(config tftypes.Value) (coretest.Managed, coretest.Diagnostics) {
	r.t.Helper()
	planned, _, diags := startProvider(r.t, r.provider).Plan(r.state, config)
	return planned, diags
}

// planAndApply returns the diagnostics of the plan and of the apply. A plan without a change is not applied.
func (r *resourceRun) planAndApply(config tftypes.Value) (planned, applied coretest.Diagnostics) {
	r.t.Helper()
	plan, planned := r.plan(config)
	if planned.Failed() || coretest.EqualValues(plan.Value, r.state.Value) {
		return planned, nil
	}
	p := startProvider(r.t, r.provider)
	if !config.IsNull() {
		var again coretest.Diagnostics
		if plan, _, again = p.Plan(r.state, config); again.Failed() {
			r.t.Fatalf("the apply cannot plan: %s", again)
		}
	}
	r.state, applied = p.Apply(r.state.Value, plan, config)
	if !r.state.Value.IsFullyKnown() {
		r.t.Fatalf("the state has unknown values: %v", coretest.FromTerraform(r.state.Value))
	}
	for _, name := range []string{"streams", "processor_ids"} {
		if want, ok := coretest.AttributesOf(config)[name]; ok && !applied.Failed() &&
			!coretest.EqualValues(coretest.AttributesOf(r.state.Value)[name], want) {
			r.t.Fatalf("after a success, %s in the state differs from the configuration", name)
		}
	}
	return planned, applied
}

// apply returns the diagnostics of the apply. The plan must succeed.
func (r *resourceRun) apply(config tftypes.Value) coretest.Diagnostics {
	r.t.Helper()
	planned, applied := r.planAndApply(config)
	if planned.Failed() {
		r.t.Fatalf("plan: %s", planned)
	}
	return applied
}

func (r *resourceRun) mustApply(config tftypes.Value) {
	r.t.Helper()
	if diags := r.apply(config); diags.Failed() {
		r.t.Fatalf("apply: %s", diags)
	}
}

// mustFail returns the diagnostics of an apply that fails after a plan that succeeds.
func (r *resourceRun) mustFail(config tftypes.Value) coretest.Diagnostics {
	r.t.Helper()
	diags := r.apply(config)
	if !diags.Failed() {
		r.t.Fatal("the apply succeeded")
	}
	return diags
}

func (r *resourceRun) wantNoChanges(config tftypes.Value) {
	r.t.Helper()
	if plan, diags := r.plan(config); len(diags) > 0 || !coretest.EqualValues(plan.Value, r.state.Value) {
		r.t.Fatalf("the plan has changes: %v %s", coretest.FromTerraform(plan.Value), diags)
	}
}

// refresh reads the resource into the state.
func (r *resourceRun) refresh() (diags coretest.Diagnostics) {
	r.t.Helper()
	r.state, diags = startProvider(r.t, r.provider).Read(r.state)
	return diags
}

// wantStreams fails the test unless the state has exactly these streams.
func (r *resourceRun) wantStreams(want map[string][]string) {
	r.t.Helper()
	wantAttribute(r.t, r.state, "streams", coretest.FromTerraform(coretest.AttributesOf(group(want, nil))["streams"]))
}

var oneAttempt, detectDrift = coretest.Attributes{"max_attempts": 1}, coretest.Attributes{"detect_drift": true}

// Texts of diagnostics.
const (
	notSaved           = "Nothing of this create is in the state, and what it attached may stay attached."
	withoutReads       = "set detect_drift = false, or unset STREAM_DETECT_DRIFT."
	withoutDataSource  = "remove the data source: the state of a resource has the set that was sent last."
	withoutGroupImport = "remove the import, and apply the group: "
)

// patience is longer than any step of a test takes.
const patience = 30 * time.Second

func idsOf(streams map[string][]string) []string { return slices.Sorted(maps.Keys(streams)) }

func seeds(streams map[string][]string) []streamstest.Stream {
	return streamstest.Streams(idsOf(streams)...)
}

// patches are the requests that set streams.
func patches(streams map[string][]string) []string {
	var lines []string
	for id, processors := range streams {
		body, _ := json.Marshal(map[string][]string{"processor_ids": append([]string{}, processors...)})
		lines = append(lines, fmt.Sprintf("PATCH /v2/streams/%s %s", id, body))
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

// decodeIdentity decodes an identity into the form of [coretest.FromTerraform]; nil is a null identity.
func decodeIdentity(t coretest.Failer, data *tfprotov6.ResourceIdentityData) any {
	t.Helper()
	if data == nil {
		return nil
	}
	typ := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"stream_id": tftypes.String}}
	return coretest.FromTerraform(coretest.DecodeAs(t, typ, data.IdentityData))
}

// errorsAt returns the summaries of the errors of a group by stream.
func errorsAt(diags coretest.Diagnostics) map[string][]string {
	found := map[string][]string{}
	for _, d := range errorsOf(diags) {
		for id := range coretest.ByStream(d) {
			found[id] = append(found[id], d.Summary)
		}
	}
	return found
}

func wantAttribute(t *testing.T, m coretest.Managed, name string, want any) {
	t.Helper()
	wantEqual(t, name, want, coretest.FromTerraform(coretest.AttributesOf(m.Value)[name]))
}

// wantDiagnostic fails the test unless there is a diagnostic with the beginning of a severity and summary, and with a part of the detail.
func wantDiagnostic(t *testing.T, diags coretest.Diagnostics, summary, detail string) {
	t.Helper()
	for _, d := range diags {
		if strings.HasPrefix(d.Severity.String()+": "+d.Summary, summary) && strings.Contains(d.Detail, detail) {
			return
		}
	}
	t.Errorf("no %q with %q in %s", summary, detail, diags)
}

// wantError fails the test unless there is one error with a text, and nothing else.
func wantError(t *testing.T, diags coretest.Diagnostics, text string) {
	t.Helper()
	if len(diags) != 1 || !diags.Failed() || !strings.Contains(diags.String(), text) {
		t.Fatalf("want one error with %q, got %s", text, diags)
	}
}

func wantState(t *testing.T, want tftypes.Value, got coretest.Managed) {
	t.Helper()
	wantEqual(t, "state", coretest.FromTerraform(want), coretest.FromTerraform(got.Value))
}

func wantDiagnostics(t *testing.T, diags coretest.Diagnostics, want ...string) {
	t.Helper()
	var got []string
	for _, d := range diags {
		got = append(got, d.Severity.String()+": "+d.Summary)
	}
	if !slices.Equal(got, want) {
		t.Errorf("diagnostics %q, want %q: %s", got, want, diags)
	}
}

func wantEqual(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
