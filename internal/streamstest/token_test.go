package streamstest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// tokenRequest returns a request for a token, with HTTP Basic if user is not empty.
func tokenRequest(user, pass, form string) *http.Request {
	req := newRequest("POST", "/oauth2/token", form)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if user != "" {
		req.SetBasicAuth(user, pass)
	}
	return req
}

func sendTokenRequest(t *testing.T, tokens *streamstest.TokenServer, req *http.Request) (status int, body map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	tokens.ServeHTTP(w, req)
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
	return w.Code, body
}

const grant = "grant_type=client_credentials"

func TestTokenServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tokens := &streamstest.TokenServer{ClientID: "m e", ClientSecret: "50%:+ü", ExpiresIn: time.Hour}
		service := streamstest.New(streamstest.Options{Authorize: tokens.Authorize}, streamstest.Streams("cam")...)
		wantStatus := func(token string, want int) {
			t.Helper()
			req := newRequest("PATCH", camera, attachP1)
			req.Header.Set("Authorization", "Bearer "+token)
			if status, _ := send(t, service, req); status != want {
				t.Errorf("%s: got %d, want %d", token, status, want)
			}
		}
		wantStatus("token-1", 401)
		tokens.Inject(503, 400)
		for _, want := range []int{503, 400} {
			if status, got := sendTokenRequest(t, tokens, tokenRequest("", "", "")); status != want || got["error"] == nil {
				t.Errorf("got %d %v, want %d", status, got, want)
			}
		}
		status, got := sendTokenRequest(t, tokens, tokenRequest("m+e", "50%25%3A%2B%C3%BC", grant))
		want := map[string]any{"access_token": "token-1", "token_type": "Bearer", "expires_in": 3600.0}
		if diff := cmp.Diff(want, got); status != 200 || diff != "" {
			t.Errorf("in the header: %d (-want +got):\n%s", status, diff)
		}
		status, got = sendTokenRequest(t, tokens, tokenRequest("", "", grant+"&client_id=m+e&client_secret=50%25%3A%2B%C3%BC"))
		if status != 200 || got["access_token"] != "token-2" {
			t.Errorf("in the form: %d %v", status, got)
		}
		wantStatus("token-1", 200)
		tokens.Revoke("token-1")
		wantStatus("token-1", 401)
		wantStatus("token-2", 200)
		<-time.After(time.Hour + 1)
		wantStatus("token-2", 401)
		if got := len(tokens.Requests()); got != 4 {
			t.Errorf("%d requests are recorded", got)
		}
	})
}

func TestTokenServerErrors(t *testing.T) {
	t.Parallel()
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s"}
	asserted := func(assertion string) string {
		return grant + "&client_assertion_type=" + url.QueryEscape("urn:ietf:params:oauth:client-assertion-type:jwt-bearer") +
			"&client_assertion=" + assertion
	}
	valid := asserted(tokens.IssueAssertion("me", time.Hour))
	if status, got := sendTokenRequest(t, tokens, tokenRequest("", "", valid)); status != 200 || got["expires_in"] != nil {
		t.Errorf("with an assertion: %d %v", status, got)
	}
	for name, test := range map[string]struct {
		user, pass, form string
		description      string // "" for the wrong grant
	}{
		"wrong secret":         {"me", "x", grant, "the client is unknown or its secret is wrong"},
		"wrong id":             {"you", "s", grant, "the client is unknown or its secret is wrong"},
		"badly encoded":        {"me", "%s", grant, "the client is unknown or its secret is wrong"},
		"no client":            {"", "", grant, "the client is unknown or its secret is wrong"},
		"wrong secret in form": {"", "", grant + "&client_id=me&client_secret=x", "the client is unknown or its secret is wrong"},
		"both ways":            {"me", "s", grant + "&client_id=me&client_secret=s", "the client authenticates twice"},
		"secret and assertion": {"", "", valid + "&client_secret=s", "the client authenticates twice"},
		"header and assertion": {"me", "s", valid, "the client authenticates twice"},
		"unknown assertion":    {"", "", asserted("e30.e30.e30"), "the assertion is unknown"},
		"no assertion type":    {"", "", strings.Replace(valid, "client_assertion_type", "type", 1), "the assertion is unknown"},
		"of another client":    {"", "", asserted(tokens.IssueAssertion("you", time.Hour)), "the assertion is for another client"},
		"expired assertion":    {"", "", asserted(tokens.IssueAssertion("me", -time.Second)), "the assertion has expired"},
		"no grant type":        {"me", "s", "scope=a", ""},
		"other grant type":     {"me", "s", "grant_type=password", ""},
		"broken form":          {"me", "s", "grant_type=%zz", ""},
	} {
		status, got := sendTokenRequest(t, tokens, tokenRequest(test.user, test.pass, test.form))
		if test.description == "" && (status != 400 || got["error"] != "unsupported_grant_type") ||
			test.description != "" && (status != 401 || got["error"] != "invalid_client" || got["error_description"] != test.description) {
			t.Errorf("%s: got %d %v", name, status, got)
		}
	}
	for name, change := range map[string]func(*http.Request){
		"JSON": func(r *http.Request) { r.Header.Set("Content-Type", "application/json") },
		"PUT":  func(r *http.Request) { r.Method = "PUT" },
	} {
		req := tokenRequest("me", "s", grant)
		change(req)
		if status, got := sendTokenRequest(t, tokens, req); status != 400 {
			t.Errorf("%s: got %d %v", name, status, got)
		}
	}
}
