package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// deploymentTest has a resource with the streams s000 and s001, or only s000, and two deployments.
type deploymentTest struct {
	*resourceRun
	single             bool
	formerURL, url     string
	former, configured *streamstest.Service
}

// onBoth runs a test with each resource, which is at the former deployment. The former deployment must get no request.
func onBoth(t *testing.T, test func(*testing.T, *deploymentTest)) {
	t.Helper()
	for name, single := range map[string]bool{"single": true, "group": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &deploymentTest{resourceRun: &resourceRun{t: t, state: nullGroup()}, single: single}
			if single {
				d.state.Value = nullResource()
			}
			d.former, d.formerURL = streamstest.Start(t, streamstest.Options{}, streamstest.Streams("s000", "s001")...)
			d.configured, d.url = streamstest.Start(t, streamstest.Options{}, streamstest.Streams("s000", "s001")...)
			d.at(d.formerURL).mustApply(d.config("p1", nil))
			d.want("deployment", d.formerURL)
			d.former.ForgetRequests()
			test(t, d)
			d.former.WantRequests(t)
		})
	}
}

func (d *deploymentTest) config(processor string, others coretest.Attributes) tftypes.Value {
	if d.single {
		return resourceValue(merge(coretest.Attributes{"stream_id": "s000", "processor_ids": []string{processor}}, others))
	}
	return group(sameSet(2, processor), others)
}

// sets are the requests of a change of all sets.
func (d *deploymentTest) sets(processors ...string) []string {
	if d.single {
		return patches(sameSet(1, processors...))
	}
	return patches(sameSet(2, processors...))
}

// at configures the provider for a deployment.
func (d *deploymentTest) at(url any) *deploymentTest {
	d.provider = coretest.Attributes{"base_url": url, "retry": oneAttempt}
	return d
}

func refuseBoth(service *streamstest.Service, fault streamstest.Fault) {
	refuse(service, map[string]streamstest.Fault{"s000": fault, "s001": fault})
}

// want fails the test unless an attribute of the state has a value.
func (d *deploymentTest) want(name string, want any) {
	d.t.Helper()
	wantAttribute(d.t, d.state, name, want)
}

// A state without a deployment, such as a moved one, plans no change. The next update or refresh fills the deployment in. Until then,
// nothing is detached.
func TestStateWithoutDeployment(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *deploymentTest) {
		d.formerURL, d.former, d.url, d.configured = d.url, d.configured, d.formerURL, d.former
		values := coretest.AttributesOf(d.state.Value)
		values["deployment"] = tftypes.NewValue(tftypes.String, nil)
		old := tftypes.NewValue(d.state.Value.Type(), values)
		d.state.Value = old
		d.at(d.url).wantNoChanges(d.config("p1", nil))

		// The apply may find that there is nothing to send.
		late := resourceValue(coretest.Attributes{"stream_id": "s000", "processor_ids": tftypes.UnknownValue})
		if !d.single {
			late = coretest.ToTerraform(groupSchema().ValueType(), coretest.Attributes{"streams": tftypes.UnknownValue})
		}
		plan, diags := d.at(d.url).plan(late)
		if d.single {
			wantDiagnostics(t, diags)
		} else {
			wantDiagnostics(t, diags, "WARNING: Streams Leave the Group")
		}
		wantAttribute(t, plan, "deployment", tftypes.UnknownValue)

		d.at(d.url).mustApply(d.config("p1", coretest.Attributes{"on_destroy": "keep"}))
		d.want("deployment", d.url)
		d.configured.WantRequests(t)
		d.state.Value = old
		d.at(d.url).mustApply(d.config("p2", nil))
		d.want("deployment", d.url)
		d.configured.WantRequests(t, d.sets("p2")...)

		d.state.Value = old
		_, diags = d.at(d.url).plan(d.null())
		wantError(t, diags, "Deployment Not Known to the State")
		streamstest.WantText(t, diags.String(), `stream "s000"`, "apply -refresh-only", "Nothing was sent by this operation.")
		_, diags = startProvider(t, d.provider).Apply(old, coretest.Managed{Value: d.null()}, d.null())
		wantError(t, diags, "Deployment Not Known to the State")
		if !d.single {
			_, diags = d.at(d.url).plan(group(sameSet(1, "p1"), nil))
			wantError(t, diags, "Deployment Not Known to the State")
		}
		wantDiagnostics(t, d.refresh())
		d.want("deployment", d.url)
		d.wantNoChanges(d.config("p1", nil))
		_, diags = d.at("http://127.0.0.1:1").plan(d.null())
		wantError(t, diags, "The Deployment Has Changed")
		d.configured.WantRequests(t)
		d.at(d.url).mustApply(d.null())
		d.configured.WantRequests(t, d.sets()...)
	})
}

