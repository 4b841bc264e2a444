package streams_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Without a token, no request is sent to the service. The error has the token endpoint's message.
func TestTokenErrors(t *testing.T) {
	t.Parallel()
	basic := base64.StdEncoding.EncodeToString([]byte("my+client:" + url.QueryEscape(clientSecret)))
	echo := clientSecret + " " + url.QueryEscape(clientSecret) + " " + basic
	for name, test := range map[string]struct {
		response http.HandlerFunc
		kind     streams.Kind
		status   int
		requests int
		message  string
		reason   string
	}{
		"refused": {respond(401, `{"error":"invalid_client","error_description":"wrong secret"}`), streams.KindAuthentication, 401, 2, "invalid_client: wrong secret", ""},
		"bad":     {respond(400, `{"error":"invalid_scope"}`), streams.KindAuthentication, 400, 2, "invalid_scope", ""},
		"forbidden": {respond(403, `{"error":"unauthorized_client","error_description":"not you"}`), streams.KindAuthentication, 403, 1,
			"unauthorized_client: not you", ""},
		"not there":          {respond(404, "<h1>Not found</h1>", "Content-Type", "text/html"), streams.KindAuthentication, 404, 1, "HTML page: Not found", ""},
		"as a form":          {respond(400, "error=invalid_grant&error_description=no+grant", "Content-Type", "application/x-www-form-urlencoded"), streams.KindAuthentication, 400, 2, "invalid_grant: no grant", ""},
		"error with 200":     {respond(200, `{"error":"invalid_client","error_description":"wrong"}`), streams.KindUnexpected, 200, 1, "invalid_client: wrong", ""},
		"200 without token":  {respond(200, `{}`), streams.KindUnexpected, 200, 1, "", "access_token"},
		"login page":         {respond(200, "<html>", "Content-Type", "text/html"), streams.KindUnexpected, 200, 1, "", "cannot parse json"},
		"204":                {respond(204, ""), streams.KindUnexpected, 204, 1, "", "cannot parse json"},
		"down":               {respondError(503, "maintenance"), streams.KindGeneric, 503, 5, "maintenance", ""},
		"gateway":            {respond(502, "<h1>Bad gateway</h1>"), streams.KindBadGateway, 502, 5, "HTML page: Bad gateway", ""},
		"reset":              {resetConnection, streams.KindConnection, 0, 5, "", ""},
		"hanging":            {neverRespond, streams.KindTimeout, 0, 5, "", "did not respond within 20ms"},
		"control characters": {respond(401, `{"error":"x\u001b[2J","error_description":"\u202e\n"}`), streams.KindAuthentication, 401, 2, `x\u001b[2J: \u202e\n`, ""},
		"echo":               {respond(403, fmt.Sprintf(`{"error":%q,"error_description":%q}`, clientSecret, echo)), streams.KindAuthentication, 403, 1, "***: *** *** ***", ""},
		"echo as text":       {respond(403, echo), streams.KindAuthentication, 403, 1, "*** *** ***", ""},
		"redirect":           {respondError(302, "moved", "Location", "https://elsewhere.invalid/"+clientSecret), streams.KindRedirect, 302, 1, "moved", "redirects are never followed"},
		"redirect with POST": {respondError(307, "moved", "Location", "/token2"), streams.KindRedirect, 307, 1, "moved", "redirects are never followed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint, s := startService(t, test.response), startService(t, applyUpdate)
			limit := time.Hour
			if name == "hanging" {
				limit = 20 * time.Millisecond
			}
			var attempts []streams.Attempt
			e := s.updateError(t, streams.Config{
				OAuth2:         &streams.OAuth2{TokenURL: endpoint.URL + "/token", ClientID: clientID, ClientSecret: clientSecret},
				RequestTimeout: limit,
				Observe:        func(_ context.Context, a streams.Attempt) { attempts = append(attempts, a) },
			})
			if e.Kind != test.kind || e.Status != test.status || e.Outcome != streams.NotChanged || e.Message != test.message ||
				!e.TokenRequest || e.Method != "POST" || e.URL != endpoint.URL+"/token" || e.Stream != nil {
				t.Errorf("error %#v", e)
			}
			wantText(t, e.Reason, test.reason)
			s.wantRequests(t, 0)
			if name != "hanging" { // an attempt may time out before it arrives
				endpoint.wantRequests(t, test.requests)
			}
			if e.Location != "" && test.status == 302 && e.Location != "https://elsewhere.invalid/***" {
				t.Errorf("location %q", e.Location)
			}
			if strings.Contains(e.Error(), clientSecret) || strings.Contains(e.Error(), basic) {
				t.Errorf("%q shows the secret", e)
			}
			if len(attempts) != test.requests {
				t.Errorf("%d attempts were observed, want %d", len(attempts), test.requests)
			}
			for _, a := range attempts {
				if a.Method != "POST" || a.URL != endpoint.URL+"/token" || a.RequestBody.String() != "" || a.ResponseBody.String() != "" {
					t.Errorf("attempt %+v shows a secret body or another request", a)
				}
			}
		})
	}
}

// A failed token request keeps the outcome of the operation's earlier attempts.
func TestTokenErrorKeepsOutcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first http.HandlerFunc
		want  streams.Outcome
	}{"reset": {resetConnection, streams.Unknown}, "401": {respondError(401, "no"), streams.NotChanged}} {
		endpoint := startService(t, respond(200, `{"access_token":"token-1"}`), respondError(403, "no more"))
		s := startService(t, test.first, respondError(401, "expired"))
		if e := s.updateError(t, streams.Config{OAuth2: &streams.OAuth2{TokenURL: endpoint.URL}}); e.Outcome != test.want || e.Method != "POST" || e.Message != "no more" {
			t.Errorf("%s, then 401, then no token: %#v", name, e)
		}
	}
}

// A token is redacted as soon as it is received.
func TestTokenIsRedacted(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]http.HandlerFunc{
		"message": func(w http.ResponseWriter, r *http.Request) { respondError(403, r.Header.Get("Authorization"))(w, r) },
		"HTML":    func(w http.ResponseWriter, r *http.Request) { respond(403, "<p>"+r.Header.Get("Authorization"))(w, r) },
	} {
		endpoint := startService(t, respond(200, `{"access_token":"ey.top/secret","token_type":"Bearer"}`))
		var shown string
		e := startService(t, response).updateError(t, streams.Config{
			OAuth2:  &streams.OAuth2{TokenURL: endpoint.URL},
			Observe: func(_ context.Context, a streams.Attempt) { shown += fmt.Sprintf("%+v", a) },
		})
		if shown += fmt.Sprintf("%#v", e); strings.Contains(shown, "ey.top") {
			t.Errorf("%s: the token is shown: %s", name, shown)
		}
		wantText(t, e.Message, "Bearer ***")
	}
}
