package streamstest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func startTokenServer(t *testing.T, tokens *streamstest.TokenServer) string {
	t.Helper()
	server := httptest.NewServer(tokens)
	t.Cleanup(server.Close)
	return server.URL + "/oauth2/token"
}

// newTokenRequest returns a request for a token, with HTTP Basic if user is not empty.
func newTokenRequest(t *testing.T, url, user, pass, form string) *http.Request {
	t.Helper()
	req := newRequest(t, "POST", url, form)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if user != "" {
		req.SetBasicAuth(user, pass)
	}
	return req
}

func sendTokenRequest(t *testing.T, req *http.Request) (*http.Response, map[string]any) {
	t.Helper()
	resp, body, err := roundTrip(t, req)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control %q, want no-store (RFC 6749, section 5.1)", got)
	}
	return resp, decodeObject(t, body)
}

func authorizeBearer(tokens *streamstest.TokenServer, token string) error {
	return tokens.Authorize(&http.Request{Header: http.Header{"Authorization": {"Bearer " + token}}})
}

func TestTokenServerToken(t *testing.T) {
	t.Parallel()
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s", ExpiresIn: time.Hour}
	url := startTokenServer(t, tokens)
	_, got := sendTokenRequest(t, newTokenRequest(t, url, "me", "s", "grant_type=client_credentials&scope=a+b&audience=x"))
	want := map[string]any{"access_token": "token-1", "token_type": "Bearer", "expires_in": json.Number("3600"), "scope": "a b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in the header (-want +got):\n%s", diff)
	}
	_, got = sendTokenRequest(t, newTokenRequest(t, url, "", "", "grant_type=client_credentials&client_id=me&client_secret=s"))
	want = map[string]any{"access_token": "token-2", "token_type": "Bearer", "expires_in": json.Number("3600")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in the form (-want +got):\n%s", diff)
	}

	requests := tokens.Requests()
	if len(requests) != 2 || requests[0].Status != 200 || requests[0].Target != "/oauth2/token" ||
		requests[0].Body != "grant_type=client_credentials&scope=a+b&audience=x" {
		t.Errorf("recorded: %v", requests)
	}
}

func TestTokenServerWithoutExpiry(t *testing.T) {
	t.Parallel()
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s"}
	_, got := sendTokenRequest(t, newTokenRequest(t, startTokenServer(t, tokens), "me", "s", "grant_type=client_credentials"))
	if _, ok := got["expires_in"]; ok {
		t.Errorf("expires_in is there: %v", got)
	}
	if err := authorizeBearer(tokens, "token-1"); err != nil {
		t.Error(err)
	}
}

func TestTokenServerDecodesHeader(t *testing.T) {
	t.Parallel()
	tokens := &streamstest.TokenServer{ClientID: "m e", ClientSecret: "50%:+ü"}
	resp, got := sendTokenRequest(t, newTokenRequest(t, startTokenServer(t, tokens), "m+e", "50%25%3A%2B%C3%BC", "grant_type=client_credentials"))
	if resp.StatusCode != http.StatusOK {
		t.Errorf("got %s %v", resp.Status, got)
	}
}

func TestTokenServerErrors(t *testing.T) {
	t.Parallel()
	const good = "grant_type=client_credentials"
	for name, test := range map[string]struct {
		user, pass, form string
		change           func(*http.Request)
		status           int
		code             string
	}{
		"wrong secret":         {user: "me", pass: "x", form: good, status: 401, code: "invalid_client"},
		"wrong id":             {user: "you", pass: "s", form: good, status: 401, code: "invalid_client"},
		"badly encoded":        {user: "me", pass: "%s", form: good, status: 401, code: "invalid_client"},
		"no client":            {form: good, status: 401, code: "invalid_client"},
		"wrong secret in form": {form: good + "&client_id=me&client_secret=x", status: 401, code: "invalid_client"},
		"both ways":            {user: "me", pass: "s", form: good + "&client_id=me&client_secret=s", status: 400, code: "invalid_request"},
		"no grant type":        {user: "me", pass: "s", form: "scope=a", status: 400, code: "invalid_request"},
		"other grant type":     {user: "me", pass: "s", form: "grant_type=password", status: 400, code: "unsupported_grant_type"},
		"repeated parameter":   {user: "me", pass: "s", form: good + "&scope=a&scope=b", status: 400, code: "invalid_request"},
		"broken form":          {user: "me", pass: "s", form: good + "&scope=%zz", status: 400, code: "invalid_request"},
		"JSON": {user: "me", pass: "s", form: `{"grant_type":"client_credentials"}`, status: 400, code: "invalid_request",
			change: func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }},
		"GET": {user: "me", pass: "s", form: good, status: 405, code: "invalid_request",
			change: func(r *http.Request) { r.Method = "GET" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s"}
			req := newTokenRequest(t, startTokenServer(t, tokens), test.user, test.pass, test.form)
			if test.change != nil {
				test.change(req)
			}
			resp, got := sendTokenRequest(t, req)
			description, _ := got["error_description"].(string)
			if resp.StatusCode != test.status || got["error"] != test.code || description == "" || len(got) != 2 {
				t.Errorf("got %s %v, want %d %s", resp.Status, got, test.status, test.code)
			}
			if challenged := resp.Header.Get("WWW-Authenticate") != ""; challenged != (test.status == 401) {
				t.Errorf("WWW-Authenticate %q", resp.Header.Get("WWW-Authenticate"))
			}
			if err := authorizeBearer(tokens, "token-1"); err == nil {
				t.Error("a token was issued")
			}
		})
	}
}

