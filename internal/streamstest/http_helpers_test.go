package streamstest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// newRequest returns a request with the Content-Type of an update (INTERFACE.md, section 4).
func newRequest(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

// roundTrip sends a request over a new connection, without redirects and retries.
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

// sendChecked sends a request and checks what every response must have (INTERFACE.md, sections 4 and 7).
func sendChecked(t *testing.T, req *http.Request) (*http.Response, string) {
	t.Helper()
	resp, body, err := roundTrip(t, req)
	if err != nil {
		t.Fatal(err)
	}
	checkResponseHeaders(t, resp)
	if req.Method != http.MethodHead && resp.StatusCode >= 400 {
		if message := errorMessage(t, body); message == "" {
			t.Error("the message is empty")
		}
	}
	return resp, body
}

func patch(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	return sendChecked(t, newRequest(t, "PATCH", url, body))
}

func checkResponseHeaders(t *testing.T, resp *http.Response) {
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

// errorMessage checks an error body (INTERFACE.md, section 7) and returns its message.
func errorMessage(t *testing.T, body string) string {
	t.Helper()
	object := decodeObject(t, body)
	message, ok := object["message"].(string)
	if !ok || len(object) != 1 {
		t.Errorf("error body %s: want an object with only the string message", body)
	}
	return message
}

func decodeObject(t *testing.T, body string) map[string]any {
	t.Helper()
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	return object
}

// attachedProcessors returns the processor ids of an existing stream.
func attachedProcessors(t *testing.T, service *streamstest.Service, id string) []string {
	t.Helper()
	stream, ok := service.Stream(id)
	if !ok {
		t.Fatalf("there is no stream %q", id)
	}
	return stream.ProcessorIDs
}
