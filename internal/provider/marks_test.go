package provider

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// Terraform 1.16 passes the private state of a plan to the plan of its apply, and plugin-go does not pass it on yet.
func TestPlannedPrivateStateIsMissing(t *testing.T) {
	isIt := func(name string) bool { return strings.HasPrefix(name, "PlannedPrivate") }
	if field, found := reflect.TypeFor[tfprotov6.PlanResourceChangeRequest]().FieldByNameFunc(isIt); found {
		t.Errorf("plugin-go has %s: in the plan of an apply, let planLeave find the claim of the first plan there, as a destroy does. "+
			"Then a group can leave a stream to a resource that was planned later, and the warning DroppedFirst and the refusal "+
			"StreamIsKept end for Terraform 1.16 (DESIGN.md, Ownership)", field.Name)
	}
}
