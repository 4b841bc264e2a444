package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func wantDiagnostic(t *testing.T, diags coretest.Diagnostics, severity tfprotov6.DiagnosticSeverity, summary, detail string) {
	t.Helper()
	for _, d := range diags {
		if d.Severity == severity && d.Summary == summary && strings.Contains(d.Detail, detail) {
			return
		}
	}
	t.Errorf("no %s %q with %q in %s", severity, summary, detail, diags)
}

// A renamed resource whose set is known after apply owns its stream, as one with a known set does.
func TestNewOwnerWithUnknownSet(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{coretest.SingleName, coretest.GroupName} {
		service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
		provider := coretest.Attributes{"base_url": url}
		null, old, renamed := nullResource(), single("cam", []string{"p1"}), single("cam", tftypes.UnknownValue)
		if kind == coretest.GroupName {
			null, old = nullGroup().Value, group(map[string][]string{"cam": {"p1"}}, nil)
			renamed = coretest.ToTerraform(groupSchema().ValueType(), coretest.Attributes{"streams": coretest.Attributes{"cam": tftypes.UnknownValue}})
		}
		state := mustApply(t, provider, coretest.Managed{Value: null}, old)
		service.ForgetRequests()

		// The new owner is planned first: the destroy carries a mark and sends nothing.
		p := startProvider(t, provider)
		if _, _, diags := p.Plan(coretest.Managed{Value: null}, renamed); len(diags) > 0 {
			t.Errorf("%s: %s", kind, diags)
		}
		destroy, _, _ := p.Plan(state, null)
		if _, diags := startProvider(t, provider).Apply(state.Value, destroy, null); len(diags) > 0 {
			t.Errorf("%s: %s", kind, diags)
		}
		service.WantRequests(t)
		service.WantAttached(t, "cam", "p1")

		// The destroy is planned first: the plan of the new owner warns.
		p = startProvider(t, provider)
		p.Plan(state, null)
		_, _, diags := p.Plan(coretest.Managed{Value: null}, renamed)
		wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityWarning, `Processors May Be Detached for a Moment: stream "cam"`, "moved")
	}
}

// An error says what another resource left on the stream only until the service has reported something newer.
func TestErrorForgetsWhatWasLeftBefore(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("s1")...)
	provider := coretest.Attributes{"base_url": url}
	null := coretest.Managed{Value: nullResource()}
	state := mustApply(t, provider, null, single("s1", []string{"p2"}))
	p := startProvider(t, provider)
	config := single("s1", []string{"p1"})
	a, _, _ := p.Plan(null, config)
	b, _, _ := p.Plan(null, config)
	c, _, _ := p.Plan(state, null.Value)
	p = startProvider(t, provider)
	if _, diags := p.Apply(state.Value, c, null.Value); diags.Failed() {
		t.Fatal(diags)
	}
	if _, diags := p.Apply(null.Value, a, config); diags.Failed() {
		t.Fatal(diags)
	}
	service.Inject(streamstest.Fault{Status: http.StatusForbidden})
	_, diags := p.Apply(null.Value, b, config)
	wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityError, "Unauthorized Error", "The stream was not changed.")
	if strings.Contains(diags.String(), "p2") {
		t.Errorf("the error names a set that the stream no longer has: %s", diags)
	}
}

// A stream id that is known after apply may be that of a stream which another resource has left. The plan does not know it.
func TestLateStreamIDAfterADetach(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
	provider := coretest.Attributes{"base_url": url}
	null := coretest.Managed{Value: nullResource()}
	old, renamed := mustApply(t, provider, null, single("cam", []string{"p1"})), single("cam", []string{"p1"})
	plan := startProvider(t, provider)
	leave, _, _ := plan.Plan(old, null.Value)
	if _, _, diags := plan.Plan(null, resourceValue(coretest.Attributes{"stream_id": tftypes.UnknownValue, "processor_ids": []string{"p1"}})); len(diags) > 0 {
		t.Errorf("the plan says %s", diags)
	}
	service.ForgetRequests()
	apply := startProvider(t, provider)
	if _, diags := apply.Apply(old.Value, leave, null.Value); len(diags) > 0 {
		t.Errorf("the destroy says %s", diags)
	}
	set, _, _ := apply.Plan(null, renamed)
	_, diags := apply.Apply(null.Value, set, renamed)
	wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityWarning, `Processors Were Detached for a Moment: stream "cam"`, "In between, the stream had no processors.")
	service.WantRequests(t, append(patches(map[string][]string{"cam": {}}), patches(map[string][]string{"cam": {"p1"}})...)...)
}

