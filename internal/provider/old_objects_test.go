package provider_test

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// oldObjectTest has a resource and the old object of an earlier replacement, with the same streams. Terraform refreshes both,
// plans the destroy of the old object, and plans it again in the apply.
type oldObjectTest struct {
	*deploymentTest
	live, old coretest.Managed
}

// withOldObject runs a test with each resource, with and without detect_drift.
func withOldObject(t *testing.T, test func(*testing.T, *oldObjectTest)) {
	t.Helper()
	onBoth(t, func(t *testing.T, d *deploymentTest) {
		d.at(d.formerURL)
		for _, drift := range []bool{false, true} {
			d.former.Configure(func(o *streamstest.Options) { o.ServeGet = drift })
			d.provider["detect_drift"] = drift
			test(t, &oldObjectTest{d, d.state, d.state})
		}
		d.former.ForgetRequests()
	})
}

func (o *oldObjectTest) refresh(p *coretest.Process, object *coretest.Managed) {
	o.t.Helper()
	var diags coretest.Diagnostics
	if *object, diags = p.Read(*object); len(diags) > 0 {
		o.t.Fatal(diags)
	}
}

// destroyOld plans and applies the destroy of the old object in an apply.
func (o *oldObjectTest) destroyOld(p *coretest.Process) coretest.Diagnostics {
	o.t.Helper()
	o.former.ForgetRequests()
	planned, _, diags := p.Plan(o.old, o.null())
	if len(diags) > 0 {
		o.t.Errorf("the plan in the apply: %s", diags)
	}
	o.old, diags = p.Apply(o.old.Value, planned, o.null())
	return diags
}

// create applies another resource, with another stream or one of the group.
func (o *oldObjectTest) create(p *coretest.Process) {
	o.t.Helper()
	null, config := coretest.Managed{Value: nullResource()}, single("s001", []string{"p1"})
	planned, _, _ := p.Plan(null, config)
	if _, diags := p.Apply(null.Value, planned, config); diags.Failed() {
		o.t.Fatal(diags)
	}
}

// An apply that creates nothing cannot know whether another resource has the streams.
func TestOldObjectOfEarlierApply(t *testing.T) {
	t.Parallel()
	withOldObject(t, func(t *testing.T, o *oldObjectTest) {
		wantDiagnostic(t, o.destroyOld(startProvider(t, o.provider)), `WARNING: Processors Stay Attached: stream "s000"`, "processor_ids = []")
		o.former.WantRequests(t)
	})
}

// Beside a create, an object that the refresh found on streams of another resource sends nothing. If it was read first, the
// plan says what may happen.
func TestOldObjectBesideACreate(t *testing.T) {
	t.Parallel()
	withOldObject(t, func(t *testing.T, o *oldObjectTest) {
		plan := startProvider(t, o.provider)
		o.refresh(plan, &o.live)
		o.refresh(plan, &o.old)
		plan.Plan(o.live, o.config("p1", nil))
		_, _, diags := plan.Plan(o.old, o.null())
		wantDiagnostics(t, diags)
		apply := startProvider(t, o.provider)
		o.create(apply)
		wantDiagnostic(t, o.destroyOld(apply), `WARNING: Processors Stay Attached: stream "s000"`, "processor_ids = []")
		o.former.WantRequests(t)

		for _, refresh := range []bool{true, false} {
			plan, o.live, o.old = startProvider(t, o.provider), o.state, o.state
			if refresh {
				o.refresh(plan, &o.old)
				o.refresh(plan, &o.live)
			}
			plan.Plan(o.live, o.config("p1", nil))
			_, _, diags := plan.Plan(o.old, o.null())
			wantDiagnostics(t, diags) // without a create, nothing is detached
			_, _, diags = plan.Plan(nullGroup(), group(map[string][]string{"other": {"p1"}}, nil))
			wantDiagnostic(t, diags, `WARNING: An Old Object Has the Stream: stream "s000"`, "change a value in triggers")
		}
	})
}

// If the destroy fails in the apply of the replacement, the next apply detaches the processors.
func TestOldObjectWhoseDestroyFailed(t *testing.T) {
	t.Parallel()
	for _, fault := range []streamstest.Fault{{Status: 503}, {ResetAfter: true}} {
		withOldObject(t, func(t *testing.T, o *oldObjectTest) {
			apply := startProvider(t, o.provider)
			o.create(apply)
			o.former.InjectFunc(func(streamstest.Request) *streamstest.Fault { return &fault })
			if !o.destroyOld(apply).Failed() {
				t.Fatal("no error")
			}
			o.former.InjectFunc(nil)
			o.refresh(startProvider(t, o.provider), &o.old)
			if diags := o.destroyOld(startProvider(t, o.provider)); diags.Failed() || !o.old.Value.IsNull() {
				t.Errorf("the object is left: %s", diags)
			}
			o.former.WantRequests(t, patches(map[string][]string{"s000": {}})...)
		})
	}
}

// Two resources that share a stream detach the processors if both are destroyed.
func TestDestroyOfASharedStream(t *testing.T) {
	t.Parallel()
	withOldObject(t, func(t *testing.T, o *oldObjectTest) {
		plan, apply := startProvider(t, o.provider), startProvider(t, o.provider)
		o.refresh(plan, &o.live)
		o.refresh(plan, &o.old)
		for _, object := range []coretest.Managed{o.old, o.live} {
			planned, _, diags := plan.Plan(object, o.null())
			_, applied := apply.Apply(object.Value, planned, o.null())
			wantDiagnostics(t, append(diags, applied...))
		}
		o.former.WantAttached(t, "s000")
		o.former.Seed(streamstest.Stream{ID: "s000", ProcessorIDs: []string{"p1"}}) // as before
	})
}
