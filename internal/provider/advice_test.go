package provider_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// refusesToDetach has the responses with which a stream cannot be detached.
var refusesToDetach = map[string]streamstest.Fault{
	"no route":          {Status: http.StatusNotFound, Body: new("<html>404</html>")},
	"empty set refused": {Status: http.StatusBadRequest, Message: "not empty"},
	"merged":            {Edit: func(s *streamstest.Stream) { s.ProcessorIDs = []string{"p1"} }},
	"no valid stream":   {EditJSON: func(fields map[string]any) { fields["last_edited"] = "yesterday" }},
}

// The advice of each error of a destroy or a replacement that names on_destroy works while the service still refuses to detach. What
// would not work is not said.
func TestWayOutOfADestroy(t *testing.T) {
	t.Parallel()
	both, failed := map[string][]string{"cam-1": {"p1"}, "cam-2": {"p1"}}, map[string][]string{"cam-1": {"p1"}}
	keeps := coretest.Attributes{"on_destroy": "keep"}
	single := func(id string, others coretest.Attributes) tftypes.Value {
		return resourceValue(merge(coretest.Attributes{"stream_id": id, "processor_ids": []string{"p1"}}, others))
	}
	destroy := func(r *resourceRun, _ coretest.Attributes) coretest.Diagnostics { return r.apply(r.null()) }
	for way, steps := range map[string]struct {
		null, first tftypes.Value
		leave       func(r *resourceRun, others coretest.Attributes) coretest.Diagnostics
		advice      string
		kept        tftypes.Value
	}{
		"destroy": {
			nullResource(), cam1("p1"), destroy,
			`Or first apply on_destroy = "keep", with the stream_id that the state has; then destroy or replace the resource.`,
			single("cam-1", keeps),
		},
		"replacement": {
			nullResource(), cam1("p1"),
			func(r *resourceRun, others coretest.Attributes) coretest.Diagnostics {
				return r.replace(single("cam-2", others))
			},
			`Or first apply on_destroy = "keep", with the stream_id that the state has; then destroy or replace the resource.`,
			single("cam-1", keeps),
		},
		"destroy of a group": {
			nullGroup().Value, group(both, nil), destroy,
			`Or first apply on_destroy = "keep", with only this stream in the group; then destroy the group.`, group(failed, keeps),
		},
	} {
		for name, fault := range refusesToDetach {
			service, r := startRun(t, steps.null, nil, streamstest.Streams("cam-1", "cam-2")...)
			r.mustApply(steps.first)
			refuse(service, map[string]streamstest.Fault{"cam-1": fault})
			diags := steps.leave(r, nil)
			wantDiagnostic(t, diags, "ERROR", "remove the resource from the state with terraform state rm.")
			if advised := strings.Contains(diags.String(), steps.advice); advised == (name == "no valid stream") {
				t.Errorf("%s, %s: on_destroy is named: %t: %s", way, name, advised, diags)
			} else if advised {
				service.ForgetRequests()
				r.mustApply(steps.kept)
				service.WantRequests(t)
				if diags := steps.leave(r, keeps); diags.Failed() {
					t.Errorf("%s, %s: after the advice: %s", way, name, diags)
				}
			}
		}
	}
}

