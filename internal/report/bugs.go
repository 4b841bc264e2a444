package report

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/stream-management/terraform-provider-stream/internal/session"
)

const (
	bugSummary = "Provider Bug"
	reportBug  = "Please report this bug, with the stack: the command with TF_LOG=ERROR prints it."
)

// Bug logs the stack of a call that panicked, and returns its error.
func Bug(ctx context.Context, p *session.Panic) diag.Diagnostic {
	logStack(ctx, p)
	return diag.NewErrorDiagnostic(bugSummary, paragraphs(
		"This call failed. "+panicked(p), reportBug,
		"If the call was that of an apply, the streams of the resource may or may not have been changed; run the command again: "+
			"sending the same set twice is safe."))
}

// panicked says what Go says of a panic. Any other text may contain what comes from outside.
func panicked(p *session.Panic) string {
	if cause, ok := p.Cause.(runtime.Error); ok {
		return fmt.Sprintf("The provider panicked: %s.", cause)
	}
	return "The provider panicked."
}

// logBugs logs the stacks of the operations that panicked.
func logBugs(ctx context.Context, findings []session.Finding) {
	for _, f := range findings {
		if p, ok := errors.AsType[*session.Panic](f.Err); ok {
			logStack(ctx, p)
		}
	}
}

func logStack(ctx context.Context, p *session.Panic) {
	tflog.Error(ctx, "the provider panicked", map[string]any{"cause": panicked(p), "stack": p.Stack})
}
