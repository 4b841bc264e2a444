package server

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/session"
)

// recoveringServer makes a panic in a read, a plan or an apply of a resource an error of this call. Otherwise the process would end, and
// the results of other calls, whose requests were sent, would be lost.
type recoveringServer struct{ fullServer }

// onPanic is deferred.
func onPanic(ctx context.Context, fail func(diags []*tfprotov6.Diagnostic)) {
	if cause := recover(); cause != nil {
		d := report.Bug(ctx, session.Recovered(cause))
		fail([]*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityError, Summary: d.Summary(), Detail: d.Detail()}})
	}
}

func (s recoveringServer) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (resp *tfprotov6.ReadResourceResponse, err error) {
	defer onPanic(ctx, func(diags []*tfprotov6.Diagnostic) {
		resp, err = &tfprotov6.ReadResourceResponse{Diagnostics: diags}, nil
	})
	return s.fullServer.ReadResource(ctx, req)
}

func (s recoveringServer) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (resp *tfprotov6.PlanResourceChangeResponse, err error) {
	defer onPanic(ctx, func(diags []*tfprotov6.Diagnostic) {
		resp, err = &tfprotov6.PlanResourceChangeResponse{Diagnostics: diags}, nil
	})
	return s.fullServer.PlanResourceChange(ctx, req)
}

// ApplyResourceChange returns no state after a panic: Terraform keeps the one before.
func (s recoveringServer) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (resp *tfprotov6.ApplyResourceChangeResponse, err error) {
	defer onPanic(ctx, func(diags []*tfprotov6.Diagnostic) {
		resp, err = &tfprotov6.ApplyResourceChangeResponse{Diagnostics: diags}, nil
	})
	return s.fullServer.ApplyResourceChange(ctx, req)
}
