package server

import (
	"context"
	"iter"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
)

// recoveringServer makes a panic in a call an error of this call. Otherwise the process would end, and the results of other calls, whose
// requests were sent, would be lost.
type recoveringServer struct{ fullServer }

// recovering makes a call, whose response has Diagnostics.
func recovering[Req, Resp any](ctx context.Context, req Req, method func(context.Context, Req) (*Resp, error)) (resp *Resp, err error) {
	defer onPanic(ctx, func(bug *tfprotov6.Diagnostic) {
		resp, err = new(Resp), nil
		reflect.ValueOf(resp).Elem().FieldByName("Diagnostics").Set(reflect.ValueOf([]*tfprotov6.Diagnostic{bug}))
	})
	return method(ctx, req)
}

// onPanic is deferred.
func onPanic(ctx context.Context, fail func(bug *tfprotov6.Diagnostic)) {
	if cause := recover(); cause != nil {
		fail(provider.Bug(ctx, cause))
	}
}

// recoveringEvents ends a panic in events with a last event.
func recoveringEvents[E any](ctx context.Context, events iter.Seq[E], last func(bug *tfprotov6.Diagnostic) E) iter.Seq[E] {
	return func(push func(E) bool) {
		defer onPanic(ctx, func(bug *tfprotov6.Diagnostic) { push(last(bug)) })
		events(push)
	}
}

func (s recoveringServer) ValidateProviderConfig(ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return recovering(ctx, req, s.fullServer.ValidateProviderConfig)
}

func (s recoveringServer) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	return recovering(ctx, req, s.fullServer.ConfigureProvider)
}

func (s recoveringServer) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return recovering(ctx, req, s.fullServer.ValidateResourceConfig)
}

func (s recoveringServer) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return recovering(ctx, req, s.fullServer.UpgradeResourceState)
}

func (s recoveringServer) UpgradeResourceIdentity(ctx context.Context, req *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	return recovering(ctx, req, s.fullServer.UpgradeResourceIdentity)
}

func (s recoveringServer) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	return recovering(ctx, req, s.fullServer.ImportResourceState)
}

func (s recoveringServer) MoveResourceState(ctx context.Context, req *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	return recovering(ctx, req, s.fullServer.MoveResourceState)
}

func (s recoveringServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return recovering(ctx, req, s.fullServer.ReadResource)
}

func (s recoveringServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return recovering(ctx, req, s.fullServer.PlanResourceChange)
}

// ApplyResourceChange returns no state after a panic: Terraform keeps the one before.
func (s recoveringServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return recovering(ctx, req, s.fullServer.ApplyResourceChange)
}

func (s recoveringServer) ValidateDataResourceConfig(ctx context.Context, req *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	return recovering(ctx, req, s.fullServer.ValidateDataResourceConfig)
}

func (s recoveringServer) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return recovering(ctx, req, s.fullServer.ReadDataSource)
}

func (s recoveringServer) ValidateListResourceConfig(ctx context.Context, req *tfprotov6.ValidateListResourceConfigRequest) (*tfprotov6.ValidateListResourceConfigResponse, error) {
	return recovering(ctx, req, s.fullServer.ValidateListResourceConfig)
}

func (s recoveringServer) ListResource(ctx context.Context, req *tfprotov6.ListResourceRequest) (stream *tfprotov6.ListResourceServerStream, err error) {
	failed := func(bug *tfprotov6.Diagnostic) tfprotov6.ListResourceResult {
		return tfprotov6.ListResourceResult{Diagnostics: []*tfprotov6.Diagnostic{bug}}
	}
	defer onPanic(ctx, func(bug *tfprotov6.Diagnostic) {
		stream, err = &tfprotov6.ListResourceServerStream{Results: slices.Values([]tfprotov6.ListResourceResult{failed(bug)})}, nil
	})
	stream, err = s.fullServer.ListResource(ctx, req)
	if err == nil {
		stream.Results = recoveringEvents(ctx, stream.Results, failed)
	}
	return stream, err
}

func (s recoveringServer) ValidateActionConfig(ctx context.Context, req *tfprotov6.ValidateActionConfigRequest) (*tfprotov6.ValidateActionConfigResponse, error) {
	return recovering(ctx, req, s.fullServer.ValidateActionConfig)
}

func (s recoveringServer) PlanAction(ctx context.Context, req *tfprotov6.PlanActionRequest) (*tfprotov6.PlanActionResponse, error) {
	return recovering(ctx, req, s.fullServer.PlanAction)
}

// InvokeAction does not see the panics of the action itself, which the framework runs in another goroutine.
func (s recoveringServer) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (stream *tfprotov6.InvokeActionServerStream, err error) {
	failed := func(bug *tfprotov6.Diagnostic) tfprotov6.InvokeActionEvent {
		return tfprotov6.InvokeActionEvent{Type: tfprotov6.CompletedInvokeActionEventType{Diagnostics: []*tfprotov6.Diagnostic{bug}}}
	}
	defer onPanic(ctx, func(bug *tfprotov6.Diagnostic) {
		stream, err = &tfprotov6.InvokeActionServerStream{Events: slices.Values([]tfprotov6.InvokeActionEvent{failed(bug)})}, nil
	})
	stream, err = s.fullServer.InvokeAction(ctx, req)
	if err == nil {
		stream.Events = recoveringEvents(ctx, stream.Events, failed)
	}
	return stream, err
}
