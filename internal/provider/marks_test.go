package provider

import (
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
)

// Terraform 1.16 passes the private state of a plan to the plan of its apply, and plugin-go does not pass it on yet.
func TestPlannedPrivateStateIsMissing(t *testing.T) {
	if _, found := reflect.TypeFor[tfprotov6.PlanResourceChangeRequest]().FieldByName("PlannedPrivate"); found {
		t.Error("plugin-go has PlannedPrivate: in the plan of an apply, let planLeave find the claim of the first plan there, as a destroy does. " +
			"Then a group can leave a stream to a resource that was planned later, and the warning DroppedFirst and the refusal " +
			"StreamIsKept end for Terraform 1.16 (DESIGN.md, Ownership)")
	}
}

// A stream that several resources have keeps the mark that a failed replacement gave all streams.
func TestSharedStreamKeepsItsMark(t *testing.T) {
	t.Parallel()
	s, was, found := newSession("", false), entries{"cam-1": {}}, marks{anyStream: {Resend: claims.Unknown}}
	s.noteShared(was, nil)
	if !s.noteShared(was, found) || !found["cam-1"].Shared || found["cam-1"].Resend != claims.Unknown {
		t.Errorf("the marks are %+v", found)
	}
	planned := marks{anyStream: {Created: true, Resend: claims.Unknown}, "cam-1": {Shared: true}}
	if kept := planned.lasting(); kept["cam-1"].Resend != claims.Unknown {
		t.Errorf("the marks that last are %+v", kept)
	}
}
