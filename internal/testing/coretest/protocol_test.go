package coretest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// TestProtocol draws what core may pass for one resource: any attribute of its state and configuration null, unknown or known, with
// ignore_changes and replacements, and private states of other resources. The provider must not panic, and must return what core
// accepts: no unknown value after an apply, and none that differs from its plan. An error must be true of the service.
//
// The histories have several resources, but only states that the provider itself has made.
func TestProtocol(t *testing.T) {
	t.Parallel()
	inBatches(t, func(t historyT) { newObject(t).live() })
}

// object is a resource of the drawn runs.
type object struct {
	*rapid.T
	schema      *tfprotov6.Schema
	typeName    string
	deployments []*deployment
	start       func() tfprotov6.ProviderServer
	provider    Attributes // of the run
	configured  *deployment
	state       Managed
	privates    [][]byte // that some state had
}

func newObject(t historyT) *object {
	o := &object{T: t.T, typeName: SingleName}
	if o.chance(50, "group") {
		o.typeName = GroupName
	}
	core := newTerraformCore(t, true, 1)
	o.schema, o.deployments, o.start = schemas().ResourceSchemas[o.typeName], core.deployments, core.start
	o.state, o.privates = Managed{Value: nullOf(o.schema.ValueType())}, [][]byte{nil}
	return o
}

func (o *object) chance(percent int, what string) bool {
	return drawIndex(o.T, 100, what) >= 100-percent
}

func oneOf[T any](o *object, what string, all ...T) T { return rapid.SampledFrom(all).Draw(o.T, what) }

func (o *object) live() {
	for range 1 + drawIndex(o.T, 4, "runs") {
		o.provider = Attributes{"detect_drift": o.chance(40, "detect_drift"), "retry": Attributes{"max_attempts": 1}}
		o.configured = oneOf(o, "deployment", o.deployments...)
		if o.provider["base_url"] = o.configured.address; o.configured.name != o.configured.address {
			o.provider["deployment"] = o.configured.name
		}
		for _, d := range o.deployments {
			d.service.InjectFunc(nil)
			d.seedMissing(d.service)
			d.service.ForgetRequests()
		}
		if o.state.Value.IsNull() {
			o.arrive()
		} else {
			o.edit()
		}
		o.run()
		for _, d := range o.deployments[:2] {
			if d.service != o.configured.service && len(d.service.Requests()) > 0 {
				o.Fatalf("%s is configured, and %s got %v", o.configured.name, d.name, d.service.Requests())
			}
		}
	}
}

// process starts a process of the provider. In a plan, the address may not be known.
func (o *object) process(late bool) *Process {
	provider := maps.Clone(o.provider)
	if late {
		provider["base_url"] = tftypes.UnknownValue
	}
	p := &Process{T: o.T, Server: o.start(), Schemas: schemas(), Limit: time.Hour}
	p.Configure(provider)
	return p
}

var protocolStreams = []string{"s1", "s2", "s3"}

func (o *object) set(what string) []string {
	return oneOf(o, what, []string{}, []string{"p1"}, []string{"p2"}, []string{"p1", "p2"})
}

// value draws an attribute. An unknown one becomes one of the same draw in the apply.
func (o *object) value(name, what string) any {
	switch name {
	case "stream_id":
		return oneOf(o, what, protocolStreams[:2]...)
	case "processor_ids":
		return o.set(what)
	case "streams":
		all := Attributes{}
		for _, id := range protocolStreams {
			if o.chance(60, what+" "+id) {
				all[id] = o.set(what + " of " + id)
			}
		}
		return all
	case "on_create":
		return oneOf[any](o, what, nil, nil, "replace", "refuse")
	case "on_destroy":
		return oneOf[any](o, what, nil, "detach", "keep")
	case "triggers":
		return oneOf[any](o, what, nil, map[string]string{}, map[string]string{"t": "1"}, map[string]string{"t": "2"},
			map[string]string{"t": "1", "u": "1"})
	case "timeouts":
		return oneOf[any](o, what, nil, Attributes{}, Attributes{"update": "1m"}, Attributes{"read": "1m", "delete": "2m"})
	}
	return nil
}

