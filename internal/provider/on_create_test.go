package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

var refusing = coretest.Attributes{"on_create": "refuse"}

func refusing1(stream any, processors ...string) tftypes.Value {
	return resourceValue(merge(coretest.Attributes{"stream_id": stream, "processor_ids": append([]string{}, processors...)}, refusing))
}

// wantRefused fails the test unless there is one error, at an attribute, that names the processors and says what to do.
func wantRefused(t *testing.T, diags coretest.Diagnostics, at, processors string) {
	t.Helper()
	diags = errorsOf(diags)
	wantError(t, diags, "Processors Would Be Detached")
	streamstest.WantText(t, diags.String(), "not in the planned set: "+processors+".", "add them to the set", "adopt the stream", `on_create = "replace"`,
		"moved block", "No update was sent. The stream was not changed by this resource.")
	wantEqual(t, "path", at, diags[0].Attribute.String())
}

func errorsOf(diags coretest.Diagnostics) (errors coretest.Diagnostics) {
	for _, d := range diags {
		if (coretest.Diagnostics{d}).Failed() {
			errors = append(errors, d)
		}
	}
	return errors
}

const atSet = `AttributeName("processor_ids")`

// A plan that takes a stream over fails if the stream has other processors: a create, a stream that is added to a group, and
// the first set at another deployment.
func TestRefusesOtherProcessors(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), detectDrift, streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p1", "p8", "p9"}})
	_, diags := r.plan(refusing1("cam-1", "p1", "p2"))
	wantRefused(t, diags, atSet, `["p8", "p9"]`)
	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p1"}})
	r.mustApply(refusing1("cam-1", "p1", "p2"))
	r.provider = merge(r.provider, coretest.Attributes{"deployment": "another"})
	_, diags = r.plan(refusing1("cam-1", "p1"))
	wantRefused(t, diags, atSet, `["p2"]`)

	streams := sameSet(3, "p1")
	service, r = startRun(t, nullGroup().Value, detectDrift, seeds(streams)...)
	r.mustApply(group(without(streams, "s001", "s002"), refusing))
	service.Seed(streamstest.Stream{ID: "s001", ProcessorIDs: []string{"p9"}})
	service.Seed(streamstest.Stream{ID: "s000", ProcessorIDs: []string{"p9"}})
	r.refresh()
	service.ForgetRequests()
	_, diags = r.plan(group(streams, refusing))
	wantRefused(t, diags, `AttributeName("streams").ElementKeyString("s001")`, `["p9"]`)
	service.WantRequests(t, gets("s001", "s002")...)
	r.mustApply(group(without(streams, "s001"), refusing))
}

// Without detect_drift, the plan of a resource that takes a stream over fails, and sends nothing. An update does not fail, and
// a change of on_create sends nothing.
func TestRefusalNeedsReads(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1")...)
	wantNeed := func(config tftypes.Value) {
		t.Helper()
		_, diags := r.plan(config)
		wantDiagnostic(t, diags, "ERROR: Streams Cannot Be Checked", "set detect_drift = true")
		wantEqual(t, "path", `AttributeName("on_create")`, diags[len(diags)-1].Attribute.String())
		service.WantRequests(t)
	}
	wantNeed(refusing1("cam-1", "p1"))
	wantNeed(refusing1(tftypes.UnknownValue, "p1"))
	r.mustApply(cam1("p1"))
	service.WantRequests(t, patches(map[string][]string{"cam-1": {"p1"}})...)
	before := coretest.AttributesOf(r.state.Value)["last_edited"]
	r.mustApply(refusing1("cam-1", "p1"))
	wantAttribute(t, r.state, "last_edited", coretest.FromTerraform(before))
	service.WantRequests(t)
	r.mustApply(refusing1("cam-1", "p2"))
	service.WantRequests(t, patches(map[string][]string{"cam-1": {"p2"}})...)
	r.provider = merge(r.provider, coretest.Attributes{"deployment": "another"})
	wantNeed(refusing1("cam-1", "p2"))

	streams := sameSet(2, "p1")
	service, r = startRun(t, nullGroup().Value, nil, seeds(streams)...)
	wantNeed(group(streams, refusing))
	r.mustApply(group(without(streams, "s001"), nil))
	service.ForgetRequests()
	wantNeed(group(streams, refusing))
	r.mustApply(group(without(with(streams, "s000", "p2"), "s001"), refusing))
	service.ForgetRequests()
	r.provider = merge(r.provider, coretest.Attributes{"deployment": "another"})
	wantNeed(coretest.ToTerraform(groupSchema().ValueType(), merge(refusing, coretest.Attributes{"streams": tftypes.UnknownValue})))
}

