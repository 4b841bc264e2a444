package streamstest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A fault changes the response, and decides whether the update is applied.
func TestFaults(t *testing.T) {
	t.Parallel()
	type fault = streamstest.Fault
	const updated = `"processor_ids":["p1"]`
	for name, test := range map[string]struct {
		fault    fault
		status   int
		contains string
		applied  bool
	}{
		"none":               {fault{}, 200, updated, true},
		"status":             {fault{Status: 503}, 503, `{"message":"injected: 503 Service Unavailable"}`, false},
		"status, applied":    {fault{Status: 500, Apply: true, Message: "no"}, 500, `{"message":"no"}`, true},
		"success, unapplied": {fault{Status: 202}, 202, `"processor_ids":[]`, false},
		"success, applied":   {fault{Status: 202, Apply: true}, 202, updated, true},
		"body, applied":      {fault{Body: new("garbage")}, 200, "garbage", true},
		"another stream":     {fault{Edit: func(s *streamstest.Stream) { s.ID = "other" }}, 200, `"id":"other"`, true},
		"another type":       {fault{EditJSON: func(o map[string]any) { o["last_edited"] = "now" }}, 200, `"last_edited":"now"`, true},
	} {
		service := streamstest.New(streamstest.Options{}, streamstest.Streams("cam")...)
		service.Inject(test.fault)
		w := httptest.NewRecorder()
		service.ServeHTTP(w, newRequest("PATCH", camera, attachP1))
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.contains) {
			t.Errorf("%s: got %d %s, want %d with %s", name, w.Code, w.Body, test.status, test.contains)
		}
		stream, _ := service.Stream("cam")
		if r := service.Requests()[0]; r.Status != test.status || r.Applied != test.applied || len(stream.ProcessorIDs) > 0 != test.applied {
			t.Errorf("%s: the stream is %+v, recorded as %s, applied: %t", name, stream, r, r.Applied)
		}
	}
}

// The token endpoint refuses each client but the one that authenticates rightly, and in one way.
func TestTokenServer(t *testing.T) {
	t.Parallel()
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s"}
	const grant, secret = "grant_type=client_credentials", "&client_id=me&client_secret=s"
	assertionType := "&client_assertion_type=" + url.QueryEscape("urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	assertion := "&client_assertion=" + tokens.IssueAssertion("me")
	for form, want := range map[string]int{
		grant + secret:                           http.StatusOK,
		grant + assertionType + assertion:        http.StatusOK,
		grant + "&client_id=me&client_secret=x":  http.StatusUnauthorized,
		grant + "&client_id=you&client_secret=s": http.StatusUnauthorized,
		grant:                                    http.StatusUnauthorized,
		grant + assertion:                        http.StatusUnauthorized,
		grant + assertionType + "&client_assertion=e30.e30.x": http.StatusUnauthorized,
		grant + assertionType + assertion + secret:            http.StatusUnauthorized,
		"grant_type=password" + secret:                        http.StatusBadRequest,
	} {
		req := newRequest("POST", "/token", form)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		if tokens.ServeHTTP(w, req); w.Code != want {
			t.Errorf("%s: got %d %s, want %d", form, w.Code, w.Body, want)
		}
	}
}
