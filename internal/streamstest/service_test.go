package streamstest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const (
	camera   = "/v2/streams/cam"
	attachP1 = `{"processor_ids":["p1"]}`
)

// send serves one request and checks what every response must have (INTERFACE.md, sections 4 and 7).
func send(t *testing.T, handler http.Handler, req *http.Request) (status int, body map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, req)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "true", "Content-Type": "application/json",
	} {
		if got := w.Header().Values(name); !slices.Equal(got, []string{want}) {
			t.Errorf("%d: %s is %q, want %q once", w.Code, name, got, want)
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Errorf("%d: body %s: %v", w.Code, w.Body, err)
	}
	if message, _ := body["message"].(string); w.Code >= 400 && (message == "" || len(body) != 1) {
		t.Errorf("%d: error body %s, want only a message", w.Code, w.Body)
	}
	return w.Code, body
}

func newRequest(method, target, body string) *http.Request {
	req := httptest.NewRequest(method, target, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	return req
}

// update sends an update of the stream cam and returns the status.
func update(t *testing.T, service http.Handler, body string) int {
	t.Helper()
	status, _ := send(t, service, newRequest("PATCH", camera, body))
	return status
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	service := streamstest.New(streamstest.Options{KeepLastEdited: true}, streamstest.Stream{ID: "other"}, streamstest.Stream{
		ID: "cam", TerminalID: "t-7", FragmentTypeID: "image/jpg", LastEdited: 1790000000123, CompatibleNamespaces: []string{},
	})
	status, got := send(t, service, newRequest("PATCH", camera, ` {"processor_ids" : ["p2","p1","p2","p\u0033"] }`))
	want := map[string]any{
		"id": "cam", "terminal_id": "t-7", "fragment_type_id": "image/jpg", "processor_ids": []any{"p1", "p2", "p3"},
		"last_edited": 1790000000123.0, "compatible_namespaces": []any{},
	}
	if diff := cmp.Diff(want, got); status != 200 || diff != "" {
		t.Errorf("status %d, stream (-want +got):\n%s", status, diff)
	}
	service.WantAttached(t, "cam", "p1", "p2", "p3")
	service.WantAttached(t, "other")
	service.Configure(func(o *streamstest.Options) { o.KeepLastEdited = false })
	service.Seed(streamstest.Stream{ID: "cam", LastEdited: 1 << 50}) // beyond the clock
	_, got = send(t, service, newRequest("PATCH", camera, `{"processor_ids":[]}`))
	if got["last_edited"] != float64(1<<50+1) || !cmp.Equal(got["processor_ids"], []any{}) {
		t.Errorf("the next update: %v", got)
	}
}

// The id is one segment of the path, and may contain anything once it is escaped.
func TestPath(t *testing.T) {
	t.Parallel()
	for path, id := range map[string]string{
		"/v2/streams/%63am":                   "cam",
		"/v2/streams/a%2Fb":                   "a/b",
		"/v2/streams/%C3%BC%20x":              "ü x",
		"/v2/streams/%252F":                   "%2F",
		"/v2/streams/q%3Fx=1%23f":             "q?x=1#f",
		"/v2/streams/..":                      "..",
		"/v2/streams/a+b":                     "a+b",
		"/v2/streams/cam?x=/v2/streams/other": "cam",
		"/v2/streams/a/b":                     "",
		"/v2/streams/cam/":                    "",
		"/v2/streams//cam":                    "",
		"/v2/streams/":                        "",
		"/v2/streams":                         "",
		"/V2/streams/cam":                     "",
		"/v2/streams%2Fcam":                   "",
		"/v1/streams/cam":                     "",
		"/v2/v2/streams/cam":                  "",
		"/x/../v2/streams/cam":                "",
	} {
		for _, prefix := range []string{"", "/gateway/eu%2F1"} {
			service := streamstest.New(streamstest.Options{Prefix: prefix}, streamstest.Streams("cam", "other", "a", id)...)
			status, got := send(t, service, newRequest("PATCH", prefix+path, attachP1))
			if id == "" && status != 404 || id != "" && got["id"] != id {
				t.Errorf("%s%s: got %d %v, want stream %q", prefix, path, status, got, id)
			}
			if status, _ := send(t, service, newRequest("PATCH", "/other"+prefix+path, attachP1)); status != 404 {
				t.Errorf("/other%s%s: got %d", prefix, path, status)
			}
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	service := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p0"}})
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "patch"} {
		if status, _ := send(t, service, newRequest(method, camera, attachP1)); status != 405 {
			t.Errorf("%s: got %d", method, status)
		}
	}
	for _, contentType := range []string{"", "text/plain", "application/merge-patch+json", "application/json, text/plain"} {
		req := newRequest("PATCH", camera, attachP1)
		req.Header.Set("Content-Type", contentType)
		if status, _ := send(t, service, req); status != 415 {
			t.Errorf("Content-Type %q: got %d", contentType, status)
		}
	}
	for _, body := range []string{
		``, `null`, `[]`, `["p1"]`, `7`, `{}`, `{"processor_ids":["p1"]`, attachP1 + `{}`, `processor_ids=p1`,
		`{"processor_ids":null}`, `{"processor_ids":"p1"}`, `{"processor_ids":{}}`, `{"processor_ids":[null]}`,
		`{"processor_ids":["p1",2]}`, `{"processor_ids":[["p1"]]}`, `{"Processor_IDs":["p1"]}`,
		`{"id":"cam","processor_ids":["p1"]}`, `{"processor_ids":["p1"],"more":["p1"]}`, "{\"processor_ids\":[\"\xff\"]}",
	} {
		if status := update(t, service, body); status != 400 {
			t.Errorf("%q: got %d", body, status)
		}
	}
	service.WantAttached(t, "cam", "p0")

	service.Remove("cam")
	service.Remove("cam")
	if status := update(t, service, attachP1); status != 404 {
		t.Errorf("a stream that does not exist: got %d", status)
	}
	if _, ok := service.Stream("cam"); ok {
		t.Error("an update made a stream")
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	type options = streamstest.Options
	for name, test := range map[string]struct {
		opts   options
		body   string
		status int
		want   []string
	}{
		"replaces":                   {options{}, `["p2","p3"]`, 200, []string{"p2", "p3"}},
		"merges":                     {options{Merge: true}, `["p3","p2"]`, 200, []string{"p1", "p2", "p3"}},
		"merges an empty set":        {options{Merge: true}, `[]`, 200, []string{"p1", "p2"}},
		"accepts an empty set":       {options{}, `[]`, 200, nil},
		"refuses an empty set":       {options{RefuseEmpty: true}, `[]`, 400, []string{"p1", "p2"}},
		"refuses only an empty set":  {options{RefuseEmpty: true}, `["p3"]`, 200, []string{"p3"}},
		"accepts any processor":      {options{}, `["nope"]`, 200, []string{"nope"}},
		"accepts known processors":   {options{KnownProcessors: []string{"p3"}}, `["p3"]`, 200, []string{"p3"}},
		"refuses unknown processors": {options{KnownProcessors: []string{"p3"}}, `["p3","p4"]`, 400, []string{"p1", "p2"}},
		"knows no processor":         {options{KnownProcessors: []string{}}, `["p3"]`, 400, []string{"p1", "p2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := streamstest.New(options{}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p1", "p2"}})
			service.Configure(func(o *options) { *o = test.opts })
			if status := update(t, service, `{"processor_ids":`+test.body+`}`); status != test.status {
				t.Errorf("got %d, want %d", status, test.status)
			}
			service.WantAttached(t, "cam", test.want...)
		})
	}
}

