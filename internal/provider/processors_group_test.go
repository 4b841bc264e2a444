package provider

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

var oneAttempt = coretest.Attributes{"max_attempts": 1}

// An update sends the sets that differ, and nothing else.
func TestGroupRequests(t *testing.T) {
	t.Parallel()
	streams := sameSet(5, "p1")
	service, url := streamstest.Start(t, streamstest.Options{}, seeds(streams)...)
	r := newGroupRun(t, coretest.Attributes{"base_url": url})
	apply := func(what string, config tftypes.Value, want ...string) {
		t.Helper()
		t.Log(what)
		r.mustApply(config)
		service.WantRequests(t, want...)
		r.wantNoChanges(config)
	}
	apply("create", group(streams, nil), patches(streams)...)
	apply("change one", group(with(streams, "s001", "p2"), nil), patches(map[string][]string{"s001": {"p2"}})...)
	apply("add none", group(with(streams, "s001", "p2"), coretest.Attributes{"on_destroy": "keep"}))
	apply("remove one with keep", group(without(streams, "s001"), coretest.Attributes{"on_destroy": "keep"}))
	service.WantAttached(t, "s001", "p2")
	apply("add one", group(streams, nil), patches(map[string][]string{"s001": {"p1"}})...)
	apply("remove one", group(without(streams, "s001"), nil), patches(map[string][]string{"s001": {}})...)
	apply("trigger", group(without(streams, "s001"), coretest.Attributes{"triggers": map[string]string{"t": "1"}}), patches(without(streams, "s001"))...)
	r.mustApply(r.null())
	service.WantRequests(t, patches(map[string][]string{"s000": {}, "s002": {}, "s003": {}, "s004": {}})...)
}

// A group may be empty, and sends nothing then.
func TestGroupEmpty(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	r := newGroupRun(t, coretest.Attributes{"base_url": url})
	config := group(nil, nil)
	r.mustApply(config)
	r.wantNoChanges(config)
	r.mustApply(r.null())
	service.WantRequests(t)
}

// A create saves nothing if a stream fails; the next apply sends all sets again.
func TestGroupCreateFails(t *testing.T) {
	t.Parallel()
	streams := sameSet(500, "p1")
	service, url := streamstest.Start(t, streamstest.Options{}, seeds(streams)...)
	refuse(service, map[string]streamstest.Fault{
		"s007": {Status: http.StatusBadRequest}, "s042": {Status: http.StatusNotFound}, "s321": {ResetAfter: true},
	})
	r := newGroupRun(t, coretest.Attributes{"base_url": url, "retry": oneAttempt})
	config := group(streams, nil)
	_, diags := r.planAndApply(config)
	want := map[string][]string{"s007": {"Bad Request Error"}, "s042": {"Resource Not Found Error"}, "s321": {"Connection Failed"}, "": {"Streams Failed"}}
	if diff := cmp.Diff(want, errorsAt(diags)); diff != "" {
		t.Fatal(diff)
	}
	wantSentences(t, diags, map[string]string{
		"s007": "The stream was not changed.", "s321": "sending the same set twice is safe.",
		"": "497 streams have their planned sets. 2 streams were not changed. 1 stream may or may not have been changed. " +
			notSaved,
	})
	if !r.state.Value.IsNull() {
		t.Fatal("a failed create leaves a state")
	}
	service.WantRequests(t, patches(streams)...)
	service.InjectFunc(nil)
	r.mustApply(config)
	service.WantRequests(t, patches(streams)...)
	r.wantNoChanges(config)
}

// After an update, the state has what succeeded, and the next plan sends exactly the rest.
func TestGroupUpdateFails(t *testing.T) {
	t.Parallel()
	streams := sameSet(500, "p1")
	service, url := streamstest.Start(t, streamstest.Options{}, append(seeds(streams), streamstest.Streams("new1", "new2")...)...)
	r := newGroupRun(t, coretest.Attributes{"base_url": url, "retry": oneAttempt})
	before := group(streams, nil)
	r.mustApply(before)
	service.ForgetRequests()

	changed := sameSet(500, "p2")
	changed["new1"], changed["new2"] = []string{"p2"}, []string{"p2"}
	changed = without(changed, "s100", "s101")
	refuse(service, map[string]streamstest.Fault{
		"s007": {Status: http.StatusForbidden}, "s042": {ResetAfter: true}, "s100": {Status: http.StatusForbidden}, "new1": {Status: http.StatusForbidden},
	})
	config := group(changed, nil)
	_, diags := r.planAndApply(config)
	want := map[string][]string{"s007": {"Unauthorized Error"}, "s042": {"Connection Failed"}, "s100": {"Unauthorized Error"}, "new1": {"Unauthorized Error"}, "": {"Streams Failed"}}
	if diff := cmp.Diff(want, errorsAt(diags)); diff != "" {
		t.Fatal(diff)
	}
	wantSentences(t, diags, map[string]string{
		"": "497 streams have their planned sets. 1 stream was left as on_destroy says. 3 streams were not changed. " +
			"1 stream may or may not have been changed. The state has what succeeded. The next plan shows the rest.",
	})
	service.WantRequests(t, append(patches(changed), patches(map[string][]string{"s100": {}, "s101": {}})...)...)
	after := without(changed, "new1")
	after["s007"], after["s042"], after["s100"] = []string{"p1"}, []string{"p1"}, []string{"p1"}
	r.wantStreams(after)

	service.InjectFunc(nil)
	r.mustApply(config)
	service.WantRequests(t, patches(map[string][]string{"s007": {"p2"}, "s042": {"p2"}, "new1": {"p2"}, "s100": {}})...)
	r.wantNoChanges(config)
}

