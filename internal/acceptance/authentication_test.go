package acceptance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A service that demands credentials refuses an apply without them, and accepts one with them, from the configuration
// or from the environment.
func TestAccSchemes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		authorize func(*http.Request) error // nil: a token of the token server
		block     string
		env       []string
	}{
		{
			"token", streamstest.Bearer("t0ken"),
			`token = "t0ken"`, nil,
		},
		{
			"token from the environment", streamstest.Bearer("t0ken"),
			``, []string{"STREAM_TOKEN=t0ken"},
		},
		{
			"token, another one in the environment", streamstest.Bearer("t0ken"),
			`token = "t0ken"`, []string{"STREAM_TOKEN=other"},
		},
		{
			"basic_auth", streamstest.Basic("me", "pa:ss wörd"),
			`basic_auth = { username = "me", password = "pa:ss wörd" }`, nil,
		},
		{
			"basic_auth from the environment", streamstest.Basic("me", "pa:ss wörd"),
			``, []string{"STREAM_USERNAME=me", "STREAM_PASSWORD=pa:ss wörd"},
		},
		{
			"basic_auth, its password and another scheme in the environment", streamstest.Basic("me", "pa:ss wörd"),
			`basic_auth = { username = "me" }`, []string{"STREAM_PASSWORD=pa:ss wörd", "STREAM_TOKEN=other"},
		},
		{
			"oauth2", nil,
			`oauth2 = { token_url = "<token url>", client_id = "me@tenant", client_secret = "s3cret/+ %&" }`, nil,
		},
		{
			"oauth2 from the environment", nil,
			``, []string{"STREAM_OAUTH2_TOKEN_URL=<token url>", "STREAM_OAUTH2_CLIENT_ID=me@tenant", "STREAM_OAUTH2_CLIENT_SECRET=s3cret/+ %&"},
		},
		{
			"oauth2, its secret in the environment", nil,
			`oauth2 = { token_url = "<token url>", client_id = "me@tenant" }`,
			[]string{"STREAM_OAUTH2_CLIENT_SECRET=s3cret/+ %&"},
		},
		{
			"API key", streamstest.APIKey("X-Api-Key", "k3y"),
			`headers = { X-Api-Key = "k3y" }`, nil,
		},
		{
			"API key in Authorization", streamstest.APIKey("Authorization", "ApiKey k3y"),
			`headers = { authorization = "ApiKey k3y" }`, nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tokens, tokenURL := startTokenServer(t, clientSecret)
			authorize := test.authorize
			if authorize == nil {
				authorize = tokens.Authorize
			}
			service, url := streamstest.Start(t, streamstest.Options{Authorize: authorize}, streamstest.Streams("cam-1")...)
			w := newWorkspace(t, url, withProvider(""))

			if test.env == nil { // once for each scheme
				wantResult(t, w.apply(), 1, "Error: Authentication Error", "401 Unauthorized", notChanged)
				service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["p1"]}`)
			}

			w.writeConfig(withProvider(strings.ReplaceAll(test.block, "<token url>", tokenURL)))
			w.setenvs(withTokenURL(test.env, tokenURL)...)
			w.mustApply()
			service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["p1"]}`)
			service.WantAttached(t, "cam-1", "p1")
		})
	}
}

func TestAccTwoSchemesAreRefused(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, withProvider(`
  token      = "t0ken"
  basic_auth = { username = "me", password = "pass" }
`))
	wantResult(t, w.plan(), 1, "basic_auth and token are two ways to authenticate")

	w.writeConfig(withProvider(""))
	w.setenv("STREAM_TOKEN", "t0ken")
	w.setenv("STREAM_OAUTH2_CLIENT_ID", "me")
	wantResult(t, w.plan(), 1, "token (STREAM_TOKEN) and oauth2 (STREAM_OAUTH2_CLIENT_ID)")
	service.WantRequests(t)
}

