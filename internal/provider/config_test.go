package provider

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// block is a provider block, or an object or a map in it.
type block = coretest.Attributes

// environment has the environment variables of the provider.
type environment map[string]string

// unknown is a value that is known after apply.
const unknown = tftypes.UnknownValue

// problem is a diagnostic: its path and a part of its text.
type problem struct{ path, text string }

func TestReadSettings(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	pair := ca.Issue(t, "client")

	oauth2 := func(change block) block {
		return block{"oauth2": merge(block{"token_url": "https://id.example.com", "client_id": "c"}, change)}
	}
	wantOAuth2 := func(o streams.OAuth2) streams.Config {
		o.TokenURL, o.ClientID = "https://id.example.com", "c"
		return streams.Config{OAuth2: &o}
	}
	retry := func(attempts int, shortest, longest time.Duration) streams.Config {
		return streams.Config{Retry: streams.Retry{MaxAttempts: attempts, MinBackoff: shortest, MaxBackoff: longest}}
	}
	byDefault := streams.DefaultRetry

	for name, test := range map[string]struct {
		block block
		env   environment
		want  streams.Config // BaseURL and Retry are filled in
	}{
		"nothing":       {},
		"empty objects": {block: block{"tls": block{}, "retry": block{}, "headers": block{}}},
		"token":         {block{"base_url": "https://host/eu/v2/", "token": "t"}, nil, streams.Config{BaseURL: "https://host/eu/v2/", Token: "t"}},
		"token from the environment": {nil, environment{"STREAM_BASE_URL": "https://host\n", "STREAM_TOKEN": "t"},
			streams.Config{BaseURL: "https://host", Token: "t"}},
		"address from both": {block{"base_url": "https://eu"}, environment{"STREAM_BASE_URL": "https://us"}, streams.Config{BaseURL: "https://eu"}},
		"token, all schemes in the environment": {block{"token": "t"}, environment{
			"STREAM_USERNAME": "u", "STREAM_PASSWORD": "p", "STREAM_OAUTH2_CLIENT_ID": "c", "STREAM_TOKEN": "other", "STREAM_TOKEN_FILE": "f",
		}, streams.Config{Token: "t"}},
		"token_file": {block{"token_file": "run/token"}, environment{"STREAM_TOKEN_FILE": "other", "STREAM_TOKEN": "t"},
			streams.Config{TokenFile: "run/token"}},
		"token_file from the environment": {nil, environment{"STREAM_TOKEN_FILE": "/run/token"}, streams.Config{TokenFile: "/run/token"}},

		"basic_auth": {block{"basic_auth": block{"username": "u", "password": "p:ü"}}, nil,
			streams.Config{BasicAuth: &streams.BasicAuth{Username: "u", Password: "p:ü"}}},
		"basic_auth from the environment": {nil, environment{"STREAM_USERNAME": "u", "STREAM_PASSWORD": "p"},
			streams.Config{BasicAuth: &streams.BasicAuth{Username: "u", Password: "p"}}},
		"basic_auth, its password from the environment": {block{"basic_auth": block{"username": "config"}},
			environment{"STREAM_USERNAME": "environment", "STREAM_PASSWORD": "p"},
			streams.Config{BasicAuth: &streams.BasicAuth{Username: "config", Password: "p"}}},
		"basic_auth, all of it from the environment": {block{"basic_auth": block{}},
			environment{"STREAM_USERNAME": "u", "STREAM_PASSWORD": "p", "STREAM_TOKEN": "t"},
			streams.Config{BasicAuth: &streams.BasicAuth{Username: "u", Password: "p"}}},

		"oauth2": {oauth2(block{"client_secret": "s", "scopes": []any{"b", "a"}, "endpoint_params": block{"audience": "x", "resource": ""}}), nil,
			wantOAuth2(streams.OAuth2{
				ClientSecret: "s", Scopes: []string{"b", "a"}, EndpointParams: map[string]string{"audience": "x", "resource": ""},
			})},
		"oauth2 from the environment": {nil, environment{
			"STREAM_OAUTH2_TOKEN_URL": "https://id.example.com", "STREAM_OAUTH2_CLIENT_ID": "c", "STREAM_OAUTH2_CLIENT_SECRET": "s",
		}, wantOAuth2(streams.OAuth2{ClientSecret: "s"})},
		"oauth2, its secret from the environment": {oauth2(nil),
			environment{"STREAM_OAUTH2_CLIENT_ID": "other", "STREAM_OAUTH2_CLIENT_SECRET": "s"}, wantOAuth2(streams.OAuth2{ClientSecret: "s"})},
		"oauth2, its assertion from the environment": {oauth2(nil), environment{"STREAM_OAUTH2_CLIENT_ASSERTION": "a.b.c"},
			wantOAuth2(streams.OAuth2{ClientAssertion: "a.b.c"})},
		"oauth2 with an assertion": {oauth2(block{"client_assertion": "a.b.c"}), environment{
			"STREAM_OAUTH2_CLIENT_SECRET": "s", "STREAM_OAUTH2_CLIENT_ASSERTION": "other", "STREAM_OAUTH2_CLIENT_ASSERTION_FILE": "f",
		}, wantOAuth2(streams.OAuth2{ClientAssertion: "a.b.c"})},
		"oauth2 with an assertion from a file": {oauth2(block{"client_assertion_file": "f"}), environment{"STREAM_OAUTH2_CLIENT_SECRET": "s"},
			wantOAuth2(streams.OAuth2{ClientAssertionFile: "f"})},
		"oauth2 with an assertion from a file, from the environment": {oauth2(nil), environment{"STREAM_OAUTH2_CLIENT_ASSERTION_FILE": "f"},
			wantOAuth2(streams.OAuth2{ClientAssertionFile: "f"})},

		"headers beside a scheme from the environment": {block{"headers": block{"X-Api-Key": "k", "x-empty": ""}}, environment{"STREAM_TOKEN": "t"},
			streams.Config{Token: "t", Headers: map[string]string{"X-Api-Key": "k", "x-empty": ""}}},
		"Authorization in headers, schemes in the environment": {block{"headers": block{"authorization": "ApiKey k"}},
			environment{"STREAM_TOKEN": "t", "STREAM_USERNAME": "u"}, streams.Config{Headers: map[string]string{"authorization": "ApiKey k"}}},
		"authority alone": {block{"tls": block{"ca_cert_pem": ca.CertPEM}}, nil, streams.Config{TLS: streams.TLS{CACertPEM: ca.CertPEM}}},
		"client certificate and server name": {
			block{"tls": block{"client_cert_pem": pair.CertPEM, "client_key_pem": pair.KeyPEM, "server_name": "host", "insecure_skip_verify": false}}, nil,
			streams.Config{TLS: streams.TLS{ClientCertPEM: pair.CertPEM, ClientKeyPEM: pair.KeyPEM, ServerName: "host"}},
		},

		"limits": {block{"request_timeout": "1m30s", "requests_per_second": 0.5, "max_concurrent_requests": 8}, nil,
			streams.Config{RequestTimeout: 90 * time.Second, RequestsPerSecond: 0.5, MaxConcurrent: 8}},
		"retry": {block{"retry": block{"max_attempts": 1, "min_backoff": "10ms", "max_backoff": "10ms"}}, nil,
			retry(1, 10*time.Millisecond, 10*time.Millisecond)},
		"attempts alone": {block{"retry": block{"max_attempts": 3}}, nil, retry(3, byDefault.MinBackoff, byDefault.MaxBackoff)},
		"shortest wait above the default of the longest": {block{"retry": block{"min_backoff": "1m"}}, nil,
			retry(byDefault.MaxAttempts, time.Minute, time.Minute)},
		"longest wait below the default of the shortest": {block{"retry": block{"max_backoff": "1ms"}}, nil,
			retry(byDefault.MaxAttempts, time.Millisecond, time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readBlock(t, test.block, test.env)
			wantProblems(t, s.diags)
			if s.unknown || s.detectDrift {
				t.Errorf("unknown is %t, detectDrift is %t", s.unknown, s.detectDrift)
			}
			if test.want.BaseURL == "" {
				test.want.BaseURL = someURL
			}
			if test.want.Retry == (streams.Retry{}) {
				test.want.Retry = streams.DefaultRetry
			}
			if diff := cmp.Diff(test.want, s.client, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(streams.Config{}, "Credentials")); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

// merge returns the attributes of both objects. Those of the second one come first.
func merge(a, b block) block {
	merged := maps.Clone(a)
	maps.Copy(merged, b)
	return merged
}

func TestReadDetectDrift(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		block block
		env   environment
		want  bool
	}{
		"on":                          {block{"detect_drift": true}, nil, true},
		"on in the environment":       {nil, environment{"STREAM_DETECT_DRIFT": "true"}, true},
		"off in the environment":      {nil, environment{"STREAM_DETECT_DRIFT": "0"}, false},
		"off, environment ignored":    {block{"detect_drift": false}, environment{"STREAM_DETECT_DRIFT": "true"}, false},
		"on, junk in the environment": {block{"detect_drift": true}, environment{"STREAM_DETECT_DRIFT": "junk"}, true},
	} {
		s := readBlock(t, test.block, test.env)
		if wantProblems(t, s.diags); s.detectDrift != test.want {
			t.Errorf("%s: detectDrift is %t", name, s.detectDrift)
		}
	}
}

const someURL = "https://streams.example.com"

// readBlock reads a provider block. Unless env says otherwise, STREAM_BASE_URL is someURL.
func readBlock(t *testing.T, block block, env environment) *settings {
	t.Helper()
	return readSettings(t.Context(), blockConfig(t, block), func(name string) string {
		if text, ok := env[name]; ok || name != "STREAM_BASE_URL" {
			return text
		}
		return someURL
	})
}

// blockConfig makes of a provider block what the framework makes of it.
func blockConfig(t *testing.T, block block) tfsdk.Config {
	t.Helper()
	schema := providerSchema()
	return tfsdk.Config{Schema: schema, Raw: coretest.ToTerraform(schema.Type().TerraformType(t.Context()), block)}
}

// wantProblems fails the test unless there are exactly these problems, or if one of them quotes a secret of the tests.
func wantProblems(t *testing.T, diags diag.Diagnostics, want ...problem) {
	t.Helper()
	var got []problem
	for _, d := range diags {
		p := problem{text: d.Detail()}
		if d, ok := d.(diag.DiagnosticWithPath); ok {
			p.path = d.Path().String()
		}
		if strings.Contains(d.Detail()+d.Summary()+p.path, "Hidden") {
			t.Errorf("a secret is quoted: %s: %s", p.path, p.text)
		}
		got = append(got, p)
	}
	slices.SortFunc(got, func(a, b problem) int { return strings.Compare(a.path+"\n"+a.text, b.path+"\n"+b.text) })
	if !slices.EqualFunc(got, want, func(got, want problem) bool {
		return got.path == want.path && strings.Contains(got.text, want.text)
	}) {
		t.Errorf("problems:\n%s\nwant:\n%s", problemList(got), problemList(want))
	}
}

func problemList(problems []problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "\t%s: %s\n", p.path, p.text)
	}
	return b.String()
}

func TestDescribeCredentials(t *testing.T) {
	t.Parallel()
	pair := streamstest.NewAuthority(t).Issue(t, "client")
	oauth2 := block{"token_url": "https://id.example.com", "client_id": "me", "client_secret": "Hidden1"}
	for name, test := range map[string]struct {
		block block
		env   environment
		want  string
	}{
		"nothing":    {nil, nil, "no credentials"},
		"token":      {block{"token": "Hidden1"}, nil, "a bearer token from the provider block"},
		"token, env": {nil, environment{"STREAM_TOKEN": "Hidden1"}, "a bearer token from STREAM_TOKEN"},
		"basic_auth": {block{"basic_auth": block{"username": "me", "password": "Hidden1"}}, nil, `the basic_auth of user "me" from the provider block`},
		"basic_auth, env": {nil, environment{"STREAM_USERNAME": "me", "STREAM_PASSWORD": "Hidden1"},
			`the basic_auth of user "me" from STREAM_USERNAME`},
		"oauth2":  {block{"oauth2": oauth2}, nil, `a token of the oauth2 client "me" from the provider block`},
		"headers": {block{"headers": block{"X-Api-Key": "Hidden1", "X-Tenant": "Hidden2"}}, nil, "the header X-Api-Key and the header X-Tenant"},
		"client certificate": {block{"token": "Hidden1", "tls": block{"client_cert_pem": pair.CertPEM, "client_key_pem": pair.KeyPEM}}, nil,
			"a bearer token from the provider block and a client certificate"},
	} {
		if got := readBlock(t, test.block, test.env).client.Credentials; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