// configs draws a configuration as it is in the plan, with unknown values, and as it is in the apply.
func (o *object) configs() (planned, final tftypes.Value) {
	plan, apply := Attributes{}, Attributes{}
	was := elementsOf(o.state.Value)
	for _, a := range o.schema.Block.Attributes {
		if a.Computed && !a.Optional {
			continue
		}
		v := o.value(a.Name, a.Name)
		if kept, has := was[a.Name]; has && !kept.IsNull() && o.chance(50, "keeps "+a.Name) {
			v = kept
		}
		plan[a.Name], apply[a.Name] = v, v
		if o.chance(20, a.Name+" known after apply") {
			plan[a.Name] = o.late(v)
		}
	}
	typ := o.schema.ValueType()
	return ToTerraform(typ, plan), ToTerraform(typ, apply)
}

// late makes a value unknown, or one of its elements.
func (o *object) late(v any) any {
	all, isMap := v.(Attributes)
	if !isMap || len(all) == 0 || o.chance(50, "all of it") {
		return tftypes.UnknownValue
	}
	all = maps.Clone(all)
	all[oneOf(o, "unknown element", slices.Sorted(maps.Keys(all))...)] = tftypes.UnknownValue
	return all
}

func (o *object) ignored() (all []string) {
	if o.chance(50, "ignores nothing") {
		return nil
	}
	names := []string{"all", `triggers["t"]`}
	if o.typeName == GroupName {
		names = append(names, `streams["s1"]`, `streams["s2"]`)
	}
	for _, a := range o.schema.Block.Attributes {
		names = append(names, a.Name)
	}
	for range 1 + drawIndex(o.T, 3, "ignored") {
		all = append(all, oneOf(o, "ignored", names...))
	}
	if slices.Contains(all, "all") {
		return []string{"all"}
	}
	return all
}

// edit is what upgrades, moves and other versions may have made of a state: any value that the schema does not require is null.
func (o *object) edit() {
	values := AttributesOf(o.state.Value)
	for _, a := range o.schema.Block.Attributes {
		required := a.Name == "stream_id" || a.Name == "streams"
		if !required && o.chance(5, "without "+a.Name) {
			values[a.Name] = nullOf(values[a.Name].Type())
		}
	}
	o.state.Value = tftypes.NewValue(o.state.Value.Type(), values)
	if o.privates = append(o.privates, o.state.Private); o.chance(20, "another private state") {
		o.state.Private = oneOf(o, "private state", o.privates...)
	}
}

// arrive imports or moves an object into the state, or leaves that to a create.
func (o *object) arrive() {
	p := o.process(o.chance(20, "late address"))
	id := oneOf(o, "stream", protocolStreams[:2]...)
	switch how := drawIndex(o.T, 5, "arrives"); {
	case how == 1:
		if o.typeName == GroupName {
			id = `["s1","s2"]`
		}
		if imported, diags := p.ImportState(o.typeName, id); !o.failed("import", diags) {
			read, diags := p.Read(imported)
			if o.accept("read of an import", diags); !diags.Failed() && !read.Value.IsNull() {
				o.state = read
			}
		}
	case how == 2 && o.typeName == SingleName:
		source := map[string]any{"path": "/v2/streams/" + id, "id": id, "data": `{"processor_ids":["p1"]}`}
		if o.chance(50, "with a response") {
			source["api_response"] = fmt.Sprintf(`{"id":%q,"processor_ids":["p1"],"terminal_id":"t"}`, id)
		}
		o.move(p, "registry.terraform.io/mastercard/restapi", "restapi_object", source)
	case how == 3:
		source := Attributes{"on_destroy": o.value("on_destroy", "moved on_destroy")}
		for _, name := range []string{"stream_id", "processor_ids", "streams"} {
			if _, has := AttributesOf(ToTerraform(o.schema.ValueType(), Attributes{}))[name]; has && o.chance(90, "moved with "+name) {
				source[name] = o.value(name, "moved "+name)
			}
		}
		o.move(p, "registry.terraform.io/acme/stream", o.typeName, source)
	}
}

