package provider

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"
)

// The protocol tests talk to the provider as Terraform core does, but in the test's own process: no
// CLI, no plugin process. They are for what needs thousands of runs, or a call that no CLI makes.

const resourceName, actionName = "stream_processors", "stream_set_processors"

// process is one process of the provider: configured once, for one walk over a plan or an apply.
type process struct {
	t       rapid.TB // also a *testing.T
	server  tfprotov6.ProviderServer
	stopped <-chan struct{} // closed when nobody listens to actions any more
}

// managed is a resource as a state or a plan holds it.
type managed struct {
	value    tftypes.Value // null: there is none
	private  []byte
	identity *tfprotov6.ResourceIdentityData
}

type diagnostics []*tfprotov6.Diagnostic

func (d diagnostics) failed() bool {
	return slices.ContainsFunc(d, func(d *tfprotov6.Diagnostic) bool { return d.Severity == tfprotov6.DiagnosticSeverityError })
}

func (d diagnostics) String() string {
	var lines []string
	for _, d := range d {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", d.Severity, d.Summary, d.Detail))
	}
	return strings.Join(lines, "\n")
}

// schemas are the provider's own, asked for once.
var schemas = sync.OnceValue(func() *tfprotov6.GetProviderSchemaResponse {
	schemas, err := NewServer("test")().GetProviderSchema(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	return schemas
})

func resourceSchema() *tfprotov6.Schema { return schemas().ResourceSchemas[resourceName] }

// newTestServer makes the server of the protocol tests.
var newTestServer = func(rapid.TB) tfprotov6.ProviderServer { return NewServer("test")() }

// startProvider starts the provider and configures it.
func startProvider(t rapid.TB, config attributes) *process {
	t.Helper()
	p := &process{t: t, server: newTestServer(t)}
	p.configure(config)
	return p
}

func (p *process) configure(config attributes) {
	p.t.Helper()
	resp, err := p.server.ConfigureProvider(context.Background(), &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.14.0",
		Config:           dynamic(value(schemas().Provider.ValueType(), config)),
	})
	p.must(err)
	if diags := diagnostics(resp.Diagnostics); diags.failed() {
		p.t.Fatalf("the provider refuses its configuration: %s", diags)
	}
}

func (p *process) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("the protocol server failed: %v", err)
	}
}

func (p *process) validate(config tftypes.Value) diagnostics {
	resp, err := p.server.ValidateResourceConfig(context.Background(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: resourceName, Config: dynamic(config),
	})
	p.must(err)
	return resp.Diagnostics
}

func (p *process) importState(id string) (managed, diagnostics) {
	resp, err := p.server.ImportResourceState(context.Background(), &tfprotov6.ImportResourceStateRequest{
		TypeName: resourceName, ID: id,
	})
	p.must(err)
	if diagnostics(resp.Diagnostics).failed() {
		return managed{}, resp.Diagnostics
	}
	got := resp.ImportedResources[0]
	return managed{p.resource(got.State), got.Private, got.Identity}, resp.Diagnostics
}

// upgrade decodes the JSON of a state file.
func (p *process) upgrade(state []byte) (tftypes.Value, diagnostics) {
	resp, err := p.server.UpgradeResourceState(context.Background(), &tfprotov6.UpgradeResourceStateRequest{
		TypeName: resourceName, Version: resourceSchema().Version, RawState: &tfprotov6.RawState{JSON: state},
	})
	p.must(err)
	return p.resource(resp.UpgradedState), resp.Diagnostics
}

func (p *process) read(state managed) (managed, diagnostics) {
	resp, err := p.server.ReadResource(context.Background(), &tfprotov6.ReadResourceRequest{
		TypeName: resourceName, CurrentState: dynamic(state.value), Private: state.private, CurrentIdentity: state.identity,
	})
	p.must(err)
	return managed{p.resource(resp.NewState), resp.Private, resp.NewIdentity}, resp.Diagnostics
}

// plan returns the planned object and the attributes whose change makes it another one.
func (p *process) plan(prior managed, config, proposed tftypes.Value) (managed, []string, diagnostics) {
	resp, err := p.server.PlanResourceChange(context.Background(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: resourceName, PriorState: dynamic(prior.value), PriorPrivate: prior.private, PriorIdentity: prior.identity,
		Config: dynamic(config), ProposedNewState: dynamic(proposed),
	})
	p.must(err)
	var replace []string
	for _, path := range resp.RequiresReplace {
		replace = append(replace, string(path.Steps()[0].(tftypes.AttributeName)))
	}
	return managed{p.resource(resp.PlannedState), resp.PlannedPrivate, resp.PlannedIdentity}, replace, resp.Diagnostics
}

