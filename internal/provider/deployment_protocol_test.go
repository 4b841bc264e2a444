package provider

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// deploymentTest has a resource with the streams s000 and s001, or only s000, and two deployments. The streams of each
// deployment have a terminal of their own.
type deploymentTest struct {
	*resourceRun
	single             bool
	formerURL, url     string
	former, configured *streamstest.Service
}

const deploymentChanged = "The Deployment Has Changed"

// onBoth runs a test with each resource, which is at the former deployment. The former deployment must get no request.
func onBoth(t *testing.T, others coretest.Attributes, test func(*testing.T, *deploymentTest)) {
	t.Helper()
	for name, single := range map[string]bool{"single": true, "group": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &deploymentTest{resourceRun: newGroupRun(t, nil), single: single}
			if single {
				d.resourceRun = newSingleRun(t, nil)
			}
			start := func(terminal string) (*streamstest.Service, string) {
				return streamstest.Start(t, streamstest.Options{ServeGet: true},
					streamstest.Stream{ID: "s000", TerminalID: terminal}, streamstest.Stream{ID: "s001", TerminalID: terminal})
			}
			d.former, d.formerURL = start("t1")
			d.configured, d.url = start("t2")
			d.mustApply(d.at(d.formerURL), d.config("p1", others))
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

func (d *deploymentTest) at(url any) coretest.Attributes {
	return coretest.Attributes{"base_url": url, "retry": oneAttempt}
}

func (d *deploymentTest) plan(provider coretest.Attributes, config tftypes.Value) (coretest.Managed, coretest.Diagnostics) {
	d.t.Helper()
	d.provider = provider
	return d.resourceRun.plan(config)
}

func (d *deploymentTest) apply(provider coretest.Attributes, config tftypes.Value) coretest.Diagnostics {
	d.t.Helper()
	d.provider = provider
	return d.resourceRun.apply(config)
}

func (d *deploymentTest) mustApply(provider coretest.Attributes, config tftypes.Value) {
	d.t.Helper()
	d.provider = provider
	d.resourceRun.mustApply(config)
}

func (d *deploymentTest) wantNoChanges(provider coretest.Attributes, config tftypes.Value) {
	d.t.Helper()
	d.provider = provider
	d.resourceRun.wantNoChanges(config)
}

// want fails the test unless an attribute of the state has a value.
func (d *deploymentTest) want(name string, want any) {
	d.t.Helper()
	wantAttribute(d.t, d.state, name, want)
}

func wantAttribute(t *testing.T, m coretest.Managed, name string, want any) {
	t.Helper()
	if got := coretest.FromTerraform(coretest.AttributesOf(m.Value)[name]); got != want {
		t.Errorf("%s is %v, want %v", name, got, want)
	}
}

func wantDiagnostics(t *testing.T, diags coretest.Diagnostics, want ...string) {
	t.Helper()
	var got []string
	for _, d := range diags {
		got = append(got, d.Severity.String()+": "+d.Summary)
	}
	if !slices.Equal(got, want) {
		t.Errorf("diagnostics %q, want %q: %s", got, want, diags)
	}
}

// computed returns the computed attributes that the service reports.
func (d *deploymentTest) computed() []string {
	if d.single {
		return []string{"terminal_id", "fragment_type_id", "compatible_namespaces", "last_edited"}
	}
	return []string{"last_edited"}
}
