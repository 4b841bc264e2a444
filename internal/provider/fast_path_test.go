package provider

import (
	"context"
	"fmt"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/resourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// All protocol tests run on a server that compares the fast path with the framework. If the fast path is
// not used, only its own tests fail.
func init() {
	if !writtenFor(newProcessorsResource()) {
		return
	}
	newTestServer = func(t coretest.Failer) tfprotov6.ProviderServer {
		return withStop(newComparingServer(t, newProcessorsResource))
	}
}

// comparingServer also asks the framework wherever the fast path handles, and fails the test if the two
// responses differ.
type comparingServer struct {
	*fastPath
	served resource.Resource
	plans  chan struct{} // holds an element during a plan, so that none comes between its two calls
	t      coretest.Failer
}

func newComparingServer(t coretest.Failer, newResource func() resource.Resource) comparingServer {
	fast, ok := newVariantServer(newResource).(*fastPath)
	if !ok {
		t.Fatalf("the fast path is not used: the schema has changed, or the fast path hides a method of the framework's server; " +
			"everything works, but slowly, until plan and writtenFor know the new schema")
	}
	return comparingServer{fast, newResource(), make(chan struct{}, 1), t}
}

func newVariantServer(newResource func() resource.Resource) tfprotov6.ProviderServer {
	p := &variantProvider{streamProvider: &streamProvider{version: "test"}, newResource: newResource}
	return withFastPath(providerserver.NewProtocol6(p)(), newResource(), p.currentSession)
}

// variantProvider serves a variant of the resource.
type variantProvider struct {
	*streamProvider
	newResource func() resource.Resource
}

func (p *variantProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{p.newResource, newGroupResource}
}

func (c comparingServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	if !c.handles(req.TypeName, req.Private) || c.session().readsStreams() {
		return c.fastPath.ReadResource(ctx, req)
	}
	return compared(ctx, c, req, c.fastPath.ReadResource, c.fullServer.ReadResource)
}

// PlanResourceChange asks twice only where that is the same as asking once. It is not for a destroy: another
// resource of the stream may be planned in between.
func (c comparingServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	c.plans <- struct{}{} // not a mutex, which would stop the clock of a bubble of synctest
	defer func() { <-c.plans }()
	if !c.handles(req.TypeName, req.PriorPrivate) || c.plan(ctx, req) == nil {
		return c.fastPath.PlanResourceChange(ctx, req)
	}
	return compared(ctx, c, req, c.fastPath.PlanResourceChange, c.fullServer.PlanResourceChange)
}

// compared makes a call twice and compares the responses by their meaning: the encoding of a value is not
// unique.
func compared[Req, Resp any](ctx context.Context, c comparingServer, req Req, fast, framework func(context.Context, Req) (Resp, error)) (Resp, error) {
	c.t.Helper()
	got, err := fast(ctx, req)
	want, wantErr := framework(ctx, req)
	if err != nil || wantErr != nil {
		c.t.Fatalf("%T failed: %v; the framework: %v", req, err, wantErr)
	}
	if reflect.DeepEqual(got, want) {
		return got, nil
	}
	meaning := cmp.Options{
		cmp.Transformer("object", func(v *tfprotov6.DynamicValue) any {
			if v == nil {
				return nil
			}
			var resp resource.SchemaResponse
			c.served.Schema(ctx, resource.SchemaRequest{}, &resp)
			decoded, err := v.Unmarshal(resp.Schema.Type().TerraformType(ctx))
			if err != nil {
				c.t.Fatalf("%v", err)
			}
			return coretest.FromTerraform(decoded)
		}),
		cmp.Transformer("identity", func(d *tfprotov6.ResourceIdentityData) any { return decodeIdentity(c.t, d) }),
		cmpopts.SortSlices(func(a, b *tfprotov6.Diagnostic) bool { return a.Detail < b.Detail }),
		cmp.Transformer("bytes", func(b []byte) string { return string(b) }),
		cmp.Transformer("path", (*tftypes.AttributePath).String),
	}
	if diff := cmp.Diff(want, got, meaning); diff != "" {
		c.t.Fatalf("the fast path and the framework respond differently to %T (-framework +fast path):\n%s", req, diff)
	}
	return got, nil
}

func TestFastPath(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { compareRandomCalls(t, newProcessorsResource) })
}

