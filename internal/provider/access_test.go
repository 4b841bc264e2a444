package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// How the provider gets to the service: credentials, TLS, proxies and limits.

// withProvider is a root module with one stream and the given body of the provider block.
func withProvider(body string) string {
	return "provider \"stream\" {\n" + body + "\n}\n" + cam1
}

const cam1 = `
resource "stream_processors" "this" {
  stream_id     = "cam-1"
  processor_ids = ["p1"]
}
`

// fleet is a number of streams, by count.
func fleet(n int) string {
	return fmt.Sprintf(`
resource "stream_processors" "this" {
  count         = %d
  stream_id     = "cam-${count.index + 1}"
  processor_ids = ["p1"]
}
`, n)
}

func fleetIDs(n int) []string {
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf("cam-%d", i+1))
	}
	return ids
}

// newTokenServer starts a token endpoint that knows one client, and returns it with its address.
func newTokenServer(t *testing.T) (*streamstest.TokenServer, string) {
	t.Helper()
	tokens := &streamstest.TokenServer{ClientID: "me@tenant", ClientSecret: "s3cret/+ %&"}
	server := httptest.NewServer(tokens)
	t.Cleanup(server.Close)
	return tokens, server.URL + "/token"
}

// A service that demands a scheme refuses who does not have it, and accepts who does, wherever that
// comes from.
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
			tokens, tokenURL := newTokenServer(t)
			authorize := test.authorize
			if authorize == nil {
				authorize = tokens.Authorize
			}
			service, url := streamstest.Start(t, streamstest.Options{Authorize: authorize}, streamstest.Streams("cam-1")...)
			w := newWorkspace(t, url, withProvider(""))

			if test.env == nil { // the others have a namesake without
				r := w.apply()
				wantResult(t, r, 1, "Error: Authentication Error", "401 Unauthorized", "The stream was not changed.")
				service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["p1"]}`)
			}

			w.write(withProvider(strings.ReplaceAll(test.block, "<token url>", tokenURL)))
			for _, variable := range test.env {
				w.env = append(w.env, strings.ReplaceAll(variable, "<token url>", tokenURL))
			}
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

	w.write(withProvider(""))
	w.setenv("STREAM_TOKEN", "t0ken")
	w.setenv("STREAM_OAUTH2_CLIENT_ID", "me")
	wantResult(t, w.plan(), 1, "token (STREAM_TOKEN) and oauth2 (STREAM_OAUTH2_CLIENT_ID)")
	service.WantRequests(t)
}

// 30 streams share one token, also if the first request for it fails. The token endpoint is behind the
// same private authority and the same proxy settings as the service.
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
			proxy, connected := newProxy(t, map[string]string{"login.test:443": serveTLS(t, tokens, certificate, nil)})

			w := newWorkspace(t, "https://"+serveTLS(t, service, certificate, nil), `
provider "stream" {
  oauth2 = { token_url = "https://login.test/token", client_id = "me" }
  retry  = { min_backoff = "1ms", max_backoff = "2ms" }
  tls    = { ca_cert_pem = file("ca.pem") }
}
`+fleet(30))
			w.file("ca.pem", ca.CertPEM)
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

// A token that is refused is renewed, once.
func TestAccOAuth2RenewsARefusedToken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		revoked []string
		code    int
	}{
		"once":  {[]string{"token-1"}, 0},
		"twice": {[]string{"token-1", "token-2"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens, tokenURL := newTokenServer(t)
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

			r := w.apply()
			if r.code != test.code {
				t.Fatal(r)
			}
			if r.code != 0 {
				wantResult(t, r, 1, "Error: Authentication Error", "the access token is unknown, revoked or expired", "The stream was not changed.")
			}
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
	tokens, tokenURL := newTokenServer(t)
	w := newWorkspace(t, url, withProvider(`retry = { max_attempts = 1 }`))
	w.setenv("STREAM_OAUTH2_TOKEN_URL", tokenURL)
	w.setenv("STREAM_OAUTH2_CLIENT_ID", tokens.ClientID)
	w.setenv("STREAM_OAUTH2_CLIENT_SECRET", "wr0ng+secret")

	r := w.apply()
	wantResult(t, r, 1, "Error: Authentication Error", "POST "+tokenURL+" → 401 Unauthorized",
		"invalid_client: the client is unknown or its secret is wrong", "Check oauth2", "The stream was not changed.")
	if strings.Contains(r.text(), "wr0ng") {
		t.Errorf("the secret is shown: %s", r)
	}

	tokens.Inject(http.StatusServiceUnavailable)
	wantResult(t, w.apply(), 1, "Error: Error", "→ 503 Service Unavailable", "temporarily_unavailable: injected", "The stream was not changed.")

	w.setenv("STREAM_OAUTH2_TOKEN_URL", "https://"+serveTLS(t, tokens, streamstest.NewAuthority(t).Issue(t, "127.0.0.1"), nil))
	wantResult(t, w.apply(), 1, "certificate signed by unknown authority", "The stream was not changed.")
	service.WantRequests(t)
}

// The limit holds for all requests together, retries included.
func TestAccRequestsPerSecond(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(fleetIDs(15)...)...)
	service.Inject(streamstest.Fault{Status: 503}, streamstest.Fault{Status: 429}) // 17 requests
	w := newWorkspace(t, url, `
