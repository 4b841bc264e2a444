package requests_test

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
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// tokenIssuer is a token endpoint and a service that requires its tokens.
type tokenIssuer struct {
	tokens   *streamstest.TokenServer
	endpoint *Service
	service  *Service
	config   requests.Config
}

func newTokenIssuer(t *testing.T) *tokenIssuer {
	t.Helper()
	i := &tokenIssuer{tokens: &streamstest.TokenServer{ClientID: ClientID, ClientSecret: ClientSecret}}
	i.endpoint = StartService(t, i.tokens.ServeHTTP)
	options := streamstest.Options{Authorize: i.tokens.Authorize}
	i.service = StartService(t, streamstest.New(options, streamstest.Streams(StreamIDs(100)...)...).ServeHTTP)
	i.config = OAuth2Config(i.service, i.endpoint)
	return i
}

func TestTokenRequest(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t)
	i.config.OAuth2.TokenURL += "/token?tenant=a"
	i.config.OAuth2.Scopes = []string{"streams:write", "streams:read"}
	i.config.OAuth2.EndpointParams = map[string]string{"audience": "https://streams.example/"}
	i.config.Headers = map[string]string{"X-Api-Key": "k3y", "Cookie": "c=d"}
	i.config.UserAgent = "me/1"
	if _, err := i.service.Update(t, i.config); err != nil {
		t.Fatal(err)
	}
	form := "audience=https%3A%2F%2Fstreams.example%2F&grant_type=client_credentials&scope=streams%3Awrite+streams%3Aread"
	i.endpoint.WantReceived(t, ReceivedRequest{
		Method: "POST", Target: "/token?tenant=a", Proto: "HTTP/1.1", Body: form, Length: int64(len(form)),
		Header: http.Header{ // without the headers for the service
			"Accept":          {"application/json"},
			"Accept-Encoding": {"gzip"},
			"Authorization":   {"Basic " + base64.StdEncoding.EncodeToString([]byte("my+client:s3cret%2F%2B%3D%26%3F%2541"))},
			"Content-Length":  {fmt.Sprint(len(form))},
			"Content-Type":    {"application/x-www-form-urlencoded"},
			"User-Agent":      {"me/1"},
		},
	})
	if got := i.service.Requests()[0].Header; got.Get("Authorization") != "Bearer token-1" || got.Get("X-Api-Key") != "k3y" {
		t.Errorf("the service received %v", got)
	}
}

// One operation requests a token, and all operations share it, also after a retry and after each revocation.
func TestTokenIsShared(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		i := newTokenIssuer(t)
		i.tokens.Inject(http.StatusServiceUnavailable)
		c := NewClient(t, i.config)
		MustUpdateAll(t, c, 30)
		i.endpoint.WantRequests(t, 2)
		i.service.WantRequests(t, 30)
		for n := range 3 {
			i.tokens.Revoke(fmt.Sprintf("token-%d", n+1))
			MustUpdateAll(t, c, 30)
			i.endpoint.WantRequests(t, n+3)
		}
		if got := len(i.service.Requests()); got < 123 || got > 150 {
			t.Errorf("the service received %d requests, want 120 and a 401 for each request with an old token", got)
		}
	})
}

// A token is used for most of its life: until ten seconds before its end, or for nine tenths of a shorter life. The
// endpoint may prolong the life of the same token.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	for expiresIn, end := range map[int]time.Duration{3600: 3590 * time.Second, 50: 45 * time.Second, 1: 900 * time.Millisecond} {
		RunVirtual(t, fmt.Sprint(expiresIn), func(t *testing.T) {
			same := Respond(200, fmt.Sprintf(`{"access_token":"same","expires_in":%d}`, expiresIn))
			endpoint, s := StartService(t, same), StartService(t, ApplyUpdate)
			c := NewClient(t, OAuth2Config(s, endpoint))
			start := time.Now()
			for i, after := range []time.Duration{0, end / 2, end - time.Millisecond, end + time.Millisecond, end + 2*time.Millisecond} {
				<-time.After(time.Until(start.Add(after)))
				MustUpdateAll(t, c, 1)
				endpoint.WantRequests(t, 1+i/3)
			}
		})
	}
}

