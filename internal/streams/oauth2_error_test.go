package streams_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
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
		response        http.HandlerFunc
		kind            streams.Kind
		status          int
		requests        int
		message, reason string
	}{
		"refused":            {respond(401, `{"error":"invalid_client","error_description":"wrong secret"}`), streams.KindAuthentication, 401, 2, "invalid_client: wrong secret", ""},
		"not there":          {respond(404, "<h1>Not found</h1>", "Content-Type", "text/html"), streams.KindAuthentication, 404, 1, "HTML page: Not found", ""},
		"refused with 200":   {respond(200, `{"error":"invalid_client","error_description":"wrong"}`), streams.KindAuthentication, 200, 1, "invalid_client: wrong", ""},
		"200 without token":  {respond(200, `{}`), streams.KindUnexpected, 200, 1, "", "access_token"},
		"a line break in it": {respond(200, `{"access_token":"a\nb"}`), streams.KindUnexpected, 200, 1, "", "the response has no usable token: it has control characters"},
		"login page":         {respond(200, "<html>", "Content-Type", "text/html"), streams.KindUnexpected, 200, 1, "", "cannot parse json"},
		"down":               {respondError(503, "maintenance"), streams.KindGeneric, 503, 5, "maintenance", ""},
		"too many":           {respondError(429, "slow down"), streams.KindBadRequest, 429, 5, "slow down", ""},
		"reset":              {resetConnection, streams.KindConnection, 0, 5, "", ""},
		"hanging":            {neverRespond, streams.KindTimeout, 0, 5, "", "the token endpoint did not respond within 30s"},
		"control characters": {respond(401, `{"error":"x\u001b[2J","error_description":"\u202e\n"}`), streams.KindAuthentication, 401, 2, `x\x1b[2J: \u202e\n`, ""},
		"echo":               {respond(403, fmt.Sprintf(`{"error":%q,"error_description":%q}`, clientSecret, echo)), streams.KindAuthentication, 403, 1, "***: *** *** ***", ""},
		"redirect":           {respondError(307, "moved", "Location", "/token2"), streams.KindRedirect, 307, 1, "moved", "redirects are never followed"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				endpoint, s := startService(t, test.response), startService(t, applyUpdate)
				cfg := oauth2Config(s, endpoint)
				attempts := 0
				cfg.Observe = func(_ context.Context, a streams.Attempt) {
					attempts++
					if a.Method != "POST" || a.URL != endpoint.URL || a.RequestBody != "" || a.ResponseBody != "" {
						t.Errorf("attempt %+v shows a secret body or another request", a)
					}
				}
				e := s.updateError(t, cfg)
				if e.Kind != test.kind || e.Status != test.status || e.Outcome != streams.NotChanged || e.Message != test.message ||
					!e.TokenRequest || e.Method != "POST" || e.URL != endpoint.URL || attempts != test.requests {
					t.Errorf("%d attempts, error %#v", attempts, e)
				}
				wantText(t, e.Reason, test.reason)
				s.wantRequests(t, 0)
				endpoint.wantRequests(t, test.requests)
			})
		})
	}
}

// A failed token request keeps the outcome of the operation's earlier attempts.
func TestTokenErrorKeepsOutcome(t *testing.T) {
	t.Parallel()
	for want, first := range map[streams.Outcome]http.HandlerFunc{streams.Unknown: resetConnection, streams.NotChanged: respondError(401, "no")} {
		endpoint := startService(t, issueTokens(0), respondError(403, "no more"))
		s := startService(t, first, respondError(401, "expired"))
		if e := s.updateError(t, oauth2Config(s, endpoint)); e.Outcome != want || e.Method != "POST" || e.Message != `no more` {
			t.Errorf("want outcome %d: %#v", want, e)
		}
	}
}

// An assertion from the configuration that the endpoint refuses is not sent again.
func TestRefusedClientAssertion(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t)
	i.config.OAuth2.ClientSecret, i.config.OAuth2.ClientAssertion = "", i.tokens.IssueAssertion("somebody else")
	wantText(t, i.service.updateError(t, i.config).Message, "the assertion is for another client")
	i.endpoint.wantRequests(t, 1)
}

// A failure of the token endpoint holds until a retry would be due.
func TestTokenEndpointRecovers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		endpoint := startService(t, respondError(503, "down", "Retry-After", "60"), issueTokens(3600))
		cfg := oauth2Config(startService(t, applyUpdate), endpoint)
		cfg.Retry = streams.Retry{MaxAttempts: 1}
		c := newClient(t, cfg)
		for range 2 {
			_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
			wantText(t, asError(t, err).Error(), "down")
			<-time.After(59 * time.Second)
			endpoint.wantRequests(t, 1)
		}
		mustUpdateAll(t, c, 2)
		endpoint.wantRequests(t, 2)
	})
}