// replacement is a replacement as Terraform makes it: the plan refreshes; it shows a tainted object only to the refresh.
type replacement struct {
	*resourceRun
	tainted, unrefreshed, createsFirst bool
	between                            func() // the plan and the apply
}

// run returns the errors of the plan or of the apply.
func (r replacement) run(config tftypes.Value) (refused coretest.Diagnostics) {
	r.t.Helper()
	p, null := startProvider(r.t, r.provider), coretest.Managed{Value: r.null()}
	prior := r.state
	if !r.unrefreshed {
		prior, _ = p.Read(prior)
	}
	if !r.tainted {
		first, _, diags := p.Plan(prior, config)
		if null.Private = first.Private; diags.Failed() {
			return diags
		}
	}
	planned, _, diags := p.Plan(null, config)
	if diags.Failed() {
		return diags
	}
	if r.between != nil {
		r.between()
	}
	p, null.Private = startProvider(r.t, r.provider), nil
	if r.state = prior; !r.createsFirst {
		if r.state, diags = p.Apply(prior.Value, coretest.Managed{Value: r.null(), Private: planned.Private}, r.null()); diags.Failed() {
			return diags
		}
	}
	planned, _, diags = p.Plan(null, config)
	if diags.Failed() {
		return diags
	}
	created, diags := p.Apply(null.Value, planned, config)
	if !diags.Failed() {
		r.state = created
	}
	return diags
}

// A replacement detaches what its own object had in the state before the refresh, and nothing else.
func TestRefusalAllowsReplacement(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]replacement{
		"-replace": {}, "tainted": {tainted: true}, "-replace -refresh=false": {unrefreshed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, run := startRun(t, nullResource(), detectDrift, streamstest.Streams("cam-1")...)
			how := replacement{resourceRun: run, tainted: how.tainted, unrefreshed: how.unrefreshed}
			config := func(processors ...string) tftypes.Value { return refusing1("cam-1", processors...) }
			attach := func(processors ...string) { service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: processors}) }
			how.mustApply(config("p1", "p2"))
			wantDiagnostics(t, errorsOf(how.run(config("p1"))))
			service.WantAttached(t, "cam-1", "p1")

			attach("p1", "p9")
			wantRefused(t, how.run(config("p2")), atSet, `["p9"]`)
			attach("p1")
			how.between = func() { attach("p1", "p9") }
			wantRefused(t, how.run(config("p2")), atSet, `["p9"]`)
			if how.state.Value.IsNull() {
				t.Error("the object is destroyed, although the create is refused")
			}
			service.WantAttached(t, "cam-1", "p1", "p9")

			attach("p1")
			how.between, how.createsFirst = nil, true
			wantDiagnostics(t, errorsOf(how.run(config("p1"))))
			wantRefused(t, how.run(config("p2")), atSet, `["p1"]`)    // by the apply
			wantDiagnostics(t, errorsOf(how.run(config("p1", "p2")))) // as the error says
		})
	}
}

// An apply checks a stream again before the first request: also the destroy of an object that moves to another stream.
func TestRefusalInTheApply(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), detectDrift, streamstest.Streams("cam-1", "cam-2")...)
	attach := func() { service.Seed(streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"p9"}}) }
	r.mustApply(refusing1("cam-1", "p1"))
	wantRefused(t, replacement{resourceRun: r, between: attach}.run(refusing1("cam-2", "p1")), atSet, `["p9"]`)
	wantAttribute(t, r.state, "stream_id", "cam-1")
	service.WantAttached(t, "cam-1", "p1")

	_, _, diags := startProvider(t, r.provider).Plan(coretest.Managed{Value: r.null()}, refusing1("cam-2", "p1"))
	wantRefused(t, diags, atSet, `["p9"]`)
}

