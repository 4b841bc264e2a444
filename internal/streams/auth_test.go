package streams_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
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

func TestSchemes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		demand func(*http.Request) error
		cfg    streams.Config
	}{
		"token":  {streamstest.Bearer("t0ken"), streams.Config{Token: "t0ken"}},
		"basic":  {streamstest.Basic("me", "pä:ss"), streams.Config{BasicAuth: &streams.BasicAuth{Username: "me", Password: "pä:ss"}}},
		"header": {streamstest.APIKey("X-Api-Key", "k3y"), streams.Config{Headers: map[string]string{"X-Api-Key": "k3y"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := streamstest.New(streamstest.Options{Authorize: test.demand}, streamstest.Stream{ID: "s1"})
			if _, err := serve(t, service.ServeHTTP).update(t, test.cfg); err != nil {
				t.Errorf("with credentials: %v", err)
			}
			s := serve(t, service.ServeHTTP)
			if e := s.fail(t, streams.Config{}); e.Kind != streams.KindAuthentication || e.Outcome != streams.NotChanged || e.Attempts != 1 {
				t.Errorf("without credentials: %#v", e)
			}
			s.wantRequests(t, 1) // a credential that cannot be renewed is not tried twice
		})
	}
}

// issuer is a token endpoint and a service that demands its tokens.
type issuer struct {
	tokens   *streamstest.TokenServer
	endpoint *service
	service  *service
	cfg      streams.Config
}

func newIssuer(t *testing.T, expiresIn time.Duration) *issuer {
	t.Helper()
	i := &issuer{tokens: &streamstest.TokenServer{ClientID: clientID, ClientSecret: clientSecret, ExpiresIn: expiresIn}}
	var seed []streamstest.Stream
	for n := range 30 {
		seed = append(seed, streamstest.Stream{ID: fmt.Sprintf("s%d", n)})
	}
	i.endpoint = serve(t, i.tokens.ServeHTTP)
	i.service = serve(t, streamstest.New(streamstest.Options{Authorize: i.tokens.Authorize}, seed...).ServeHTTP)
	i.cfg = streams.Config{
		BaseURL: i.service.URL,
		OAuth2:  &streams.OAuth2{TokenURL: i.endpoint.URL + "/token?tenant=a", ClientID: clientID, ClientSecret: clientSecret},
		Retry:   quick,
	}
	return i
}

