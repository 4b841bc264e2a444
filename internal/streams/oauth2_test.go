package streams_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
	endpoint *service
	service  *service
	config   streams.Config
}

func newTokenIssuer(t *testing.T) *tokenIssuer {
	t.Helper()
	i := &tokenIssuer{tokens: &streamstest.TokenServer{ClientID: clientID, ClientSecret: clientSecret}}
	i.endpoint = startService(t, i.tokens.ServeHTTP)
	i.service = startService(t, streamstest.New(streamstest.Options{Authorize: i.tokens.Authorize}, streamstest.Streams(streamIDs(100)...)...).ServeHTTP)
	i.config = streams.Config{
		BaseURL: i.service.URL,
		OAuth2:  &streams.OAuth2{TokenURL: i.endpoint.URL + "/token?tenant=a", ClientID: clientID, ClientSecret: clientSecret},
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

// oauth2Config is for a service and a token endpoint that need not check credentials.
func oauth2Config(service, endpoint *service) streams.Config {
	return streams.Config{BaseURL: service.URL, OAuth2: &streams.OAuth2{TokenURL: endpoint.URL, ClientID: clientID, ClientSecret: clientSecret}}
}

// issueTokens issues token-1, token-2 and so on.
func issueTokens(expiresIn int) http.HandlerFunc {
	issued := 0
	return func(w http.ResponseWriter, r *http.Request) {
		issued++
		respond(200, fmt.Sprintf(`{"access_token":"token-%d","expires_in":%d}`, issued, expiresIn))(w, r)
	}
}

func TestTokenRequest(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t)
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
	if diff := cmp.Diff(want, i.endpoint.requests(), cmpopts.IgnoreUnexported(receivedRequest{})); diff != "" {
		t.Errorf("token requests (-want +got):\n%s", diff)
	}
	if got := i.service.requests()[0].Header; got.Get("Authorization") != "Bearer token-1" || got.Get("X-Api-Key") != "k3y" {
		t.Errorf("the service received %v", got)
	}
}

// One operation requests a token, and all operations share it, also after a retry and after each revocation.
func TestTokenIsShared(t *testing.T) {
	virtual(t, func(t *testing.T) {
		i := newTokenIssuer(t)
		i.tokens.Inject(http.StatusServiceUnavailable)
		c := newClient(t, i.config)
		mustUpdateAll(t, c, 30)
		i.endpoint.wantRequests(t, 2)
		i.service.wantRequests(t, 30)
		for n := range 3 {
			i.tokens.Revoke(fmt.Sprintf("token-%d", n+1))
			mustUpdateAll(t, c, 30)
			i.endpoint.wantRequests(t, n+3)
		}
		if got := len(i.service.requests()); got < 123 || got > 150 {
			t.Errorf("the service received %d requests, want 120 and a 401 for each request with an old token", got)
		}
	})
}

// A token is used for most of its life: until ten seconds before its end, or for nine tenths of a shorter life. The
// endpoint may prolong the life of the same token.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	for expiresIn, end := range map[int]time.Duration{3600: 3590 * time.Second, 50: 45 * time.Second, 10: 9 * time.Second, 1: 900 * time.Millisecond} {
		t.Run(fmt.Sprint(expiresIn), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				same := respond(200, fmt.Sprintf(`{"access_token":"same","expires_in":%d}`, expiresIn))
				endpoint, s := startService(t, same), startService(t, applyUpdate)
				c := newClient(t, oauth2Config(s, endpoint))
				start := time.Now()
				for i, after := range []time.Duration{0, end / 2, end - time.Millisecond, end + time.Millisecond, end + 2*time.Millisecond} {
					<-time.After(time.Until(start.Add(after)))
					mustUpdateAll(t, c, 1)
					endpoint.wantRequests(t, 1+i/3)
				}
			})
		})
	}
}

// Token requests are bounded, however a service or an endpoint behaves. There are 100 streams.
func TestTokenRequestsAreBounded(t *testing.T) {
	t.Parallel()
	same := respond(200, `{"access_token":"same","expires_in":3600}`)
	refuse := respondError(401, "not you")
	for name, test := range map[string]struct {
		service, endpoint http.HandlerFunc
		requests, tokens  int // at most
		message           string
	}{
		"short tokens":                 {respondAfter(50*time.Millisecond, applyUpdate), issueTokens(1), 100, 1, ""},
		"fresh tokens are refused":     {refuse, issueTokens(3600), 22, 2, "not you"},
		"the same token again":         {refuse, same, 13, 2, "not you"},
		"401 for some streams":         {refuseSome, issueTokens(3600), 200, 12, "not you"},
		"client refused":               {applyUpdate, respond(401, `{"error":"invalid_client"}`), 0, 2, "invalid_client"},
		"refused with 200":             {applyUpdate, respond(200, `{"error":"invalid_client"}`), 0, 1, "invalid_client"},
		"forbidden":                    {applyUpdate, respondError(403, "never"), 0, 1, "never"},
		"too many":                     {applyUpdate, respondError(429, "slow down", "Retry-After", "3600"), 0, 1, "slow down"},
		"down":                         {applyUpdate, respondError(503, "down"), 0, 6, "down"},
		"each token lives too shortly": {refuse, issueTokens(1), 22, 2, "not you"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				endpoint, s := startService(t, test.endpoint), startService(t, test.service)
				cfg := oauth2Config(s, endpoint)
				cfg.Retry = streams.DefaultRetry
				full := 0
				for _, err := range updateAll(t, newClient(t, cfg), 100) {
					if err == nil {
						continue
					}
					e := asError(t, err)
					if !e.Repeated {
						full++
					}
					if e.Outcome != streams.NotChanged && e.Status != 503 || !strings.Contains(e.Message+e.Reason, test.message) {
						t.Errorf("error %#v", e)
					}
				}
				if got := len(endpoint.requests()); got > test.tokens {
					t.Errorf("%d token requests, want at most %d", got, test.tokens)
				}
				if got := len(s.requests()); got > test.requests {
					t.Errorf("%d requests, want at most %d", got, test.requests)
				}
				if test.requests == 0 && full > test.tokens {
					t.Errorf("%d errors in full, want one for each token request at most", full)
				}
			})
		})
	}
}

