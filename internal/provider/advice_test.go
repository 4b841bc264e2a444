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

// An address that does not answer any more, such as that of a region that was shut down: both ways out of a destroy work, and that of a
// stream that leaves a group.
func TestWayOutOfADeadAddress(t *testing.T) {
	t.Parallel()
	const byState = "remove the resource from the state with terraform state rm."
	both, one := map[string][]string{"cam-1": {"p1"}, "cam-2": {"p1"}}, map[string][]string{"cam-2": {"p1"}}
	keeps := coretest.Attributes{"on_destroy": "keep"}
	for _, test := range []struct {
		before, kept, after tftypes.Value
		advice              string
	}{
		{cam1("p1"), resourceValue(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}, "on_destroy": "keep"}),
			nullResource(), byState},
		{group(both, nil), group(both, keeps), nullGroup().Value, byState},
		{group(both, nil), group(one, keeps), group(one, nil), `set on_destroy = "keep" in the group, and run the command again.`},
	} {
		null := tftypes.NewValue(test.before.Type(), nil)
		service, r := startRun(t, null, coretest.Attributes{"deployment": "north", "retry": coretest.Attributes{"max_attempts": 1}},
			streamstest.Streams("cam-1", "cam-2")...)
		r.mustApply(test.before)
		r.provider["base_url"] = "http://127.0.0.1:1"
		service.ForgetRequests()
		failed := r.mustFail(test.after)
		wantDiagnostic(t, failed, "ERROR: Connection Failed", test.advice)
		r.mustApply(test.kept)
		if test.after.IsNull() {
			r.mustApply(test.after)
		}
		service.WantRequests(t)
	}
}

// Each error of a destroy or a replacement names a way that works while the service refuses to detach: removing the resource from the state.
// After a replacement, the next apply creates it again.
func TestWayOutOfADestroy(t *testing.T) {
	t.Parallel()
	const advice = "remove the resource from the state with terraform state rm."
	other := single("cam-2", []string{"p1"})
	both := group(map[string][]string{"cam-1": {"p1"}, "cam-2": {"p1"}}, nil)
	for name, fault := range refusesToDetach {
		for way, test := range map[string]struct {
			first tftypes.Value
			leave func(r *resourceRun) []coretest.Diagnostics
			next  tftypes.Value
		}{
			"destroy": {cam1("p1"), func(r *resourceRun) []coretest.Diagnostics { return []coretest.Diagnostics{r.apply(r.null())} },
				nullResource()},
			"destroy of a group": {both, func(r *resourceRun) []coretest.Diagnostics { return []coretest.Diagnostics{r.apply(r.null())} },
				nullGroup().Value},
			"replacement": {cam1("p1"), func(r *resourceRun) []coretest.Diagnostics { return []coretest.Diagnostics{r.replace(other)} },
				other},
			"replacement that creates first": {cam1("p1"), func(r *resourceRun) []coretest.Diagnostics {
				return []coretest.Diagnostics{r.replaceCreatingFirst(other), r.destroyDeposed()}
			}, other},
		} {
			service, r := startRun(t, tftypes.NewValue(test.first.Type(), nil), nil, streamstest.Streams("cam-1", "cam-2")...)
			r.mustApply(test.first)
			refuse(service, map[string]streamstest.Fault{"cam-1": fault})
			for _, diags := range test.leave(r) {
				wantDiagnostic(t, diags, "ERROR", advice)
			}
			t.Log(name, way)
			r.state = coretest.Managed{Value: r.null()}
			r.mustApply(test.next)
		}
	}
}

// The same for a stream that a group drops, by on_destroy.
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

// A redirect to the path of the request cannot be mended in the configuration. Once the service serves the documented path, the apply
// works. One to the id in another case can.
func TestRedirectToTheSamePath(t *testing.T) {
	t.Parallel()
	for location, then := range map[string]tftypes.Value{
		"/v2/streams/cam-1/": cam1("p1"), "/v2/streams/CAM-1": single("CAM-1", []string{"p1"}),
	} {
		service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1", "CAM-1")...)
		redirect := streamstest.Fault{Status: http.StatusPermanentRedirect, Header: http.Header{"Location": {location}}}
		refuse(service, map[string]streamstest.Fault{"cam-1": redirect})
		wantDiagnostic(t, r.mustFail(cam1("p1")), "ERROR: Redirect Refused", location)
		if location != "/v2/streams/CAM-1" {
			service.InjectFunc(nil)
		}
		r.mustApply(then)
	}
}

// A stream that a group adds may not exist yet. One that the state has may exist no more.
func TestNotFoundByAGroup(t *testing.T) {
	t.Parallel()
	const isNew = "If the stream has just been created, run the command again."
	const wasDeleted = "If the stream was deleted, remove it from the configuration."
	service, r := startRun(t, nullGroup().Value, nil, streamstest.Streams("cam-1")...)
	r.mustApply(group(map[string][]string{"cam-1": {"p1"}}, nil))
	added := r.mustFail(group(map[string][]string{"cam-1": {"p1"}, "cam-2": {"p1"}}, nil))
	wantDiagnostic(t, added, "ERROR: Resource Not Found Error", isNew)
	refuse(service, map[string]streamstest.Fault{"cam-1": {Status: http.StatusNotFound}})
	updated := r.mustFail(group(map[string][]string{"cam-1": {"p2"}}, nil))
	wantDiagnostic(t, updated, "ERROR: Resource Not Found Error", wasDeleted)
	if strings.Contains(added.String(), wasDeleted) || strings.Contains(updated.String(), isNew) {
		t.Error(added, updated)
	}
}
