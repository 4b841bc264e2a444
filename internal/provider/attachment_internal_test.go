package provider

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// The calls during which a stream may be changed, or the state of one, make a panic an error. That of a call without a schema is one.
func TestPanicsAreErrors(t *testing.T) {
	t.Parallel()
	var (
		r       processorsResource
		planned resource.ModifyPlanResponse
		read    resource.ReadResponse
		created resource.CreateResponse
		updated resource.UpdateResponse
		deleted resource.DeleteResponse
	)
	r.ModifyPlan(t.Context(), resource.ModifyPlanRequest{}, &planned)
	r.Read(t.Context(), resource.ReadRequest{}, &read)
	r.Create(t.Context(), resource.CreateRequest{}, &created)
	r.Update(t.Context(), resource.UpdateRequest{}, &updated)
	r.Delete(t.Context(), resource.DeleteRequest{}, &deleted)
	for _, diags := range []diag.Diagnostics{
		planned.Diagnostics, read.Diagnostics, created.Diagnostics, updated.Diagnostics, deleted.Diagnostics,
	} {
		if len(diags) != 1 || diags[0].Severity() != diag.SeverityError || strings.Contains(diags[0].Detail(), ".go:") ||
			!strings.Contains(diags[0].Detail(), "The provider panicked: runtime error: invalid memory address") {
			t.Errorf("%v", diags)
		}
	}
}