func (o *object) move(p *Process, address, typeName string, source map[string]any) {
	inJSON, _ := json.Marshal(source)
	resp, err := p.Server.MoveResourceState(context.Background(), &tfprotov6.MoveResourceStateRequest{
		SourceProviderAddress: address, SourceTypeName: typeName, SourceState: &tfprotov6.RawState{JSON: inJSON},
		SourcePrivate: oneOf(o, "private state", o.privates...), TargetTypeName: o.typeName,
	})
	if p.must(err); o.failed("move", resp.Diagnostics) {
		return
	}
	o.state = Managed{DecodeAs(o.T, o.schema.ValueType(), resp.TargetState), resp.TargetPrivate, knownIdentity(resp.TargetIdentity)}
}

// upgrade passes the state of the last run to the provider as core does.
func (o *object) upgrade(p *Process) {
	if o.state.Value.IsNull() {
		return
	}
	attributes, _ := FromTerraform(o.state.Value).(map[string]any)
	for name, v := range attributes {
		if text, isNumber := v.(string); isNumber && name == "last_edited" {
			attributes[name] = json.Number(text)
		}
		if v == nil && o.chance(10, "no "+name) {
			delete(attributes, name) // a version without the attribute
		}
	}
	inJSON, _ := json.Marshal(attributes)
	resp, err := p.Server.UpgradeResourceState(context.Background(), &tfprotov6.UpgradeResourceStateRequest{
		TypeName: o.typeName, RawState: &tfprotov6.RawState{JSON: inJSON},
	})
	if p.must(err); o.failed("upgrade", resp.Diagnostics) {
		o.Fatalf("the state cannot be upgraded: %s", Diagnostics(resp.Diagnostics))
	}
	o.state.Value = DecodeAs(o.T, o.schema.ValueType(), resp.UpgradedState)
}

// accept fails the test if a call panicked, or if the resource conflicts with itself.
func (o *object) accept(what string, diags Diagnostics) {
	for _, d := range diags {
		o.Logf("%s: %s: %s: %s", what, d.Severity, d.Summary, d.Detail)
		if slices.Contains([]string{"Provider Bug", "Conflicting Processor Sets", "Another Resource Keeps the Stream"}, d.Summary) {
			o.Fatalf("%s: %s", what, d.Detail)
		}
	}
}

func (o *object) failed(what string, diags Diagnostics) bool {
	o.accept(what, diags)
	return diags.Failed()
}

// run refreshes, plans and applies the object once.
func (o *object) run() {
	lateAddress := o.chance(10, "late address")
	p := o.process(lateAddress)
	o.upgrade(p)
	if !o.state.Value.IsNull() && o.chance(80, "refresh") {
		read, diags := p.Read(o.state)
		if o.failed("refresh", diags) {
			return
		}
		if o.state = read; !read.Value.IsFullyKnown() {
			o.Fatalf("a refresh leaves %v", FromTerraform(read.Value))
		}
	}
	null := nullOf(o.schema.ValueType())
	config, final := o.configs()
	ignored := o.ignored()
	o.Logf("state %v, private %s, config %v, then %v, ignores %q", FromTerraform(o.state.Value), o.state.Private, FromTerraform(config),
		FromTerraform(final), ignored)
	if o.failed("validate", p.Validate(config)) || o.failed("validate", p.Validate(final)) {
		o.Fatalf("a configuration is refused that every resource may have")
	}
	how := drawIndex(o.T, 10, "how") // 0: by the plan
	prior, tainted, forced, createsFirst := o.state, how == 1, how == 2 || how == 3, o.chance(40, "create_before_destroy")
	if how == 4 && !prior.Value.IsNull() {
		o.destroy(p, null)
		return
	}
	if tainted {
		prior = Managed{Value: null}
	}
	ignoring := func(config tftypes.Value) tftypes.Value { return Ignored(o.schema, prior.Value, config, ignored...) }
	planned, replaces, ok := o.plan(p, prior, ignoring(config))
	if !ok {
		return
	}
	replaces = !o.state.Value.IsNull() && (replaces || tainted || forced)
	if replaces && !tainted {
		if planned, _, ok = o.plan(p, Managed{null, planned.Private, planned.Identity}, config); !ok {
			return
		}
	}
	if o.patches() > 0 {
		o.Fatalf("before the apply, the service got %v", o.configured.service.Requests())
	}
	if !replaces && EqualValues(prior.Value, planned.Value) {
		return
	}
	o.faults()
	p = o.process(false)
	switch {
	case !replaces:
		o.apply(p, prior, planned, ignoring(final), final)
	case !createsFirst:
		if o.applyDestroy(p, o.state, Managed{null, planned.Private, nil}); o.state.Value.IsNull() {
			o.apply(p, o.state, planned, final, final)
		}
	default:
		old := o.state
		o.state = Managed{Value: null}
		if o.apply(p, o.state, planned, final, final); o.state.Value.IsNull() {
			o.state = old // core puts it back
			return
		}
		created := o.state
		if gone, _, ok := o.plan(p, old, null); ok {
			o.applyDestroy(p, old, gone)
		}
		o.state = created
	}
}

