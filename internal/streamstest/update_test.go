package streamstest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func TestSection4Method(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts  streamstest.Options
		allow string
	}{
		"as specified": {streamstest.Options{}, "PATCH"},
		"with GET":     {streamstest.Options{ServeGet: true}, "GET, PATCH"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, test.opts, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p0"}})
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "patch", "MERGE"} {
				if method == "GET" && test.opts.ServeGet {
					continue
				}
				resp, body := sendChecked(t, newRequest(t, method, url+"/v2/streams/cam", `{"processor_ids":["p1"]}`))
				if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != test.allow {
					t.Errorf("%s: got %s %s, Allow %q, want 405 and %q", method, resp.Status, body, resp.Header.Get("Allow"), test.allow)
				}
			}
			if diff := cmp.Diff([]string{"p0"}, attachedProcessors(t, service, "cam")); diff != "" {
				t.Errorf("the stream changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSection4Path(t *testing.T) {
	t.Parallel()
	ids := []string{"cam", "a", "a/b", "ü x", "%2e%2e", "%2F", "q?x=1#f", "...", "..", ".", "a+b", "a;b=c", "https://h/v2"}
	var seed []streamstest.Stream
	for _, id := range ids {
		seed = append(seed, streamstest.Stream{ID: id})
	}
	service, url := streamstest.Start(t, streamstest.Options{}, seed...)
	for path, id := range map[string]string{
		"/v2/streams/cam":                     "cam",
		"/v2/streams/%63am":                   "cam",
		"/v2/streams/a%2Fb":                   "a/b",
		"/v2/streams/a%2fb":                   "a/b",
		"/v2/streams/%C3%BC%20x":              "ü x",
		"/v2/streams/%252e%252e":              "%2e%2e",
		"/v2/streams/%252F":                   "%2F",
		"/v2/streams/q%3Fx=1%23f":             "q?x=1#f",
		"/v2/streams/...":                     "...",
		"/v2/streams/..":                      "..",
		"/v2/streams/%2e%2e":                  "..",
		"/v2/streams/.":                       ".",
		"/v2/streams/a+b":                     "a+b",
		"/v2/streams/a%2Bb":                   "a+b",
		"/v2/streams/a;b=c":                   "a;b=c",
		"/v2/streams/https:%2F%2Fh%2Fv2":      "https://h/v2",
		"/v2/streams/cam?":                    "cam",
		"/v2/streams/cam?processor_ids=p9":    "cam",
		"/v2/streams/cam?x=/v2/streams/other": "cam",
		"/v2/streams/a/b":                     "",
		"/v2/streams/cam/":                    "",
		"/v2/streams/cam/processors":          "",
		"/v2/streams//cam":                    "",
		"/v2/streams/":                        "",
		"/v2/streams":                         "",
		"/v2/stream/cam":                      "",
		"/V2/streams/cam":                     "",
		"/v2%2Fstreams/cam":                   "",
		"/v2/streams%2Fcam":                   "",
		"/v1/streams/cam":                     "",
		"/v2/v2/streams/cam":                  "",
		"/streams/cam":                        "",
		"//v2/streams/cam":                    "",
		"/x/../v2/streams/cam":                "",
		"/":                                   "",
	} {
		service.ForgetRequests()
		resp, body := patch(t, url+path, `{"processor_ids":["p1"]}`)
		got := service.Requests()[0]
		if got.StreamID != id || got.Target != path {
			t.Errorf("%s: recorded as %s of stream %q, want stream %q", path, got.Target, got.StreamID, id)
		}
		if id == "" {
			if resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s: got %s %s, want 404", path, resp.Status, body)
			}
		} else if got := decodeObject(t, body)["id"]; got != id {
			t.Errorf("%s: got %s %s, want stream %q", path, resp.Status, body, id)
		}
	}
}

func TestSection4ContentType(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	for _, test := range []struct {
		contentType []string
		status      int
	}{
		{[]string{"application/json"}, http.StatusOK},
		{[]string{"Application/JSON"}, http.StatusOK},
		{[]string{"application/json; charset=utf-8"}, http.StatusOK},
		{nil, http.StatusUnsupportedMediaType},
		{[]string{""}, http.StatusUnsupportedMediaType},
		{[]string{"text/plain"}, http.StatusUnsupportedMediaType},
		{[]string{"application/merge-patch+json"}, http.StatusUnsupportedMediaType},
		{[]string{"application/jsonp"}, http.StatusUnsupportedMediaType},
		{[]string{"application/json", "application/json"}, http.StatusUnsupportedMediaType},
	} {
		service.Seed(streamstest.Stream{ID: "cam"})
		req := newRequest(t, "PATCH", url+"/v2/streams/cam", `{"processor_ids":["p1"]}`)
		req.Header["Content-Type"] = test.contentType
		resp, body := sendChecked(t, req)
		if resp.StatusCode != test.status {
			t.Errorf("%q: got %s %s, want %d", test.contentType, resp.Status, body, test.status)
		}
		if applied := len(attachedProcessors(t, service, "cam")) > 0; applied != (test.status == http.StatusOK) {
			t.Errorf("%q: applied: %t", test.contentType, applied)
		}
	}
}

func TestSection4InvalidBody(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p0"}})
	for _, body := range []string{
		``, ` `, `null`, `[]`, `["p1"]`, `"p1"`, `7`, `{}`, `{`, `{"processor_ids":["p1"]`, `{"processor_ids":["p1"]}{}`,
		`{"processor_ids":null}`, `{"processor_ids":"p1"}`, `{"processor_ids":{}}`, `{"processor_ids":1}`,
		`{"processor_ids":[null]}`, `{"processor_ids":["p1",2]}`, `{"processor_ids":[["p1"]]}`, `{"processor_ids":[true]}`,
		`{"Processor_IDs":["p1"]}`, `{"processorIds":["p1"]}`, `{"id":"cam","processor_ids":["p1"]}`,
		"{\"processor_ids\":[\"\xff\"]}", `processor_ids=p1`,
	} {
		resp, respBody := patch(t, url+"/v2/streams/cam", body)
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: got %s %s, want 400", body, resp.Status, respBody)
		}
	}
	if diff := cmp.Diff([]string{"p0"}, attachedProcessors(t, service, "cam")); diff != "" {
		t.Errorf("the stream changed (-want +got):\n%s", diff)
	}
}