// If an endpoint refuses the credentials in the header, whatever its status, and accepts them in the body, later requests send
// them there at once.
func TestCredentialsInBody(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]http.HandlerFunc{
		"400": Respond(400, `{"error":"invalid_client"}`), "401": Respond(401, `{"message":"who are you"}`), "403": Respond(403, `{}`),
		"404": RespondError(404, "no such client"), "415": Respond(415, `{"code":1}`),
		"422":                Respond(422, `{"errors":["client_id is required"]}`),
		"200":                Respond(200, `{"error":"unauthorized_client","error_description":"use the body"}`),
		"200 without error":  Respond(200, `{"code":10003,"msg":"app is disabled"}`),
		"200 with a message": Respond(200, "\ufeff"+`{"success":false,"message":"no client_id"}`, "Content-Type", "text/html"),
	} {
		RunVirtual(t, name, func(t *testing.T) {
			issue := IssueTokens(10)
			endpoint := StartService(t, func(w http.ResponseWriter, r *http.Request) {
				_, _, inHeader := r.BasicAuth()
				if inHeader || r.PostFormValue("client_id") != ClientID || r.PostFormValue("client_secret") != ClientSecret {
					refuse(w, r)
					return
				}
				issue(w, r)
			})
			c := NewClient(t, OAuth2Config(StartService(t, ApplyUpdate), endpoint))
			MustUpdateAll(t, c, 1)
			<-time.After(10 * time.Second)
			MustUpdateAll(t, c, 1)
			endpoint.WantRequests(t, 3) // for the first token, in the header and in the body; for the second, in the body
		})
	}
}

// An assertion that may be a reference is sent. The error of a rejection mentions it.
func TestAssertionFileWithReference(t *testing.T) {
	t.Parallel()
	for assertion, want := range map[string]string{
		"{{ s3cret }}": "the file (the assertion in the file looks like a reference or a placeholder that nothing has replaced)",
		"s3cret":       "the file",
	} {
		path := filepath.Join(t.TempDir(), "assertion")
		writeSecret(t, path, assertion)
		RunVirtual(t, assertion, func(t *testing.T) {
			endpoint, s := StartService(t, Respond(http.StatusBadRequest, `{"error":"invalid_client"}`)), StartService(t, ApplyUpdate)
			e := s.UpdateError(t, requests.Config{OAuth2: &requests.OAuth2{
				TokenURL: endpoint.URL, ClientAssertionFile: path, Credentials: "the file",
			}})
			if e.Credentials != want || !e.TokenRequest {
				t.Errorf("the error names %q", e.Credentials)
			}
		})
	}
}

// What is no refusal of the client is not sent again with the secret in the body: a failure of the moment, a page, or a success
// without a token.
func TestCredentialsNotInBody(t *testing.T) {
	t.Parallel()
	const page = "<!doctype html><title>Sign in</title>"
	for name, response := range map[string]http.HandlerFunc{
		"400 page": Respond(400, page), "401 page": Respond(401, page, "Content-Type", "text/html"), "404 page": Respond(404, page),
		"408": Respond(408, `{"error":"later"}`), "429": Respond(429, `{"error":"slow_down"}`),
		"503": Respond(503, `{"error":"temporarily_unavailable"}`),
		"501": Respond(501, `{"error":"unsupported"}`), "302": Respond(302, `{"error":"moved"}`), "no token": Respond(200, `{"token":"t"}`),
	} {
		RunVirtual(t, name, func(t *testing.T) {
			endpoint, s := StartService(t, response), StartService(t, ApplyUpdate)
			cfg := OAuth2Config(s, endpoint)
			cfg.Retry = requests.Retry{MaxAttempts: 1}
			_ = s.UpdateError(t, cfg)
			endpoint.WantRequests(t, 1)
			s.WantRequests(t, 0)
		})
	}
}

