package provider

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// NewServer returns a function that makes the provider of a version, as [tf6server.Serve] wants it.
func NewServer(version string) func() tfprotov6.ProviderServer {
	return func() tfprotov6.ProviderServer { return newServer(version) }
}

func newServer(version string) *server {
	p := &streamProvider{version: version}
	framework, _ := providerserver.NewProtocol6(p)().(frameworkServer)
	return &server{frameworkServer: framework, provider: p}
}

// server is the framework's, with shortcuts for most calls of most runs: a resource that is valid, a
// refresh that does not read, a plan without a word to say, a create that succeeds. The framework walks
// through all attributes again and again, which took most of the provider's time. Tests compare the two.
type server struct {
	frameworkServer
	provider *streamProvider
	actions  sync.RWMutex // read-locked by each that runs
}

type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ActionServer
}

func (s *server) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	if req.TypeName == processorsTypeName && valid(ctx, req.Config) {
		logShortcut(ctx)
		return &tfprotov6.ValidateResourceConfigResponse{}, nil
	}
	return during(ctx, req, s.frameworkServer.ValidateResourceConfig)
}

func (s *server) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return during(ctx, req, s.frameworkServer.UpgradeResourceState)
}

func (s *server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	if identity := s.unread(req); identity != nil {
		logShortcut(ctx)
		return &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, NewIdentity: identity}, nil
	}
	return during(ctx, req, s.frameworkServer.ReadResource)
}

func (s *server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if planned := s.planned(req); planned != nil {
		logShortcut(ctx)
		return &tfprotov6.PlanResourceChangeResponse{PlannedState: planned, PlannedIdentity: req.PriorIdentity}, nil
	}
	return during(ctx, req, s.frameworkServer.PlanResourceChange)
}

func (s *server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	if plan := s.toCreate(req); plan != nil {
		diags := s.provider.session.create(ctx, plan)
		if len(diags) == 0 {
			logShortcut(ctx)
			return &tfprotov6.ApplyResourceChangeResponse{NewState: encode(plan.object()), NewIdentity: identityData(plan)}, nil
		}
		ctx = context.WithValue(ctx, createdKey{}, diags) // for the framework to report
	}
	req.Config = nil // all that counts is in the plan, and to decode it takes its time
	return during(ctx, req, s.frameworkServer.ApplyResourceChange)
}

func (s *server) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	stream, err := s.frameworkServer.InvokeAction(ctx, req)
	if err != nil {
		return nil, err
	}
	return &tfprotov6.InvokeActionServerStream{Events: func(push func(tfprotov6.InvokeActionEvent) bool) {
		s.actions.RLock()
		defer s.actions.RUnlock()
		stream.Events(push)
	}}, nil
}

// StopProvider interrupts what runs, and waits for actions to say so: the protocol server drops what they
// say after this call, and Terraform would take an action that was interrupted for a success.
func (s *server) StopProvider(ctx context.Context, req *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	resp, err := s.frameworkServer.StopProvider(ctx, req)
	s.actions.Lock()
	defer s.actions.Unlock()
	return resp, err
}

func logShortcut(ctx context.Context) { tflog.Trace(ctx, "answered without the framework") }

// valid reports whether a configuration has what is required, nothing beyond what is common, and no
// fault by the rules of the schema.
func valid(ctx context.Context, value *tfprotov6.DynamicValue) bool {
	config, err := decodeModel(value)
	if err != nil || config.StreamID.IsNull() || config.ProcessorIDs.IsNull() {
		return false
	}
	for name, attribute := range config.attributes() {
		switch name {
		case "stream_id", "processor_ids", "on_destroy", "triggers":
		default:
			if !attribute.IsNull() {
				return false
			}
		}
	}
	var text validator.StringResponse
	for _, rule := range streamIDRules {
		rule.ValidateString(ctx, validator.StringRequest{ConfigValue: config.StreamID}, &text)
	}
	for _, rule := range onDestroyRules {
		rule.ValidateString(ctx, validator.StringRequest{ConfigValue: config.OnDestroy}, &text)
	}
	var set validator.SetResponse
	for _, rule := range processorIDsRules {
		rule.ValidateSet(ctx, validator.SetRequest{ConfigValue: config.ProcessorIDs}, &set)
	}
	return len(text.Diagnostics)+len(set.Diagnostics) == 0
}

