package server

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// panickingServer is one whose calls all panic.
type panickingServer struct{ fullServer }

// The calls during which a stream may be changed, or the state of one, make a panic an error, and return no state.
func TestPanicsAreErrors(t *testing.T) {
	t.Parallel()
	server := &stoppingServer{fullServer: recoveringServer{panickingServer{}}}
	read, readErr := server.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{})
	plan, planErr := server.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{})
	apply, applyErr := server.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{})
	if readErr != nil || planErr != nil || applyErr != nil || read.NewState != nil || plan.PlannedState != nil || apply.NewState != nil {
		t.Fatalf("%v, %v; %v, %v; %v, %v", read, readErr, plan, planErr, apply, applyErr)
	}
	for _, diags := range [][]*tfprotov6.Diagnostic{read.Diagnostics, plan.Diagnostics, apply.Diagnostics} {
		if len(diags) != 1 || diags[0].Severity != tfprotov6.DiagnosticSeverityError {
			t.Fatalf("%v", diags)
		}
		detail := diags[0].Detail
		if !strings.Contains(detail, "The provider panicked: runtime error: invalid memory address") || strings.Contains(detail, ".go:") ||
			!strings.HasSuffix(detail, "may or may not have been changed; run the command again: sending the same set twice is safe.") {
			t.Errorf("%s", detail)
		}
	}
}