// Without a token, no request is sent to the service. The error has the token endpoint's message.
func TestTokenErrors(t *testing.T) {
	t.Parallel()
	const auth, unexpected, noToken = streams.KindAuthentication, streams.KindUnexpected, "the response has no usable token: "
	const nothing = "nothing is known beside the message"
	invalid := `{"error":"invalid_client","error_description":"wrong"}`
	for name, test := range map[string]struct {
		response        http.HandlerFunc
		kind            streams.Kind
		status          int
		requests        int
		message, reason string
	}{
		"rejected":          {Respond(401, invalid), auth, 401, 2, "invalid_client: wrong", nothing},
		"rejected with 200": {Respond(200, invalid), auth, 200, 2, "invalid_client: wrong", nothing},
		"200 without token": {Respond(200, `{}`), unexpected, 200, 1, "", noToken + "access_token is missing, and so is every other field"},
		"200 with another": {Respond(200, `{"token":"Hidden1","a\u001b":0}`), unexpected, 200, 1, "",
			noToken + `access_token is missing; there is only a\x1b, token`},
		"200 without error": {Respond(200, `{"code":10003,"msg":"app of `+ClientSecret+` is disabled"}`), auth, 200, 2, "app of *** is disabled",
			noToken + "access_token is missing; there is only code, msg"},
		"401 page":           {Respond(401, "<html><body>Sign in"), auth, 401, 1, "HTML page: Sign in", ""},
		"a line break in it": {Respond(200, `{"access_token":"a\nb"}`), unexpected, 200, 1, "", noToken + "it has control characters"},
		"a long token": {Respond(200, `{"access_token":"`+strings.Repeat("a", 64<<10+1)+`"}`), unexpected, 200, 1, "",
			noToken + "it is longer than 64 KiB"},
		"login page":         {Respond(200, "<html>"), unexpected, 200, 1, "", "it is not a JSON object"},
		"down":               {RespondError(503, "maintenance"), streams.KindGeneric, 503, 5, "maintenance", ""},
		"too many":           {RespondError(429, "slow down"), streams.KindBadRequest, 429, 5, "slow down", ""},
		"reset":              {ResetConnection, streams.KindConnection, 0, 5, "", ""},
		"cut off":            {RespondTruncated(200), streams.KindConnection, 200, 5, "", "the response is incomplete: unexpected EOF"},
		"hanging":            {NeverRespond, streams.KindTimeout, 0, 5, "", "the token endpoint did not respond within 30s"},
		"control characters": {Respond(401, `{"error":"x\u001b[2J","error_description":"\u202e\n"}`), auth, 401, 2, `x\x1b[2J: \u202e\n`, ""},
		"echo":               {Respond(403, `{"error":"`+ClientSecret+`"}`), auth, 403, 2, "***", ""},
		"redirect":           {RespondError(307, "moved", "Location", "/token2"), streams.KindRedirect, 307, 1, "moved", ""},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			endpoint, s := StartService(t, test.response), StartService(t, ApplyUpdate)
			cfg := OAuth2Config(s, endpoint)
			cfg.OAuth2.Credentials, cfg.OAuth2.Place = "the secret", "the place"
			cfg.OAuth2.TokenURL += "?key=secret" // not shown
			attempts := 0
			cfg.Observe = func(_ context.Context, a requests.Attempt) {
				attempts++
				if a.Method != "POST" || a.URL != endpoint.URL || a.RequestBody != "" || a.ResponseBody.String() != "" {
					t.Errorf("attempt %+v shows a secret body or another request", a)
				}
			}
			e := s.UpdateError(t, cfg)
			if e.Kind != test.kind || e.Status != test.status || e.Outcome != streams.NotChanged || e.Message != test.message ||
				e.Attempts != test.requests || !e.TokenRequest || e.Credentials != "the secret" || e.Place != "the place" || e.Method != "POST" ||
				e.URL != endpoint.URL || attempts != test.requests {
				t.Errorf("%d attempts, error %#v", attempts, e)
			}
			if test.reason != nothing {
				streamstest.WantText(t, e.Reason, test.reason)
			} else if e.Reason != "" {
				t.Errorf("reason %q", e.Reason)
			}
			s.WantRequests(t, 0)
			endpoint.WantRequests(t, test.requests)
		})
	}
}

