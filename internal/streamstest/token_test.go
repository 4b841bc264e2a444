package streamstest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
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
