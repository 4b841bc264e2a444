// Package coretest calls the provider as Terraform core does, within the process of a test. It speaks only protocol 6 to
// the provider, and decodes its marks in the private state. Its own tests are random histories, which run against a
// model of Terraform core.
package coretest

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The names of what the provider has.
const (
	SingleName = "stream_processors"
	GroupName  = "stream_processors_group"
	ActionName = "stream_set_processors"
)

// Failer is the part of a test that the calls need.
type Failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Schemas are those of the provider.
type Schemas = tfprotov6.GetProviderSchemaResponse

// SchemasOf asks a server for its schemas. It panics if there is an error.
func SchemasOf(server tfprotov6.ProviderServer) *Schemas {
	schemas, err := server.GetProviderSchema(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	return schemas
}

// Process stands for one process of the provider. Terraform starts one for each plan and each apply.
type Process struct {
	T       Failer
	Server  tfprotov6.ProviderServer
	Schemas *Schemas
	Stopped <-chan struct{} // closed when Terraform no longer listens to an action; may be nil
	Limit   time.Duration   // of a call; 0 means 50 seconds

	// Begin is called before each import, read, plan, apply and invocation, and end with the response; may be nil.
	Begin func(name string, req any) (end func(resp any))

	// Run runs a call between Begin and end; nil: at once.
	Run func(call func())
}

// makeCall makes a call, and fails the test if there is an error of the protocol.
func makeCall[Req, Resp any](p *Process, name string, req Req, method func(context.Context, Req) (Resp, error)) Resp {
	p.T.Helper()
	end := func(any) {}
	if p.Begin != nil {
		end = p.Begin(name, req)
	}
	defer p.limitTime(name).Stop()
	var resp Resp
	var err error
	call := func() { resp, err = method(context.Background(), req) }
	if p.Run != nil {
		p.Run(call)
	} else {
		call()
	}
	p.must(err)
	end(resp)
	return resp
}

// limitTime ends all tests if it is not stopped in time. They then show what the call waits for.
func (p *Process) limitTime(call string) *time.Timer {
	return time.AfterFunc(cmp.Or(p.Limit, 50*time.Second), func() { panic(call + " does not end") })
}

// Managed is a resource in a state or a plan.
type Managed struct {
	Value    tftypes.Value // null: the resource does not exist
	Private  []byte
	Identity *tfprotov6.ResourceIdentityData
}

// knownIdentity returns nil for a null identity, which Terraform does not send to the provider.
func knownIdentity(identity *tfprotov6.ResourceIdentityData) *tfprotov6.ResourceIdentityData {
	if identity == nil {
		return nil
	}
	if null, err := identity.IdentityData.IsNull(); null || err != nil {
		return nil
	}
	return identity
}

// Configure configures the provider. Its methods fail the test if the provider refuses the configuration or the protocol.
func (p *Process) Configure(config Attributes) Diagnostics {
	p.T.Helper()
	resp, err := p.Server.ConfigureProvider(context.Background(), &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.14.0",
		Config:           DynamicValue(ToTerraform(p.Schemas.Provider.ValueType(), config)),
	})
	p.must(err)
	if Diagnostics(resp.Diagnostics).Failed() {
		p.T.Fatalf("the provider refuses its configuration: %s", Diagnostics(resp.Diagnostics))
	}
	return resp.Diagnostics
}

func (p *Process) must(err error) {
	p.T.Helper()
	if err != nil {
		p.T.Fatalf("the protocol server failed: %v", err)
	}
}

// Validate validates the configuration of a resource.
func (p *Process) Validate(config tftypes.Value) Diagnostics {
	p.T.Helper()
	resp, err := p.Server.ValidateResourceConfig(context.Background(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: typeNameOf(config), Config: DynamicValue(config),
	})
	p.must(err)
	return resp.Diagnostics
}

// ImportState imports a resource.
func (p *Process) ImportState(typeName, id string) (Managed, Diagnostics) {
	p.T.Helper()
	resp := makeCall(p, "ImportResourceState", &tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: id}, p.Server.ImportResourceState)
	if Diagnostics(resp.Diagnostics).Failed() {
		return Managed{}, resp.Diagnostics
	}
	got := resp.ImportedResources[0]
	typ := p.Schemas.ResourceSchemas[typeName].ValueType()
	return Managed{DecodeAs(p.T, typ, got.State), got.Private, knownIdentity(got.Identity)}, resp.Diagnostics
}

// Read refreshes a resource.
func (p *Process) Read(state Managed) (Managed, Diagnostics) {
	p.T.Helper()
	resp := makeCall(p, "ReadResource", &tfprotov6.ReadResourceRequest{
		TypeName: typeNameOf(state.Value), CurrentState: DynamicValue(state.Value), Private: state.Private, CurrentIdentity: state.Identity,
	}, p.Server.ReadResource)
	return Managed{DecodeAs(p.T, state.Value.Type(), resp.NewState), resp.Private, knownIdentity(resp.NewIdentity)}, resp.Diagnostics
}

