package streamstest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
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
		"/v2/streams/..":                      "..",
		"/v2/streams/cam?x=/v2/streams/other": "cam",
		"/v2/streams/a/b":                     "",
		"/v2/streams/cam/":                    "",
		"/v2/streams/":                        "",
		"/V2/streams/cam":                     "",
		"/v2/streams%2Fcam":                   "",
		"/other/v2/streams/cam":               "",
		"/x/../v2/streams/cam":                "",
	} {
		service := streamstest.New(streamstest.Options{}, streamstest.Streams("cam", "other", "a", id)...)
		status, got := send(t, service, newRequest("PATCH", path, attachP1))
		if id == "" && status != 404 || id != "" && got["id"] != id {
			t.Errorf("%s: got %d %v, want stream %q", path, status, got, id)
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
		if status, _ := send(t, service, newRequest("PATCH", camera, body)); status != 400 {
			t.Errorf("%q: got %d", body, status)
		}
	}
	service.WantAttached(t, "cam", "p0")

	service.Remove("cam")
	service.Remove("cam")
	if status, _ := send(t, service, newRequest("PATCH", camera, attachP1)); status != 404 {
		t.Errorf("a stream that does not exist: got %d", status)
	}
	if _, ok := service.Stream("cam"); ok {
		t.Error("an update made a stream")
	}
}