// The second of two resources that learn one stream id during the apply says what the first one did, or is doing.
func TestLateConflict(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
	p := startProvider(t, coretest.Attributes{"base_url": url})
	null := coretest.Managed{Value: nullResource()}
	first, second := single("cam", []string{"p1"}), single("cam", []string{"p2"})
	planned, _, _ := p.Plan(null, first)
	received, respond := make(chan struct{}), make(chan struct{})
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault { close(received); <-respond; return nil })
	var ended sync.WaitGroup
	ended.Go(func() { p.Apply(null.Value, planned, first) })
	<-received
	var diags coretest.Diagnostics
	ended.Go(func() { _, _, diags = p.Plan(null, second) })
	close(respond)
	ended.Wait()
	wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityError, "Conflicting Processor Sets",
		"Nothing was sent by this operation. The stream was not changed by this resource.")
}

// A key that an update adds is in the state after an unknown outcome, with a mark, so that removing the key detaches.
func TestAddedKeyWithUnknownOutcome(t *testing.T) {
	t.Parallel()
	streams := sameSet(1, "p1")
	service, url := streamstest.Start(t, streamstest.Options{}, append(seeds(streams), streamstest.Streams("new")...)...)
	r := newGroupRun(t, coretest.Attributes{"base_url": url, "retry": oneAttempt})
	before, after := group(streams, nil), group(with(streams, "new", "z"), nil)
	r.mustApply(before)
	refuse(service, map[string]streamstest.Fault{"new": {ResetAfter: true}})
	if _, diags := r.planAndApply(after); !diags.Failed() {
		t.Fatal("the update did not fail")
	}
	service.WantAttached(t, "new", "z")
	service.InjectFunc(nil)
	service.ForgetRequests()
	r.mustApply(before)
	service.WantRequests(t, patches(map[string][]string{"new": {}})...)
	r.wantNoChanges(before)
}

// With detect_drift, a stream that is gone does not keep the others of its group from being sent, also in the apply,
// which is another process.
func TestGoneStreamDoesNotBlockItsGroup(t *testing.T) {
	t.Parallel()
	streams := sameSet(3, "p1")
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, seeds(streams)...)
	r := newGroupRun(t, coretest.Attributes{"base_url": url, "detect_drift": true, "retry": oneAttempt})
	config := group(streams, nil)
	r.mustApply(config)
	service.Remove("s001")
	r.state, _ = startProvider(t, r.provider).Read(r.state)
	config = group(sameSet(3, "p2"), nil)
	planned, applied := r.planAndApply(config)
	wantDiagnostic(t, planned, tfprotov6.DiagnosticSeverityWarning, `Create Will Fail: stream "s001"`, "Remove the stream from the configuration")
	if got := errorsAt(applied); len(got) != 2 || got["s001"] == nil {
		t.Errorf("the apply says %s", applied)
	}
	service.WantAttached(t, "s000", "p2")
	service.WantAttached(t, "s002", "p2")
}

