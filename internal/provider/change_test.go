package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// An update sends the sets that differ, and nothing else. A group may be empty.
func TestGroupRequests(t *testing.T) {
	t.Parallel()
	streams := sameSet(5, "p1")
	service, r := startRun(t, nullGroup().Value, nil, seeds(streams)...)
	apply := func(what string, config tftypes.Value, want ...string) {
		t.Helper()
		t.Log(what)
		r.mustApply(config)
		service.WantRequests(t, want...)
		r.wantNoChanges(config)
	}
	apply("create without streams", group(nil, nil))
	apply("destroy without streams", r.null())
	apply("create", group(streams, nil), patches(streams)...)
	apply("change one", group(with(streams, "s001", "p2"), nil), patches(map[string][]string{"s001": {"p2"}})...)
	apply("add none", group(with(streams, "s001", "p2"), coretest.Attributes{"on_destroy": "keep"}))
	apply("remove one with keep", group(without(streams, "s001"), coretest.Attributes{"on_destroy": "keep"}))
	apply("add one", group(streams, nil), patches(map[string][]string{"s001": {"p1"}})...)
	apply("remove one", group(without(streams, "s001"), nil), patches(map[string][]string{"s001": {}})...)
	apply("trigger", group(without(streams, "s001"), coretest.Attributes{"triggers": map[string]string{"t": "1"}}),
		patches(without(streams, "s001"))...)
	apply("destroy", r.null(), patches(map[string][]string{"s000": {}, "s002": {}, "s003": {}, "s004": {}})...)
}

// Sets that are known after apply are no problem, and neither is an unknown map.
func TestGroupUnknown(t *testing.T) {
	t.Parallel()
	streams := sameSet(2, "p1")
	service, r := startRun(t, nullGroup().Value, nil, seeds(streams)...)
	unknownSet := coretest.ToTerraform(groupSchema().ValueType(),
		coretest.Attributes{"streams": coretest.Attributes{"s000": []string{"p1"}, "s001": tftypes.UnknownValue}})
	unknownMap := coretest.ToTerraform(groupSchema().ValueType(), coretest.Attributes{"streams": tftypes.UnknownValue})
	config := group(streams, nil)
	for _, known := range []tftypes.Value{group(nil, nil), config} {
		r.mustApply(known)
		for _, late := range []tftypes.Value{unknownSet, unknownMap} {
			plan, diags := r.plan(late)
			if streams := coretest.AttributesOf(late)["streams"]; streams.IsKnown() || coretest.EqualValues(known, group(nil, nil)) {
				wantDiagnostics(t, diags)
			} else {
				wantDiagnostics(t, diags, "WARNING: Streams Leave the Group")
			}
			wantAttribute(t, plan, "last_edited", tftypes.UnknownValue)
		}
	}
	r.wantNoChanges(config) // what the apply finds, if the values turn out to be the same
	service.WantRequests(t, patches(streams)...)
}

// A create saves nothing if a stream fails. After an update or a destroy, the state has what succeeded. The next apply sends
// exactly the rest: after a trigger, also a set that the state has, and that a read has found.
func TestGroupFails(t *testing.T) {
	t.Parallel()
	streams := sameSet(500, "p1")
	service, r := startRun(t, nullGroup().Value, nil, append(seeds(streams), streamstest.Streams("new1", "new2")...)...)
	reading := merge(r.provider, detectDrift)
	changed := with(with(without(sameSet(500, "p2"), "s100", "s101"), "new1", "p2"), "new2", "p2")
	const gone, forbidden = "no error of a destroy", "Unauthorized Error"
	faults := map[string]streamstest.Fault{
		"Bad Request Error": {Status: 400}, forbidden: {Status: 403}, "Resource Not Found Error": {Status: 404},
		"Bad Gateway Error": {Status: 502}, "Connection Failed": {ResetBefore: true}, gone: {Status: 404},
	}
	const rest = "The state has what succeeded. Resolve the errors, then run the command again to send the rest."
	for _, step := range []struct {
		config      tftypes.Value
		undone      string              // what could not be done to stream s007
		kinds       map[string]string   // of errors, by stream
		left        map[string][]string // in the state
		now         string
		sent, again []string
	}{
		{
			config: group(streams, nil),
			undone: "set",
			kinds:  map[string]string{"s007": "Bad Request Error", "s042": "Resource Not Found Error", "s321": "Connection Failed"},
			now:    "497 of 500 changes succeeded. " + notSaved,
			sent:   patches(streams),
			again:  patches(streams),
		}, {
			config: group(changed, nil),
			undone: "updated",
			kinds: map[string]string{
				"s007": forbidden, "s042": "Connection Failed", "s100": forbidden, "new1": forbidden,
			},
			left:  with(with(with(without(changed, "new1"), "s007", "p1"), "s042", "p1"), "s100", "p1"),
			now:   "498 of 502 changes succeeded. " + rest,
			sent:  append(patches(changed), patches(map[string][]string{"s100": {}, "s101": {}})...),
			again: patches(map[string][]string{"s007": {"p2"}, "s042": {"p2"}, "new1": {"p2"}, "s100": {}}),
		}, {
			config: group(changed, coretest.Attributes{"triggers": map[string]string{"t": "1"}}),
			undone: "updated",
			kinds:  map[string]string{"s007": "Unauthorized Error"},
			left:   changed,
			now:    "499 of 500 changes succeeded. " + rest,
			sent:   patches(changed),
			again:  patches(map[string][]string{"s007": {"p2"}}),
		}, {
			config: r.null(),
			undone: "detached",
			kinds: map[string]string{
				"s007": "Unauthorized Error", "s042": "Bad Request Error", "s321": "Bad Gateway Error", "s499": gone,
			},
			left: map[string][]string{"s007": {"p2"}, "s042": {"p2"}, "s321": {"p2"}},
			now: "496 of 499 changes succeeded. " +
				"The state has only the streams that failed. Resolve the errors, then run the command again.",
			sent:  patches(with(with(without(sameSet(500), "s100", "s101"), "new1"), "new2")),
			again: patches(map[string][]string{"s007": {}, "s042": {}, "s321": {}}),
		},
	} {
		injected, want := map[string]streamstest.Fault{}, map[string][]string{}
		for id, kind := range step.kinds {
			if injected[id] = faults[kind]; kind != gone {
				want[id] = []string{kind}
			}
		}
		refuse(service, injected)
		diags := r.mustFail(step.config)
		wantEqual(t, "errors", want, errorsAt(diags))
		streamstest.WantText(t, errorsOf(diags)[0].Detail, "\n\n"+step.now)
		wantDiagnostic(t, diags, "ERROR: "+step.kinds["s007"], " could not be "+step.undone)
		if step.config.IsNull() {
			wantDiagnostic(t, diags, "WARNING: Stream Not Found", `Stream "s499" could not be found.`)
		}
		service.WantRequests(t, step.sent...)
		refuse(service, nil)
		if step.left == nil {
			wantState(t, r.null(), r.state)
		} else {
			r.state, diags = startProvider(t, reading).Read(r.state)
			wantDiagnostics(t, diags)
			r.wantStreams(step.left)
			service.ForgetRequests()
		}
		r.mustApply(step.config)
		service.WantRequests(t, step.again...)
		r.wantNoChanges(step.config)
	}
}

