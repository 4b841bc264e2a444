package provider_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// notOfTheService are bodies of 404s that are not the error body of the service.
var notOfTheService = map[string]string{
	"text":              "404 page not found\n",
	"page":              "<html><h1>404 Not Found</h1></html>",
	"nothing":           "",
	"another field":     `{"detail":"Not Found"}`,
	"another case":      `{"Message":"no Route matched with those values"}`,
	"message is null":   `{"message":null}`,
	"message in a list": `[{"message":"there is no stream"}]`,
	"cut off":           `{"message":"there is no str`,
}

// A destroy fails with a 404 that is not the service's own: the stream stays in the state, and the next apply detaches its processors.
// Nothing else is lost. To the provider, a removed resource is one that terraform destroy destroys.
func TestNotFoundByAnother(t *testing.T) {
	t.Parallel()
	moved, both, kept := single("cam-2", []string{"p1"}), map[string][]string{"cam-1": {"p1"}, "cam-2": {"p1"}},
		map[string][]string{"cam-2": {"p2"}}
	for name, way := range map[string]struct {
		null, first tftypes.Value
		apply       func(*resourceRun) coretest.Diagnostics
		failed      func(*testing.T, *resourceRun) // what the state has after the error
		next        func(*resourceRun) coretest.Diagnostics
		hint, now   string
	}{
		"destroy": {
			nullResource(), cam1("p1"), func(r *resourceRun) coretest.Diagnostics { return r.apply(r.null()) },
			func(t *testing.T, r *resourceRun) { wantAttribute(t, r.state, "processor_ids", []string{"p1"}) },
			func(r *resourceRun) coretest.Diagnostics { return r.apply(r.null()) },
			wayOut, "",
		},
		"destroy of a group": {
			nullGroup().Value, group(both, nil), func(r *resourceRun) coretest.Diagnostics { return r.apply(r.null()) },
			func(_ *testing.T, r *resourceRun) { r.wantStreams(without(both, "cam-2")) },
			func(r *resourceRun) coretest.Diagnostics { return r.apply(r.null()) },
			wayOut, "1 of 2 changes succeeded. The state has only the streams that failed.",
		},
		"drop of a group": {
			nullGroup().Value, group(both, nil), func(r *resourceRun) coretest.Diagnostics { return r.apply(group(kept, nil)) },
			func(_ *testing.T, r *resourceRun) { r.wantStreams(with(kept, "cam-1", "p1")) },
			func(r *resourceRun) coretest.Diagnostics { return r.apply(group(kept, nil)) },
			`set on_destroy = "keep" in the group, and run the command again.`, "1 of 2 changes succeeded. The state has what succeeded.",
		},
		"replacement": {
			nullResource(), cam1("p1"), func(r *resourceRun) coretest.Diagnostics { return r.replace(moved) },
			func(t *testing.T, r *resourceRun) { wantAttribute(t, r.state, "stream_id", "cam-1") },
			func(r *resourceRun) coretest.Diagnostics { return r.replace(moved) },
			wayOut, "",
		},
		"replacement that creates first": {
			nullResource(), cam1("p1"), func(r *resourceRun) coretest.Diagnostics { return r.replaceCreatingFirst(moved) },
			func(t *testing.T, r *resourceRun) {
				wantAttribute(t, r.state, "stream_id", "cam-2")
				wantAttribute(t, *r.deposed, "stream_id", "cam-1")
			},
			(*resourceRun).destroyDeposed,
			wayOut, "",
		},
	} {
		for form, body := range notOfTheService {
			for _, drift := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, detect_drift %t", name, form, drift), func(t *testing.T) {
					t.Parallel()
					service, r := startRun(t, way.null, coretest.Attributes{"detect_drift": drift}, streamstest.Streams("cam-1", "cam-2")...)
					r.mustApply(way.first)
					service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
						if r.Method == http.MethodPatch && r.StreamID == "cam-1" {
							return &streamstest.Fault{Status: http.StatusNotFound, Body: &body}
						}
						return nil
					})
					diags := way.apply(r)
					wantDiagnostics(t, diags, "ERROR: Resource Not Found Error")
					for _, part := range []string{"check base_url", way.hint, way.now, "The stream was not changed."} {
						wantDiagnostic(t, diags, "ERROR", part)
					}
					way.failed(t, r)
					service.WantAttached(t, "cam-1", "p1")

					service.InjectFunc(nil)
					if diags := way.next(r); diags.Failed() {
						t.Errorf("the next apply fails: %s", diags)
					}
					service.WantAttached(t, "cam-1")
				})
			}
		}
	}
}