// destroy plans and applies a destroy.
func (o *object) destroy(p *Process, null tftypes.Value) {
	if planned, _, ok := o.plan(p, o.state, null); ok {
		o.faults()
		o.applyDestroy(o.process(false), o.state, planned)
	}
}

// faults makes some requests of the apply fail.
func (o *object) faults() {
	if !o.chance(30, "faults") {
		return
	}
	faulty, name := oneOf(o, "faulty", protocolStreams...), oneOf(o, "fault", slices.Sorted(maps.Keys(streamstest.Faults))...)
	service, methods, left := o.configured.service, []string{http.MethodPatch}, 100
	if o.chance(30, "no route") {
		name, left = oneOf(o, "no route", noRoutes...), oneOf(o, "requests", 1, 2, 100)
		methods = oneOf(o, "methods", methods, []string{http.MethodGet}, []string{http.MethodGet, http.MethodPatch})
	}
	everywhere := o.chance(30, "every stream")
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if !everywhere && r.StreamID != faulty || !slices.Contains(methods, r.Method) || left == 0 {
			return nil
		}
		left--
		return service.FaultByName(name, r.StreamID)
	})
}

// plan plans an object, and reports whether a change of it forces a new one, and whether there was no error.
func (o *object) plan(p *Process, prior Managed, config tftypes.Value) (planned Managed, replaces, ok bool) {
	patched := o.patches()
	planned, paths, diags := p.Plan(prior, config)
	if o.patches() > patched {
		o.Fatalf("a plan has sent %v", o.configured.service.Requests())
	}
	if o.failed("plan", diags) {
		o.checkErrors(diags, o.attached())
		return planned, false, false
	}
	if wrong := InvalidPlan(o.schema, prior.Value, config, planned.Value); len(wrong) > 0 {
		o.Fatalf("core refuses the plan: %q", wrong)
	}
	was, is := elementsOf(prior.Value), elementsOf(planned.Value)
	return planned, slices.ContainsFunc(paths, func(name string) bool {
		return !prior.Value.IsNull() && (!is[name].IsFullyKnown() || !EqualValues(was[name], is[name]))
	}), true
}

func (o *object) patches() (n int) {
	for _, d := range o.deployments[:2] {
		for _, r := range d.service.Requests() {
			if r.Method == http.MethodPatch {
				n++
			}
		}
	}
	return n
}

func (o *object) attached() map[string]any {
	sets := map[string]any{}
	for _, id := range protocolStreams {
		sets[id] = o.configured.attached(id)
	}
	return sets
}