// compareRandomCalls compares responses to whatever the schema allows in a configuration, a state and the
// private state.
func compareRandomCalls(t *rapid.T, newResource func() resource.Resource) {
	c := newComparingServer(t, newResource)
	newProcess(t, c).Configure(coretest.Attributes{"base_url": "http://127.0.0.1:1"})
	ctx := context.Background()
	schemas, err := c.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	s := schemas.ResourceSchemas[coretest.SingleName]
	config := drawObject(t, "config", s, true, func(a *tfprotov6.SchemaAttribute) (any, bool) {
		return nil, a.Computed && !a.Optional
	})
	prior := tftypes.NewValue(s.ValueType(), nil)
	var private []byte
	if rapid.Bool().Draw(t, "state") {
		prior = drawObject(t, "state", s, false, func(a *tfprotov6.SchemaAttribute) (any, bool) {
			return "cam-1", a.Name == "stream_id" || a.Name == "id"
		})
		private = rapid.SampledFrom([][]byte{nil, nil, []byte(`{"unconfirmed":"dHJ1ZQ=="}`)}).Draw(t, "private")
	}
	read, _ := compared(ctx, c, &tfprotov6.ReadResourceRequest{
		TypeName: coretest.SingleName, CurrentState: coretest.DynamicValue(prior), Private: private,
	}, c.fastPath.ReadResource, c.fullServer.ReadResource)
	if newProcess(t, c).Validate(config).Failed() {
		return
	}
	framework := newComparingServer(t, newResource) // in a run of its own, because a plan claims a stream
	newProcess(t, framework).Configure(coretest.Attributes{"base_url": "http://127.0.0.1:1"})
	_, _ = compared(ctx, c, &tfprotov6.PlanResourceChangeRequest{
		TypeName: coretest.SingleName, PriorState: coretest.DynamicValue(prior), PriorPrivate: private, PriorIdentity: read.NewIdentity,
		Config: coretest.DynamicValue(config), ProposedNewState: coretest.DynamicValue(coretest.ProposedState(s, prior, config)),
	}, c.fastPath.PlanResourceChange, framework.fullServer.PlanResourceChange)
}

// drawObject draws a value for each attribute of a schema, except where fixed gives one.
func drawObject(t *rapid.T, what string, s *tfprotov6.Schema, unknowns bool, fixed func(*tfprotov6.SchemaAttribute) (any, bool)) tftypes.Value {
	values := map[string]tftypes.Value{}
	for _, a := range s.Block.Attributes {
		typ := a.ValueType()
		if v, ok := fixed(a); ok {
			values[a.Name] = tftypes.NewValue(typ, v)
			continue
		}
		values[a.Name] = drawValue(t, what+" "+a.Name, typ, a.Optional || a.Computed, unknowns)
	}
	for _, b := range s.Block.BlockTypes {
		typ := b.ValueType()
		values[b.TypeName] = tftypes.NewValue(typ, nil)
		if _, isObject := typ.(tftypes.Object); !isObject {
			values[b.TypeName] = tftypes.NewValue(typ, []tftypes.Value{})
		}
	}
	return tftypes.NewValue(s.ValueType(), values)
}

func drawValue(t *rapid.T, name string, typ tftypes.Type, nullable, unknowns bool) tftypes.Value {
	switch kind := rapid.IntRange(0, 9).Draw(t, name); {
	case kind == 0 && unknowns:
		return tftypes.NewValue(typ, tftypes.UnknownValue)
	case kind <= 2 && nullable:
		return tftypes.NewValue(typ, nil)
	}
	drawn := func(what string, typ tftypes.Type) tftypes.Value {
		return drawValue(t, name+what, typ, false, unknowns)
	}
	switch typ := typ.(type) {
	case tftypes.Set:
		return tftypes.NewValue(typ, drawElements(t, name, func() tftypes.Value { return drawn(" element", typ.ElementType) }))
	case tftypes.List:
		return tftypes.NewValue(typ, drawElements(t, name, func() tftypes.Value { return drawn(" element", typ.ElementType) }))
	case tftypes.Map:
		all := map[string]tftypes.Value{}
		for _, v := range drawElements(t, name, func() tftypes.Value { return drawn(" element", typ.ElementType) }) {
			all[fmt.Sprint("k", len(all))] = v
		}
		return tftypes.NewValue(typ, all)
	case tftypes.Object:
		all := map[string]tftypes.Value{}
		for field, typ := range typ.AttributeTypes {
			all[field] = drawValue(t, name+" "+field, typ, true, unknowns)
		}
		return tftypes.NewValue(typ, all)
	}
	switch {
	case typ.Is(tftypes.Number):
		return tftypes.NewValue(typ, rapid.Int64Range(0, 1<<50).Draw(t, name))
	case typ.Is(tftypes.Bool):
		return tftypes.NewValue(typ, rapid.Bool().Draw(t, name))
	}
	return tftypes.NewValue(typ, rapid.SampledFrom([]string{"cam-1", "cam-2", "p1", "p2", "detach", "keep", "1m", "", ".."}).Draw(t, name))
}