// 30 streams share one token, also if the first token request fails. The settings for TLS and the proxy apply to the
// token endpoint too.
func TestAccOAuth2SharesOneToken(t *testing.T) {
	t.Parallel()
	for name, failures := range map[string][]int{"at once": nil, "after a 503": {http.StatusServiceUnavailable}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ca := streamstest.NewAuthority(t)
			tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s3cret"}
			tokens.Inject(failures...)
			service := streamstest.New(streamstest.Options{Authorize: tokens.Authorize}, streamstest.Streams(fleetIDs(30)...)...)
			certificate := ca.Issue(t, "127.0.0.1", "login.test")
			proxy, connected := startProxy(t, map[string]string{"login.test:443": serveTLS(t, tokens, certificate, nil)})

			w := newWorkspace(t, "https://"+serveTLS(t, service, certificate, nil), `
provider "stream" {
  oauth2 = { token_url = "https://login.test/token", client_id = "me" }
  retry  = { min_backoff = "1ms", max_backoff = "2ms" }
  tls    = { ca_cert_pem = file("ca.pem") }
}
`+fleet(30))
			w.writeFile("ca.pem", ca.CertPEM)
			w.setenv("HTTPS_PROXY", proxy)
			w.setenv("STREAM_OAUTH2_CLIENT_SECRET", "s3cret")
			w.mustApply("-parallelism=30")

			if got, want := len(tokens.Requests()), 1+len(failures); got != want {
				t.Errorf("%d token requests, want %d", got, want)
			}
			if got := len(service.Requests()); got != 30 {
				t.Errorf("%d requests, want 30", got)
			}
			if len(connected()) == 0 {
				t.Error("the token request did not go through the proxy")
			}
		})
	}
}

// The provider renews a refused token once.
func TestAccOAuth2RenewsARefusedToken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		revoked []string
		code    int
		want    []string
	}{
		"once": {[]string{"token-1"}, 0, nil},
		"twice": {[]string{"token-1", "token-2"}, 1,
			[]string{"Error: Authentication Error", "the access token is unknown, revoked or expired", notChanged}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens, tokenURL := startTokenServer(t, clientSecret)
			service, url := streamstest.Start(t, streamstest.Options{Authorize: func(r *http.Request) error {
				for _, token := range test.revoked {
					tokens.Revoke(token)
				}
				return tokens.Authorize(r)
			}}, streamstest.Streams("cam-1")...)
			w := newWorkspace(t, url, withProvider(""))
			w.setenv("STREAM_OAUTH2_TOKEN_URL", tokenURL)
			w.setenv("STREAM_OAUTH2_CLIENT_ID", tokens.ClientID)
			w.setenv("STREAM_OAUTH2_CLIENT_SECRET", tokens.ClientSecret)

			wantResult(t, w.apply(), test.code, test.want...)
			if got := len(tokens.Requests()); got != 2 {
				t.Errorf("%d token requests, want 2", got)
			}
			if got := len(service.Requests()); got != 2 {
				t.Errorf("%d requests, want 2", got)
			}
		})
	}
}

func TestAccOAuth2Failures(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	tokens, tokenURL := startTokenServer(t, clientSecret)
	w := newWorkspace(t, url, withProvider(`retry = { max_attempts = 1 }`))
	w.setenv("STREAM_OAUTH2_TOKEN_URL", tokenURL)
	w.setenv("STREAM_OAUTH2_CLIENT_ID", tokens.ClientID)
	w.setenv("STREAM_OAUTH2_CLIENT_SECRET", "wr0ng+secret")

	r := w.apply()
	wantResult(t, r, 1, "Error: Authentication Error", "POST "+tokenURL+" → 401 Unauthorized",
		"invalid_client: the client is unknown or its secret is wrong", "Check oauth2.client_id", "oauth2.token_url", "The token endpoint said:", notChanged)
	if strings.Contains(r.text(), "wr0ng") {
		t.Errorf("the secret is shown: %s", r)
	}

	tokens.Inject(http.StatusServiceUnavailable)
	wantResult(t, w.apply(), 1, "Error: Generic Error", "The token request to oauth2.token_url failed.", "The token endpoint said:", "→ 503 Service Unavailable", "temporarily_unavailable: injected", notChanged)

	w.setenv("STREAM_OAUTH2_TOKEN_URL", "https://"+serveTLS(t, tokens, streamstest.NewAuthority(t).Issue(t, "127.0.0.1"), nil))
	wantResult(t, w.apply(), 1, "certificate signed by unknown authority", "tls.ca_cert_pem", "oauth2.token_url", notChanged)
	service.WantRequests(t)
}
