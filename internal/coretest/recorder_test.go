package coretest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// call is a call of core to the provider, in a form to compare and print. What is null or empty is left out.
type call struct {
	Name     string         `json:"call"`
	Type     string         `json:"type"` // of the resource or action
	Walk     int            `json:"walk"` // 1: the plan; 2: the apply
	Request  map[string]any `json:"request"`
	Response map[string]any `json:"response,omitempty"`
}

func (c call) String() string {
	line, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(line)
}

// fullServer has the methods of the provider's server that a wrapper must not hide.
type fullServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ActionServer
}

// recorder is a server in front of the provider that records calls. As in life, there is a new process of the provider
// for each walk: the call of ConfigureProvider begins one.
type recorder struct {
	fullServer // serves what is not recorded and has no state: schemas and validation
	start      func() tfprotov6.ProviderServer

	// begin waits for the turn of a call. The caller calls end with the response.
	begin func(c call) (end func(call), err error)

	configured        func(walk int) // called when a walk begins; may be nil
	withoutIdentities bool           // as with an older CLI, which drops those of the responses

	mu      sync.Mutex
	process fullServer // the current one
	walk    int
}

func newRecorder(start func() tfprotov6.ProviderServer, begin func(call) (func(call), error)) *recorder {
	server := start().(fullServer)
	return &recorder{fullServer: server, process: server, start: start, begin: begin}
}

// current returns the current process and the number of its walk.
func (r *recorder) current() (fullServer, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.process, r.walk
}

// newRun makes the next walk the first one.
func (r *recorder) newRun() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.walk = 0
}

func (r *recorder) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	process := r.start().(fullServer)
	r.mu.Lock()
	r.process = process
	r.walk++
	walk := r.walk
	r.mu.Unlock()
	if r.configured != nil {
		r.configured(walk)
	}
	return process.ConfigureProvider(ctx, req)
}

// record makes a call in its turn. The function respond adds the response to the fields.
func record[Req, Resp any](r *recorder, ctx context.Context, c call, req Req,
	method func(fullServer, context.Context, Req) (Resp, error), respond func(Resp) fields,
) (resp Resp, err error) {
	process, walk := r.current()
	c.Walk = walk
	end, err := r.begin(c)
	if err != nil {
		return resp, err
	}
	defer func() { end(c) }()
	if resp, err = method(process, ctx, req); err != nil {
		return resp, err
	}
	c.Response = respond(resp).plain(c.Type)
	return resp, nil
}

func (r *recorder) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	c := newCall("ImportResourceState", req.TypeName, fields{"id": req.ID})
	return record(r, ctx, c, req, fullServer.ImportResourceState, func(resp *tfprotov6.ImportResourceStateResponse) fields {
		f := fields{"diagnostics": resp.Diagnostics, "deferred": resp.Deferred}
		for _, imported := range resp.ImportedResources {
			if r.withoutIdentities {
				imported.Identity = nil
			}
			f["state"], f["private"], f["identity"] = imported.State, imported.Private, imported.Identity
		}
		return f
	})
}

func (r *recorder) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	c := newCall("ReadResource", req.TypeName, fields{"state": req.CurrentState, "private": req.Private, "identity": req.CurrentIdentity})
	return record(r, ctx, c, req, fullServer.ReadResource, func(resp *tfprotov6.ReadResourceResponse) fields {
		if r.withoutIdentities {
			resp.NewIdentity = nil
		}
		return fields{
			"state": resp.NewState, "private": resp.Private, "identity": resp.NewIdentity,
			"diagnostics": resp.Diagnostics, "deferred": resp.Deferred,
		}
	})
}

func (r *recorder) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	c := newCall("PlanResourceChange", req.TypeName, fields{
		"prior": req.PriorState, "config": req.Config, "proposed": req.ProposedNewState, "private": req.PriorPrivate,
		"identity": req.PriorIdentity,
	})
	return record(r, ctx, c, req, fullServer.PlanResourceChange, func(resp *tfprotov6.PlanResourceChangeResponse) fields {
		if r.withoutIdentities {
			resp.PlannedIdentity = nil
		}
		return fields{
			"planned": resp.PlannedState, "private": resp.PlannedPrivate, "identity": resp.PlannedIdentity, "replace": resp.RequiresReplace,
			"diagnostics": resp.Diagnostics, "deferred": resp.Deferred,
		}
	})
}