// A replacement whose stream or set is known after apply is checked before its destroy, or not destroyed: nothing is sent, and the
// object stays in the state. The plan says so. With create_before_destroy, the create is checked.
func TestRefusalOfUnknownReplacement(t *testing.T) {
	t.Parallel()
	unknown := tftypes.UnknownValue
	set := func(id string) tftypes.Value {
		return resourceValue(merge(coretest.Attributes{"stream_id": id, "processor_ids": []any{"p1", unknown}}, refusing))
	}
	for name, test := range map[string]struct {
		planned, config tftypes.Value
		tainted         bool
	}{
		"the stream":                {refusing1(unknown, "p2"), refusing1("cam-2", "p2"), false},
		"the set":                   {set("cam-2"), refusing1("cam-2", "p2"), false},
		"the set, with -replace":    {set("cam-1"), refusing1("cam-1", "p2"), false},
		"the set, of a tainted one": {set("cam-1"), refusing1("cam-1", "p2"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, r := startRun(t, nullResource(), detectDrift, streamstest.Streams("cam-1", "cam-2")...)
			r.mustApply(refusing1("cam-1", "p1"))
			p := startProvider(t, r.provider)
			prior, _ := p.Read(r.state)
			null := coretest.Managed{Value: r.null()}
			var said coretest.Diagnostics
			if !test.tainted {
				first, _, diags := p.Plan(prior, test.planned)
				null.Private, said = first.Private, diags
			}
			planned, _, diags := p.Plan(null, test.planned)
			wantDiagnostic(t, append(said, diags...), `WARNING: Replacement Cannot Be Checked: stream "cam-1"`, "-target=ADDRESS")

			service.Seed(streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"p9"}})
			service.ForgetRequests()
			p = startProvider(t, r.provider)
			kept, diags := p.Apply(prior.Value, coretest.Managed{Value: r.null(), Private: planned.Private}, r.null())
			wantError(t, diags, "Replacement Cannot Be Checked")
			wantState(t, prior.Value, kept)
			service.WantRequests(t)
			again := replacement{resourceRun: r, tainted: test.tainted}
			if test.config.Equal(refusing1("cam-2", "p2")) {
				wantRefused(t, again.run(test.config), atSet, `["p9"]`)
				service.WantAttached(t, "cam-1", "p1")
				wantRefused(t, replacement{resourceRun: r, createsFirst: true}.run(test.config), atSet, `["p9"]`)
			} else {
				diags := again.run(test.config)
				wantDiagnostics(t, errorsOf(diags))
				service.WantAttached(t, "cam-1", "p2")
			}
		})
	}
	_, r := startRun(t, nullResource(), detectDrift, streamstest.Streams("cam-1", "cam-2")...)
	r.mustApply(resourceValue(merge(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}, "on_destroy": "keep"}, refusing)))
	_, diags := r.plan(refusing1(unknown, "p2"))
	wantDiagnostics(t, diags)
}

// An import that read nothing takes its stream over, and is checked like a create: also if reads are turned on afterwards.
func TestRefusalOfUnreadImport(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), nil, streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p9"}})
	r.state, _ = startProvider(t, r.provider).ImportState(coretest.SingleName, "cam-1")
	_, diags := r.plan(refusing1("cam-1", "p1"))
	wantDiagnostic(t, diags, "ERROR: Streams Cannot Be Checked", "set detect_drift = true")
	_, diags = r.plan(cam1("p1"))
	wantDiagnostics(t, diags)
	r.provider = merge(r.provider, detectDrift)
	_, diags = r.plan(refusing1("cam-1", "p1"))
	wantRefused(t, diags, atSet, `["p9"]`)
	_, diags = r.plan(cam1("p1"))
	wantDiagnostics(t, diags, `WARNING: Processors Will Be Detached: stream "cam-1"`)
	service.WantRequests(t, gets("cam-1", "cam-1")...)
	r.mustApply(refusing1("cam-1", "p1", "p9"))
}

// The plan lists what the apply detaches at another deployment, for streams that a group adds, too. What cannot be read there is a
// warning, because a destroy plans the same to refresh.
func TestPlanOfAnotherDeploymentReads(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *deploymentTest) {
		d.at(d.url).provider["detect_drift"] = true
		d.configured.Configure(func(o *streamstest.Options) { o.ServeGet = true })
		d.configured.Seed(streamstest.Stream{ID: "s000", ProcessorIDs: []string{"p9"}}, streamstest.Stream{ID: "s001", ProcessorIDs: []string{"p1", "p9"}})
		_, diags := d.plan(d.config("p1", nil))
		wantDiagnostic(t, diags, "WARNING: "+deploymentChanged, "")
		wantDiagnostic(t, diags, `WARNING: Processors Will Be Detached: stream "s000"`, `["p9"]`)
		refuseBoth(d.configured, streamstest.Fault{Status: 403})
		_, diags = d.plan(d.config("p1", nil))
		wantDiagnostics(t, errorsOf(diags))
		wantDiagnostic(t, diags, `WARNING: Processors May Be Detached: stream "s000"`, "403 Forbidden")
	})
}
