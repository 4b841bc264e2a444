package streams

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/oauth2"
)

// A token is renewed shortly before it expires.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		issued, used := 0, ""
		c := clientOver(t, Config{OAuth2: &OAuth2{TokenURL: "https://token.example"}}, transportFunc(func(req *http.Request) (*http.Response, error) {
			if req.Method == http.MethodPost {
				issued++
				return respond(200, fmt.Sprintf(`{"access_token":"token-%d","expires_in":3600}`, issued),
					"Content-Type", "application/json")(req)
			}
			used = req.Header.Get("Authorization")
			return respondSuccess(req)
		}))
		start := time.Now()
		for _, step := range []struct {
			after time.Duration
			token int
		}{{0, 1}, {30 * time.Minute, 1}, {time.Hour - 11*time.Second, 1}, {time.Hour - 9*time.Second, 2}, {100 * time.Minute, 2}, {100 * time.Hour, 3}} {
			<-time.After(time.Until(start.Add(step.after)))
			if _, err := c.UpdateStream(t.Context(), "s1", NewProcessorSet("p1")); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("Bearer token-%d", step.token); used != want || issued != step.token {
				t.Errorf("after %s: %s in use, %d issued; want %s", step.after, used, issued, want)
			}
		}
	})
}

// The rate limit and the retries also apply to token requests.
func TestTokenRequestsAreRateLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scripted(
			respond503, failWith(errConnectionRefused), respond(200, "access_token=a", "Content-Type", "application/x-www-form-urlencoded"),
			respond503, respond(401, laterBody), respond(200, "access_token=b", "Content-Type", "application/x-www-form-urlencoded"), respondSuccess,
		)
		c := clientOver(t, Config{
			OAuth2: &OAuth2{TokenURL: "https://token.example"}, RequestsPerSecond: 1,
			Retry: Retry{MaxAttempts: 5, MinBackoff: 1, MaxBackoff: 1},
		}, s)
		if _, err := c.UpdateStream(t.Context(), "s1", NewProcessorSet("p1")); err != nil || len(s.times) != 7 {
			t.Fatalf("%d requests, %v", len(s.times), err)
		}
		for _, wait := range s.waits() {
			if wait < 999*time.Millisecond || wait > 1001*time.Millisecond {
				t.Fatalf("waits %s, want a second each", s.waits())
			}
		}
	})
}

func TestTokenHeader(t *testing.T) {
	t.Parallel()
	for want, token := range map[string]*oauth2.Token{
		"":           nil,
		"Bearer a":   {AccessToken: "a"},
		"Bearer b":   {AccessToken: "b", TokenType: "bearer"},
		"DPoP c":     {AccessToken: "c", TokenType: "DPoP"},
		"MAC d":      {AccessToken: "d", TokenType: "mac"},
		"Bearer e/+": {AccessToken: "e/+", TokenType: "BEARER"},
	} {
		if got := tokenHeader(token); got != want {
			t.Errorf("%+v is sent as %q, want %q", token, got, want)
		}
	}
}