provider "stream" {
  requests_per_second = 5
  retry               = { min_backoff = "1ms", max_backoff = "2ms" }
}
`+fleet(15))
	w.mustApply("-parallelism=15")

	requests := service.Requests()
	if len(requests) != 17 {
		t.Fatalf("%d requests, want 17", len(requests))
	}
	// 16 intervals of 200 ms. The first request may arrive late, but not that late.
	if took := requests[16].Start.Sub(requests[0].Start); took < 2900*time.Millisecond || took > 8*time.Second {
		t.Errorf("the requests took %s, want 3.2 s", took)
	}
}

func TestAccAttempts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		block string
		fault streamstest.Fault
		sent  int
		want  []string
	}{
		{
			"request_timeout", `
  request_timeout = "200ms"
  retry           = { max_attempts = 2, min_backoff = "1ms", max_backoff = "1ms" }`,
			streamstest.Fault{Delay: time.Hour}, 2,
			[]string{"Error: Timeout Error", "The service did not answer within 200ms.", "(2 attempts)", "The stream may or may not have been changed"},
		},
		{
			"one attempt", `
  retry = { max_attempts = 1 }`,
			streamstest.Fault{Status: 503, Message: "come back later"}, 1,
			[]string{"Error: Error", "→ 503 Service Unavailable The service said: come back later"},
		},
		{
			"three attempts", `
  retry = { max_attempts = 3, max_backoff = "1ms" }`,
			streamstest.Fault{Status: 502, Message: "nobody there"}, 3,
			[]string{"Error: Bad Gateway Error", "→ 502 Bad Gateway (3 attempts) The service said: nobody there"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
			service.InjectFunc(func(streamstest.Request) *streamstest.Fault { return &test.fault })
			wantResult(t, newWorkspace(t, url, withProvider(test.block)).apply(), 1, test.want...)
			if got := len(service.Requests()); got != test.sent {
				t.Errorf("%d requests, want %d", got, test.sent)
			}
		})
	}
}

// What is wrong is refused by validate and plan alike: all of it at once, each on its line, and no
// password is quoted.
func TestAccWrongValuesAreRefused(t *testing.T) {
	t.Parallel()
	service, _ := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	ca := streamstest.NewAuthority(t)
	w := newWorkspace(t, "", `
provider "stream" {
  token = "two\nlines"

  headers = {
    "Content-Type" = "text/plain"
    "X Y"          = "no name"
    "X-Line"       = "two\r\nlines"
  }

  tls = {
    ca_cert_pem     = "junk"
    client_cert_pem = file("client.pem")
  }

  request_timeout = "30"

  retry = {
    max_attempts = 0
    min_backoff  = "soon"
  }

  requests_per_second = -1
}

