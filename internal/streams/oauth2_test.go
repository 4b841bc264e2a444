package streams_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const (
	clientID     = "my client"
	clientSecret = "s3cret/+=&?%41"
)

// tokenIssuer is a token endpoint and a service that requires its tokens.
type tokenIssuer struct {
	tokens   *streamstest.TokenServer
	endpoint *scriptedService
	service  *scriptedService
	config   streams.Config
}

func newTokenIssuer(t *testing.T, expiresIn time.Duration) *tokenIssuer {
	t.Helper()
	i := &tokenIssuer{tokens: &streamstest.TokenServer{ClientID: clientID, ClientSecret: clientSecret, ExpiresIn: expiresIn}}
	i.endpoint = startService(t, i.tokens.ServeHTTP)
	i.service = startService(t, streamstest.New(streamstest.Options{Authorize: i.tokens.Authorize}, streamstest.Streams(streamIDs(30)...)...).ServeHTTP)
	i.config = streams.Config{
		BaseURL: i.service.URL,
		OAuth2:  &streams.OAuth2{TokenURL: i.endpoint.URL + "/token?tenant=a", ClientID: clientID, ClientSecret: clientSecret},
		Retry:   retryAtOnce,
	}
	return i
}

// streamIDs returns s0, s1 and so on.
func streamIDs(count int) []string {
	ids := make([]string, count)
	for n := range ids {
		ids[n] = fmt.Sprintf("s%d", n)
	}
	return ids
}

// updateAll updates 30 streams in parallel.
func updateAll(t *testing.T, c *streams.Client) {
	t.Helper()
	var updates sync.WaitGroup
	for n := range 30 {
		updates.Go(func() {
			if _, err := c.UpdateStream(t.Context(), fmt.Sprintf("s%d", n), streams.NewProcessorSet("p1")); err != nil {
				t.Error(err)
			}
		})
	}
	updates.Wait()
}

func TestTokenIsShared(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t, time.Hour)
	c := newClient(t, i.config)
	updateAll(t, c)
	updateAll(t, c)
	i.endpoint.wantRequests(t, 1)
	i.service.wantRequests(t, 60)
}

func TestTokenRequestIsRetried(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t, 0)
	i.tokens.Inject(http.StatusServiceUnavailable)
	updateAll(t, newClient(t, i.config))
	i.endpoint.wantRequests(t, 2)
	i.service.wantRequests(t, 30)
}

func TestTokenRequest(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t, 0)
	i.config.OAuth2.Scopes = []string{"streams:write", "streams:read"}
	i.config.OAuth2.EndpointParams = map[string]string{"audience": "https://streams.example/"}
	i.config.Headers = map[string]string{"X-Api-Key": "k3y", "Cookie": "c=d"}
	i.config.UserAgent = "me/1"
	if _, err := i.service.update(t, i.config); err != nil {
		t.Fatal(err)
	}
	form := "audience=https%3A%2F%2Fstreams.example%2F&grant_type=client_credentials&scope=streams%3Awrite+streams%3Aread"
	want := []receivedRequest{{
		Method: "POST", Target: "/token?tenant=a", Proto: "HTTP/1.1", Body: form, Length: int64(len(form)),
		Header: http.Header{ // without the headers for the service
			"Accept-Encoding": {"gzip"},
			"Authorization":   {"Basic " + base64.StdEncoding.EncodeToString([]byte("my+client:s3cret%2F%2B%3D%26%3F%2541"))},
			"Content-Length":  {fmt.Sprint(len(form))},
			"Content-Type":    {"application/x-www-form-urlencoded"},
			"User-Agent":      {"me/1"},
		},
	}}
	if diff := cmp.Diff(want, i.endpoint.requests()); diff != "" {
		t.Errorf("token requests (-want +got):\n%s", diff)
	}
	if got := i.service.requests()[0].Header; got.Get("Authorization") != "Bearer token-1" || got.Get("X-Api-Key") != "k3y" {
		t.Errorf("the service received %v", got)
	}
}

// A token that the service refuses is renewed once, by the first operation that gets a 401.
func TestRefusedTokenIsRenewed(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t, time.Hour)
	c := newClient(t, i.config)
	updateAll(t, c)
	i.tokens.Revoke("token-1")
	updateAll(t, c)
	i.endpoint.wantRequests(t, 2)
	if got := len(i.service.requests()); got < 61 || got > 90 {
		t.Errorf("the service received %d requests, want 60 and a 401 for each request with the old token", got)
	}
	if _, err := c.ReadStream(t.Context(), "s1"); asError(t, err).Status != http.StatusMethodNotAllowed {
		t.Errorf("read: %v", err)
	}
}

