package provider

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/provider"
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

	for name, test := range map[string]struct {
		block       block
		env         environment
		want        streams.Config // Retry is filled in
		detectDrift bool
	}{
		"nothing": {},
		"address": {
			block: block{"base_url": "https://streams.example.com/eu/v2/"},
			want:  streams.Config{BaseURL: "https://streams.example.com/eu/v2/"},
		},
		"address from the environment": {
			env:  environment{"STREAM_BASE_URL": "https://streams.example.com"},
			want: streams.Config{BaseURL: "https://streams.example.com"},
		},
		"address from both": {
			block: block{"base_url": "https://eu.example.com"},
			env:   environment{"STREAM_BASE_URL": "https://us.example.com"},
			want:  streams.Config{BaseURL: "https://eu.example.com"},
		},

		"token": {
			block: block{"token": "t"},
			want:  streams.Config{Token: "t"},
		},
		"token from the environment": {
			env:  environment{"STREAM_TOKEN": "t"},
			want: streams.Config{Token: "t"},
		},
		"token from both": {
			block: block{"token": "config"},
			env:   environment{"STREAM_TOKEN": "environment"},
			want:  streams.Config{Token: "config"},
		},
		"token_file": {
			block: block{"token_file": "run/token"},
			env:   environment{"STREAM_TOKEN_FILE": "other", "STREAM_TOKEN": "t"},
			want:  streams.Config{TokenFile: "run/token"},
		},
		"token_file from the environment": {
			env:  environment{"STREAM_TOKEN_FILE": "/run/token"},
			want: streams.Config{TokenFile: "/run/token"},
		},
		"token, token_file in the environment": {
			block: block{"token": "t"},
			env:   environment{"STREAM_TOKEN_FILE": "/run/token"},
			want:  streams.Config{Token: "t"},
		},
		"basic_auth": {
			block: block{"basic_auth": block{"username": "u", "password": "p:ü"}},
			want:  streams.Config{BasicAuth: &streams.BasicAuth{Username: "u", Password: "p:ü"}},
		},
		"basic_auth from the environment": {
			env:  environment{"STREAM_USERNAME": "u", "STREAM_PASSWORD": "p"},
			want: streams.Config{BasicAuth: &streams.BasicAuth{Username: "u", Password: "p"}},
		},
		"basic_auth, its password from the environment": {
			block: block{"basic_auth": block{"username": "config"}},
			env:   environment{"STREAM_USERNAME": "environment", "STREAM_PASSWORD": "p"},
			want:  streams.Config{BasicAuth: &streams.BasicAuth{Username: "config", Password: "p"}},
		},
		"basic_auth, all of it from the environment": {
			block: block{"basic_auth": block{}},
			env:   environment{"STREAM_USERNAME": "u", "STREAM_PASSWORD": "p", "STREAM_TOKEN": "t"},
			want:  streams.Config{BasicAuth: &streams.BasicAuth{Username: "u", Password: "p"}},
		},
		"oauth2": {
			block: block{"oauth2": block{
				"token_url": "https://id.example.com/token?tenant=1", "client_id": "c", "client_secret": "s",
				"scopes": []any{"b", "a"}, "endpoint_params": block{"audience": "x", "resource": ""},
			}},
			want: streams.Config{OAuth2: &streams.OAuth2{
				TokenURL: "https://id.example.com/token?tenant=1", ClientID: "c", ClientSecret: "s",
				Scopes: []string{"b", "a"}, EndpointParams: map[string]string{"audience": "x", "resource": ""},
			}},
		},
		"oauth2 from the environment": {
			env: environment{
				"STREAM_OAUTH2_TOKEN_URL": "https://id.example.com", "STREAM_OAUTH2_CLIENT_ID": "c", "STREAM_OAUTH2_CLIENT_SECRET": "s",
			},
			want: streams.Config{OAuth2: &streams.OAuth2{TokenURL: "https://id.example.com", ClientID: "c", ClientSecret: "s"}},
		},
		"oauth2, its secret from the environment": {
			block: block{"oauth2": block{"token_url": "https://id.example.com", "client_id": "c"}},
			env:   environment{"STREAM_OAUTH2_CLIENT_ID": "other", "STREAM_OAUTH2_CLIENT_SECRET": "s"},
			want:  streams.Config{OAuth2: &streams.OAuth2{TokenURL: "https://id.example.com", ClientID: "c", ClientSecret: "s"}},
		},
		"oauth2 with an assertion": {
			block: block{"oauth2": block{"token_url": "https://id.example.com", "client_id": "c", "client_assertion": "a.b.c"}},
			env:   environment{"STREAM_OAUTH2_CLIENT_SECRET": "s", "STREAM_OAUTH2_CLIENT_ASSERTION": "other", "STREAM_OAUTH2_CLIENT_ASSERTION_FILE": "f"},
			want:  streams.Config{OAuth2: &streams.OAuth2{TokenURL: "https://id.example.com", ClientID: "c", ClientAssertion: "a.b.c"}},
		},
		"oauth2 with an assertion from a file": {
			block: block{"oauth2": block{"token_url": "https://id.example.com", "client_id": "c", "client_assertion_file": "f"}},
			env:   environment{"STREAM_OAUTH2_CLIENT_SECRET": "s"},
			want:  streams.Config{OAuth2: &streams.OAuth2{TokenURL: "https://id.example.com", ClientID: "c", ClientAssertionFile: "f"}},
		},
		"oauth2, its assertion from the environment": {
			block: block{"oauth2": block{"token_url": "https://id.example.com"}},
			env:   environment{"STREAM_OAUTH2_CLIENT_ID": "c", "STREAM_OAUTH2_CLIENT_ASSERTION": "a.b.c"},
			want:  streams.Config{OAuth2: &streams.OAuth2{TokenURL: "https://id.example.com", ClientID: "c", ClientAssertion: "a.b.c"}},
		},
		"oauth2 with an assertion, from the environment": {
			env: environment{
				"STREAM_OAUTH2_TOKEN_URL": "https://id.example.com", "STREAM_OAUTH2_CLIENT_ID": "c", "STREAM_OAUTH2_CLIENT_ASSERTION_FILE": "f",
			},
			want: streams.Config{OAuth2: &streams.OAuth2{TokenURL: "https://id.example.com", ClientID: "c", ClientAssertionFile: "f"}},
		},
		"one scheme in the configuration, two in the environment": {
			block: block{"token": "t"},
			env:   environment{"STREAM_USERNAME": "u", "STREAM_PASSWORD": "p", "STREAM_OAUTH2_CLIENT_ID": "c", "STREAM_TOKEN": "other"},
			want:  streams.Config{Token: "t"},
		},
		"headers beside a scheme from the environment": {
			block: block{"headers": block{"X-Api-Key": "k", "x-empty": ""}},
			env:   environment{"STREAM_TOKEN": "t"},
			want:  streams.Config{Token: "t", Headers: map[string]string{"X-Api-Key": "k", "x-empty": ""}},
		},
		"Authorization in headers, schemes in the environment": {
			block: block{"headers": block{"authorization": "ApiKey k"}},
			env:   environment{"STREAM_TOKEN": "t", "STREAM_USERNAME": "u"},
			want:  streams.Config{Headers: map[string]string{"authorization": "ApiKey k"}},
		},

		"authority alone": {
			block: block{"tls": block{"ca_cert_pem": ca.CertPEM}},
			want:  streams.Config{TLS: streams.TLS{CACertPEM: ca.CertPEM}},
		},
		"client certificate alone": {
			block: block{"tls": block{"client_cert_pem": pair.CertPEM, "client_key_pem": pair.KeyPEM}},
			want:  streams.Config{TLS: streams.TLS{ClientCertPEM: pair.CertPEM, ClientKeyPEM: pair.KeyPEM}},
		},
		"server name alone": {
			block: block{"tls": block{"server_name": "streams.internal", "insecure_skip_verify": false}},
			want:  streams.Config{TLS: streams.TLS{ServerName: "streams.internal"}},
		},
		"empty objects": {
			block: block{"tls": block{}, "retry": block{}, "headers": block{}},
		},

		"limits": {
			block: block{
				"request_timeout": "1m30s", "requests_per_second": 0.5, "max_concurrent_requests": 8,
				"retry": block{"max_attempts": 1, "min_backoff": "10ms", "max_backoff": "10ms"},
			},
			want: streams.Config{
				RequestTimeout: 90 * time.Second, RequestsPerSecond: 0.5, MaxConcurrent: 8,
				Retry: streams.Retry{MaxAttempts: 1, MinBackoff: 10 * time.Millisecond, MaxBackoff: 10 * time.Millisecond},
			},
		},
		"attempts alone": {
			block: block{"retry": block{"max_attempts": 3}},
			want:  streams.Config{Retry: streams.Retry{MaxAttempts: 3, MinBackoff: streams.DefaultRetry.MinBackoff, MaxBackoff: streams.DefaultRetry.MaxBackoff}},
		},
		"shortest wait above the default of the longest": {
			block: block{"retry": block{"min_backoff": "1m"}},
			want:  streams.Config{Retry: streams.Retry{MaxAttempts: streams.DefaultRetry.MaxAttempts, MinBackoff: time.Minute, MaxBackoff: time.Minute}},
		},
		"longest wait below the default of the shortest": {
			block: block{"retry": block{"max_backoff": "1ms"}},
			want:  streams.Config{Retry: streams.Retry{MaxAttempts: streams.DefaultRetry.MaxAttempts, MinBackoff: time.Millisecond, MaxBackoff: time.Millisecond}},
		},

		"detect_drift":                       {block: block{"detect_drift": true}, detectDrift: true},
		"detect_drift from the environment":  {env: environment{"STREAM_DETECT_DRIFT": "true"}, detectDrift: true},
		"detect_drift, 0 in the environment": {env: environment{"STREAM_DETECT_DRIFT": "0"}},
		"detect_drift off, on in the environment": {
			block: block{"detect_drift": false},
			env:   environment{"STREAM_DETECT_DRIFT": "true"},
		},
		"detect_drift on, junk in the environment": {
			block:       block{"detect_drift": true},
			env:         environment{"STREAM_DETECT_DRIFT": "junk"},
			detectDrift: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readBlock(t, test.block, test.env)
			wantProblems(t, s.diags)
			if s.unknown {
				t.Error("something is not known")
			}
			if s.detectDrift != test.detectDrift {
				t.Errorf("detectDrift is %t", s.detectDrift)
			}
			if s.missingBaseURL != (test.want.BaseURL == "") {
				t.Errorf("missingBaseURL is %t", s.missingBaseURL)
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

// readBlock reads a provider block as the framework does.
func readBlock(t *testing.T, block block, env environment) *settings {
	t.Helper()
	var schema provider.SchemaResponse
	new(streamProvider).Schema(t.Context(), provider.SchemaRequest{}, &schema)
	config := tfsdk.Config{Schema: schema.Schema, Raw: coretest.ToTerraform(schema.Schema.Type().TerraformType(t.Context()), block)}
	var model providerModel
	if diags := config.Get(t.Context(), &model); diags.HasError() {
		t.Fatal(diags)
	}
	return readSettings(model, func(name string) string { return env[name] })
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
		"basic_auth": {block{"basic_auth": block{"username": "me", "password": "Hidden1"}}, nil, `the basic_auth of user "me"`},
		"basic_auth, env": {nil, environment{"STREAM_USERNAME": "me", "STREAM_PASSWORD": "Hidden1"},
			`the basic_auth of user "me" from STREAM_USERNAME`},
		"oauth2":  {block{"oauth2": oauth2}, nil, `a token of the oauth2 client "me"`},
		"headers": {block{"headers": block{"X-Api-Key": "Hidden1", "X-Tenant": "Hidden2"}}, nil, "the header X-Api-Key and the header X-Tenant"},
		"client certificate": {block{"token": "Hidden1", "tls": block{"client_cert_pem": pair.CertPEM, "client_key_pem": pair.KeyPEM}}, nil,
			"a bearer token from the provider block and a client certificate"},
	} {
		if got := readBlock(t, test.block, test.env).client.Credentials; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