// apply plans a create or an update again, and applies it.
func (o *object) apply(p *Process, prior, planned Managed, config, passed tftypes.Value) {
	final, replaces, ok := o.plan(p, prior, config)
	switch {
	case !ok:
		return
	case replaces:
		o.Fatalf("an update became a replacement")
	}
	if wrong := Incompatible(planned.Value, final.Value); len(wrong) > 0 {
		o.Fatalf("the final plan is inconsistent: %q", wrong)
	}
	if EqualValues(prior.Value, final.Value) {
		return // after all
	}
	attached := o.attached()
	got, diags := p.Apply(prior.Value, final, passed)
	failed := o.failed("apply", diags)
	switch {
	case !got.Value.IsFullyKnown():
		o.Fatalf("an apply leaves %v", FromTerraform(got.Value))
	case got.Value.IsNull() && !failed:
		o.Fatalf("a success leaves nothing")
	case got.Value.IsNull():
	case prior.Value.IsNull() && failed:
		o.Fatalf("a failed create leaves a tainted object: %v", FromTerraform(got.Value))
	default:
		o.state = got
	}
	if failed {
		o.checkErrors(diags, attached)
		return
	}
	if wrong := Incompatible(final.Value, got.Value); len(wrong) > 0 {
		o.Fatalf("the result is inconsistent: %q", wrong)
	}
	if got.Identity == nil && o.typeName == SingleName {
		o.Fatalf("the result has no identity")
	}
	former, is := &stored{Managed: prior}, &stored{Managed: got}
	if prior.Value.IsNull() {
		former = nil
	}
	if name := is.text("deployment"); name != o.configured.name {
		o.Fatalf("the deployment in the state is %q", name)
	}
	if o.patches() == 0 {
		return
	}
	for id, set := range is.sets() {
		if was := former.sets()[id]; !reflect.DeepEqual(was, set) && !reflect.DeepEqual(o.configured.attached(id), set) {
			o.Fatalf("stream %q has %v, and the state %v", id, o.configured.attached(id), set)
		}
	}
}

// applyDestroy destroys an object.
func (o *object) applyDestroy(p *Process, object, planned Managed) {
	attached := o.attached()
	got, diags := p.Apply(object.Value, planned, nullOf(object.Value.Type()))
	switch failed := o.failed("destroy", diags); {
	case !failed && !got.Value.IsNull():
		o.Fatalf("a destroy leaves %v", FromTerraform(got.Value))
	case !failed:
		o.checkDestroyed(object)
		o.state = got
	case !got.Value.IsFullyKnown():
		o.Fatalf("a destroy leaves %v", FromTerraform(got.Value))
	default:
		if !got.Value.IsNull() {
			o.state = got
		}
		o.checkErrors(diags, attached)
	}
}

// checkDestroyed checks that what a destroy has sent has succeeded, or that the service itself does not know the stream.
func (o *object) checkDestroyed(object Managed) {
	last := map[string]streamstest.Request{}
	for _, r := range o.configured.service.Requests() {
		if r.Method == http.MethodPatch {
			last[r.StreamID] = r
		}
	}
	for id := range (&stored{Managed: object}).sets() {
		if r, sent := last[id]; sent && r.Status != http.StatusOK && !saysGone(r) {
			o.Fatalf("a destroy succeeds with %s", r)
		}
	}
}

// checkErrors compares the last sentences of errors with what the streams had before, and have now.
func (o *object) checkErrors(diags Diagnostics, before map[string]any) {
	for _, d := range diags {
		if d.Severity != tfprotov6.DiagnosticSeverityError {
			continue
		}
		for id, detail := range ByStream(d) {
			now := o.configured.attached(id)
			if strings.HasSuffix(strings.TrimSpace(detail), "The stream was not changed.") && !reflect.DeepEqual(before[id], now) {
				o.Fatalf("stream %q had %v and has %v: %s", id, before[id], now, detail)
			}
			if _, set, reported := strings.Cut(detail, reportedNow); reported &&
				!strings.Contains(set, strings.ReplaceAll(fmt.Sprintf("%q", now), " ", ", ")) {
				o.Fatalf("stream %q has %v: %s", id, now, detail)
			}
		}
	}
}