// drawElements draws up to two different elements.
func drawElements(t *rapid.T, name string, draw func() tftypes.Value) []tftypes.Value {
	all := []tftypes.Value{}
	for range rapid.IntRange(0, 2).Draw(t, name+" length") {
		if v := draw(); len(all) == 0 || !v.Equal(all[0]) {
			all = append(all, v)
		}
	}
	return all
}

// variantResource is the resource as a maintainer might change it.
type variantResource struct {
	processorsResource
	edit func(map[string]schema.Attribute, *schema.Schema)
}

func (r *variantResource) Schema(ctx context.Context, req resource.SchemaRequest, resp *resource.SchemaResponse) {
	r.processorsResource.Schema(ctx, req, resp)
	r.edit(resp.Schema.Attributes, &resp.Schema)
}

type validatedResource struct{ variantResource }

func (r *validatedResource) ConfigValidators(context.Context) []resource.ConfigValidator {
	return []resource.ConfigValidator{resourcevalidator.RequiredTogether(path.MatchRoot("triggers"), path.MatchRoot("timeouts"))}
}

// customString is a string type of a maintainer's own.
type customString struct{ basetypes.StringType }

// TestFastPathFailsClosed leaves each variant of the schema to the framework, as soon as the variant changes
// more than descriptions and validators.
func TestFastPathFailsClosed(t *testing.T) {
	t.Parallel()
	edited := func(name string, edit func(*schema.MapAttribute)) func(map[string]schema.Attribute, *schema.Schema) {
		return func(attributes map[string]schema.Attribute, _ *schema.Schema) {
			a, _ := attributes[name].(schema.MapAttribute)
			edit(&a)
			attributes[name] = a
		}
	}
	added := func(a schema.Attribute) func(map[string]schema.Attribute, *schema.Schema) {
		return func(attributes map[string]schema.Attribute, _ *schema.Schema) { attributes["label"] = a }
	}
	for name, tc := range map[string]struct {
		edit func(map[string]schema.Attribute, *schema.Schema)
		fast bool
	}{
		"unchanged":   {func(map[string]schema.Attribute, *schema.Schema) {}, true},
		"description": {edited("triggers", func(a *schema.MapAttribute) { a.Description = "other words" }), true},
		"validator": {edited("triggers", func(a *schema.MapAttribute) {
			a.Validators = []validator.Map{mapvalidator.SizeAtMost(1)}
		}), true},
		"write-only": {edited("triggers", func(a *schema.MapAttribute) { a.WriteOnly = true }), false},
		"sensitive":  {edited("triggers", func(a *schema.MapAttribute) { a.Sensitive = true }), false},
		"default": {edited("triggers", func(a *schema.MapAttribute) {
			a.Computed = true
			a.Default = mapdefault.StaticValue(types.MapValueMust(types.StringType, map[string]attr.Value{}))
		}), false},
		"element type": {edited("triggers", func(a *schema.MapAttribute) { a.ElementType = types.BoolType }), false},
		"plan modifier": {func(attributes map[string]schema.Attribute, _ *schema.Schema) {
			a, _ := attributes["compatible_namespaces"].(schema.SetAttribute)
			a.PlanModifiers = []planmodifier.Set{setplanmodifier.UseStateForUnknown()}
			attributes["compatible_namespaces"] = a
		}, false},
		"condition of the replacement": {func(attributes map[string]schema.Attribute, _ *schema.Schema) {
			a, _ := attributes["stream_id"].(schema.StringAttribute)
			a.PlanModifiers = []planmodifier.String{stringplanmodifier.RequiresReplaceIf(
				func(context.Context, planmodifier.StringRequest, *stringplanmodifier.RequiresReplaceIfFuncResponse) {}, "", "")}
			attributes["stream_id"] = a
		}, false},
		"custom type": {func(attributes map[string]schema.Attribute, _ *schema.Schema) {
			a, _ := attributes["terminal_id"].(schema.StringAttribute)
			a.CustomType = customString{}
			attributes["terminal_id"] = a
		}, false},
		"nested attribute": {func(attributes map[string]schema.Attribute, _ *schema.Schema) {
			a, _ := attributes["timeouts"].(schema.SingleNestedAttribute)
			a.Attributes["all"] = schema.StringAttribute{Optional: true}
		}, false},
		"attribute that forces a new resource": {added(schema.StringAttribute{
			Optional: true, PlanModifiers: []planmodifier.String{replaceIfChanged},
		}), false},
		"write-only attribute": {added(schema.StringAttribute{Optional: true, WriteOnly: true}), false},
		"removed attribute": {func(attributes map[string]schema.Attribute, _ *schema.Schema) {
			delete(attributes, "last_edited")
		}, false},
		"block": {func(_ map[string]schema.Attribute, s *schema.Schema) {
			s.Blocks = map[string]schema.Block{"filter": schema.SingleNestedBlock{}}
		}, false},
		"version": {func(_ map[string]schema.Attribute, s *schema.Schema) { s.Version = 1 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := func() resource.Resource { return &variantResource{edit: tc.edit} }
			if _, fast := newVariantServer(r).(*fastPath); fast != tc.fast {
				t.Fatalf("the fast path is used: %t, want %t", fast, tc.fast)
			}
			if tc.fast { // otherwise the server is the framework's own
				rapid.Check(t, func(t *rapid.T) { compareRandomCalls(t, r) })
			}
		})
	}
}