provider "stream" {
  alias = "unpaired"

  tls = {
    client_cert_pem = file("client.pem")
    client_key_pem  = file("other-key.pem")
  }

  oauth2 = {
    client_id     = "me"
    client_secret = "s3cret"
    token_url     = "ftp://login.example.com"
  }
}
`+cam1+strings.Replace(cam1, `"this" {`, `"unpaired" {
  provider = stream.unpaired`, 1))
	w.file("client.pem", ca.Issue(t, "client").CertPEM)
	w.file("other-key.pem", ca.Issue(t, "other").KeyPEM)
	w.setenv("STREAM_BASE_URL", "https://me:Hidden1@streams.test/?key=Hidden2#Hidden3")
	wrong := []string{
		`base_url must not hold a user name or password`,
		`token must not hold line breaks`,
		`headers["Content-Type"] must not set Content-Type`,
		`headers["X Y"] is not a legal header name`,
		`headers["X-Line"] has a value that a header cannot carry`,
		`tls.ca_cert_pem holds no PEM certificate`,
		`tls.client_key_pem is missing`,
		`request_timeout must be a duration above zero`,
		`retry.max_attempts must be at least 1`,
		`retry.min_backoff must be a duration above zero`,
		`requests_per_second must be more than 0`,
		`base_url must not hold a user name or password`, // for both provider blocks
		`oauth2.token_url must begin with "https://"`,
		`tls.client_cert_pem and client_key_pem do not make a client certificate`,
	}
	for _, command := range []string{"validate", "plan"} {
		r := w.run(command, "-no-color")
		wantResult(t, r, 1, wrong...)
		if got := strings.Count(r.text(), "Error: "); got != len(wrong) {
			t.Errorf("%d errors, want %d: %v", got, len(wrong), r)
		}
		if strings.Contains(r.text(), "Hidden") {
			t.Errorf("a password is quoted: %v", r)
		}
	}
	service.WantRequests(t)
}

// The password in an address from a variable is not quoted either.
func TestAccPasswordInAddressIsNotQuoted(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{
		"user":     "https://me:Hidden1@streams.test",
		"query":    "https://streams.test?key=Hidden1",
		"fragment": "https://streams.test#Hidden1",
		"scheme":   "ftp://me:Hidden1@streams.test",
		"host":     "https://me:Hidden1@",
		"no URL":   "https://me:Hidden1@streams test",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, "", `
variable "base_url" {}
`+withProvider(`base_url = var.base_url`))
			w.setenv("TF_VAR_base_url", address)
			r := w.plan()
			wantResult(t, r, 1, "base_url = var.base_url", "base_url ")
			if strings.Contains(r.text(), "Hidden") {
				t.Errorf("a password is quoted: %v", r)
			}
		})
	}
}

// Whoever validates need not have the environment of whoever plans.
func TestAccValidateWithoutEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "", withProvider(""))
	if r := w.run("validate"); r.code != 0 {
		t.Errorf("validate: %v", r)
	}
	wantResult(t, w.plan(), 1, "The address of the service is missing.", "STREAM_BASE_URL")
}

// A plan sends nothing, so it is safe to let it show the warning.
func TestAccClearTextIsWarnedOf(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "", withProvider(`base_url = "http://streams.test"`))
	wantResult(t, w.plan(), 2, "Warning: Credentials Travel in Clear", "Use https://")
}

// Provider values may come from another resource: known, they serve the apply; unknown again, they
// cost no state.
func TestAccProviderValuesUnknownAtPlan(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s3cret"}
	authorize := map[string]func(*http.Request) error{
		"token": streamstest.Bearer("t0ken"), "header": streamstest.APIKey("X-Api-Key", "k3y"), "oauth2": tokens.Authorize,
	}
	service := streamstest.New(streamstest.Options{}, streamstest.Streams("token", "header", "oauth2")...)
	certificate := ca.Issue(t, "127.0.0.1")
	service.Configure(func(o *streamstest.Options) {
		o.Authorize = func(r *http.Request) error { return authorize[filepath.Base(r.URL.Path)](r) }
	})
	w := newWorkspace(t, "", `
variable "values" { type = map(string) }

resource "terraform_data" "x" {
  input = var.values
}

provider "stream" {
  alias    = "token"
  base_url = terraform_data.x.output.base_url
  token    = terraform_data.x.output.token
  tls      = { ca_cert_pem = terraform_data.x.output.ca }
}

provider "stream" {
  alias    = "header"
  base_url = var.values.base_url
  headers  = { X-Api-Key = terraform_data.x.output.key }
  tls      = { ca_cert_pem = var.values.ca }
}

provider "stream" {
  alias    = "oauth2"
  base_url = var.values.base_url
  oauth2   = { token_url = var.values.token_url, client_id = "me", client_secret = terraform_data.x.output.secret }
  tls      = { ca_cert_pem = var.values.ca }
}

resource "stream_processors" "token" {
  provider      = stream.token
  stream_id     = "token"
  processor_ids = ["p1"]
}

resource "stream_processors" "header" {
  provider      = stream.header
  stream_id     = "header"
  processor_ids = ["p1"]
}

resource "stream_processors" "oauth2" {
  provider      = stream.oauth2
  stream_id     = "oauth2"
  processor_ids = ["p1"]
}
`)
	values, err := json.Marshal(map[string]string{
		"base_url": "https://" + serveTLS(t, service, certificate, nil), "token_url": "https://" + serveTLS(t, tokens, certificate, nil),
		"token": "t0ken", "key": "k3y", "secret": "s3cret", "ca": ca.CertPEM,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.setenv("TF_VAR_values", string(values))
	w.mustApply()
	service.WantRequests(t,
		`PATCH /v2/streams/header {"processor_ids":["p1"]}`,
		`PATCH /v2/streams/oauth2 {"processor_ids":["p1"]}`,
		`PATCH /v2/streams/token {"processor_ids":["p1"]}`,
	)

	before := w.resources()
	wantResult(t, w.mustApply("-replace=terraform_data.x"), 0, "Resources: 1 added, 0 changed, 1 destroyed.")
	service.WantRequests(t)
	after := w.resources()
	delete(before, "terraform_data.x")
	delete(after, "terraform_data.x")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("state (-before +after):\n%s", diff)
	}

	// Without the resource there is no way to know any more how to detach.
	if r := w.run("state", "rm", "terraform_data.x"); r.code != 0 {
		t.Fatal(r)
	}
	r := w.run("destroy", "-auto-approve", "-no-color")
	wantResult(t, r, 1, "The configuration of the provider is not known yet.", "The stream was not changed.")
	service.WantRequests(t)
}

// The examples work as they are written, on a service that demands their scheme.
func TestAccExamplesOfAuthentication(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	client := ca.Issue(t, "terraform")
	for _, test := range []struct {
		folder    string
		authorize func(*http.Request) error
		env       []string
	}{
		{"token", streamstest.Bearer("t0ken"), []string{"TF_VAR_token=t0ken"}},
		{"basic-auth", streamstest.Basic("me", "pass"), []string{"TF_VAR_username=me", "TF_VAR_password=pass"}},
		{"oauth2", nil, []string{"TF_VAR_token_url=<token url>", "TF_VAR_client_id=me@tenant", "TF_VAR_client_secret=s3cret/+ %&"}},
		{"api-key-header", streamstest.APIKey("X-Api-Key", "k3y"), []string{"TF_VAR_api_key=k3y"}},
		{"mutual-tls", func(r *http.Request) error {
			if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
				return errors.New("a client certificate is required")
			}
			return nil
		}, []string{"TF_VAR_ca_cert_file=ca.pem", "TF_VAR_client_cert_file=client.pem", "TF_VAR_client_key_file=client-key.pem"}},
	} {
		t.Run(test.folder, func(t *testing.T) {
			t.Parallel()
			w := newExample(t, "authentication/"+test.folder)
			w.file("ca.pem", ca.CertPEM)
			w.file("client.pem", client.CertPEM)
			w.file("client-key.pem", client.KeyPEM)
			tokens, tokenURL := newTokenServer(t)
			authorize := test.authorize
			if authorize == nil {
				authorize = tokens.Authorize
			}
			service, url := streamstest.Start(t, streamstest.Options{Authorize: authorize}, streamstest.Streams("cam-1")...)
			if test.folder == "mutual-tls" {
				url = "https://" + serveTLS(t, service, ca.Issue(t, "127.0.0.1"), ca)
			}
			w.setenv("TF_VAR_base_url", url)
			for _, variable := range test.env {
				w.env = append(w.env, strings.ReplaceAll(variable, "<token url>", tokenURL))
			}
			w.mustApply()
			service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection"]}`)
		})
	}
}