func TestTokenServerInject(t *testing.T) {
	t.Parallel()
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s"}
	url := startTokenServer(t, tokens)
	tokens.Inject(503, 500, 429)
	tokens.Inject(401, 400)
	for i, want := range []struct {
		status int
		code   any
	}{
		{503, "temporarily_unavailable"}, {500, "server_error"}, {429, "temporarily_unavailable"},
		{401, "invalid_client"}, {400, "invalid_request"}, {200, nil},
	} {
		resp, got := sendTokenRequest(t, newTokenRequest(t, url, "me", "s", "grant_type=client_credentials"))
		if resp.StatusCode != want.status || got["error"] != want.code {
			t.Errorf("request %d: got %s %v, want %v", i+1, resp.Status, got, want)
		}
		if want.status == 200 && got["access_token"] != "token-1" {
			t.Errorf("an injected status used a token: %v", got)
		}
	}
}

func TestTokenServerAuthorize(t *testing.T) {
	t.Parallel()
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s", ExpiresIn: time.Hour}
	tokenURL := startTokenServer(t, tokens)
	_, url := streamstest.Start(t, streamstest.Options{Authorize: tokens.Authorize}, streamstest.Stream{ID: "cam"})
	status := func(authorization string) int {
		t.Helper()
		req := newRequest(t, "PATCH", url+"/v2/streams/cam", `{"processor_ids":[]}`)
		if authorization != "" {
			req.Header.Set("Authorization", authorization)
		}
		resp, _ := sendChecked(t, req)
		return resp.StatusCode
	}
	for _, authorization := range []string{"", "Bearer token-1", "Basic token-1"} {
		if got := status(authorization); got != 401 {
			t.Errorf("%q before any token: got %d, want 401", authorization, got)
		}
	}
	for range 2 {
		sendTokenRequest(t, newTokenRequest(t, tokenURL, "me", "s", "grant_type=client_credentials"))
	}
	tokens.Revoke("token-1")
	for authorization, want := range map[string]int{"Bearer token-1": 401, "Bearer token-2": 200, "Bearer token-3": 401} {
		if got := status(authorization); got != want {
			t.Errorf("%q after token-1 was revoked: got %d, want %d", authorization, got, want)
		}
	}
}

func TestTokenServerExpiry(t *testing.T) {
	t.Parallel()
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s", ExpiresIn: -time.Second} // expired when issued
	sendTokenRequest(t, newTokenRequest(t, startTokenServer(t, tokens), "me", "s", "grant_type=client_credentials"))
	if err := authorizeBearer(tokens, "token-1"); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("got %v, want an error with \"expired\"", err)
	}
}

func TestTokenServerConcurrentUse(t *testing.T) {
	t.Parallel()
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s"}
	url := startTokenServer(t, tokens)
	const clients = 16
	var mu sync.Mutex
	issued := map[string]bool{}
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			_, body, err := roundTrip(t, newTokenRequest(t, url, "me", "s", "grant_type=client_credentials"))
			var got struct {
				AccessToken string `json:"access_token"`
			}
			if err == nil {
				err = json.Unmarshal([]byte(body), &got)
			}
			if err != nil || authorizeBearer(tokens, got.AccessToken) != nil {
				t.Errorf("token %q: %v", got.AccessToken, err)
			}
			tokens.Requests()
			mu.Lock()
			defer mu.Unlock()
			issued[got.AccessToken] = true
		})
	}
	wg.Wait()
	if len(issued) != clients || len(tokens.Requests()) != clients {
		t.Errorf("%d tokens for %d requests, want %d", len(issued), len(tokens.Requests()), clients)
	}
}
