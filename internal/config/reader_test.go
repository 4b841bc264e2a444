package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// block is a provider block, or an object or a map in it.
type block = coretest.Attributes

// environment has the environment variables of the provider.
type environment map[string]string

// afterApply is a value that is known after apply.
const afterApply = tftypes.UnknownValue

const someURL = "https://streams.example.com"

// getenv is like [os.Getenv]. Unless the environment says otherwise, STREAM_BASE_URL is someURL.
func (e environment) getenv(name string) string {
	if text, ok := e[name]; ok || name != "STREAM_BASE_URL" {
		return text
	}
	return someURL
}

// merge returns the attributes of both objects. Those of the second one come first.
func merge(a, b block) block {
	merged := maps.Clone(a)
	maps.Copy(merged, b)
	return merged
}

// decoded makes of a provider block what the framework makes of it.
func decoded(t *testing.T, block block) tfsdk.Config {
	t.Helper()
	return tfsdk.Config{Schema: Schema(), Raw: coretest.ToTerraform(Schema().Type().TerraformType(t.Context()), block)}
}

func read(t *testing.T, block block, env environment) (Settings, diag.Diagnostics) {
	t.Helper()
	return Read(t.Context(), decoded(t, block), env.getenv)
}

// clients has provider blocks and what they say about the client. The defaults of what each client has are left out.
type clients map[string]struct {
	block block
	env   environment
	want  streams.Config
}

func (tests clients) run(t *testing.T) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, diags := read(t, test.block, test.env)
			if wantProblems(t, diags); !s.Complete {
				t.Error("the settings are not complete")
			}
			if test.want.BaseURL == "" {
				test.want.BaseURL = someURL
			}
			if test.want.Retry == (streams.Retry{}) {
				test.want.Retry = streams.DefaultRetry
			}
			if test.want.Credentials == "" {
				test.want.Credentials = streams.NoCredentials
			}
			if diff := cmp.Diff(test.want, s.Client, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

// problems has provider blocks and what is wrong with them, as wantProblems expects it.
type problems map[string]struct {
	block block
	env   environment
	want  []string
}

func (tests problems) run(t *testing.T) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := read(t, test.block, test.env)
			wantProblems(t, diags, test.want...)
		})
	}
}

// wantProblems fails the test unless there are exactly these problems, each the beginning of a text that names the
// attribute, or if one of them quotes a secret of the tests.
func wantProblems(t *testing.T, diags diag.Diagnostics, want ...string) {
	t.Helper()
	var got []string
	for _, d := range diags {
		text := d.Detail()
		if d, ok := d.(diag.DiagnosticWithPath); ok && !strings.HasPrefix(text, d.Path().String()+" ") {
			text = d.Path().String() + ": " + text
		}
		if d.Summary() != Invalid {
			text = d.Severity().String() + ": " + text
		}
		got = append(got, text)
	}
	slices.Sort(got)
	if !slices.EqualFunc(got, want, strings.HasPrefix) || strings.Contains(fmt.Sprint(got), "Hidden") {
		t.Errorf("problems:\n\t%s\nwant, without a secret:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// A value that is known after apply is no problem, and no environment variable replaces it.
func TestKnownAfterApply(t *testing.T) {
	t.Parallel()
	const unused = "\n" // as a token, it would be refused
	env := environment{"STREAM_BASE_URL": "junk", "STREAM_DETECT_DRIFT": "junk", "STREAM_TOKEN": unused, "STREAM_USERNAME": "u",
		"STREAM_TLS_CA_CERT_PEM": "junk"}
	for _, test := range []block{
		{"token": afterApply},
		{"token_file": afterApply},
		{"basic_auth": afterApply},
		{"basic_auth": block{"username": afterApply, "password": "p"}},
		{"oauth2": afterApply},
		oauth2(block{"token_url": afterApply, "client_secret": "s"}),
		oauth2(block{"client_secret": afterApply}),
		oauth2(block{"client_secret": "s", "scopes": []any{afterApply}}),
		oauth2(block{"client_secret": "s", "endpoint_params": block{"a": afterApply}}),
		{"headers": afterApply}, // it may have Authorization
		{"headers": block{"Authorization": afterApply}},
		{"token": "t", "headers": block{"X-Api-Key": afterApply}},
		{"token": "t", "tls": block{"ca_cert_pem": afterApply, "client_cert_pem": afterApply, "client_key_pem": "k"}},
		{"token": "t", "tls": block{"ca_cert_pem": afterApply, "client_key_pem": afterApply}},
		{"token": "t", "retry": block{"min_backoff": afterApply, "max_backoff": "1ms"}},
		{
			"token": afterApply, "headers": afterApply, "request_timeout": afterApply, "retry": afterApply,
			"requests_per_second": afterApply, "max_concurrent_requests": afterApply, "deployment": afterApply,
		},
	} {
		s, diags := read(t, merge(block{"base_url": afterApply, "detect_drift": afterApply, "tls": afterApply}, test), env)
		if wantProblems(t, diags); s.Complete {
			t.Errorf("%v: the settings are complete", test)
		}
	}
}