const wayOut = "remove the resource from the state with terraform state rm. " +
	"The next apply creates it again if the configuration still has it."

// With create_before_destroy, a create that fails leaves the old object in the state. The next apply detaches its processors.
func TestNotFoundByAnotherInACreate(t *testing.T) {
	t.Parallel()
	moved := single("cam-2", []string{"p1"})
	service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1", "cam-2")...)
	r.mustApply(cam1("p1"))
	refuse(service, map[string]streamstest.Fault{"cam-2": {Status: http.StatusNotFound, Body: new("")}})
	wantDiagnostics(t, r.replaceCreatingFirst(moved), "ERROR: Resource Not Found Error")
	wantAttribute(t, r.state, "stream_id", "cam-1")
	service.InjectFunc(nil)
	wantDiagnostics(t, r.replaceCreatingFirst(moved), "WARNING: Processors Were Detached")
	service.WantAttached(t, "cam-1")
	service.WantAttached(t, "cam-2", "p1")
}

// planReplacement returns the second plan of a replacement, which Terraform passes to both calls of its apply.
func (r *resourceRun) planReplacement(config tftypes.Value) coretest.Managed {
	r.t.Helper()
	p := startProvider(r.t, r.provider)
	first, replaces, diags := p.Plan(r.state, config)
	second, _, again := p.Plan(coretest.Managed{Value: r.null(), Private: first.Private, Identity: first.Identity}, config)
	if len(replaces) == 0 || diags.Failed() || again.Failed() {
		r.t.Fatalf("no plan of a replacement: %q %s %s", replaces, diags, again)
	}
	return second
}

// replace plans and applies a replacement that destroys the object first.
func (r *resourceRun) replace(config tftypes.Value) (diags coretest.Diagnostics) {
	r.t.Helper()
	planned, p := r.planReplacement(config), startProvider(r.t, r.provider)
	r.state, diags = p.Apply(r.state.Value, coretest.Managed{Value: r.null(), Private: planned.Private}, r.null())
	if diags.Failed() {
		return diags
	}
	created, more := r.create(p, config)
	r.state = created
	return append(diags, more...)
}

// replaceCreatingFirst is like replace, with create_before_destroy.
func (r *resourceRun) replaceCreatingFirst(config tftypes.Value) coretest.Diagnostics {
	r.t.Helper()
	r.planReplacement(config)
	old, p := r.state, startProvider(r.t, r.provider)
	created, diags := r.create(p, config)
	if diags.Failed() {
		return diags // Terraform puts the old object back
	}
	r.state = created
	return append(diags, r.destroyOld(p, old)...)
}

func (r *resourceRun) create(p *coretest.Process, config tftypes.Value) (coretest.Managed, coretest.Diagnostics) {
	r.t.Helper()
	planned, _, diags := p.Plan(coretest.Managed{Value: r.null()}, config)
	if diags.Failed() {
		r.t.Fatalf("the apply cannot plan: %s", diags)
	}
	return p.Apply(r.null(), planned, config)
}

// destroyOld plans and applies the destroy of an old object in one process, as Terraform does.
func (r *resourceRun) destroyOld(p *coretest.Process, old coretest.Managed) coretest.Diagnostics {
	r.t.Helper()
	planned, _, diags := p.Plan(old, r.null())
	if diags.Failed() {
		r.t.Fatalf("the apply cannot plan: %s", diags)
	}
	left, diags := p.Apply(old.Value, planned, r.null())
	if r.deposed = nil; diags.Failed() {
		r.deposed = &left
	}
	return diags
}

// destroyDeposed plans and applies the destroy of an old object that is still in the state.
func (r *resourceRun) destroyDeposed() coretest.Diagnostics {
	r.t.Helper()
	old, read := startProvider(r.t, r.provider).Read(*r.deposed)
	if _, _, planned := startProvider(r.t, r.provider).Plan(old, r.null()); read.Failed() || planned.Failed() {
		r.t.Fatalf("no plan of the destroy: %s %s", read, planned)
	}
	return r.destroyOld(startProvider(r.t, r.provider), old)
}
