package acceptance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Validate and plan report all wrong values at once, and quote no password.
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
`+cam1p1+strings.Replace(cam1p1, `"this" {`, `"unpaired" {
  provider = stream.unpaired`, 1))
	w.writeFile("client.pem", ca.Issue(t, "client").CertPEM)
	w.writeFile("other-key.pem", ca.Issue(t, "other").KeyPEM)
	w.setenv("STREAM_BASE_URL", "https://me:Hidden1@streams.test/?key=Hidden2#Hidden3")
	wrong := []string{
		`The environment variable STREAM_BASE_URL (base_url) must not contain a user name or password`,
		`token must not contain line breaks`,
		`headers["Content-Type"] must not set Content-Type`,
		`headers["X Y"] is not a valid header name`,
		`headers["X-Line"] has a value with characters that a header must not contain`,
		`tls.ca_cert_pem contains no PEM certificate`,
		`tls.client_key_pem is missing`,
		`request_timeout must be a duration above zero`,
		`retry.max_attempts must be at least 1`,
		`retry.min_backoff must be a duration above zero`,
		`requests_per_second must be more than 0`,
		`The environment variable STREAM_BASE_URL (base_url) must not contain a user name or password`, // for both provider blocks
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

// An error about an address from a variable quotes no password.
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

// Validate needs no address, because it may run in another environment than plan.
func TestAccValidateWithoutEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "", withProvider(""))
	w.mustRun("validate")
	wantResult(t, w.plan(), 1, "The address of the service is missing.", "STREAM_BASE_URL")
}

func TestAccMissingBaseURL(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "", oneResource("stream_id = \"cam\"\nprocessor_ids = []"))
	w.mustRun("validate", "-no-color")
	for _, command := range []string{"plan", "apply"} {
		wantResult(t, w.run(command, "-no-color", "-input=false"), 1, "base_url", "STREAM_BASE_URL")
	}
	w.setenv("STREAM_BASE_URL", "") // an empty variable is an unset one
	wantResult(t, w.plan(), 1, "STREAM_BASE_URL")
}

// An address may end with "/" and "/v2", and may have a path before them.
func TestAccBaseURL(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("0", "1", "2", "3", "environment")...)
	behindGateway, gateway := streamstest.Start(t, streamstest.Options{Prefix: "/gateway/eu%2F1"}, streamstest.Streams("4", "5")...)
	config := "resource \"stream_processors\" \"environment\" {\n  stream_id = \"environment\"\n  processor_ids = []\n}\n"
	for i, base := range []string{
		url, url + "/", url + "/v2", url + "/v2/", gateway + "/gateway/eu%2F1", gateway + "/gateway/eu%2F1/v2/",
	} {
		config += fmt.Sprintf(`
provider "stream" {
  alias    = "p%[1]d"
  base_url = %[2]q
}
resource "stream_processors" "p%[1]d" {
  provider      = stream.p%[1]d
  stream_id     = "%[1]d"
  processor_ids = []
}
`, i, base)
	}
	w := newWorkspace(t, url, config)
	w.mustApply()
	var want []string
	for _, id := range []string{"0", "1", "2", "3", "environment"} {
		want = append(want, "PATCH /v2/streams/"+id+` {"processor_ids":[]}`)
	}
	service.WantRequests(t, want...)
	behindGateway.WantRequests(t,
		`PATCH /gateway/eu%2F1/v2/streams/4 {"processor_ids":[]}`,
		`PATCH /gateway/eu%2F1/v2/streams/5 {"processor_ids":[]}`,
	)
}

// A plan warns of credentials on an http:// address. The address need not exist, because a plan sends nothing.
func TestAccClearTextIsWarnedOf(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "", withProvider(`base_url = "http://streams.test"`))
	wantResult(t, w.plan(), 2, "Warning: Credentials Travel in Clear", "Use https://")
}

// Values of the provider block may come from another resource, and may become unknown again later: then an apply keeps
// the state, and a destroy is an error.
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

	before := w.stateResources()
	wantResult(t, w.mustApply("-replace=terraform_data.x"), 0, "Resources: 1 added, 0 changed, 1 destroyed.")
	service.WantRequests(t)
	w.wantState(before, cmpopts.IgnoreMapEntries(func(address string, _ *tfjson.StateResource) bool {
		return address == "terraform_data.x"
	}))

	w.mustRun("state", "rm", "terraform_data.x")
	wantResult(t, w.run("destroy", "-auto-approve", "-no-color"), 1, "The provider's configuration is not known yet.", notChanged)
	service.WantRequests(t)
}