// TestValidatorBesideFastPath shows that the framework validates whatever the fast path does.
func TestValidatorBesideFastPath(t *testing.T) {
	t.Parallel()
	edited := func(attributes map[string]schema.Attribute, _ *schema.Schema) {
		a, _ := attributes["triggers"].(schema.MapAttribute)
		a.Validators = []validator.Map{mapvalidator.SizeAtMost(1)}
		attributes["triggers"] = a
	}
	unchanged := func(map[string]schema.Attribute, *schema.Schema) {}
	for name, r := range map[string]func() resource.Resource{
		"of an attribute": func() resource.Resource { return &variantResource{edit: edited} },
		"of the resource": func() resource.Resource { return &validatedResource{variantResource{edit: unchanged}} },
	} {
		p := newProcess(t, newComparingServer(t, r))
		config := coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{}, "triggers": map[string]string{"a": "1", "b": "2"}}
		if !p.Validate(resourceValue(config)).Failed() {
			t.Errorf("the validator %s did not run", name)
		}
	}
}

// TestFastPathIsUsed has no framework to fall back on.
func TestFastPathIsUsed(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "cam-1"}))
	t.Cleanup(service.Close)
	config := resourceValue(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
	none := coretest.Managed{Value: nullResource()}
	c := newComparingServer(t, newProcessorsResource)
	p := newProcess(t, c.fastPath)
	p.Configure(coretest.Attributes{"base_url": service.URL})
	planned, _, _ := p.Plan(none, config)
	state, diags := p.Apply(none.Value, planned, config)
	if diags.Failed() {
		t.Fatal(diags)
	}
	c.fullServer = nil
	p.Read(state)
	p.Plan(state, config)
}

// TestFastPathWithoutValues makes calls that lack values.
func TestFastPathWithoutValues(t *testing.T) {
	t.Parallel()
	c := newComparingServer(t, newProcessorsResource)
	newProcess(t, c).Configure(coretest.Attributes{"base_url": "http://127.0.0.1:1"})
	_, _ = compared(t.Context(), c, &tfprotov6.ReadResourceRequest{TypeName: coretest.SingleName},
		c.fastPath.ReadResource, c.fullServer.ReadResource)
	_, _ = compared(t.Context(), c, &tfprotov6.PlanResourceChangeRequest{TypeName: coretest.SingleName},
		c.fastPath.PlanResourceChange, c.fullServer.PlanResourceChange)
}