func TestRenewedTokenRefused(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t, time.Hour)
	s := startService(t, respondError(401, "not you"))
	e := s.updateError(t, i.config)
	if e.Kind != streams.KindAuthentication || e.Message != "not you" || e.Attempts != 2 || e.Outcome != streams.NotChanged || e.Method != "PATCH" {
		t.Errorf("error %#v", e)
	}
	s.wantRequests(t, 2)
	i.endpoint.wantRequests(t, 2)
	if got := s.requests()[1].Header.Get("Authorization"); got != "Bearer token-2" {
		t.Errorf("the second attempt had %q", got)
	}
}

// If the endpoint issues the refused token again, the request is not repeated.
func TestRefusedTokenIssuedAgain(t *testing.T) {
	t.Parallel()
	endpoint := startService(t, respond(200, `{"access_token":"same","token_type":"bearer","expires_in":3600}`))
	s := startService(t, respondError(401, "not you"))
	if e := s.updateError(t, streams.Config{OAuth2: &streams.OAuth2{TokenURL: endpoint.URL}}); e.Attempts != 1 || e.Status != 401 {
		t.Errorf("error %#v", e)
	}
	s.wantRequests(t, 1)
	endpoint.wantRequests(t, 2)
}

// A token that is about to expire is not used for another request.
func TestTokenAboutToExpire(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t, 5*time.Second)
	c := newClient(t, i.config)
	for range 3 {
		if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
			t.Fatal(err)
		}
	}
	i.endpoint.wantRequests(t, 3)
	i.service.wantRequests(t, 3)
}

// If an endpoint accepts the credentials only in the body, later requests send them there at once.
func TestCredentialsInBody(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401} {
		issued := 0
		endpoint := startService(t, func(w http.ResponseWriter, r *http.Request) {
			_, _, inHeader := r.BasicAuth()
			if inHeader || r.PostFormValue("client_id") != clientID || r.PostFormValue("client_secret") != clientSecret {
				respond(status, `{"error":"invalid_client"}`)(w, r)
				return
			}
			issued++
			respond(200, fmt.Sprintf(`{"access_token":"token-%d","expires_in":1}`, issued))(w, r)
		})
		s := startService(t, applyUpdate)
		c := newClient(t, streams.Config{BaseURL: s.URL,
			OAuth2: &streams.OAuth2{TokenURL: endpoint.URL, ClientID: clientID, ClientSecret: clientSecret}})
		for range 2 {
			if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
				t.Fatalf("%d: %v", status, err)
			}
		}
		endpoint.wantRequests(t, 3) // for the first token, in the header and in the body; for the second, in the body
		if got := s.requests()[1].Header.Get("Authorization"); got != "Bearer token-2" {
			t.Errorf("%d: the service received %q", status, got)
		}
	}
}

// A wait for a token that another operation requests can be cancelled. If the requesting operation is
// cancelled, the next one requests the token.
func TestCancelWaitForToken(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 2)
	endpoint := startService(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		neverRespond(w, r)
	}, respond(200, `{"access_token":"token-1"}`))
	s := startService(t, applyUpdate)
	c := newClient(t, streams.Config{BaseURL: s.URL, RequestTimeout: time.Hour, OAuth2: &streams.OAuth2{TokenURL: endpoint.URL}})
	start := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet())
			done <- err
		}()
		return done
	}
	firstCtx, cancelFirst := context.WithCancel(t.Context())
	defer cancelFirst()
	first := start(firstCtx)
	<-arrived

	secondCtx, cancelSecond := context.WithCancel(t.Context())
	second, third := start(secondCtx), start(t.Context())
	cancelSecond()
	e := asError(t, waitForEnd(t, second))
	if !errors.Is(e, context.Canceled) || e.Outcome != streams.NotChanged || e.Attempts != 0 || !errors.Is(e, streams.ErrTokenWait) ||
		e.Reason != "the operation was interrupted while it waited for the token request of another operation" {
		t.Errorf("the cancelled wait: %#v", e)
	}
	cancelFirst()
	if e := asError(t, waitForEnd(t, first)); !errors.Is(e, context.Canceled) || e.Outcome != streams.NotChanged {
		t.Errorf("the cancelled token request: %#v", e)
	}
	if err := waitForEnd(t, third); err != nil {
		t.Errorf("the third operation: %v", err)
	}
	endpoint.wantRequests(t, 2)
	s.wantRequests(t, 1)
}