// A resource is replaced, because its stream id is known only after apply: the plan warns once that the stream may be empty if the
// id stays the same. If it does, the create says what has detached the processors, whether it succeeds or fails.
func TestReplacementForALateID(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1", "cam-2")...)
	late := single(tftypes.UnknownValue, []string{"p1"})
	r.mustApply(cam1("p1"))
	plans := startProvider(t, r.provider)
	first, _, diags := plans.Plan(r.state, late)
	wantDiagnostics(t, diags, "WARNING: Stream May Be Without Processors")
	streamstest.WantText(t, diags.String(), `stream "cam-1"`, "create_before_destroy", "-target=ADDRESS", `on_destroy = "keep"`)
	planned, _, diags := plans.Plan(coretest.Managed{Value: nullResource(), Private: first.Private}, late)
	wantDiagnostics(t, diags)
	_, _, diags = plans.Plan(r.state, late) // another resource
	wantDiagnostics(t, diags)
	for _, none := range []tftypes.Value{
		resourceValue(coretest.Attributes{"stream_id": "cam-2", "processor_ids": []string{"p1"}, "on_destroy": "keep"}),
		single("cam-2", []string{}),
	} {
		_, other := startRun(t, nullResource(), nil, streamstest.Streams("cam-2")...)
		other.mustApply(none)
		_, diags := other.plan(late)
		wantDiagnostics(t, diags)
	}

	applies := startProvider(t, r.provider)
	_, diags = applies.Apply(r.state.Value, coretest.Managed{Value: nullResource(), Private: planned.Private}, nullResource())
	wantDiagnostics(t, diags)
	create := func() coretest.Diagnostics {
		planned, _, _ := applies.Plan(coretest.Managed{Value: nullResource()}, cam1("p1"))
		_, diags := applies.Apply(nullResource(), planned, cam1("p1"))
		return diags
	}
	refuse(service, map[string]streamstest.Fault{"cam-1": {Status: 400, Message: "not now"}})
	wantDiagnostic(t, create(), "ERROR: Bad Request Error", "The stream's processors were detached before, in this run.")
	wantDiagnostic(t, create(), "ERROR: Bad Request Error", "\nThe service reports that the stream now has [].")
	service.InjectFunc(nil)
	wantDiagnostic(t, create(), "WARNING: Processors Were Detached for a Moment", "the old object of this one")
}

// Two resources with one stream and one set are told once in a plan, also in the plans of two calls for each. The plan that removes one
// of them says nothing of a gap, because nothing is to be sent.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1")...)
	const told = "WARNING: Two Resources Have the Stream"
	plans := startProvider(t, r.provider)
	var all coretest.Diagnostics
	for range 3 {
		_, _, diags := plans.Plan(r.state, cam1("p1"))
		all = append(all, diags...)
	}
	wantDiagnostics(t, all, told)

	r.mustApply(cam1("p1"))
	plans = startProvider(t, r.provider)
	for range 2 {
		if _, diags := plans.Read(r.state); len(diags) > 0 {
			t.Error(diags)
		}
	}
	_, _, diags := plans.Plan(r.state, cam1("p1"))
	wantDiagnostics(t, diags)
	destroy, _, diags := plans.Plan(r.state, nullResource())
	wantDiagnostics(t, diags)
	service.ForgetRequests()
	_, diags = startProvider(t, r.provider).Apply(r.state.Value, destroy, nullResource())
	wantDiagnostics(t, diags)
	service.WantRequests(t)

	// Both plans of a replacement are those of one resource.
	plans = startProvider(t, r.provider)
	first, _, _ := plans.Plan(r.state, cam1("p1"))
	_, _, diags = plans.Plan(coretest.Managed{Value: nullResource(), Private: first.Private}, cam1("p1"))
	wantDiagnostics(t, diags)
}
