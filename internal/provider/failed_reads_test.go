package provider

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Every failed read fails a refresh and the plan of a create, and keeps the state, except for the "not found" of the service
// itself. If the service may have no read, the error names detect_drift.
func TestFailedReads(t *testing.T) {
	t.Parallel()
	html := http.Header{"Content-Type": {"text/html"}}
	for name, test := range map[string]struct {
		fault   streamstest.Fault
		want    []string
		noRoute bool
	}{
		"405":                  {streamstest.Fault{Status: 405}, []string{"Bad Request Error", "405"}, true},
		"501":                  {streamstest.Fault{Status: 501}, []string{"Generic Error", "501"}, true},
		"404 without a body":   {streamstest.Fault{Status: 404, Body: new("")}, []string{"Resource Not Found Error", "404"}, true},
		"404 of a web server":  {streamstest.Fault{Status: 404, Body: new("<h1>Not Found</h1>"), Header: html}, []string{"404", "Not Found"}, true},
		"404 of a framework":   {streamstest.Fault{Status: 404, Body: new(`{"Message":"No HTTP resource"}`)}, []string{"No HTTP resource"}, true},
		"404, message no text": {streamstest.Fault{Status: 404, Body: new(`{"message":null}`)}, []string{"404"}, true},
		"302": {streamstest.Fault{Status: 302, Header: http.Header{"Location": {"https://login.example.com"}}},
			[]string{"Redirect Refused", "https://login.example.com"}, true},
		"a page":         {streamstest.Fault{Body: new("<html>Welcome"), Header: html}, []string{"Unexpected Answer", "Welcome"}, true},
		"nothing":        {streamstest.Fault{Status: 204}, []string{"204", "has no body"}, true},
		"a wrapped one":  {streamstest.Fault{Body: new(`{"data":{"id":"cam-1"}}`)}, []string{"id is missing", "processor_ids is missing"}, true},
		"another stream": {streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ID = "cam-7" }}, []string{"another stream", "cam-7"}, true},
		"401":            {streamstest.Fault{Status: 401, Message: "who are you"}, []string{"Authentication Error", "who are you"}, false},
		"403":            {streamstest.Fault{Status: 403, Message: "not yours"}, []string{"Unauthorized Error", "not yours"}, false},
		"503": {streamstest.Fault{Status: 503, Message: "busy", Header: http.Header{"X-Request-Id": {"req-4711"}}},
			[]string{"Generic Error", "busy", "Request id: req-4711"}, false},
		"a cut response": {streamstest.Fault{Truncate: true}, []string{"Connection Failed", "incomplete"}, false},
		"no response":    {streamstest.Fault{ResetBefore: true}, []string{"Connection Failed", "no response"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
			r := newSingleRun(t, coretest.Attributes{"base_url": url, "detect_drift": true, "retry": coretest.Attributes{"max_attempts": 1}})
			breakReads := func() {
				service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
					if r.Method == http.MethodGet {
						return &test.fault
					}
					return nil
				})
			}
			wantRefused := func(diags coretest.Diagnostics) {
				t.Helper()
				text := diags.String()
				for _, part := range append(test.want, `Stream "cam-1" could not be read`, "The stream was not changed.") {
					if !strings.Contains(text, part) {
						t.Errorf("no %q in %s", part, text)
					}
				}
				if !diags.Failed() || strings.Contains(text, "detect_drift = false") != test.noRoute {
					t.Errorf("want an error, which names detect_drift: %t; got %s", test.noRoute, text)
				}
			}
			breakReads()
			_, diags := r.plan(cam1("p1"))
			wantRefused(diags)
			service.InjectFunc(nil)
			r.mustApply(cam1("p1"))
			before := coretest.FromTerraform(r.state.Value)
			breakReads()
			wantRefused(r.refresh())
			if diff := cmp.Diff(before, coretest.FromTerraform(r.state.Value)); diff != "" {
				t.Errorf("state (-before +after):\n%s", diff)
			}
		})
	}
}

// With detect_drift, the plan of a create reads the stream if its id is known, and compares the sets if they are known. The
// plan of a replacement reads the new stream.
func TestPlanOfACreateReads(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p9"}})
	provider := coretest.Attributes{"base_url": url, "detect_drift": true}
	r := newSingleRun(t, provider)
	wantPlan := func(config tftypes.Value, warnings int, requests ...string) {
		t.Helper()
		if _, diags := r.plan(config); diags.Failed() || len(diags) != warnings {
			t.Errorf("%v: want %d warnings, got %s", coretest.FromTerraform(config), warnings, diags)
		}
		service.WantRequests(t, requests...)
	}
	wantPlan(cam1("p1"), 1, "GET /v2/streams/cam-1")
	wantPlan(cam1("p1", "p9"), 0, "GET /v2/streams/cam-1")
	wantPlan(single("cam-1", []any{"p1", tftypes.UnknownValue}), 0, "GET /v2/streams/cam-1")
	wantPlan(single(tftypes.UnknownValue, []string{"p1"}), 0)
	if _, diags := r.plan(single("missing", []string{"p1"})); !diags.Failed() {
		t.Error("the plan of a create on a missing stream succeeds")
	}
	r.mustApply(cam1("p1"))
	service.Seed(streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"p9"}})
	service.DrainRequests()
	_, replace, _ := startProvider(t, provider).Plan(r.state, single("cam-2", []string{"p1"}))
	if diff := cmp.Diff([]string{"stream_id"}, replace); diff != "" {
		t.Errorf("replaced because of (-want +got):\n%s", diff)
	}
	service.DrainRequests() // core plans the create of a replacement next
	r.state = coretest.Managed{Value: nullResource()}
	wantPlan(single("cam-2", []string{"p1"}), 1, "GET /v2/streams/cam-2")
}
