package streamstest_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

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

// The token endpoint refuses a request without the scope or the audience that it demands.
func TestTokenServerDemands(t *testing.T) {
	t.Parallel()
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s", Scope: "write", Audience: "https://a"}
	const client = "grant_type=client_credentials&client_id=me&client_secret=s"
	for form, want := range map[string]string{
		"&scope=write&audience=https://a":      "access_token",
		"&scope=read+write&audience=https://a": "access_token",
		"&audience=https://a":                  "the scope",
		"&scope=writer&audience=https://a":     "the scope",
		"&scope=write":                         "the audience",
		"&scope=write&audience=https://a/":     "the audience",
	} {
		req := newRequest("POST", "/token", client+form)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		tokens.ServeHTTP(w, req)
		if granted := w.Code == http.StatusOK; granted != (want == "access_token") || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: got %d %s, want %s", form, w.Code, w.Body, want)
		}
	}
}

// Shared tokens and assertions count at another server of the same client, and at no server of another one.
func TestSharedTokens(t *testing.T) {
	t.Parallel()
	newServer := func(secret string) *streamstest.TokenServer {
		return &streamstest.TokenServer{ClientID: "me", ClientSecret: secret, Shared: true}
	}
	first, second, other := newServer("s"), newServer("s"), newServer("x")
	if first.IssueAssertion("me") != second.IssueAssertion("me") || first.IssueAssertion("me") == other.IssueAssertion("me") {
		t.Error("an assertion depends on more than the client and its secret")
	}
	req := newRequest("POST", "/token", "grant_type=client_credentials&client_id=me&client_secret=s")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	first.ServeHTTP(w, req)
	var issued struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &issued); err != nil {
		t.Fatal(err)
	}
	authorize := func(s *streamstest.TokenServer, token string) error {
		req := newRequest("GET", "/", "")
		req.Header.Set("Authorization", "Bearer "+token)
		return s.Authorize(req)
	}
	if err := errors.Join(authorize(first, issued.Token), authorize(second, issued.Token)); err != nil {
		t.Errorf("servers of the same client refuse %s: %v", issued.Token, err)
	}
	for _, token := range []string{issued.Token + "x", "token-9" + issued.Token[len("token-1"):], "token-1", ""} {
		if authorize(second, token) == nil {
			t.Errorf("accepted %q", token)
		}
	}
	if authorize(other, issued.Token) == nil {
		t.Error("a server of another client accepts the token")
	}
}
