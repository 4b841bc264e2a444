package coretest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// call is a call of core to the provider, in a form to compare and print. What is null or empty is left out.
type call struct {
	Name     string         `json:"call"`
	Walk     int            `json:"walk"` // 1: the plan; 2: the apply
	Request  map[string]any `json:"request"`
	Response map[string]any `json:"response,omitempty"`
}

func (c call) String() string { return asJSON(c) }

// fullServer has the methods of the provider's server that a wrapper must not hide.
type fullServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ActionServer
}

// recorder is a server in front of the provider that records calls. As in life, there is a new process of the provider
// for each walk: the call of ConfigureProvider begins one.
type recorder struct {
	fullServer // serves what needs no process: schemas and the validation before the first walk
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
	r.mu.Lock()
	r.process = r.start().(fullServer)
	r.walk++
	r.mu.Unlock()
	process, walk := r.current()
	if r.configured != nil {
		r.configured(walk)
	}
	return process.ConfigureProvider(ctx, req)
}

// record makes a call in its turn.
func record[Req, Resp any](
	ctx context.Context, r *recorder, name, typeName string, req Req, method func(fullServer, context.Context, Req) (Resp, error),
) (resp Resp, err error) {
	process, walk := r.current()
	c := call{Name: name, Walk: walk, Request: r.plain(typeName, reflect.ValueOf(req))}
	end, err := r.begin(c)
	if err != nil {
		return resp, err
	}
	defer func() { end(c) }()
	if resp, err = method(process, ctx, req); err == nil {
		c.Response = r.plain(typeName, reflect.ValueOf(resp))
	}
	return resp, err
}

func (r *recorder) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	return record(ctx, r, "ImportResourceState", req.TypeName, req, fullServer.ImportResourceState)
}

func (r *recorder) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return record(ctx, r, "ReadResource", req.TypeName, req, fullServer.ReadResource)
}

func (r *recorder) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return record(ctx, r, "PlanResourceChange", req.TypeName, req, fullServer.PlanResourceChange)
}

func (r *recorder) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return record(ctx, r, "ApplyResourceChange", req.TypeName, req, fullServer.ApplyResourceChange)
}

// InvokeAction collects the events, so that the call ends with the last one.
func (r *recorder) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	var events []tfprotov6.InvokeActionEvent
	invoke := func(s fullServer, ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.CompletedInvokeActionEventType, error) {
		stream, err := s.InvokeAction(ctx, req)
		if err != nil {
			return nil, err
		}
		events = slices.Collect(stream.Events)
		completed, _ := events[len(events)-1].Type.(tfprotov6.CompletedInvokeActionEventType)
		return &completed, nil
	}
	_, err := record(ctx, r, "InvokeAction", req.ActionType, req, invoke)
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

// plain makes the fields of a request or response comparable and printable. Of diagnostics, the details depend on the address
// of the service. What the model does not send is left out: capabilities, and the metadata of the provider.
func (r *recorder) plain(typeName string, message reflect.Value) map[string]any {
	plain := map[string]any{}
	for i := range message.Elem().NumField() {
		name, field := message.Elem().Type().Field(i).Name, message.Elem().Field(i)
		switch value := field.Interface().(type) {
		case *tfprotov6.DynamicValue:
			if v := decodeForPrint(typeName, value); v != nil && name != "ProviderMeta" {
				plain[name] = v
			}
		case *tfprotov6.ResourceIdentityData:
			if r.withoutIdentities {
				field.SetZero()
			} else if value != nil {
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
		case []*tfprotov6.ImportedResource:
			for _, imported := range value {
				plain[name] = r.plain(typeName, reflect.ValueOf(imported))
			}
		case *tfprotov6.Deferred:
			if value != nil {
				plain[name] = value.Reason.String()
			}
		case string:
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
	if v == nil {
		return nil
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