// An address that does not answer any more, such as that of a region that was shut down: both ways out of a destroy work, and that of a
// stream that leaves a group.
func TestWayOutOfADeadAddress(t *testing.T) {
	t.Parallel()
	const byState, byKeep = "remove the resource from the state with terraform state rm.", `first apply on_destroy = "keep"`
	both, one := map[string][]string{"cam-1": {"p1"}, "cam-2": {"p1"}}, map[string][]string{"cam-2": {"p1"}}
	keeps := coretest.Attributes{"on_destroy": "keep"}
	for _, test := range []struct {
		before, kept, after tftypes.Value
		advice              []string
	}{
		{cam1("p1"), resourceValue(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}, "on_destroy": "keep"}),
			nullResource(), []string{byState, byKeep}},
		{group(both, nil), group(both, keeps), nullGroup().Value, []string{byState, byKeep}},
		{group(both, nil), group(one, keeps), group(one, nil), []string{`set on_destroy = "keep" in the group, and run the command again.`}},
	} {
		null := tftypes.NewValue(test.before.Type(), nil)
		service, r := startRun(t, null, coretest.Attributes{"deployment": "north", "retry": coretest.Attributes{"max_attempts": 1}},
			streamstest.Streams("cam-1", "cam-2")...)
		r.mustApply(test.before)
		r.provider["base_url"] = "http://127.0.0.1:1"
		service.ForgetRequests()
		failed := r.mustFail(test.after)
		for _, advice := range test.advice {
			wantDiagnostic(t, failed, "ERROR: Connection Failed", advice)
		}
		r.mustApply(test.kept)
		if test.after.IsNull() {
			r.mustApply(test.after)
		}
		service.WantRequests(t)
	}
}

// While the next apply sends the set again, it fails as well, so an error does not advise to apply anything first.
func TestWayOutOfAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	both := map[string][]string{"cam-1": {"p1"}, "cam-2": {"p1"}}
	for _, first := range []tftypes.Value{cam1("p1"), group(both, nil)} {
		for _, name := range []string{"no route", "empty set refused"} {
			service, r := startRun(t, tftypes.NewValue(first.Type(), nil), nil, streamstest.Streams("cam-1", "cam-2")...)
			r.mustApply(first)
			refuse(service, map[string]streamstest.Fault{"cam-1": {ResetAfter: true}, "cam-2": refusesToDetach[name]})
			r.mustFail(r.null())
			refuse(service, map[string]streamstest.Fault{"cam-1": refusesToDetach[name], "cam-2": refusesToDetach[name]})
			diags := r.mustFail(r.null())
			wantDiagnostic(t, diags, "ERROR", "remove the resource from the state with terraform state rm.")
			if strings.Contains(diags.String(), "on_destroy") {
				t.Errorf("%s: %s", name, diags)
			}
		}
	}
}

// No apply changes on_destroy of an old object: removing the resource from the state, and creating it again, works.
func TestWayOutOfAnOldObject(t *testing.T) {
	t.Parallel()
	for name, fault := range refusesToDetach {
		service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1", "cam-2")...)
		r.mustApply(cam1("p1"))
		refuse(service, map[string]streamstest.Fault{"cam-1": fault})
		for _, diags := range []coretest.Diagnostics{r.replaceCreatingFirst(single("cam-2", []string{"p1"})), r.destroyDeposed()} {
			wantDiagnostic(t, diags, "ERROR", "remove the resource from the state with terraform state rm.")
			if strings.Contains(diags.String(), "on_destroy") {
				t.Errorf("%s: %s", name, diags)
			}
		}
		r.state = coretest.Managed{Value: r.null()}
		r.mustApply(single("cam-2", []string{"p1"}))
	}
}

// The same for a stream that a group drops.
func TestWayOutOfADrop(t *testing.T) {
	t.Parallel()
	for name, fault := range refusesToDetach {
		service, r := startRun(t, nullGroup().Value, nil, streamstest.Streams("cam-1", "cam-2")...)
		both := map[string][]string{"cam-1": {"p1"}, "cam-2": {"p1"}}
		r.mustApply(group(both, nil))
		refuse(service, map[string]streamstest.Fault{"cam-1": fault})
		one := maps.Clone(both)
		delete(one, "cam-1")
		wantDiagnostic(t, r.mustFail(group(one, nil)), "ERROR", `set on_destroy = "keep" in the group, and run the command again.`)
		service.ForgetRequests()
		t.Log(name)
		r.mustApply(group(one, coretest.Attributes{"on_destroy": "keep"}))
		service.WantRequests(t)
		r.wantStreams(one)
	}
}
