package provider

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestProcessorsModel fails if an attribute has no field in the model, or a field no attribute.
func TestProcessorsModel(t *testing.T) {
	t.Parallel()
	var resp resource.SchemaResponse
	new(processorsResource).Schema(t.Context(), resource.SchemaRequest{}, &resp)
	var fields []string
	for field := range reflect.TypeFor[processorsModel]().Fields() {
		fields = append(fields, field.Tag.Get("tfsdk"))
	}
	slices.Sort(fields)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(resp.Schema.Attributes)), fields); diff != "" {
		t.Errorf("the fields of the model differ from the schema (-schema +model):\n%s", diff)
	}
}

// TestSchema holds what every schema of the provider must say.
func TestSchema(t *testing.T) {
	t.Parallel()
	all := map[string]*tfprotov6.Schema{"provider": schemas().Provider}
	maps.Copy(all, schemas().ResourceSchemas)
	for name, action := range schemas().ActionSchemas {
		all["action "+name] = action.Schema
	}
	for name, s := range all {
		var check func(at string, attributes []*tfprotov6.SchemaAttribute)
		check = func(at string, attributes []*tfprotov6.SchemaAttribute) {
			for _, a := range attributes {
				at := at + "." + a.Name
				if !strings.HasSuffix(a.Description, ".") {
					t.Errorf("%s: the description is no sentence: %q", at, a.Description)
				}
				if a.Optional && !strings.Contains(a.Description, "efault:") && !strings.Contains(a.Description, "No default") &&
					!strings.Contains(a.Description, "Required") {
					t.Errorf("%s: the description does not name the default: %q", at, a.Description)
				}
				if a.NestedType != nil {
					check(at, a.NestedType.Attributes)
				}
			}
		}
		check(name, s.Block.Attributes)
	}
}

// TestImportPlansNothing imports a stream with detect_drift: a configuration with the same set and nothing
// else must plan no change.
func TestImportPlansNothing(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p1"}})
	p := startProvider(t, coretest.Attributes{"base_url": url, "detect_drift": true})
	state, diags := p.ImportState("cam-1")
	if diags.Failed() {
		t.Fatal(diags)
	}
	if state, diags = p.Read(state); diags.Failed() {
		t.Fatal(diags)
	}
	config := resourceValue(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
	planned, _, diags := p.Plan(state, config)
	if diags.Failed() {
		t.Fatal(diags)
	}
	if diff := cmp.Diff(coretest.FromTerraform(state.Value), coretest.FromTerraform(planned.Value)); diff != "" {
		t.Errorf("the plan changes an imported resource (-state +plan):\n%s", diff)
	}
}