// A value that is known after apply may turn out to be that of the state. Then nothing is applied, and the state still has no
// deployment: no plan may promise one.
func TestUpdateThatTurnsOutToBeNone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *deploymentTest) {
		for _, name := range []string{"on_destroy", "on_create", "timeouts"} {
			values := coretest.AttributesOf(d.state.Value)
			values["deployment"] = tftypes.NewValue(tftypes.String, nil)
			d.state.Value = tftypes.NewValue(d.state.Value.Type(), values)
			planned, diags := d.at(d.formerURL).plan(d.config("p1", coretest.Attributes{name: tftypes.UnknownValue}))
			wantDiagnostics(t, diags)
			again, diags := d.at(d.formerURL).plan(d.config("p1", nil))
			wantDiagnostics(t, diags)
			if wrong := coretest.Incompatible(planned.Value, again.Value); len(wrong) > 0 {
				t.Errorf("%s is known after apply, and the final plan differs: %q", name, wrong)
			}
		}
	})
}

// An address that is known after apply plans no change. The apply of an update that is planned anyway, such as that of a mark,
// may go to another deployment.
func TestDeploymentUnknown(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *deploymentTest) {
		d.at(tftypes.UnknownValue).wantNoChanges(d.config("p1", nil))
		refuseBoth(d.former, streamstest.Fault{ResetAfter: true})
		d.at(d.formerURL).mustFail(d.config("p2", nil))
		plan, _ := d.at(tftypes.UnknownValue).plan(d.config("p1", nil))
		for _, attribute := range []string{"last_edited", "deployment"} {
			wantAttribute(t, plan, attribute, tftypes.UnknownValue)
		}
		d.former.ForgetRequests()
	})
}

// While a value in the provider block is known after apply, detect_drift reads nothing, and the configuration says so.
func TestReadsOfUnknownConfiguration(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *deploymentTest) {
		for _, test := range []struct {
			drift    any
			warnings []string
		}{
			{true, []string{"WARNING: Streams Were Not Read"}},
			{false, nil},
			{tftypes.UnknownValue, nil},
		} {
			d.provider = coretest.Attributes{"base_url": d.formerURL, "token": tftypes.UnknownValue, "detect_drift": test.drift}
			p := newProcess(t, server.New("test", nil)())
			wantDiagnostics(t, p.Configure(d.provider), test.warnings...)
			_, _, diags := p.Plan(coretest.Managed{Value: d.null()}, d.config("p1", nil))
			wantDiagnostics(t, diags)
			wantDiagnostics(t, d.refresh())
			d.wantNoChanges(d.config("p1", nil))
			wantError(t, d.mustFail(d.null()), "If that does not exist any more, write the value itself into the provider block.")
			d.want("deployment", d.formerURL) // the state still has the resource
		}
	})
}

// An import knows the configured deployment. If imports read nothing, one warning says so.
func TestDeploymentOfImport(t *testing.T) {
	t.Parallel()
	notRead := []string{"WARNING: Imported Streams Were Not Read"}
	for _, test := range []struct {
		provider, want any
		warnings       []string
	}{
		{coretest.Attributes{"base_url": "https://Host/v2"}, "https://host", notRead},
		{coretest.Attributes{"base_url": "https://host", "deployment": "eu"}, "eu", notRead},
		{coretest.Attributes{"base_url": tftypes.UnknownValue}, nil, notRead},
		{coretest.Attributes{"base_url": "https://host", "detect_drift": true}, "https://host", nil},
		{coretest.Attributes{"base_url": tftypes.UnknownValue, "detect_drift": true}, nil, nil}, // of which the configuration warns
	} {
		provider, _ := test.provider.(coretest.Attributes)
		p := startProvider(t, provider)
		imported, diags := p.ImportState(coretest.SingleName, "cam-1")
		wantDiagnostics(t, diags, test.warnings...)
		second, diags := p.ImportState(coretest.SingleName, "cam-2")
		wantDiagnostics(t, diags)
		if test.want == nil {
			_, diags = p.Read(second)
			wantDiagnostics(t, diags)
		}
		wantAttribute(t, imported, "deployment", test.want)
	}
}