func TestSection4ResponseIsUpdatedStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p0"}})
	_, body := patch(t, url+"/v2/streams/cam", " {\"processor_ids\" : [\"p2\",\"p1\",\"p2\",\"p\\u0033\"] }\n")
	if diff := cmp.Diff([]any{"p2", "p1", "p3"}, decodeObject(t, body)["processor_ids"]); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"p2", "p1", "p3"}, attachedProcessors(t, service, "cam")); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

func TestSection4OtherStreamsAreUnchanged(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "a"}, streamstest.Stream{ID: "b"})
	before, _ := service.Stream("b")
	patch(t, url+"/v2/streams/a", `{"processor_ids":["p1"]}`)
	after, _ := service.Stream("b")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("stream b (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"p1"}, attachedProcessors(t, service, "a")); diff != "" {
		t.Errorf("stream a (-want +got):\n%s", diff)
	}
}

func TestSection7UnknownStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	service.Remove("cam")
	service.Remove("cam")
	resp, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":["p1"]}`)
	if resp.StatusCode != http.StatusNotFound || !strings.Contains(errorMessage(t, body), `"cam"`) {
		t.Errorf("got %s %s, want 404 that names the stream", resp.Status, body)
	}
	if _, ok := service.Stream("cam"); ok {
		t.Error("the update created the stream")
	}
}

func TestSection8LargestBody(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	const body = `{"processor_ids":["p1"]}`
	resp, respBody := patch(t, url+"/v2/streams/cam", body+strings.Repeat(" ", 16<<20-len(body)))
	if resp.StatusCode != http.StatusOK {
		t.Errorf("16 MiB: got %s %s", resp.Status, respBody)
	}
	if diff := cmp.Diff([]string{"p1"}, attachedProcessors(t, service, "cam")); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}
