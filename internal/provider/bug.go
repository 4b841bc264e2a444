package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/session"
)

// Bug is the error of a call that panicked with a cause. The log has the stack.
func Bug(ctx context.Context, cause any) *tfprotov6.Diagnostic {
	d := report.Bug(ctx, session.Recovered(cause))
	return &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityError, Summary: d.Summary(), Detail: d.Detail()}
}
