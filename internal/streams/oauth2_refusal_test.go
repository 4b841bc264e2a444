package streams_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// updateErrors updates as many streams, ten at a time, and returns the errors.
func updateErrors(t *testing.T, c *streams.Client, count int) []*streams.Error {
	t.Helper()
	failures := make([]*streams.Error, count)
	var workers sync.WaitGroup
	for worker := range 10 {
		workers.Go(func() {
			for n := worker; n < count; n += 10 {
				_, err := c.UpdateStream(t.Context(), fmt.Sprintf("s%d", n), streams.NewProcessorSet("p1"))
				failures[n] = asError(t, err)
			}
		})
	}
	workers.Wait()
	return failures
}

// Credentials that the token endpoint refuses in header and body are not sent again: a client that
// fails a thousand times may get locked.
func TestRefusalByTheTokenEndpointHolds(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401} {
		endpoint := startService(t, respond(status, `{"error":"invalid_client","error_description":"in header"}`),
			respond(401, `{"error":"invalid_client"}`), respond(200, `{"access_token":"token-1"}`))
		s := startService(t, applyUpdate)
		c := newClient(t, streams.Config{BaseURL: s.URL,
			OAuth2: &streams.OAuth2{TokenURL: endpoint.URL, ClientID: clientID, ClientSecret: clientSecret}})
		for _, e := range updateErrors(t, c, 100) {
			if e.Kind != streams.KindAuthentication || e.Status != status || e.Message != "invalid_client: in header" || e.Outcome != streams.NotChanged {
				t.Fatalf("error %#v", e) // the message for the form that RFC 6749 prefers
			}
		}
		var inHeader []bool
		for _, r := range endpoint.requests() {
			inHeader = append(inHeader, r.Header.Get("Authorization") != "" && !strings.Contains(r.Body, "client_secret"))
		}
		if diff := cmp.Diff([]bool{true, false}, inHeader); diff != "" {
			t.Errorf("credentials in the header (-want +got):\n%s", diff)
		}
		s.wantRequests(t, 0)
	}
}

// A service that refuses a fresh token is not asked again with a new token for each stream.
func TestFreshTokensAreRefused(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t, time.Hour)
	s := startService(t, respondError(401, "not you"))
	i.config.BaseURL = s.URL
	for _, e := range updateErrors(t, newClient(t, i.config), 100) {
		if e.Kind != streams.KindAuthentication || e.Message != "not you" || e.Method != "PATCH" || e.Outcome != streams.NotChanged {
			t.Fatalf("error %#v", e)
		}
	}
	i.endpoint.wantRequests(t, 2)
	if got := len(s.requests()); got < 101 || got > 110 {
		t.Errorf("%d requests, want one for each stream, and a second one from those that had the first token", got)
	}
}

// Each token that the service accepted and refuses later is replaced.
func TestTokensAreRevokedAgainAndAgain(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t, time.Hour)
	c := newClient(t, i.config)
	for n := range 5 {
		updateAll(t, c)
		i.endpoint.wantRequests(t, n+1)
		i.tokens.Revoke(fmt.Sprintf("token-%d", n+1))
	}
}

// Operations that wait for a token request share its failure.
func TestFailedTokenRequestIsShared(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	endpoint := startService(t, func(w http.ResponseWriter, r *http.Request) {
		<-release
		respondError(500, "broken")(w, r)
	})
	s := startService(t, applyUpdate)
	c := newClient(t, streams.Config{BaseURL: s.URL, OAuth2: &streams.OAuth2{TokenURL: endpoint.URL}})
	var updates sync.WaitGroup
	for range 10 {
		updates.Go(func() {
			_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
			if e := asError(t, err); e.Status != 500 || e.Message != "broken" || e.Method != "POST" {
				t.Errorf("error %#v", e)
			}
		})
	}
	time.AfterFunc(100*time.Millisecond, func() { close(release) }) // an operation that comes later makes a request of its own
	updates.Wait()
	if got := len(endpoint.requests()); got%5 != 0 || got > 25 {
		t.Errorf("%d token requests, want 5 for all that waited", got)
	}
	s.wantRequests(t, 0)
}
