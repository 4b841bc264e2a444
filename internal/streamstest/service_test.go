package streamstest_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// serve starts a service over plain HTTP and returns it with its address.
func serve(t *testing.T, opts streamstest.Options, seed ...streamstest.Stream) (*streamstest.Service, string) {
	t.Helper()
	service := streamstest.New(opts, seed...)
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	return service, server.URL
}

// newRequest makes a request as the document wants an update to be; url and body are sent as they are.
func newRequest(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

// roundTrip sends a request over a connection of its own, follows nothing and repeats nothing.
func roundTrip(t *testing.T, req *http.Request) (*http.Response, string, error) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// do sends a request and checks what sections 4 and 7 say of every answer.
func do(t *testing.T, req *http.Request) (*http.Response, string) {
	t.Helper()
	resp, body, err := roundTrip(t, req)
	if err != nil {
		t.Fatal(err)
	}
	checkHeaders(t, resp)
	if req.Method != http.MethodHead && resp.StatusCode >= 400 {
		if message := errorMessage(t, body); message == "" {
			t.Error("the message is empty")
		}
	}
	return resp, body
}

func patch(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	return do(t, newRequest(t, "PATCH", url, body))
}

func checkHeaders(t *testing.T, resp *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":      "*",
		"Access-Control-Allow-Credentials": "true",
		"Content-Type":                     "application/json",
	} {
		if got := resp.Header.Values(name); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %s is %q, want %q once", resp.Status, name, got, want)
		}
	}
}

// errorMessage checks the error body of section 7 and returns its message.
func errorMessage(t *testing.T, body string) string {
	t.Helper()
	object := decode(t, body)
	message, ok := object["message"].(string)
	if !ok || len(object) != 1 {
		t.Errorf("error body %s: want an object with the string message alone", body)
	}
	return message
}

func decode(t *testing.T, body string) map[string]any {
	t.Helper()
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	return object
}

// processors returns the ids attached to a stream; the test fails if it does not exist.
func processors(t *testing.T, service *streamstest.Service, id string) []string {
	t.Helper()
	stream, ok := service.Stream(id)
	if !ok {
		t.Fatalf("there is no stream %q", id)
	}
	return stream.ProcessorIDs
}

func TestSection2StreamHasAllFieldsOfTheirTypes(t *testing.T) {
	t.Parallel()
	_, url := serve(t, streamstest.Options{KeepLastEdited: true}, streamstest.Stream{
		ID: "cam", TerminalID: "t-7", FragmentTypeID: "image/jpg", LastEdited: 1790000000123,
		CompatibleNamespaces: []string{"ns-1", "ns-2"},
	})
	resp, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":["p2","p1"]}`)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("got %s %s", resp.Status, body)
	}
	want := map[string]any{
		"id": "cam", "terminal_id": "t-7", "fragment_type_id": "image/jpg",
		"processor_ids":         []any{"p2", "p1"},
		"last_edited":           json.Number("1790000000123"),
		"compatible_namespaces": []any{"ns-1", "ns-2"},
	}
	if diff := cmp.Diff(want, decode(t, body)); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

func TestSection2ListsAreNeverNull(t *testing.T) {
	t.Parallel()
	service, url := serve(t, streamstest.Options{ServeGet: true}, streamstest.Stream{ID: "cam", CompatibleNamespaces: []string{}})
	empty := func(s *streamstest.Stream) { s.ProcessorIDs, s.CompatibleNamespaces = nil, nil }
	for _, step := range []struct {
		method string
		fault  streamstest.Fault
	}{{"GET", streamstest.Fault{}}, {"PATCH", streamstest.Fault{}}, {"PATCH", streamstest.Fault{Edit: empty}}} {
		service.Inject(step.fault)
		_, body := do(t, newRequest(t, step.method, url+"/v2/streams/cam", `{"processor_ids":[]}`))
		object := decode(t, body)
		for _, field := range []string{"processor_ids", "compatible_namespaces"} {
			if diff := cmp.Diff([]any{}, object[field]); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", step.method, field, diff)
			}
		}
	}
}