func TestAccExampleOfTwoRegions(t *testing.T) {
	t.Parallel()
	w := newExample(t, "two-regions")
	here, url := streamstest.Start(t, streamstest.Options{Authorize: streamstest.Bearer("t0ken")}, streamstest.Streams("cam-1")...)
	there, alt := streamstest.Start(t, streamstest.Options{Authorize: streamstest.Bearer("t0ken")}, streamstest.Streams("cam-2")...)
	w.setenv("TF_VAR_base_url", url)
	w.setenv("TF_VAR_base_url_alt", alt)
	w.setenv("STREAM_TOKEN", "t0ken")
	w.mustApply()
	here.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection"]}`)
	there.WantRequests(t, `PATCH /v2/streams/cam-2 {"processor_ids":["object-detection"]}`)
	w.wantNoChanges()
}

func TestAccExamplesOfFleets(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"fleet-csv", "fleet-yaml"} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			w := newExample(t, folder)
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(fleetIDs(3)...)...)
			w.setenv("STREAM_BASE_URL", url)
			w.mustApply()
			service.WantRequests(t,
				`PATCH /v2/streams/cam-1 {"processor_ids":["object-detection","people-counter"]}`,
				`PATCH /v2/streams/cam-2 {"processor_ids":["object-detection"]}`,
				`PATCH /v2/streams/cam-3 {"processor_ids":[]}`,
			)
			w.wantNoChanges()
		})
	}
}

// newExample makes a workspace of an example, as a user would who copies it.
func newExample(t *testing.T, folder string) *workspace {
	t.Helper()
	w := newWorkspace(t, "", "")
	for _, name := range []string{"main.tf", "versions.tf"} {
		if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(w.dir, os.DirFS(filepath.Join("..", "..", "examples", folder))); err != nil {
		t.Fatal(err)
	}
	return w
}

// wantResult fails the test unless a command ended with the code and printed all of these.
func wantResult(t *testing.T, r result, code int, want ...string) {
	t.Helper()
	if r.code != code {
		t.Fatalf("want exit code %d: %v", code, r)
	}
	for _, text := range want {
		if !strings.Contains(r.text(), text) {
			t.Errorf("no %q in: %v", text, r)
		}
	}
}