// Plan returns the planned state and the attributes whose change forces a new resource.
func (p *Process) Plan(prior Managed, config tftypes.Value) (Managed, []string, Diagnostics) {
	p.T.Helper()
	proposed := ProposedState(p.Schemas.ResourceSchemas[typeNameOf(config)], prior.Value, config)
	resp := makeCall(p, "PlanResourceChange", &tfprotov6.PlanResourceChangeRequest{
		TypeName: typeNameOf(config), PriorState: DynamicValue(prior.Value), PriorPrivate: prior.Private, PriorIdentity: prior.Identity,
		Config: DynamicValue(config), ProposedNewState: DynamicValue(proposed),
	}, p.Server.PlanResourceChange)
	var replace []string
	for _, path := range resp.RequiresReplace {
		name, _ := path.Steps()[0].(tftypes.AttributeName)
		replace = append(replace, string(name))
	}
	planned := Managed{DecodeAs(p.T, config.Type(), resp.PlannedState), resp.PlannedPrivate, knownIdentity(resp.PlannedIdentity)}
	return planned, replace, resp.Diagnostics
}

// Apply applies a plan.
func (p *Process) Apply(prior tftypes.Value, planned Managed, config tftypes.Value) (Managed, Diagnostics) {
	p.T.Helper()
	resp := makeCall(p, "ApplyResourceChange", &tfprotov6.ApplyResourceChangeRequest{
		TypeName: typeNameOf(prior), PriorState: DynamicValue(prior), PlannedState: DynamicValue(planned.Value),
		PlannedPrivate: planned.Private, PlannedIdentity: planned.Identity, Config: DynamicValue(config),
	}, p.Server.ApplyResourceChange)
	return Managed{DecodeAs(p.T, prior.Type(), resp.NewState), resp.Private, knownIdentity(resp.NewIdentity)}, resp.Diagnostics
}

// ValidateData validates the configuration of a data source.
func (p *Process) ValidateData(typeName string, config Attributes) Diagnostics {
	p.T.Helper()
	resp, err := p.Server.ValidateDataResourceConfig(context.Background(), &tfprotov6.ValidateDataResourceConfigRequest{
		TypeName: typeName, Config: DynamicValue(ToTerraform(p.Schemas.DataSourceSchemas[typeName].ValueType(), config)),
	})
	p.must(err)
	return resp.Diagnostics
}

// ReadData reads a data source, and returns its state in the form of [FromTerraform]; nil after an error.
func (p *Process) ReadData(typeName string, config Attributes) (any, Diagnostics) {
	p.T.Helper()
	typ := p.Schemas.DataSourceSchemas[typeName].ValueType()
	defer p.limitTime("ReadDataSource").Stop()
	resp, err := p.Server.ReadDataSource(context.Background(), &tfprotov6.ReadDataSourceRequest{
		TypeName: typeName, Config: DynamicValue(ToTerraform(typ, config)),
	})
	p.must(err)
	if Diagnostics(resp.Diagnostics).Failed() {
		return nil, resp.Diagnostics
	}
	return FromTerraform(DecodeAs(p.T, typ, resp.State)), resp.Diagnostics
}

// Invoke runs an action to its end and returns its progress messages.
func (p *Process) Invoke(config Attributes) (progress []string, diags Diagnostics) {
	p.T.Helper()
	actions, _ := p.Server.(tfprotov6.ActionServer)
	invoke := func(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.CompletedInvokeActionEventType, error) {
		completed := &tfprotov6.CompletedInvokeActionEventType{}
		stream, err := actions.InvokeAction(ctx, req)
		if err != nil {
			return nil, err
		}
		for event := range stream.Events {
			select {
			case <-p.Stopped:
				return completed, nil
			default:
			}
			switch event := event.Type.(type) {
			case tfprotov6.ProgressInvokeActionEventType:
				progress = append(progress, event.Message)
			case tfprotov6.CompletedInvokeActionEventType:
				completed = &event
			}
		}
		return completed, nil
	}
	typ := p.Schemas.ActionSchemas[ActionName].Schema.ValueType()
	completed := makeCall(p, "InvokeAction", &tfprotov6.InvokeActionRequest{
		ActionType: ActionName, Config: DynamicValue(ToTerraform(typ, config)),
	}, invoke)
	return progress, completed.Diagnostics
}

// List returns a query's results one by one, as Terraform gets them.
func (p *Process) List(config Attributes, includeResource bool, limit int64) iter.Seq[tfprotov6.ListResourceResult] {
	p.T.Helper()
	lists, _ := p.Server.(tfprotov6.ListResourceServer)
	stream, err := lists.ListResource(context.Background(), &tfprotov6.ListResourceRequest{
		TypeName: SingleName, IncludeResource: includeResource, Limit: limit,
		Config: DynamicValue(ToTerraform(p.Schemas.ListResourceSchemas[SingleName].ValueType(), config)),
	})
	p.must(err)
	return func(yield func(tfprotov6.ListResourceResult) bool) {
		defer p.limitTime("ListResource").Stop()
		stream.Results(yield)
	}
}

// Interrupt does what Terraform does after a Ctrl-C.
func (p *Process) Interrupt() {
	p.T.Helper()
	defer p.limitTime("StopProvider").Stop()
	_, err := p.Server.StopProvider(context.Background(), &tfprotov6.StopProviderRequest{})
	p.must(err)
}