// If the secret in the header is refused, the error of the request that has it in the body counts, with the attempts of both.
func TestErrorOfTheSecondTokenRequest(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]struct {
		response http.HandlerFunc
		kind     streams.Kind
		message  string
		attempts int
	}{
		"wrong scope": {Respond(400, `{"error":"invalid_scope","error_description":"no such scope"}`), streams.KindAuthentication,
			"invalid_scope: no such scope", 2},
		"wrong secret": {Respond(401, `{"error":"invalid_client","error_description":"also here"}`), streams.KindAuthentication,
			"invalid_client: also here", 2},
		"down":          {RespondError(503, "maintenance"), streams.KindGeneric, "maintenance", 6},
		"without token": {Respond(200, "{}"), streams.KindUnexpected, "", 2},
		"no response":   {ResetConnection, streams.KindConnection, "", 6},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			endpoint := StartService(t, func(w http.ResponseWriter, r *http.Request) {
				if _, _, inHeader := r.BasicAuth(); inHeader {
					Respond(401, `{"error":"invalid_client","error_description":"not in the header"}`)(w, r)
					return
				}
				second.response(w, r)
			})
			s := StartService(t, ApplyUpdate)
			e := s.UpdateError(t, OAuth2Config(s, endpoint))
			if e.Kind != second.kind || e.Message != second.message || e.Attempts != second.attempts || !e.TokenRequest {
				t.Errorf("%#v", e)
			}
			endpoint.WantRequests(t, second.attempts)
		})
	}
}

// A failure of the token endpoint holds until a retry would be due.
func TestTokenEndpointRecovers(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		endpoint := StartService(t, RespondError(503, "down", "Retry-After", "60"), IssueTokens(3600))
		cfg := OAuth2Config(StartService(t, ApplyUpdate), endpoint)
		cfg.Retry = requests.Retry{MaxAttempts: 1}
		c := NewClient(t, cfg)
		for range 2 {
			_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
			streamstest.WantText(t, AsError(t, err).Error(), "down")
			<-time.After(59 * time.Second)
			endpoint.WantRequests(t, 1)
		}
		MustUpdateAll(t, c, 2)
		endpoint.WantRequests(t, 2)

		// A rejection after a failure is final.
		endpoint = StartService(t, RespondError(503, "down"), RespondError(403, "never"))
		_ = UpdateAll(t, NewClient(t, OAuth2Config(StartService(t, ApplyUpdate), endpoint)), 5)
		endpoint.WantRequests(t, 3) // the last one has the secret in the body
		s := StartService(t, ApplyUpdate)
		e := s.UpdateError(t, OAuth2Config(s, StartService(t, RespondError(503, "down"), Respond(200, "{}"))))
		WantEqual(t, "the last message", "", e.Message)
	})
}

// A client assertion that the endpoint rejects is not sent again. In a file, it may change.
func TestClientAssertionFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assertion")
	Virtual(t, func(t *testing.T) {
		i := newTokenIssuer(t)
		i.config.OAuth2.ClientSecret, i.config.OAuth2.ClientAssertion = "", i.tokens.IssueAssertion("somebody else")
		streamstest.WantText(t, i.service.UpdateError(t, i.config).Message, "the assertion is for another client")
		i.endpoint.WantRequests(t, 1)

		i.config.OAuth2.ClientAssertion, i.config.OAuth2.ClientAssertionFile = "", path
		writeSecret(t, path, i.tokens.IssueAssertion("somebody else"))
		c := NewClient(t, i.config)
		for range 3 {
			for _, err := range UpdateAll(t, c, 30) {
				streamstest.WantText(t, err.Error(), "invalid_client: the assertion is for another client")
			}
			i.endpoint.WantRequests(t, 2)
		}

		writeSecret(t, path, i.tokens.IssueAssertion(ClientID)+"\n")
		MustUpdateAll(t, c, 30)
		i.endpoint.WantRequests(t, 3)

		writeSecret(t, path, "the next assertion") // says nothing about the token
		MustUpdateAll(t, c, 30)
		i.endpoint.WantRequests(t, 3)

		i.tokens.Revoke("token-1")
		if err := os.Remove(path); err != nil { // an agent is just writing the file
			t.Error(err)
		}
		time.AfterFunc(200*time.Millisecond, func() { writeSecret(t, path, i.tokens.IssueAssertion(ClientID)) })
		MustUpdateAll(t, c, 30)
		i.endpoint.WantRequests(t, 4)
	})
}