// updateAll updates 30 streams at a time.
func updateAll(t *testing.T, c *streams.Client) {
	t.Helper()
	var all sync.WaitGroup
	for n := range 30 {
		all.Go(func() {
			if _, err := c.UpdateStream(t.Context(), fmt.Sprintf("s%d", n), streams.NewProcessorSet("p1")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestOneTokenForAll(t *testing.T) {
	t.Parallel()
	i := newIssuer(t, time.Hour)
	c := connect(t, i.cfg)
	updateAll(t, c)
	updateAll(t, c)
	i.endpoint.wantRequests(t, 1)
	i.service.wantRequests(t, 60)
}

func TestTokenAfterFault(t *testing.T) {
	t.Parallel()
	i := newIssuer(t, 0)
	i.tokens.Inject(http.StatusServiceUnavailable)
	updateAll(t, connect(t, i.cfg))
	i.endpoint.wantRequests(t, 2)
	i.service.wantRequests(t, 30)
}

func TestTokenRequest(t *testing.T) {
	t.Parallel()
	i := newIssuer(t, 0)
	i.cfg.OAuth2.Scopes = []string{"streams:write", "streams:read"}
	i.cfg.OAuth2.EndpointParams = map[string]string{"audience": "https://streams.example/"}
	i.cfg.Headers = map[string]string{"X-Api-Key": "k3y", "Cookie": "c=d"}
	i.cfg.UserAgent = "me/1"
	if _, err := i.service.update(t, i.cfg); err != nil {
		t.Fatal(err)
	}
	form := "audience=https%3A%2F%2Fstreams.example%2F&grant_type=client_credentials&scope=streams%3Awrite+streams%3Aread"
	want := []request{{
		Method: "POST", Target: "/token?tenant=a", Proto: "HTTP/1.1", Body: form, Length: int64(len(form)),
		Header: http.Header{ // nothing of the service's headers
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
		t.Errorf("the service got %v", got)
	}
}

// A token that the service refuses is renewed once, by whoever finds out first.
func TestRefusedTokenIsRenewed(t *testing.T) {
	t.Parallel()
	i := newIssuer(t, time.Hour)
	c := connect(t, i.cfg)
	updateAll(t, c)
	i.tokens.Revoke("token-1")
	updateAll(t, c)
	i.endpoint.wantRequests(t, 2)
	if got := len(i.service.requests()); got < 61 || got > 90 {
		t.Errorf("the service saw %d requests, want 60 and a 401 for each that had the old token", got)
	}
	if _, err := c.ReadStream(t.Context(), "s1"); failure(t, err).Status != http.StatusMethodNotAllowed {
		t.Errorf("read: %v", err)
	}
}

func TestTokenRefusedForGood(t *testing.T) {
	t.Parallel()
	i := newIssuer(t, time.Hour)
	s := serve(t, refuse(401, "not you"))
	e := s.fail(t, i.cfg)
	if e.Kind != streams.KindAuthentication || e.Message != "not you" || e.Attempts != 2 || e.Outcome != streams.NotChanged || e.Method != "PATCH" {
		t.Errorf("error %#v", e)
	}
	s.wantRequests(t, 2)
	i.endpoint.wantRequests(t, 2)
	if got := s.requests()[1].Header.Get("Authorization"); got != "Bearer token-2" {
		t.Errorf("the second attempt was made with %q", got)
	}
}

// An endpoint that hands out the refused token again does not make the request worth repeating.
func TestSameTokenAgain(t *testing.T) {
	t.Parallel()
	endpoint := serve(t, answer(200, `{"access_token":"same","token_type":"bearer","expires_in":3600}`))
	s := serve(t, refuse(401, "not you"))
	if e := s.fail(t, streams.Config{OAuth2: &streams.OAuth2{TokenURL: endpoint.URL}}); e.Attempts != 1 || e.Status != 401 {
		t.Errorf("error %#v", e)
	}
	s.wantRequests(t, 1)
	endpoint.wantRequests(t, 2)
}

// A token about to expire is not worth a request.
func TestExpiringToken(t *testing.T) {
	t.Parallel()
	i := newIssuer(t, 5*time.Second)
	c := connect(t, i.cfg)
	for range 3 {
		if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
			t.Fatal(err)
		}
	}
	i.endpoint.wantRequests(t, 3)
	i.service.wantRequests(t, 3)
}

// Some endpoints take the credentials in the body alone; that is found out once.
func TestCredentialsInBody(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401} {
		issued := 0
		endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _, inHeader := r.BasicAuth()
			if inHeader || r.PostFormValue("client_id") != clientID || r.PostFormValue("client_secret") != clientSecret {
				answer(status, `{"error":"invalid_client"}`)(w, r)
				return
			}
			issued++
			answer(200, fmt.Sprintf(`{"access_token":"token-%d","expires_in":1}`, issued))(w, r)
		})
		s := serve(t, accept)
		c := connect(t, streams.Config{BaseURL: s.URL,
			OAuth2: &streams.OAuth2{TokenURL: endpoint.URL, ClientID: clientID, ClientSecret: clientSecret}})
		for range 2 {
			if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
				t.Fatalf("%d: %v", status, err)
			}
		}
		endpoint.wantRequests(t, 3) // header, body; body
		if got := s.requests()[1].Header.Get("Authorization"); got != "Bearer token-2" {
			t.Errorf("%d: the service got %q", status, got)
		}
	}
}

// Credentials that are refused both ways are tried both ways the next time too.
func TestCredentialsRefusedBothWays(t *testing.T) {
	t.Parallel()
	endpoint := serve(t, answer(401, `{"error":"invalid_client","error_description":"in header"}`), answer(401, `{"error":"invalid_client"}`),
		answer(400, `{"error":"invalid_client"}`), answer(200, `{"access_token":"token-1"}`))
	s := serve(t, accept)
	c := connect(t, streams.Config{BaseURL: s.URL,
		OAuth2: &streams.OAuth2{TokenURL: endpoint.URL, ClientID: clientID, ClientSecret: clientSecret}})
	_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
	if e := failure(t, err); e.Message != "invalid_client: in header" { // the way that RFC 6749 prefers is the one to mend
		t.Errorf("error %#v", e)
	}
	if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
		t.Fatal(err)
	}
	var inHeader []bool
	for _, r := range endpoint.requests() {
		inHeader = append(inHeader, r.Header.Get("Authorization") != "" && !strings.Contains(r.Body, "client_secret"))
	}
	if diff := cmp.Diff([]bool{true, false, true, false}, inHeader); diff != "" {
		t.Errorf("credentials in the header (-want +got):\n%s", diff)
	}
}

// Without a token nothing is sent to the service, and the endpoint's own words say why.
func TestNoToken(t *testing.T) {
	t.Parallel()
	basic := base64.StdEncoding.EncodeToString([]byte("my+client:" + url.QueryEscape(clientSecret)))
	echo := clientSecret + " " + url.QueryEscape(clientSecret) + " " + basic
	for name, test := range map[string]struct {
		step     http.HandlerFunc
		kind     streams.Kind
		status   int
		requests int
		message  string
		reason   string
	}{
		"refused": {answer(401, `{"error":"invalid_client","error_description":"wrong secret"}`), streams.KindAuthentication, 401, 2, "invalid_client: wrong secret", ""},
		"bad":     {answer(400, `{"error":"invalid_scope"}`), streams.KindAuthentication, 400, 2, "invalid_scope", ""},
		"forbidden": {answer(403, `{"error":"unauthorized_client","error_description":"not you"}`), streams.KindAuthentication, 403, 1,
			"unauthorized_client: not you", ""},
		"not there":          {answer(404, "<h1>Not found</h1>", "Content-Type", "text/html"), streams.KindAuthentication, 404, 1, "<h1>Not found</h1>", ""},
		"as a form":          {answer(400, "error=invalid_grant&error_description=no+grant", "Content-Type", "application/x-www-form-urlencoded"), streams.KindAuthentication, 400, 2, "invalid_grant: no grant", ""},
		"error with 200":     {answer(200, `{"error":"invalid_client","error_description":"wrong"}`), streams.KindAuthentication, 200, 1, "invalid_client: wrong", ""},
		"200 without token":  {answer(200, `{}`), streams.KindAuthentication, 200, 1, "", "access_token"},
		"login page":         {answer(200, "<html>", "Content-Type", "text/html"), streams.KindAuthentication, 200, 1, "", "cannot parse json"},
		"204":                {answer(204, ""), streams.KindAuthentication, 204, 1, "", "cannot parse json"},
		"down":               {refuse(503, "maintenance"), streams.KindGeneric, 503, 5, "maintenance", ""},
		"gateway":            {answer(502, "<h1>Bad gateway</h1>"), streams.KindBadGateway, 502, 5, "<h1>Bad gateway</h1>", ""},
		"reset":              {reset, streams.KindGeneric, 0, 5, "", ""},
		"hanging":            {hang, streams.KindTimeout, 0, 5, "", "did not respond within 20ms"},
		"ugly":               {answer(401, `{"error":"x\u001b[2J","error_description":"\u202e\n"}`), streams.KindAuthentication, 401, 2, `x\u001b[2J: \u202e\n`, ""},
		"echo":               {answer(403, fmt.Sprintf(`{"error":%q,"error_description":%q}`, clientSecret, echo)), streams.KindAuthentication, 403, 1, "***: *** *** ***", ""},
		"echo as text":       {answer(403, echo), streams.KindAuthentication, 403, 1, "*** *** ***", ""},
		"redirect":           {refuse(302, "moved", "Location", "https://elsewhere.invalid/"+clientSecret), streams.KindGeneric, 302, 1, "moved", "redirects are never followed"},
		"redirect with POST": {refuse(307, "moved", "Location", "/token2"), streams.KindGeneric, 307, 1, "moved", "redirects are never followed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint, s := serve(t, test.step), serve(t, accept)
			limit := time.Hour
			if name == "hanging" {
				limit = 20 * time.Millisecond
			}
			var attempts []streams.Attempt
			e := s.fail(t, streams.Config{
				OAuth2:         &streams.OAuth2{TokenURL: endpoint.URL + "/token", ClientID: clientID, ClientSecret: clientSecret},
				RequestTimeout: limit,
				Observe:        func(_ context.Context, a streams.Attempt) { attempts = append(attempts, a) },
			})
			if e.Kind != test.kind || e.Status != test.status || e.Outcome != streams.NotChanged || e.Message != test.message ||
				e.Method != "POST" || e.URL != endpoint.URL+"/token" || e.Stream != nil {
				t.Errorf("error %#v", e)
			}
			wantText(t, e.Reason, test.reason)
			s.wantRequests(t, 0)
			if name != "hanging" { // an attempt may end before it is there
				endpoint.wantRequests(t, test.requests)
			}
			if e.Location != "" && test.status == 302 && e.Location != "https://elsewhere.invalid/***" {
				t.Errorf("location %q", e.Location)
			}
			if strings.Contains(e.Error(), clientSecret) || strings.Contains(e.Error(), basic) {
				t.Errorf("%q gives the secret away", e)
			}
			if len(attempts) != test.requests {
				t.Errorf("%d attempts were told, want %d", len(attempts), test.requests)
			}
			for _, a := range attempts {
				if a.Method != "POST" || a.URL != endpoint.URL+"/token" || a.RequestBody != "" || a.ResponseBody != "" {
					t.Errorf("attempt %+v shows what is all secret", a)
				}
			}
		})
	}
}