func TestSection4OnlyPatchIsServed(t *testing.T) {
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
			service, url := serve(t, test.opts, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p0"}})
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "patch", "MERGE"} {
				if method == "GET" && test.opts.ServeGet {
					continue
				}
				resp, body := do(t, newRequest(t, method, url+"/v2/streams/cam", `{"processor_ids":["p1"]}`))
				if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != test.allow {
					t.Errorf("%s: got %s %s, Allow %q, want 405 and %q", method, resp.Status, body, resp.Header.Get("Allow"), test.allow)
				}
			}
			if diff := cmp.Diff([]string{"p0"}, processors(t, service, "cam")); diff != "" {
				t.Errorf("the stream changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSection4PathIsOneEscapedSegment(t *testing.T) {
	t.Parallel()
	ids := []string{"cam", "a", "a/b", "ü x", "%2e%2e", "%2F", "q?x=1#f", "...", "..", ".", "a+b", "a;b=c", "https://h/v2"}
	var seed []streamstest.Stream
	for _, id := range ids {
		seed = append(seed, streamstest.Stream{ID: id})
	}
	service, url := serve(t, streamstest.Options{}, seed...)
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
		} else if answered := decode(t, body)["id"]; answered != id {
			t.Errorf("%s: got %s %s, want stream %q", path, resp.Status, body, id)
		}
	}
}

func TestSection4ContentTypeIsRequired(t *testing.T) {
	t.Parallel()
	service, url := serve(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
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
		resp, body := do(t, req)
		if resp.StatusCode != test.status {
			t.Errorf("%q: got %s %s, want %d", test.contentType, resp.Status, body, test.status)
		}
		if applied := len(processors(t, service, "cam")) > 0; applied != (test.status == http.StatusOK) {
			t.Errorf("%q: applied: %t", test.contentType, applied)
		}
	}
}

func TestSection4BodyIsAnObjectWithProcessorIDs(t *testing.T) {
	t.Parallel()
	service, url := serve(t, streamstest.Options{}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p0"}})
	for _, body := range []string{
		``, ` `, `null`, `[]`, `["p1"]`, `"p1"`, `7`, `{}`, `{`, `{"processor_ids":["p1"]`, `{"processor_ids":["p1"]}{}`,
		`{"processor_ids":null}`, `{"processor_ids":"p1"}`, `{"processor_ids":{}}`, `{"processor_ids":1}`,
		`{"processor_ids":[null]}`, `{"processor_ids":["p1",2]}`, `{"processor_ids":[["p1"]]}`, `{"processor_ids":[true]}`,
		`{"Processor_IDs":["p1"]}`, `{"processorIds":["p1"]}`, `{"id":"cam","processor_ids":["p1"]}`,
		"{\"processor_ids\":[\"\xff\"]}", `processor_ids=p1`,
	} {
		resp, answer := patch(t, url+"/v2/streams/cam", body)
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: got %s %s, want 400", body, resp.Status, answer)
		}
	}
	if diff := cmp.Diff([]string{"p0"}, processors(t, service, "cam")); diff != "" {
		t.Errorf("the stream changed (-want +got):\n%s", diff)
	}
}

