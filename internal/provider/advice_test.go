package provider_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// refusesToDetach has the responses with which a stream cannot be detached.
var refusesToDetach = map[string]streamstest.Fault{
	"no route":          {Status: http.StatusNotFound, Body: new("<html>404</html>")},
	"empty set refused": {Status: http.StatusBadRequest, Message: "not empty"},
	"merged":            {Edit: func(s *streamstest.Stream) { s.ProcessorIDs = []string{"p1"} }},
	"nearly the stream": {EditJSON: func(fields map[string]any) { fields["last_edited"] = "yesterday" }},
}

// The advice of each error of a destroy that names on_destroy works while the service still refuses to detach. What would not work is
// not said.
func TestWayOutOfADestroy(t *testing.T) {
	t.Parallel()
	for name, fault := range refusesToDetach {
		service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1")...)
		r.mustApply(cam1("p1"))
		refuse(service, map[string]streamstest.Fault{"cam-1": fault})
		diags := r.mustFail(r.null())
		wantDiagnostic(t, diags, "ERROR", "remove the resource from the state with terraform state rm.")
		if advised := strings.Contains(diags.String(), `apply on_destroy = "keep"`); advised == (name == "nearly the stream") {
			t.Errorf("%s: on_destroy is named: %t: %s", name, advised, diags)
		} else if advised {
			r.mustApply(resourceValue(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}, "on_destroy": "keep"}))
			r.mustApply(r.null())
		}
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

// A redirect to the path with a slash cannot be mended in the configuration. Once the service serves the documented path, the apply works.
func TestRedirectToASlash(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1")...)
	refuse(service, map[string]streamstest.Fault{"cam-1": {
		Status: http.StatusPermanentRedirect, Header: http.Header{"Location": {"/v2/streams/cam-1/"}},
	}})
	diags := r.mustFail(cam1("p1"))
	wantDiagnostic(t, diags, "ERROR: Redirect Refused", "The operators have to serve the documented path, /v2/streams/{id}, without a redirect.")
	if strings.Contains(diags.String(), "base_url") {
		t.Error(diags)
	}
	service.InjectFunc(nil)
	r.mustApply(cam1("p1"))
}