// unread returns the identity of a resource that a refresh leaves as it is; nil if the framework has to
// look at it.
func (s *server) unread(req *tfprotov6.ReadResourceRequest) *tfprotov6.ResourceIdentityData {
	state, err := decodeModel(req.CurrentState)
	if err != nil || !s.plain(req.TypeName, req.Private) || s.provider.session.reads() || !known(state.StreamID) {
		return nil
	}
	return identityData(state)
}

// planned is what a create or an update will lead to, if there is nothing to say about it; else nil. What
// has been noted for the run by then does no harm when the framework's way notes it again.
func (s *server) planned(req *tfprotov6.PlanResourceChangeRequest) *tfprotov6.DynamicValue {
	if !s.plain(req.TypeName, req.PriorPrivate) {
		return nil
	}
	config, configErr := decodeModel(req.Config)
	state, stateErr := decodeModel(req.PriorState)
	planned, err := decodeModel(req.ProposedNewState)
	if err != nil || configErr != nil || stateErr != nil || planned.StreamID.IsNull() {
		return nil // a destroy, if it is no fault
	}
	session := s.provider.session
	if created := state.StreamID.IsNull(); created && session.reads() || !created && !planned.StreamID.Equal(state.StreamID) {
		return nil
	}
	if config.OnDestroy.IsNull() {
		planned.OnDestroy = types.StringValue(onDestroyDetach)
	}
	if session.plan(planned, state, false) != nil {
		return nil
	}
	return encode(planned.object())
}

// toCreate is the plan of a create; nil if an apply is something else.
func (s *server) toCreate(req *tfprotov6.ApplyResourceChangeRequest) *processorsModel {
	state, stateErr := decodeModel(req.PriorState)
	plan, err := decodeModel(req.PlannedState)
	if err != nil || stateErr != nil || !s.plain(req.TypeName, req.PlannedPrivate) || !state.StreamID.IsNull() || plan.StreamID.IsNull() {
		return nil
	}
	return plan
}

// plain reports whether a call is about the resource alone, and the provider is configured.
func (s *server) plain(typeName string, private []byte) bool {
	return typeName == processorsTypeName && len(private) == 0 && s.provider.session != nil
}

// decodeModel returns an empty model for no object.
func decodeModel(value *tfprotov6.DynamicValue) (*processorsModel, error) {
	var m processorsModel
	if value == nil {
		return &m, nil
	}
	_, typ := processorsTypes()
	object, err := value.Unmarshal(typ)
	if err != nil {
		return nil, err
	}
	return &m, object.As(&m)
}

// encode returns nil if the value cannot be encoded.
func encode(value tftypes.Value) *tfprotov6.DynamicValue {
	encoded, err := tfprotov6.NewDynamicValue(value.Type(), value)
	if err != nil {
		return nil
	}
	return &encoded
}

func identityData(m *processorsModel) *tfprotov6.ResourceIdentityData {
	return &tfprotov6.ResourceIdentityData{IdentityData: encode(identityOf(m.StreamID))}
}

// during makes a call of the framework's server with a context that ends with it. That server keeps
// the context of each call until the process ends, with all that it carries: some 10 kB a call.
func during[Req, Resp any](ctx context.Context, req Req, call func(context.Context, Req) (Resp, error)) (Resp, error) {
	c := &callContext{ctx: ctx}
	defer c.end()
	return call(c, req)
}

// callContext stands for another context until it ends.
type callContext struct {
	mu  sync.RWMutex
	ctx context.Context
}

func (c *callContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ctx = context.Background()
}

func (c *callContext) current() context.Context {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.ctx
}

// These make it a [context.Context].

func (c *callContext) Deadline() (time.Time, bool) { return c.current().Deadline() }
func (c *callContext) Done() <-chan struct{}       { return c.current().Done() }
func (c *callContext) Err() error                  { return c.current().Err() }
func (c *callContext) Value(key any) any           { return c.current().Value(key) }