// Terraform shows a tainted group in no plan. If its replacement does not have one of its streams, the destroy warns.
func TestTaintedGroupThatDropsAStream(t *testing.T) {
	t.Parallel()
	streams := sameSet(2, "p1")
	service, url := streamstest.Start(t, streamstest.Options{}, seeds(streams)...)
	provider := coretest.Attributes{"base_url": url}
	state := mustApply(t, provider, nullGroup(), group(streams, nil))
	service.ForgetRequests()
	planned, _, _ := startProvider(t, provider).Plan(nullGroup(), group(without(streams, "s001"), nil))
	_, diags := startProvider(t, provider).Apply(state.Value, coretest.Managed{Value: nullGroup().Value, Private: planned.Private}, nullGroup().Value)
	wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityWarning, `Processors Were Detached: stream "s001"`, "change a value in its triggers")
	service.WantRequests(t, patches(map[string][]string{"s001": {}})...)

	// With -replace, the plan is that of an update, with the on_destroy of the configuration. A set that is to be sent again
	// makes no difference.
	private, _ := json.Marshal(map[string][]byte{"marks": []byte(`{"s001":{"pending":"unconfirmed"}}`)})
	for _, prior := range []coretest.Managed{state, {Value: state.Value, Private: private}} {
		p, kept := startProvider(t, provider), group(without(streams, "s001"), coretest.Attributes{"on_destroy": "keep"})
		planned, _, _ = p.Plan(prior, kept)
		planned, _, _ = p.Plan(coretest.Managed{Value: nullGroup().Value, Private: planned.Private}, kept)
		_, diags = startProvider(t, provider).Apply(state.Value, coretest.Managed{Value: nullGroup().Value, Private: planned.Private}, nullGroup().Value)
		wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityWarning, `Processors Were Detached: stream "s001"`, "replaced with -replace")
	}

	// With create_before_destroy, core plans the destroy in the apply, when the new group has its sets.
	p := startProvider(t, provider)
	planned, _, _ = p.Plan(nullGroup(), group(without(streams, "s001"), nil))
	if _, diags = p.Apply(nullGroup().Value, planned, group(without(streams, "s001"), nil)); diags.Failed() {
		t.Fatal(diags)
	}
	planned, _, _ = p.Plan(state, nullGroup().Value)
	_, diags = p.Apply(state.Value, planned, nullGroup().Value)
	wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityWarning, `Processors Were Detached: stream "s001"`, "change a value in its triggers")

	// The stream of a replacement may be known after apply.
	alone := mustApply(t, provider, coretest.Managed{Value: nullResource()}, single("s001", []string{"p1"}))
	late := resourceValue(coretest.Attributes{"stream_id": tftypes.UnknownValue, "processor_ids": []string{"p1"}})
	planned, _, _ = startProvider(t, provider).Plan(coretest.Managed{Value: nullResource()}, late)
	_, diags = startProvider(t, provider).Apply(alone.Value, coretest.Managed{Value: nullResource(), Private: planned.Private}, nullResource())
	wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityWarning, `Processors Were Detached: stream "s001"`, "change a value in its triggers")

	// So may a single resource, and its destroy may be the first operation of the apply.
	p = startProvider(t, provider)
	planned, _, _ = p.Plan(alone, nullResource())
	_, diags = p.Apply(alone.Value, planned, nullResource())
	wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityWarning, `Processors Were Detached: stream "s001"`, "has create_before_destroy")

	// Terraform does not pass what an earlier failure left in doubt, so the destroy sends the set of the other resource.
	planned, _, _ = startProvider(t, provider).Plan(coretest.Managed{Value: nullResource()}, single("s000", []string{"p1"}))
	p = startProvider(t, provider)
	p.Plan(state, group(streams, nil))
	service.ForgetRequests()
	_, diags = p.Apply(alone.Value, coretest.Managed{Value: nullResource(), Private: planned.Private}, nullResource())
	if len(diags) > 0 {
		t.Error(diags)
	}
	service.WantRequests(t, patches(map[string][]string{"s001": {"p1"}})...)
}

// A failed create whose outcome is unknown says that what it may have attached has no owner.
func TestFailedCreateSaysWhatStaysAttached(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	service.Inject(streamstest.Fault{ResetAfter: true})
	r := newSingleRun(t, coretest.Attributes{"base_url": url, "retry": oneAttempt})
	wantDiagnostic(t, r.apply(cam1("p2")), tfprotov6.DiagnosticSeverityError, "Connection Failed", notSaved)
}

// The texts of a group name what a group has.
func TestGroupWords(t *testing.T) {
	t.Parallel()
	streams := sameSet(1, "p1")
	service, url := streamstest.Start(t, streamstest.Options{}, seeds(streams)...)
	service.Remove("s000")
	r := newGroupRun(t, coretest.Attributes{"base_url": url})
	config := group(streams, nil)
	_, diags := r.planAndApply(config)
	for _, d := range diags {
		if text := d.Summary + d.Detail; strings.Contains(text, "stream_id") || strings.Contains(text, "processor_ids") {
			t.Errorf("a group has no such attribute: %s", text)
		}
	}
	wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityError, "Resource Not Found Error", "Check the id of the stream.")
}

// One interrupt is one error for the streams to which nothing was sent.
func TestInterruptedGroup(t *testing.T) {
	t.Parallel()
	streams := sameSet(50, "p1")
	service, url := streamstest.Start(t, streamstest.Options{}, seeds(streams)...)
	p := startProvider(t, coretest.Attributes{"base_url": url, "max_concurrent_requests": 1})
	config := group(streams, nil)
	planned, _, _ := p.Plan(nullGroup(), config)
	var once sync.Once
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		once.Do(func() { _, _ = p.Server.StopProvider(t.Context(), &tfprotov6.StopProviderRequest{}) })
		return nil
	})
	_, diags := p.Apply(nullGroup().Value, planned, config)
	if len(diags) > 3 {
		t.Errorf("%d errors for one interrupt: %s", len(diags), diags)
	}
	wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityError, "Streams Failed", fmt.Sprintf("%d × Operation Interrupted", 50-len(service.Requests())))
}
