package streamstest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestSection4ResponseHeaders uses sendChecked, which checks the headers.
func TestSection4ResponseHeaders(t *testing.T) {
	t.Parallel()
	refuse := func(status int) func(*http.Request) error {
		return func(*http.Request) error { return &streamstest.Refusal{Status: status, Message: "no"} }
	}
	const body = `{"processor_ids":["p1"]}`
	for name, test := range map[string]struct {
		opts         streamstest.Options
		fault        streamstest.Fault
		method, path string
		body         string
		status       int
	}{
		"success":          {method: "PATCH", path: "/v2/streams/cam", body: body, status: 200},
		"read":             {opts: streamstest.Options{ServeGet: true}, method: "GET", path: "/v2/streams/cam", status: 200},
		"read unknown":     {opts: streamstest.Options{ServeGet: true}, method: "GET", path: "/v2/streams/x", status: 404},
		"bad request":      {method: "PATCH", path: "/v2/streams/cam", body: "{", status: 400},
		"authentication":   {opts: streamstest.Options{Authorize: streamstest.Bearer("t")}, method: "PATCH", path: "/v2/streams/cam", body: body, status: 401},
		"unauthorized":     {opts: streamstest.Options{Authorize: refuse(403)}, method: "PATCH", path: "/v2/streams/cam", body: body, status: 403},
		"unknown stream":   {method: "PATCH", path: "/v2/streams/x", body: body, status: 404},
		"unmatched path":   {method: "PATCH", path: "/v2/terminals/x", body: body, status: 404},
		"wrong method":     {method: "DELETE", path: "/v2/streams/cam", status: 405},
		"preflight":        {method: "OPTIONS", path: "/v2/streams/cam", status: 405},
		"head":             {method: "HEAD", path: "/v2/streams/cam", status: 405},
		"body too large":   {method: "PATCH", path: "/v2/streams/cam", body: strings.Repeat(" ", 16<<20) + body, status: 413},
		"injected status":  {fault: streamstest.Fault{Status: 503}, method: "PATCH", path: "/v2/streams/cam", body: body, status: 503},
		"injected success": {fault: streamstest.Fault{Status: 201}, method: "PATCH", path: "/v2/streams/cam", body: body, status: 201},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, test.opts, streamstest.Stream{ID: "cam"})
			service.Inject(test.fault)
			resp, respBody := sendChecked(t, newRequest(t, test.method, url+test.path, test.body))
			if resp.StatusCode != test.status {
				t.Errorf("got %s %s, want %d", resp.Status, respBody, test.status)
			}
		})
	}
}