func TestSection4Rule2AnswerIsTheUpdatedStream(t *testing.T) {
	t.Parallel()
	service, url := serve(t, streamstest.Options{}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p0"}})
	_, body := patch(t, url+"/v2/streams/cam", " {\"processor_ids\" : [\"p2\",\"p1\",\"p2\",\"p\\u0033\"] }\n")
	if diff := cmp.Diff([]any{"p2", "p1", "p3"}, decode(t, body)["processor_ids"]); diff != "" {
		t.Errorf("answered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"p2", "p1", "p3"}, processors(t, service, "cam")); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
}

func TestSection4Rule3OnlyTheStreamInThePathChanges(t *testing.T) {
	t.Parallel()
	service, url := serve(t, streamstest.Options{}, streamstest.Stream{ID: "a"}, streamstest.Stream{ID: "b"})
	before, _ := service.Stream("b")
	patch(t, url+"/v2/streams/a", `{"processor_ids":["p1"]}`)
	after, _ := service.Stream("b")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("stream b (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"p1"}, processors(t, service, "a")); diff != "" {
		t.Errorf("stream a (-want +got):\n%s", diff)
	}
}

func TestSection4Rule4EachReading(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts   streamstest.Options
		body   string
		status int
		held   []string
		naming string // in the message
	}{
		"replaces":                   {streamstest.Options{}, `["p2","p3"]`, 200, []string{"p2", "p3"}, ""},
		"merges":                     {streamstest.Options{Merge: true}, `["p3","p2"]`, 200, []string{"p1", "p2", "p3"}, ""},
		"merges an empty set":        {streamstest.Options{Merge: true}, `[]`, 200, []string{"p1", "p2"}, ""},
		"accepts an empty set":       {streamstest.Options{}, `[]`, 200, []string{}, ""},
		"refuses an empty set":       {streamstest.Options{RefuseEmpty: true}, `[]`, 400, []string{"p1", "p2"}, "empty"},
		"refusing empty takes one":   {streamstest.Options{RefuseEmpty: true}, `["p3"]`, 200, []string{"p3"}, ""},
		"accepts any processor":      {streamstest.Options{}, `["","nope"]`, 200, []string{"", "nope"}, ""},
		"knows the processor":        {streamstest.Options{KnownProcessors: []string{"p3"}}, `["p3"]`, 200, []string{"p3"}, ""},
		"refuses unknown processors": {streamstest.Options{KnownProcessors: []string{"p3"}}, `["p3","p4"]`, 400, []string{"p1", "p2"}, "p4"},
		"knows no processor":         {streamstest.Options{KnownProcessors: []string{}}, `["p3"]`, 400, []string{"p1", "p2"}, "p3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := serve(t, test.opts, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p1", "p2"}})
			resp, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":`+test.body+`}`)
			if resp.StatusCode != test.status {
				t.Errorf("got %s %s, want %d", resp.Status, body, test.status)
			}
			if test.status == http.StatusBadRequest && !strings.Contains(errorMessage(t, body), test.naming) {
				t.Errorf("message %s does not name %q", body, test.naming)
			}
			if diff := cmp.Diff(test.held, processors(t, service, "cam")); diff != "" {
				t.Errorf("held (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSection4Rule5EachReading(t *testing.T) {
	t.Parallel()
	future := time.Now().Add(time.Hour).UnixMilli()
	edited := func(t *testing.T, url string) int64 {
		t.Helper()
		_, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":[]}`)
		ms, err := decode(t, body)["last_edited"].(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		return ms
	}
	t.Run("moves on", func(t *testing.T) {
		t.Parallel()
		_, url := serve(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
		start := time.Now().UnixMilli()
		first := edited(t, url)
		if second := edited(t, url); first < start || second <= first {
			t.Errorf("last_edited went to %d, then to %d; want later than %d each time", first, second, start)
		}
	})
	t.Run("moves on from the future", func(t *testing.T) {
		t.Parallel()
		_, url := serve(t, streamstest.Options{}, streamstest.Stream{ID: "cam", LastEdited: future})
		if got := edited(t, url); got != future+1 {
			t.Errorf("last_edited went from %d to %d, want one more", future, got)
		}
	})
	t.Run("is kept", func(t *testing.T) {
		t.Parallel()
		_, url := serve(t, streamstest.Options{KeepLastEdited: true}, streamstest.Stream{ID: "cam", LastEdited: 5})
		if got := edited(t, url); got != 5 {
			t.Errorf("last_edited went from 5 to %d", got)
		}
	})
}

// TestSection4BothHeadersOnEveryKindOfAnswer leaves the checking to do.
func TestSection4BothHeadersOnEveryKindOfAnswer(t *testing.T) {
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
			service, url := serve(t, test.opts, streamstest.Stream{ID: "cam"})
			service.Inject(test.fault)
			resp, answer := do(t, newRequest(t, test.method, url+test.path, test.body))
			if resp.StatusCode != test.status {
				t.Errorf("got %s %s, want %d", resp.Status, answer, test.status)
			}
		})
	}
}

func TestSection7UnknownStream(t *testing.T) {
	t.Parallel()
	service, url := serve(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
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

func TestSection8BodyUpToTheLimit(t *testing.T) {
	t.Parallel()
	service, url := serve(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	const body = `{"processor_ids":["p1"]}`
	resp, answer := patch(t, url+"/v2/streams/cam", body+strings.Repeat(" ", 16<<20-len(body)))
	if resp.StatusCode != http.StatusOK {
		t.Errorf("16 MiB: got %s %s", resp.Status, answer)
	}
	if diff := cmp.Diff([]string{"p1"}, processors(t, service, "cam")); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
}

func TestServeGet(t *testing.T) {
	t.Parallel()
	service, url := serve(t, streamstest.Options{ServeGet: true}, streamstest.Stream{ID: "a/b", ProcessorIDs: []string{"p1"}})
	req := newRequest(t, "GET", url+"/v2/streams/a%2Fb", "")
	req.Header.Del("Content-Type")
	resp, body := do(t, req)
	want, _ := service.Stream("a/b")
	var got streamstest.Stream
	if err := json.Unmarshal([]byte(body), &got); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("got %s %s", resp.Status, body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"/gateway/eu%20west", "gateway/eu%20west/"} {
		_, url := serve(t, streamstest.Options{Prefix: prefix}, streamstest.Stream{ID: "cam"})
		for path, want := range map[string]int{
			"/gateway/eu%20west/v2/streams/cam": http.StatusOK,
			"/v2/streams/cam":                   http.StatusNotFound,
		} {
			if resp, body := patch(t, url+path, `{"processor_ids":[]}`); resp.StatusCode != want {
				t.Errorf("prefix %s, path %s: got %s %s, want %d", prefix, path, resp.Status, body, want)
			}
		}
	}
}

func TestLatencyPassesBeforeEveryAnswer(t *testing.T) {
	t.Parallel()
	const latency = 30 * time.Millisecond
	service, url := serve(t, streamstest.Options{Latency: latency}, streamstest.Stream{ID: "cam"})
	for _, path := range []string{"/v2/streams/cam", "/nothing"} {
		start := time.Now()
		patch(t, url+path, `{"processor_ids":[]}`)
		if took := time.Since(start); took < latency {
			t.Errorf("%s: answered after %s, want %s at least", path, took, latency)
		}
	}
	for _, r := range service.Requests() {
		if took := r.End.Sub(r.Start); took < latency {
			t.Errorf("%s: recorded as %s long", r, took)
		}
	}
}

func TestConfigureWhileRunning(t *testing.T) {
	t.Parallel()
	known := []string{"p1"}
	service, url := serve(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	service.Configure(func(o *streamstest.Options) { o.KnownProcessors = known })
	known[0] = "p2" // the caller's slice stays the caller's
	if resp, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":["p1"]}`); resp.StatusCode != http.StatusOK {
		t.Errorf("a known processor: got %s %s", resp.Status, body)
	}
	if resp, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":["p2"]}`); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("an unknown processor: got %s %s", resp.Status, body)
	}
	service.Configure(func(o *streamstest.Options) { *o = streamstest.Options{Merge: true} })
	patch(t, url+"/v2/streams/cam", `{"processor_ids":["p2"]}`)
	if diff := cmp.Diff([]string{"p1", "p2"}, processors(t, service, "cam")); diff != "" {
		t.Errorf("after Merge (-want +got):\n%s", diff)
	}
}

func TestSeedFillsAndKeeps(t *testing.T) {
	t.Parallel()
	service := streamstest.New(streamstest.Options{KeepLastEdited: true}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p1", "p1"}})
	first, _ := service.Stream("cam")
	if first.TerminalID == "" || first.FragmentTypeID == "" || first.LastEdited == 0 || len(first.CompatibleNamespaces) == 0 {
		t.Errorf("a field is left empty: %+v", first)
	}
	if diff := cmp.Diff([]string{"p1"}, first.ProcessorIDs); diff != "" {
		t.Errorf("processors (-want +got):\n%s", diff)
	}

	service.Seed(streamstest.Stream{ID: "cam", TerminalID: "t-2", ProcessorIDs: []string{"p2"}})
	second, _ := service.Stream("cam")
	if second.LastEdited <= first.LastEdited {
		t.Errorf("an edit from outside took last_edited from %d to %d", first.LastEdited, second.LastEdited)
	}
	want := first
	want.TerminalID, want.ProcessorIDs, want.LastEdited = "t-2", []string{"p2"}, second.LastEdited
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("seeded again (-want +got):\n%s", diff)
	}

	full := streamstest.Stream{
		ID: "cam", TerminalID: "t-3", FragmentTypeID: "f-3", LastEdited: 3,
		ProcessorIDs: []string{}, CompatibleNamespaces: []string{},
	}
	service.Seed(full)
	third, _ := service.Stream("cam")
	if diff := cmp.Diff(full, third); diff != "" {
		t.Errorf("seeded in full (-want +got):\n%s", diff)
	}
}

func TestStreamsAreCopies(t *testing.T) {
	t.Parallel()
	ids := []string{"p1"}
	service := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "cam", ProcessorIDs: ids, CompatibleNamespaces: []string{"ns"}})
	ids[0] = "changed"
	stream, _ := service.Stream("cam")
	stream.ProcessorIDs[0], stream.CompatibleNamespaces[0] = "changed", "changed"
	stream, _ = service.Stream("cam")
	if stream.ProcessorIDs[0] != "p1" || stream.CompatibleNamespaces[0] != "ns" {
		t.Errorf("the held stream changed: %+v", stream)
	}
	if stream, ok := service.Stream("other"); ok {
		t.Errorf("an unknown stream exists: %+v", stream)
	}
}

// TestConcurrentUse is for the race detector; what it asserts is that nothing is lost.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	const clients, rounds = 16, 8
	service, url := serve(t, streamstest.Options{})
	printed := 0
	service.OnRequest(func(streamstest.Request) { printed++ })
	faults := make([]streamstest.Fault, clients)
	for i := range faults {
		faults[i].Status = http.StatusServiceUnavailable
	}
	service.Inject(faults...)
	asked := 0
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		asked++
		service.Stream(r.StreamID)
		return nil
	})

	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			id := "cam-" + strconv.Itoa(i)
			service.Seed(streamstest.Stream{ID: id})
			for n := range rounds {
				// Refused by a fault or not, the last round wins in the end: its update is repeated until it is in.
				for status := 0; status != http.StatusOK; {
					resp, _, err := roundTrip(t, newRequest(t, "PATCH", url+"/v2/streams/"+id, `{"processor_ids":["p`+strconv.Itoa(n)+`"]}`))
					if err != nil {
						t.Error(err)
						return
					}
					status = resp.StatusCode
				}
				service.Configure(func(o *streamstest.Options) { o.KeepLastEdited = !o.KeepLastEdited })
				service.Requests()
			}
		})
	}
	wg.Wait()

	const want = clients*rounds + clients // each fault costs one more
	requests := service.Requests()
	if len(requests) != want || printed != want || asked != clients*rounds {
		t.Errorf("%d recorded, %d told, %d asked; want %d, %d, %d", len(requests), printed, asked, want, want, clients*rounds)
	}
	for i, r := range requests {
		if refused := r.Status == http.StatusServiceUnavailable; refused != (i < clients) {
			t.Errorf("request %d ended in %d; the faults belong to the first %d", i, r.Status, clients)
		}
	}
	for i := range clients {
		if diff := cmp.Diff([]string{"p" + strconv.Itoa(rounds-1)}, processors(t, service, "cam-"+strconv.Itoa(i))); diff != "" {
			t.Errorf("stream %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestImports keeps the stand-in independent of the client it is there to judge, and out of the way of flag parsing.
func TestImports(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		checked++
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if path == "testing" || strings.Contains(path, ".") {
				t.Errorf("%s imports %s, want the standard library without testing", file, path)
			}
		}
	}
	if checked == 0 {
		t.Error("no file was checked")
	}
}