// A service may refuse some streams with 401, whatever their token. A renewal that does not help shows that.
func TestRenewalDoesNotHelp(t *testing.T) {
	t.Parallel()
	endpoint, s := startService(t, issueTokens(3600)), startService(t, refuseSome)
	c := newClient(t, oauth2Config(s, endpoint))
	for _, id := range []string{"s1", "s5", "s6", "s15", "s16", "s25"} {
		_, err := c.UpdateStream(t.Context(), id, streams.NewProcessorSet())
		if refused := strings.HasSuffix(id, "5"); refused != (err != nil) {
			t.Errorf("%s: %v", id, err)
		}
	}
	endpoint.wantRequests(t, 2)
}

// A token that replaces a refused one is not replaced itself before the service has accepted it.
func TestRefusedReplacement(t *testing.T) {
	virtual(t, func(t *testing.T) {
		refuse := respondError(401, "not you")
		endpoint, s := startService(t, issueTokens(3600)), startService(t, refuse, respondAfter(time.Second, refuse), refuse)
		c := newClient(t, oauth2Config(s, endpoint))
		go func() { _, _ = c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()) }()
		synctest.Wait()
		_, err := c.UpdateStream(t.Context(), "s2", streams.NewProcessorSet())
		if e := asError(t, err); e.Message != "not you" {
			t.Errorf("error %#v", e)
		}
		endpoint.wantRequests(t, 2)
	})
}

// refuseSome refuses every tenth stream, whatever its token.
func refuseSome(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "5") {
		respondError(401, "not you")(w, r)
		return
	}
	applyUpdate(w, r)
}

// If an endpoint accepts the credentials only in the body, later requests send them there at once.
func TestCredentialsInBody(t *testing.T) {
	virtual(t, func(t *testing.T) {
		issue := issueTokens(10)
		endpoint := startService(t, func(w http.ResponseWriter, r *http.Request) {
			_, _, inHeader := r.BasicAuth()
			if inHeader || r.PostFormValue("client_id") != clientID || r.PostFormValue("client_secret") != clientSecret {
				respond(400, `{"error":"invalid_client"}`)(w, r)
				return
			}
			issue(w, r)
		})
		c := newClient(t, oauth2Config(startService(t, applyUpdate), endpoint))
		mustUpdateAll(t, c, 1)
		<-time.After(10 * time.Second)
		mustUpdateAll(t, c, 1)
		endpoint.wantRequests(t, 3) // for the first token, in the header and in the body; for the second, in the body
	})
}

// A wait for a token that another operation requests can be cancelled. If the requesting operation is cancelled,
// the next one requests the token.
func TestInterruptedTokenRequest(t *testing.T) {
	virtual(t, func(t *testing.T) {
		endpoint, s := startService(t, neverRespond, issueTokens(3600)), startService(t, applyUpdate)
		cfg := oauth2Config(s, endpoint)
		cfg.RequestTimeout = time.Hour
		c := newClient(t, cfg)
		first, third := make(chan error, 1), make(chan error, 1)
		go func() {
			_, _, err := interruptedUpdate(t, c, 10*time.Second)
			first <- err
		}()
		<-time.After(time.Second)
		go func() {
			_, err := c.UpdateStream(t.Context(), "s3", streams.NewProcessorSet())
			third <- err
		}()
		_, took, err := interruptedUpdate(t, c, time.Second)
		e := asError(t, err)
		if !errors.Is(e, context.Canceled) || e.Outcome != streams.NotChanged || e.Attempts != 0 || !errors.Is(e, streams.ErrTokenWait) || took != 0 ||
			e.Reason != "the operation was interrupted while it waited for the token request of another operation" {
			t.Errorf("the cancelled wait: %#v", e)
		}
		if e := asError(t, <-first); !errors.Is(e, context.Canceled) || e.Outcome != streams.NotChanged {
			t.Errorf("the cancelled token request: %#v", e)
		}
		if err := <-third; err != nil {
			t.Errorf("the third operation: %v", err)
		}
		endpoint.wantRequests(t, 2)
		s.wantRequests(t, 1)
	})
}