func (r *recorder) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	c := newCall("ApplyResourceChange", req.TypeName, fields{
		"prior": req.PriorState, "config": req.Config, "planned": req.PlannedState, "private": req.PlannedPrivate,
		"identity": req.PlannedIdentity,
	})
	return record(r, ctx, c, req, fullServer.ApplyResourceChange, func(resp *tfprotov6.ApplyResourceChangeResponse) fields {
		if r.withoutIdentities {
			resp.NewIdentity = nil
		}
		return fields{"state": resp.NewState, "private": resp.Private, "identity": resp.NewIdentity, "diagnostics": resp.Diagnostics}
	})
}

// InvokeAction collects the events, so that the call ends with the last one.
func (r *recorder) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	c := newCall("InvokeAction", req.ActionType, fields{"config": req.Config})
	invoke := func(s fullServer, ctx context.Context, req *tfprotov6.InvokeActionRequest) ([]tfprotov6.InvokeActionEvent, error) {
		stream, err := s.InvokeAction(ctx, req)
		if err != nil {
			return nil, err
		}
		return slices.Collect(stream.Events), nil
	}
	events, err := record(r, ctx, c, req, invoke, func(events []tfprotov6.InvokeActionEvent) fields {
		f := fields{}
		for _, event := range events {
			if completed, ok := event.Type.(tfprotov6.CompletedInvokeActionEventType); ok {
				f["diagnostics"] = completed.Diagnostics
			}
		}
		return f
	})
	return &tfprotov6.InvokeActionServerStream{Events: slices.Values(events)}, err
}

// The calls below go to the process of the walk, and are not recorded.

func (r *recorder) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	process, _ := r.current()
	return process.ValidateResourceConfig(ctx, req)
}

func (r *recorder) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	process, _ := r.current()
	return process.UpgradeResourceState(ctx, req)
}

func (r *recorder) PlanAction(ctx context.Context, req *tfprotov6.PlanActionRequest) (*tfprotov6.PlanActionResponse, error) {
	process, _ := r.current()
	return process.PlanAction(ctx, req)
}

// fields are those of a request or response.
type fields map[string]any

func newCall(name, typ string, request fields) call {
	return call{Name: name, Type: typ, Request: request.plain(typ)}
}

// plain makes the fields comparable and printable. Of diagnostics, the details depend on the address of the service.
func (f fields) plain(typeName string) map[string]any {
	plain := map[string]any{}
	for name, value := range f {
		switch value := value.(type) {
		case *tfprotov6.DynamicValue:
			if v := decodeForPrint(typeName, value); v != nil {
				plain[name] = v
			}
		case *tfprotov6.ResourceIdentityData:
			if value != nil {
				plain[name] = fmt.Sprintf("%x", value.IdentityData.MsgPack)
			}
		case []byte:
			if len(value) > 0 {
				plain[name] = string(value)
			}
		case []*tftypes.AttributePath:
			if len(value) > 0 {
				plain[name] = fmt.Sprint(value)
			}
		case []*tfprotov6.Diagnostic:
			var texts []string
			for _, d := range value {
				texts = append(texts, fmt.Sprintf("%s: %s %v", d.Severity, d.Summary, d.Attribute))
			}
			if texts != nil {
				plain[name] = texts
			}
		case *tfprotov6.Deferred:
			if value != nil {
				plain[name] = value.Reason.String()
			}
		default:
			plain[name] = value
		}
	}
	return plain
}

func decodeForPrint(typeName string, v *tfprotov6.DynamicValue) any {
	typ := schemas().ActionSchemas[ActionName].Schema.ValueType()
	if s, ok := schemas().ResourceSchemas[typeName]; ok {
		typ = s.ValueType()
	}
	decoded, err := v.Unmarshal(typ)
	if err != nil {
		return err.Error()
	}
	return forPrint(FromTerraform(decoded))
}

func forPrint(v any) any {
	switch v := v.(type) {
	case map[string]any:
		values := map[string]any{}
		for key, value := range v {
			if value = forPrint(value); value != nil {
				values[key] = value
			}
		}
		return values
	case string, []string, nil, bool:
		return v
	}
	return "(known after apply)"
}
