package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

const resourceName, actionName = "stream_processors", "stream_set_processors"

// failer is the part of a test that the protocol helpers need.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// process calls the provider as Terraform core does, but within the process of the test: for tests that need thousands
// of runs, or calls that no CLI makes. It stands for one process of the provider: Terraform starts one for each plan and
// each apply.
type process struct {
	t       failer
	server  tfprotov6.ProviderServer
	stopped <-chan struct{} // closed when Terraform no longer listens to an action
}

// managed is a resource in a state or a plan.
type managed struct {
	value    tftypes.Value // null: the resource does not exist
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

var schemas = sync.OnceValue(func() *tfprotov6.GetProviderSchemaResponse {
	schemas, err := NewServer("test")().GetProviderSchema(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	return schemas
})

func resourceSchema() *tfprotov6.Schema { return schemas().ResourceSchemas[resourceName] }

// newTestServer makes the server of the protocol tests.
var newTestServer = func(failer) tfprotov6.ProviderServer { return NewServer("test")() }

// startProvider starts the provider and configures it.
func startProvider(t failer, config attributes) *process {
	t.Helper()
	p := &process{t: t, server: newTestServer(t)}
	p.configure(config)
	return p
}

func (p *process) configure(config attributes) {
	p.t.Helper()
	resp, err := p.server.ConfigureProvider(context.Background(), &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.14.0",
		Config:           dynamicValue(toTerraform(schemas().Provider.ValueType(), config)),
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
		TypeName: typeNameOf(config), Config: dynamicValue(config),
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
	return managed{decodeResource(p.t, got.State), got.Private, got.Identity}, resp.Diagnostics
}

// upgrade decodes the JSON of a state file.
func (p *process) upgrade(state []byte) (tftypes.Value, diagnostics) {
	resp, err := p.server.UpgradeResourceState(context.Background(), &tfprotov6.UpgradeResourceStateRequest{
		TypeName: resourceName, Version: resourceSchema().Version, RawState: &tfprotov6.RawState{JSON: state},
	})
	p.must(err)
	return decodeResource(p.t, resp.UpgradedState), resp.Diagnostics
}

func (p *process) read(state managed) (managed, diagnostics) {
	resp, err := p.server.ReadResource(context.Background(), &tfprotov6.ReadResourceRequest{
		TypeName: typeNameOf(state.value), CurrentState: dynamicValue(state.value), Private: state.private, CurrentIdentity: state.identity,
	})
	p.must(err)
	return managed{decodeAs(p.t, state.value.Type(), resp.NewState), resp.Private, resp.NewIdentity}, resp.Diagnostics
}

// plan returns the planned state and the attributes whose change forces a new resource.
func (p *process) plan(prior managed, config, proposed tftypes.Value) (managed, []string, diagnostics) {
	resp, err := p.server.PlanResourceChange(context.Background(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: typeNameOf(prior.value), PriorState: dynamicValue(prior.value), PriorPrivate: prior.private, PriorIdentity: prior.identity,
		Config: dynamicValue(config), ProposedNewState: dynamicValue(proposed),
	})
	p.must(err)
	var replace []string
	for _, path := range resp.RequiresReplace {
		replace = append(replace, string(path.Steps()[0].(tftypes.AttributeName)))
	}
	return managed{decodeAs(p.t, prior.value.Type(), resp.PlannedState), resp.PlannedPrivate, resp.PlannedIdentity}, replace, resp.Diagnostics
}

func (p *process) apply(prior tftypes.Value, planned managed, config tftypes.Value) (managed, diagnostics) {
	resp, err := p.server.ApplyResourceChange(context.Background(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: typeNameOf(prior), PriorState: dynamicValue(prior), PlannedState: dynamicValue(planned.value),
		PlannedPrivate: planned.private, PlannedIdentity: planned.identity, Config: dynamicValue(config),
	})
	p.must(err)
	return managed{decodeAs(p.t, prior.Type(), resp.NewState), resp.Private, resp.NewIdentity}, resp.Diagnostics
}

// invoke runs an action to its end and returns its progress messages.
func (p *process) invoke(config attributes) (progress []string, diags diagnostics) {
	stream, err := p.server.(tfprotov6.ActionServer).InvokeAction(context.Background(), &tfprotov6.InvokeActionRequest{
		ActionType: actionName,
		Config:     dynamicValue(toTerraform(schemas().ActionSchemas[actionName].Schema.ValueType(), config)),
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