// The configuration goes back after an unknown outcome: the set is sent again, although state and
// configuration are the same.
func TestGroupUnconfirmed(t *testing.T) {
	t.Parallel()
	streams := sameSet(3, "p1")
	service, url := streamstest.Start(t, streamstest.Options{}, seeds(streams)...)
	r := newGroupRun(t, coretest.Attributes{"base_url": url, "retry": oneAttempt})
	before, changed := group(streams, nil), group(with(streams, "s001", "p2"), nil)
	r.mustApply(before)
	refuse(service, map[string]streamstest.Fault{"s001": {ResetAfter: true}})
	if _, diags := r.planAndApply(changed); !diags.Failed() {
		t.Fatal("no error")
	}
	service.InjectFunc(nil)
	service.WantAttached(t, "s001", "p2")
	r.wantStreams(streams)
	service.ForgetRequests()
	planned, _ := r.planAndApply(before)
	if len(planned) != 1 || planned[0].Summary != `Outcome of an Earlier Operation Unknown: stream "s001"` {
		t.Fatalf("the plan says %s", planned)
	}
	service.WantRequests(t, patches(map[string][]string{"s001": {"p1"}})...)
	r.wantNoChanges(before)
}

// A trigger sends all sets. The next apply sends only those that failed.
func TestGroupTriggerFails(t *testing.T) {
	t.Parallel()
	streams := sameSet(4, "p1")
	service, url := streamstest.Start(t, streamstest.Options{}, seeds(streams)...)
	r := newGroupRun(t, coretest.Attributes{"base_url": url, "retry": oneAttempt})
	before, triggered := group(streams, nil), group(streams, coretest.Attributes{"triggers": map[string]string{"t": "1"}})
	r.mustApply(before)
	refuse(service, map[string]streamstest.Fault{"s002": {Status: http.StatusForbidden}})
	if _, diags := r.planAndApply(triggered); !diags.Failed() {
		t.Fatal("no error")
	}
	service.InjectFunc(nil)
	service.ForgetRequests()
	r.mustApply(triggered)
	service.WantRequests(t, patches(map[string][]string{"s002": {"p1"}})...)
	r.wantNoChanges(triggered)
}

// A destroy leaves in the state what failed. A stream that the service does not know counts as left.
func TestGroupDestroyFails(t *testing.T) {
	t.Parallel()
	streams := sameSet(500, "p1")
	service, url := streamstest.Start(t, streamstest.Options{}, seeds(streams)...)
	r := newGroupRun(t, coretest.Attributes{"base_url": url, "retry": oneAttempt})
	config := group(streams, nil)
	r.mustApply(config)
	service.ForgetRequests()
	service.Remove("s499")
	refuse(service, map[string]streamstest.Fault{"s007": {Status: http.StatusForbidden}, "s042": {Status: http.StatusBadRequest}, "s321": {Status: http.StatusBadGateway}})
	_, diags := r.planAndApply(r.null())
	want := map[string][]string{"s007": {"Unauthorized Error"}, "s042": {"Bad Request Error"}, "s321": {"Bad Gateway Error"}, "": {"Streams Failed"}}
	if diff := cmp.Diff(want, errorsAt(diags)); diff != "" {
		t.Fatal(diff)
	}
	if diags[0].Summary != `Stream Not Found: stream "s499"` {
		t.Errorf("no warning: %s", diags)
	}
	service.WantRequests(t, patches(sameSet(500))...)
	r.wantStreams(map[string][]string{"s007": {"p1"}, "s042": {"p1"}, "s321": {"p1"}})
	service.InjectFunc(nil)
	r.mustApply(r.null())
	service.WantRequests(t, patches(map[string][]string{"s007": {}, "s042": {}, "s321": {}})...)
}

// Only the first streams have errors of their own.
func TestGroupManyErrors(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{})
	r := newGroupRun(t, coretest.Attributes{"base_url": url, "retry": oneAttempt})
	config := group(sameSet(50, "p1"), nil)
	_, diags := r.planAndApply(config)
	if found := errorsAt(diags); len(found) != 21 || len(found["s019"]) != 1 || len(found[""]) != 1 {
		t.Fatal(diags)
	}
	wantSentences(t, diags, map[string]string{"": "50 streams were not changed. Nothing of this create is in the state: apply again."})
	if last := diags[len(diags)-1].Detail; !strings.HasPrefix(last, "Streams with errors: 50 (50 × Resource Not Found Error). Not shown above: \"s020\", ") {
		t.Error(last)
	}
}

// wantSentences checks how the details of errors end, by key.
func wantSentences(t *testing.T, diags coretest.Diagnostics, want map[string]string) {
	t.Helper()
	for key, end := range want {
		if !slices.ContainsFunc(diags, func(d *tfprotov6.Diagnostic) bool {
			return strings.HasSuffix(d.Detail, end) && len(errorsAt(coretest.Diagnostics{d})[key]) == 1
		}) {
			t.Errorf("no error at %q ends with %q:\n%s", key, end, diags)
		}
	}
}