// A failure of the token endpoint says nothing of what earlier attempts did.
func TestNoTokenAfterUnknown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first http.HandlerFunc
		want  streams.Outcome
	}{"reset": {reset, streams.Unknown}, "401": {refuse(401, "no"), streams.NotChanged}} {
		endpoint := serve(t, answer(200, `{"access_token":"token-1"}`), refuse(403, "no more"))
		s := serve(t, test.first, refuse(401, "expired"))
		if e := s.fail(t, streams.Config{OAuth2: &streams.OAuth2{TokenURL: endpoint.URL}}); e.Outcome != test.want || e.Method != "POST" || e.Message != "no more" {
			t.Errorf("%s, then 401, then no token: %#v", name, e)
		}
	}
}

// Who waits for another's token can leave, and who leaves while asking lets the next one ask.
func TestCancelWaitForToken(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 2)
	endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		hang(w, r)
	}, answer(200, `{"access_token":"token-1"}`))
	s := serve(t, accept)
	c := connect(t, streams.Config{BaseURL: s.URL, RequestTimeout: time.Hour, OAuth2: &streams.OAuth2{TokenURL: endpoint.URL}})
	start := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet())
			done <- err
		}()
		return done
	}
	asking, stopAsking := context.WithCancel(t.Context())
	defer stopAsking()
	first := start(asking)
	<-arrived

	waiting, stopWaiting := context.WithCancel(t.Context())
	second, third := start(waiting), start(t.Context())
	stopWaiting()
	e := failure(t, ended(t, second))
	if !errors.Is(e, context.Canceled) || e.Outcome != streams.NotChanged || e.Attempts != 0 || e.Reason != "the operation was interrupted" {
		t.Errorf("who waited: %#v", e)
	}
	stopAsking()
	if e := failure(t, ended(t, first)); !errors.Is(e, context.Canceled) || e.Outcome != streams.NotChanged {
		t.Errorf("who asked: %#v", e)
	}
	if err := ended(t, third); err != nil {
		t.Errorf("who stayed: %v", err)
	}
	endpoint.wantRequests(t, 2)
	s.wantRequests(t, 1)
}

// The token itself is a secret from the moment it is known.
func TestTokenIsHidden(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]http.HandlerFunc{
		"at once": func(w http.ResponseWriter, r *http.Request) { refuse(403, r.Header.Get("Authorization"))(w, r) },
		"page":    func(w http.ResponseWriter, r *http.Request) { answer(403, "<p>"+r.Header.Get("Authorization"))(w, r) },
	} {
		endpoint := serve(t, answer(200, `{"access_token":"ey.top/secret","token_type":"Bearer"}`))
		var shown string
		e := serve(t, step).fail(t, streams.Config{
			OAuth2:  &streams.OAuth2{TokenURL: endpoint.URL},
			Observe: func(_ context.Context, a streams.Attempt) { shown += fmt.Sprintf("%+v", a) },
		})
		if shown += fmt.Sprintf("%#v", e); strings.Contains(shown, "ey.top") {
			t.Errorf("%s: the token is shown: %s", name, shown)
		}
		wantText(t, e.Message, "Bearer ***")
	}
}