func (p *process) apply(prior tftypes.Value, planned managed, config tftypes.Value) (managed, diagnostics) {
	resp, err := p.server.ApplyResourceChange(context.Background(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: resourceName, PriorState: dynamic(prior), PlannedState: dynamic(planned.value),
		PlannedPrivate: planned.private, PlannedIdentity: planned.identity, Config: dynamic(config),
	})
	p.must(err)
	return managed{p.resource(resp.NewState), resp.Private, resp.NewIdentity}, resp.Diagnostics
}

// invoke runs an action to its end and returns what it said on the way.
func (p *process) invoke(config attributes) (progress []string, diags diagnostics) {
	stream, err := p.server.(tfprotov6.ActionServer).InvokeAction(context.Background(), &tfprotov6.InvokeActionRequest{
		ActionType: actionName,
		Config:     dynamic(value(schemas().ActionSchemas[actionName].Schema.ValueType(), config)),
	})
	p.must(err)
	for event := range stream.Events {
		select {
		case <-p.stopped:
			return progress, diags
		default:
		}
		switch event := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			progress = append(progress, event.Message)
		case tfprotov6.CompletedInvokeActionEventType:
			diags = event.Diagnostics
		}
	}
	return progress, diags
}

// resource decodes an object of the resource's type; a null one for none at all.
func (p *process) resource(v *tfprotov6.DynamicValue) tftypes.Value {
	if v == nil {
		return nothing()
	}
	decoded, err := v.Unmarshal(resourceSchema().ValueType())
	p.must(err)
	return decoded
}

func nothing() tftypes.Value { return tftypes.NewValue(resourceSchema().ValueType(), nil) }

// proposed is what core suggests as the new object: the configuration, and what the provider
// computes as it was.
func proposed(prior, config tftypes.Value) tftypes.Value {
	return proposedBy(resourceSchema(), prior, config)
}

func proposedBy(s *tfprotov6.Schema, prior, config tftypes.Value) tftypes.Value {
	if config.IsNull() || prior.IsNull() {
		return config
	}
	was, is := fields(prior), fields(config)
	for _, a := range s.Block.Attributes {
		if a.Computed && is[a.Name].IsNull() {
			is[a.Name] = was[a.Name]
		}
	}
	return tftypes.NewValue(s.ValueType(), is)
}

// attributes are the set attributes of a configuration, by name, as string, bool, []string,
// map[string]string, tftypes.UnknownValue or nested attributes. The others are null.
type attributes map[string]any

// value makes the value of a type.
func value(typ tftypes.Type, v any) tftypes.Value {
	switch v := v.(type) {
	case attributes:
		all := map[string]tftypes.Value{}
		for name, typ := range typ.(tftypes.Object).AttributeTypes {
			all[name] = value(typ, v[name])
		}
		return tftypes.NewValue(typ, all)
	case []string:
		var list []tftypes.Value
		for _, text := range v {
			list = append(list, tftypes.NewValue(tftypes.String, text))
		}
		return tftypes.NewValue(typ, list)
	case []any:
		var list []tftypes.Value
		for _, v := range v {
			list = append(list, value(tftypes.String, v))
		}
		return tftypes.NewValue(typ, list)
	case map[string]string:
		all := map[string]tftypes.Value{}
		for key, text := range v {
			all[key] = tftypes.NewValue(tftypes.String, text)
		}
		return tftypes.NewValue(typ, all)
	}
	return tftypes.NewValue(typ, v)
}

// plain is a value in a form to compare and to print: nil, unknown, a basic type, a sorted list or a map.
func plain(v tftypes.Value) any {
	switch {
	case !v.IsKnown():
		return tftypes.UnknownValue
	case v.IsNull():
		return nil
	}
	var (
		text   string
		number big.Float
		flag   bool
		list   []tftypes.Value
		all    map[string]tftypes.Value
	)
	switch {
	case v.As(&text) == nil:
		return text
	case v.As(&number) == nil:
		return number.Text('f', -1)
	case v.As(&flag) == nil:
		return flag
	case v.As(&list) == nil:
		texts := []string{}
		for _, v := range list {
			texts = append(texts, fmt.Sprint(plain(v)))
		}
		slices.Sort(texts) // sets are all there is
		return texts
	case v.As(&all) == nil:
		values := map[string]any{}
		for key, v := range all {
			values[key] = plain(v)
		}
		return values
	}
	panic(fmt.Sprintf("a value of an unexpected type: %s", v))
}

func fields(v tftypes.Value) map[string]tftypes.Value {
	var all map[string]tftypes.Value
	if err := v.As(&all); err != nil {
		panic(err)
	}
	return maps.Clone(all)
}

func dynamic(v tftypes.Value) *tfprotov6.DynamicValue {
	encoded, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		panic(err)
	}
	return &encoded
}
