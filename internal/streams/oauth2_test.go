package streams_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
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
	config   requests.Config
}

func newTokenIssuer(t *testing.T) *tokenIssuer {
	t.Helper()
	i := &tokenIssuer{tokens: &streamstest.TokenServer{ClientID: clientID, ClientSecret: clientSecret}}
	i.endpoint = startService(t, i.tokens.ServeHTTP)
	options := streamstest.Options{Authorize: i.tokens.Authorize}
	i.service = startService(t, streamstest.New(options, streamstest.Streams(streamIDs(100)...)...).ServeHTTP)
	i.config = oauth2Config(i.service, i.endpoint)
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
func oauth2Config(service, endpoint *service) requests.Config {
	client := &requests.OAuth2{TokenURL: endpoint.URL, ClientID: clientID, ClientSecret: clientSecret}
	return requests.Config{BaseURL: service.URL, OAuth2: client}
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
	i.config.OAuth2.TokenURL += "/token?tenant=a"
	i.config.OAuth2.Scopes = []string{"streams:write", "streams:read"}
	i.config.OAuth2.EndpointParams = map[string]string{"audience": "https://streams.example/"}
	i.config.Headers = map[string]string{"X-Api-Key": "k3y", "Cookie": "c=d"}
	i.config.UserAgent = "me/1"
	if _, err := i.service.update(t, i.config); err != nil {
		t.Fatal(err)
	}
	form := "audience=https%3A%2F%2Fstreams.example%2F&grant_type=client_credentials&scope=streams%3Awrite+streams%3Aread"
	i.endpoint.wantReceived(t, receivedRequest{
		Method: "POST", Target: "/token?tenant=a", Proto: "HTTP/1.1", Body: form, Length: int64(len(form)),
		Header: http.Header{ // without the headers for the service
			"Accept":          {"application/json"},
			"Accept-Encoding": {"identity"},
			"Authorization":   {"Basic " + base64.StdEncoding.EncodeToString([]byte("my+client:s3cret%2F%2B%3D%26%3F%2541"))},
			"Content-Length":  {fmt.Sprint(len(form))},
			"Content-Type":    {"application/x-www-form-urlencoded"},
			"User-Agent":      {"me/1"},
		},
	})
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
	for expiresIn, end := range map[int]time.Duration{3600: 3590 * time.Second, 50: 45 * time.Second, 1: 900 * time.Millisecond} {
		runVirtual(t, fmt.Sprint(expiresIn), func(t *testing.T) {
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
	}
}

// If an endpoint refuses the credentials in the header, whatever its status, and accepts them in the body, later requests send
// them there at once.
func TestCredentialsInBody(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]http.HandlerFunc{
		"400": respond(400, `{"error":"invalid_client"}`), "401": respond(401, `{"message":"who are you"}`), "403": respond(403, `{}`),
		"404": respondError(404, "no such client"), "415": respond(415, `{"code":1}`), "422": respond(422, `{"errors":["client_id is required"]}`),
		"200":                respond(200, `{"error":"unauthorized_client","error_description":"use the body"}`),
		"200 without error":  respond(200, `{"code":10003,"msg":"app is disabled"}`),
		"200 with a message": respond(200, "\ufeff"+`{"success":false,"error_message":"no client_id"}`, "Content-Type", "text/html"),
		"as a form":          respond(200, "error=incorrect_client_credentials", "Content-Type", "application/x-www-form-urlencoded"),
	} {
		runVirtual(t, name, func(t *testing.T) {
			issue := issueTokens(10)
			endpoint := startService(t, func(w http.ResponseWriter, r *http.Request) {
				_, _, inHeader := r.BasicAuth()
				if inHeader || r.PostFormValue("client_id") != clientID || r.PostFormValue("client_secret") != clientSecret {
					refuse(w, r)
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
}

// What is no refusal of the client is not sent again with the secret in the body: a failure of the moment, a page, or a success
// without a token.
func TestCredentialsNotInBody(t *testing.T) {
	t.Parallel()
	const page = "<!doctype html><title>Sign in</title>"
	for name, response := range map[string]http.HandlerFunc{
		"400 page": respond(400, page), "401 page": respond(401, page, "Content-Type", "text/html"), "404 page": respond(404, page),
		"408": respond(408, `{"error":"later"}`), "429": respond(429, `{"error":"slow_down"}`), "503": respond(503, `{"error":"temporarily_unavailable"}`),
		"501": respond(501, `{"error":"unsupported"}`), "302": respond(302, `{"error":"moved"}`), "no token": respond(200, `{"token":"t"}`),
	} {
		runVirtual(t, name, func(t *testing.T) {
			endpoint, s := startService(t, response), startService(t, applyUpdate)
			cfg := oauth2Config(s, endpoint)
			cfg.Retry = requests.Retry{MaxAttempts: 1}
			_ = s.updateError(t, cfg)
			endpoint.wantRequests(t, 1)
			s.wantRequests(t, 0)
		})
	}
}

// Without a token, no request is sent to the service. The error has the token endpoint's message.
func TestTokenErrors(t *testing.T) {
	t.Parallel()
	const auth, unexpected, noToken = streams.KindAuthentication, streams.KindUnexpected, "the response has no usable token: "
	invalid := `{"error":"invalid_client","error_description":"wrong"}`
	for name, test := range map[string]struct {
		response        http.HandlerFunc
		kind            streams.Kind
		status          int
		requests        int
		message, reason string
	}{
		"rejected":           {respond(401, invalid), auth, 401, 2, "invalid_client: wrong", ""},
		"rejected with 200":  {respond(200, invalid), auth, 200, 2, "invalid_client: wrong", ""},
		"200 without token":  {respond(200, `{}`), unexpected, 200, 1, "", noToken + "access_token is missing, and so is every other field"},
		"200 with another":   {respond(200, `{"token":"Hidden1","a\u001b":0}`), unexpected, 200, 1, "", noToken + `access_token is missing; there is only a\x1b, token`},
		"200 without error":  {respond(200, `{"code":10003,"msg":"app of `+clientSecret+` is disabled"}`), auth, 200, 2, "app of *** is disabled", "access_token is missing; there is only code, msg"},
		"200, in a list":     {respond(200, `{"ok":false,"errors":[{"detail":"no such app"}]}`), auth, 200, 2, "no such app", "access_token is missing; there is only errors, ok"},
		"401 page":           {respond(401, "<html><body>Sign in"), auth, 401, 1, "HTML page: Sign in", ""},
		"a line break in it": {respond(200, `{"access_token":"a\nb"}`), unexpected, 200, 1, "", noToken + "it has control characters"},
		"a long token": {respond(200, `{"access_token":"`+strings.Repeat("a", 64<<10+1)+`"}`), unexpected, 200, 1, "",
			noToken + "it is longer than 64 KiB"},
		"login page":         {respond(200, "<html>"), unexpected, 200, 1, "", "cannot parse json"},
		"down":               {respondError(503, "maintenance"), streams.KindGeneric, 503, 5, "maintenance", ""},
		"too many":           {respondError(429, "slow down"), streams.KindBadRequest, 429, 5, "slow down", ""},
		"reset":              {resetConnection, streams.KindConnection, 0, 5, "", ""},
		"hanging":            {neverRespond, streams.KindTimeout, 0, 5, "", "the token endpoint did not respond within 30s"},
		"control characters": {respond(401, `{"error":"x\u001b[2J","error_description":"\u202e\n"}`), auth, 401, 2, `x\x1b[2J: \u202e\n`, ""},
		"echo":               {respond(403, `{"error":"`+clientSecret+`"}`), auth, 403, 2, "***", ""},
		"redirect":           {respondError(307, "moved", "Location", "/token2"), streams.KindRedirect, 307, 1, "moved", ""},
	} {
		runVirtual(t, name, func(t *testing.T) {
			endpoint, s := startService(t, test.response), startService(t, applyUpdate)
			cfg := oauth2Config(s, endpoint)
			cfg.OAuth2.Credentials = "the secret"
			attempts := 0
			cfg.Observe = func(_ context.Context, a requests.Attempt) {
				attempts++
				if a.Method != "POST" || a.URL != endpoint.URL || a.RequestBody != "" || a.ResponseBody.String() != "" {
					t.Errorf("attempt %+v shows a secret body or another request", a)
				}
			}
			e := s.updateError(t, cfg)
			if e.Kind != test.kind || e.Status != test.status || e.Outcome != streams.NotChanged || e.Message != test.message ||
				!e.TokenRequest || e.Credentials != "the secret" || e.Method != "POST" || e.URL != endpoint.URL || attempts != test.requests {
				t.Errorf("%d attempts, error %#v", attempts, e)
			}
			streamstest.WantText(t, e.Reason, test.reason)
			s.wantRequests(t, 0)
			endpoint.wantRequests(t, test.requests)
		})
	}
}

// A failure of the token endpoint holds until a retry would be due.
func TestTokenEndpointRecovers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		endpoint := startService(t, respondError(503, "down", "Retry-After", "60"), issueTokens(3600))
		cfg := oauth2Config(startService(t, applyUpdate), endpoint)
		cfg.Retry = requests.Retry{MaxAttempts: 1}
		c := newClient(t, cfg)
		for range 2 {
			_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
			streamstest.WantText(t, asError(t, err).Error(), "down")
			<-time.After(59 * time.Second)
			endpoint.wantRequests(t, 1)
		}
		mustUpdateAll(t, c, 2)
		endpoint.wantRequests(t, 2)

		// A rejection after a failure is final.
		endpoint = startService(t, respondError(503, "down"), respondError(403, "never"))
		_ = updateAll(t, newClient(t, oauth2Config(startService(t, applyUpdate), endpoint)), 5)
		endpoint.wantRequests(t, 3) // the last one has the secret in the body
		s := startService(t, applyUpdate)
		e := s.updateError(t, oauth2Config(s, startService(t, respondError(503, "down"), respond(200, "{}"))))
		wantEqual(t, "the last message", "", e.Message)
	})
}

// A client assertion that the endpoint rejects is not sent again. In a file, it may change.
func TestClientAssertionFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assertion")
	virtual(t, func(t *testing.T) {
		i := newTokenIssuer(t)
		i.config.OAuth2.ClientSecret, i.config.OAuth2.ClientAssertion = "", i.tokens.IssueAssertion("somebody else")
		streamstest.WantText(t, i.service.updateError(t, i.config).Message, "the assertion is for another client")
		i.endpoint.wantRequests(t, 1)

		i.config.OAuth2.ClientAssertion, i.config.OAuth2.ClientAssertionFile = "", path
		writeSecret(t, path, i.tokens.IssueAssertion("somebody else"))
		c := newClient(t, i.config)
		for _, err := range updateAll(t, c, 30) {
			streamstest.WantText(t, err.Error(), "invalid_client: the assertion is for another client")
		}
		i.endpoint.wantRequests(t, 2)

		writeSecret(t, path, i.tokens.IssueAssertion(clientID)+"\n")
		mustUpdateAll(t, c, 30)
		i.endpoint.wantRequests(t, 3)

		writeSecret(t, path, "the next assertion") // says nothing about the token
		mustUpdateAll(t, c, 30)
		i.endpoint.wantRequests(t, 3)

		i.tokens.Revoke("token-1")
		if err := os.Remove(path); err != nil { // an agent is just writing the file
			t.Error(err)
		}
		time.AfterFunc(200*time.Millisecond, func() { writeSecret(t, path, i.tokens.IssueAssertion(clientID)) })
		mustUpdateAll(t, c, 30)
		i.endpoint.wantRequests(t, 4)
	})
}
