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

func (v cliVersion) newCall(name string, walk int, req any) call {
	typeName := ""
	if field := reflect.ValueOf(req).Elem().FieldByName("TypeName"); field.IsValid() {
		typeName = field.String()
	}
	return call{Name: name, Walk: walk, Request: v.plain(typeName, req)}
}

// ended is a call with its response.
func (v cliVersion) ended(c call, resp any) call {
	typeName, _ := c.Request["TypeName"].(string)
	c.Response = v.plain(typeName, resp)
	return c
}

// fullServer has the methods of the provider's server that a wrapper must not hide.
type fullServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ActionServer
}

// recorder is a server in front of the provider that records the calls of a CLI. As in life, there is a new process of the
// provider for each walk: the call of ConfigureProvider begins one.
type recorder struct {
	fullServer // serves what needs no process: schemas, and the calls that validate, upgrade states and plan actions
	start      func() tfprotov6.ProviderServer
	version    cliVersion

	inTurn   sync.Mutex // one call at a time, so that their order is defined
	process  fullServer // the current one
	walk     int
	calls    []call
	applying func() // called when the apply begins
}

func newRecorder(start func() tfprotov6.ProviderServer, version cliVersion) *recorder {
	server := start().(fullServer)
	return &recorder{fullServer: server, process: server, start: start, version: version}
}

// newRun makes the next walk the first one.
func (r *recorder) newRun(applying func()) {
	r.inTurn.Lock()
	defer r.inTurn.Unlock()
	r.walk, r.calls, r.applying = 0, nil, sync.OnceFunc(applying)
}

func (r *recorder) ConfigureProvider(
	ctx context.Context, req *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	r.inTurn.Lock()
	defer r.inTurn.Unlock()
	r.process = r.start().(fullServer)
	if r.walk++; r.walk == 2 {
		r.applying()
	}
	return r.process.ConfigureProvider(ctx, req)
}

// record makes a call in its turn.
func record[Req, Resp any](
	ctx context.Context, r *recorder, name string, req Req, method func(fullServer, context.Context, Req) (Resp, error),
) (Resp, error) {
	r.inTurn.Lock()
	defer r.inTurn.Unlock()
	c := r.version.newCall(name, r.walk, req)
	resp, err := method(r.process, ctx, req)
	if err == nil {
		c = r.version.ended(c, resp)
	}
	r.calls = append(r.calls, c)
	return resp, err
}

func (r *recorder) ImportResourceState(
	ctx context.Context, req *tfprotov6.ImportResourceStateRequest,
) (*tfprotov6.ImportResourceStateResponse, error) {
	return record(ctx, r, "ImportResourceState", req, fullServer.ImportResourceState)
}

func (r *recorder) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return record(ctx, r, "ReadResource", req, fullServer.ReadResource)
}

func (r *recorder) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	return record(ctx, r, "PlanResourceChange", req, fullServer.PlanResourceChange)
}

func (r *recorder) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return record(ctx, r, "ApplyResourceChange", req, fullServer.ApplyResourceChange)
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
	_, err := record(ctx, r, "InvokeAction", req, invoke)
	return &tfprotov6.InvokeActionServerStream{Events: slices.Values(events)}, err
}

// plain makes the fields of a request or response comparable and printable. Of diagnostics, the details depend on the address
// of the service. What the model does not send is left out: capabilities, and the metadata of the provider.
func (v cliVersion) plain(typeName string, message any) map[string]any {
	plain, fields := map[string]any{}, reflect.ValueOf(message).Elem()
	for i := range fields.NumField() {
		name, field := fields.Type().Field(i).Name, fields.Field(i)
		switch value := field.Interface().(type) {
		case *tfprotov6.DynamicValue:
			if v := decode(typeName, value); v != nil && name != "ProviderMeta" {
				plain[name] = v
			}
		case *tfprotov6.ResourceIdentityData:
			if !v.identities { // as with an older CLI, which drops those of the responses
				field.SetZero()
			} else if value != nil {
				plain[name] = fmt.Sprintf("%x", value.IdentityData.MsgPack)
			}
		case []byte:
			if len(value) > 0 {
				plain[name] = Marks(value)
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
				plain[name] = v.plain(typeName, imported)
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

func decode(typeName string, v *tfprotov6.DynamicValue) any {
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
	return FromTerraform(decoded)
}