func TestServeGet(t *testing.T) {
	t.Parallel()
	service := streamstest.New(streamstest.Options{ServeGet: true}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p1"}})
	for path, want := range map[string]int{camera: 200, "/v2/streams/other": 404} {
		status, got := send(t, service, httptest.NewRequest("GET", path, nil))
		if status != want || status == 200 && (len(got) != 6 || !cmp.Equal(got["processor_ids"], []any{"p1"})) {
			t.Errorf("%s: got %d %v", path, status, got)
		}
	}
	if status, _ := send(t, service, newRequest("DELETE", camera, "")); status != 405 {
		t.Errorf("DELETE: got %d", status)
	}
}

func TestAuthorize(t *testing.T) {
	t.Parallel()
	basic := streamstest.Basic("u", "p:ü")
	for name, test := range map[string]struct {
		authorize func(*http.Request) error
		name      string
		values    []string
		status    int
	}{
		"bearer":           {streamstest.Bearer("t"), "Authorization", []string{"Bearer t"}, 200},
		"no bearer":        {streamstest.Bearer("t"), "Authorization", nil, 401},
		"wrong bearer":     {streamstest.Bearer("t"), "Authorization", []string{"Bearer x"}, 401},
		"bearer twice":     {streamstest.Bearer("t"), "Authorization", []string{"Bearer t", "Bearer t"}, 401},
		"basic":            {basic, "Authorization", []string{"Basic dTpwOsO8"}, 200},
		"basic for bearer": {streamstest.Bearer("dTpwOsO8"), "Authorization", []string{"Basic dTpwOsO8"}, 401},
		"wrong basic":      {basic, "Authorization", []string{"Basic dTpw"}, 401},
		"API key":          {streamstest.APIKey("X-Api-Key", "k"), "X-Api-Key", []string{"k"}, 200},
		"wrong API key":    {streamstest.APIKey("X-Api-Key", "k"), "X-Api-Key", []string{"x"}, 401},
	} {
		service := streamstest.New(streamstest.Options{Authorize: test.authorize}, streamstest.Streams("cam")...)
		req := newRequest("PATCH", camera, attachP1)
		req.Header[test.name] = test.values
		if status, _ := send(t, service, req); status != test.status {
			t.Errorf("%s: got %d, want %d", name, status, test.status)
		}
		if stream, _ := service.Stream("cam"); len(stream.ProcessorIDs) > 0 != (test.status == 200) {
			t.Errorf("%s: the stream has processors %q", name, stream.ProcessorIDs)
		}
	}
}
