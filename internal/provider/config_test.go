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

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// block is a provider block, or an object or a map in it.
type block = map[string]any

// notKnown is a value that only an apply will tell.
const notKnown = tftypes.UnknownValue

// environment is what is set in it.
type environment map[string]string

// problem is a diagnostic: where it is, and a part of what it says.
type problem struct{ at, says string }

func TestReadSettings(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	pair := ca.Issue(t, "client")

	for name, test := range map[string]struct {
		block block
		env   environment
		want  streams.Config // Retry is filled in
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
				"request_timeout": "1m30s", "requests_per_second": 0.5,
				"retry": block{"max_attempts": 1, "min_backoff": "10ms", "max_backoff": "10ms"},
			},
			want: streams.Config{
				RequestTimeout: 90 * time.Second, RequestsPerSecond: 0.5,
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readBlock(t, test.block, test.env)
			wantProblems(t, s.diags)
			if s.unknown {
				t.Error("something is not known")
			}
			if s.noBaseURL != (test.want.BaseURL == "") {
				t.Errorf("noBaseURL is %t", s.noBaseURL)
			}
			if test.want.Retry == (streams.Retry{}) {
				test.want.Retry = streams.DefaultRetry
			}
			if diff := cmp.Diff(test.want, s.client, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadSettingsDetectDrift(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		block block
		env   environment
		want  bool
	}{
		"default":                {nil, nil, false},
		"configured":             {block{"detect_drift": true}, nil, true},
		"from the environment":   {nil, environment{"STREAM_DETECT_DRIFT": "true"}, true},
		"off in the environment": {nil, environment{"STREAM_DETECT_DRIFT": "0"}, false},
		"off in spite of it":     {block{"detect_drift": false}, environment{"STREAM_DETECT_DRIFT": "true"}, false},
		"on, junk out of sight":  {block{"detect_drift": true}, environment{"STREAM_DETECT_DRIFT": "junk"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readBlock(t, test.block, test.env)
			wantProblems(t, s.diags)
			if s.detectDrift != test.want {
				t.Errorf("got %t", s.detectDrift)
			}
		})
	}
}

func TestReadSettingsRefuses(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	pair, other := ca.Issue(t, "client"), ca.Issue(t, "other")
	const junk = "-----BEGIN CERTIFICATE-----\njunk\n-----END CERTIFICATE-----\n"

	for name, test := range map[string]struct {
		block block
		env   environment
		want  []problem
	}{
		"empty base_url":   {block{"base_url": ""}, nil, []problem{{"base_url", "must not be empty"}}},
		"no scheme":        {block{"base_url": "streams.example.com"}, nil, []problem{{"base_url", `must begin with "https://"`}}},
		"another scheme":   {block{"base_url": "ftp://example.com"}, nil, []problem{{"base_url", `must begin with "https://"`}}},
		"no host":          {block{"base_url": "https:///v2"}, nil, []problem{{"base_url", "has no host"}}},
		"only a port":      {block{"base_url": "https://:443"}, nil, []problem{{"base_url", "has no host"}}},
		"user name":        {block{"base_url": "https://me:Hidden1@example.com"}, nil, []problem{{"base_url", "must not hold a user name or password"}}},
		"query":            {block{"base_url": "https://example.com?key=Hidden1"}, nil, []problem{{"base_url", "must not have a query"}}},
		"empty query":      {block{"base_url": "https://example.com/?"}, nil, []problem{{"base_url", "must not have a query"}}},
		"fragment":         {block{"base_url": "https://example.com#Hidden1"}, nil, []problem{{"base_url", "must not have a query or a fragment"}}},
		"no URL":           {block{"base_url": "https://me:Hidden1@exa mple.com"}, nil, []problem{{"base_url", "is not a URL"}}},
		"white space":      {block{"base_url": "https://example.com\n"}, nil, []problem{{"base_url", "is not a URL"}}},
		"STREAM_BASE_URL":  {nil, environment{"STREAM_BASE_URL": "https://me:Hidden1@example.com"}, []problem{{"base_url", "must not hold a user name"}}},
		"empty token":      {block{"token": ""}, nil, []problem{{"token", "must not be empty"}}},
		"line in a token":  {block{"token": "Hidden1\nX: 1"}, nil, []problem{{"token", "must not hold line breaks"}}},
		"space at a token": {block{"token": "Hidden1 "}, nil, []problem{{"token", "trimspace()"}}},
		"STREAM_TOKEN":     {nil, environment{"STREAM_TOKEN": "Hidden1\n"}, []problem{{"token", "must not hold line breaks"}}},

		"basic_auth without anything": {block{"basic_auth": block{}}, nil, []problem{
			{"basic_auth.password", "is missing. Set it in the provider block, or the environment variable STREAM_PASSWORD"},
			{"basic_auth.username", "is missing. Set it in the provider block, or the environment variable STREAM_USERNAME"},
		}},
		"basic_auth empty": {block{"basic_auth": block{"username": "", "password": ""}}, nil, []problem{
			{"basic_auth.password", "must not be empty"},
			{"basic_auth.username", "must not be empty"},
		}},
		"half of basic_auth in the environment": {nil, environment{"STREAM_PASSWORD": "Hidden1"}, []problem{{"basic_auth.username", "STREAM_USERNAME"}}},
		"colon in a user name":                  {block{"basic_auth": block{"username": "a:b", "password": "p"}}, nil, []problem{{"basic_auth.username", "colon"}}},

		"oauth2 without anything": {block{"oauth2": block{}}, nil, []problem{
			{"oauth2.client_id", "STREAM_OAUTH2_CLIENT_ID"},
			{"oauth2.client_secret", "STREAM_OAUTH2_CLIENT_SECRET"},
			{"oauth2.token_url", "STREAM_OAUTH2_TOKEN_URL"},
		}},
		"third of oauth2 in the environment": {nil, environment{"STREAM_OAUTH2_CLIENT_ID": "c"}, []problem{
			{"oauth2.client_secret", "STREAM_OAUTH2_CLIENT_SECRET"},
			{"oauth2.token_url", "STREAM_OAUTH2_TOKEN_URL"},
		}},
		"oauth2 beyond repair": {
			block{"oauth2": block{
				"token_url": "https://me:Hidden1@example.com", "client_id": "c", "client_secret": "s",
				"scopes": []any{"a", nil}, "endpoint_params": block{"audience": nil, "client_secret": "Hidden1", "scope": "x"},
			}}, nil,
			[]problem{
				{`oauth2.endpoint_params["audience"]`, "must not be null"},
				{`oauth2.endpoint_params["client_secret"]`, "has an attribute of its own"},
				{`oauth2.endpoint_params["scope"]`, "has an attribute of its own"},
				{"oauth2.scopes[1]", "must not be null"},
				{"oauth2.token_url", "must not hold a user name"},
			},
		},
		"fragment in the token address": {
			block{"oauth2": block{"token_url": "https://id.example.com/#a", "client_id": "c", "client_secret": "s"}}, nil,
			[]problem{{"oauth2.token_url", "must not have a fragment"}},
		},

		"two schemes": {
			block{"token": "t", "basic_auth": block{"username": "u", "password": "p"}}, nil,
			[]problem{{"basic_auth", "basic_auth and token are two ways"}},
		},
		"two schemes, of which one is not known": {
			block{"token": notKnown, "oauth2": notKnown}, nil,
			[]problem{{"oauth2", "oauth2 and token are two ways"}},
		},
		"all schemes": {
			block{
				"token": "t", "basic_auth": block{"username": "u"}, "oauth2": block{"token_url": "junk", "client_id": "c", "client_secret": "s"},
				"headers": block{"AUTHORIZATION": "x"},
			}, nil,
			[]problem{
				{"basic_auth", "basic_auth and token are two ways"},
				{"basic_auth.password", "is missing"},
				{`headers["AUTHORIZATION"]`, "and basic_auth are two ways"},
				{`headers["AUTHORIZATION"]`, "and oauth2 are two ways"},
				{`headers["AUTHORIZATION"]`, "and token are two ways"},
				{"oauth2", "oauth2 and token are two ways"},
				{"oauth2.token_url", "must begin with"},
			},
		},
		"Authorization not known yet, and a scheme": {
			block{"token": "t", "headers": block{"Authorization": notKnown}}, nil,
			[]problem{{`headers["Authorization"]`, "and token are two ways"}},
		},
		"two schemes in the environment": {
			nil, environment{"STREAM_TOKEN": "Hidden1", "STREAM_USERNAME": "u", "STREAM_PASSWORD": "Hidden2"},
			[]problem{{"", "token (STREAM_TOKEN) and basic_auth (STREAM_USERNAME, STREAM_PASSWORD)"}},
		},
		"a scheme and a part of another in the environment": {
			nil, environment{"STREAM_TOKEN": "t", "STREAM_OAUTH2_CLIENT_SECRET": "Hidden1"},
			[]problem{{"", "token (STREAM_TOKEN) and oauth2 (STREAM_OAUTH2_CLIENT_SECRET)"}},
		},

		"headers": {
			block{"headers": block{
				"Content-Type": "text/plain", "content-length": "1", "HOST": "x", "Transfer-Encoding": "chunked", "Trailer": "x", "Connection": "close",
				"": "x", "a b": "x", "a:b": "x", "ä": "x",
				"X-Line": "Hidden1\r\nX: 1", "X-Null": nil, "X-Space": " Hidden1",
				"X-Key": "1", "x-key": "2",
			}}, nil,
			[]problem{
				{`headers[""]`, "is not a legal header name"},
				{`headers["Connection"]`, "must not set Connection"},
				{`headers["Content-Type"]`, "must not set Content-Type"},
				{`headers["HOST"]`, "must not set Host"},
				{`headers["Trailer"]`, "must not set Trailer"},
				{`headers["Transfer-Encoding"]`, "must not set Transfer-Encoding"},
				{`headers["X-Line"]`, "a line break"},
				{`headers["X-Null"]`, "must not be null"},
				{`headers["X-Space"]`, "surrounding white space"},
				{`headers["a b"]`, "is not a legal header name"},
				{`headers["a:b"]`, "is not a legal header name"},
				{`headers["content-length"]`, "must not set Content-Length"},
				{`headers["x-key"]`, `is the same header as "X-Key"`},
				{`headers["ä"]`, "is not a legal header name"},
			},
		},

		"empty texts in tls": {
			block{"tls": block{"ca_cert_pem": "", "client_cert_pem": "", "client_key_pem": "", "server_name": ""}}, nil,
			[]problem{
				{"tls.ca_cert_pem", "must not be empty"},
				{"tls.client_cert_pem", "must not be empty"},
				{"tls.client_key_pem", "must not be empty"},
				{"tls.server_name", "must not be empty"},
			},
		},
		"junk for an authority":     {block{"tls": block{"ca_cert_pem": junk}}, nil, []problem{{"tls.ca_cert_pem", "holds no PEM certificate"}}},
		"a path for an authority":   {block{"tls": block{"ca_cert_pem": "/etc/ca.pem"}}, nil, []problem{{"tls.ca_cert_pem", "holds no PEM certificate"}}},
		"a key for an authority":    {block{"tls": block{"ca_cert_pem": pair.KeyPEM}}, nil, []problem{{"tls.ca_cert_pem", "holds no PEM certificate"}}},
		"certificate without key":   {block{"tls": block{"client_cert_pem": pair.CertPEM}}, nil, []problem{{"tls.client_key_pem", "tls.client_key_pem is missing"}}},
		"key without certificate":   {block{"tls": block{"client_key_pem": pair.KeyPEM}}, nil, []problem{{"tls.client_cert_pem", "tls.client_cert_pem is missing"}}},
		"another certificate's key": {block{"tls": block{"client_cert_pem": pair.CertPEM, "client_key_pem": other.KeyPEM}}, nil, []problem{{"tls.client_cert_pem", "does not match"}}},
		"junk for a key":            {block{"tls": block{"client_cert_pem": pair.CertPEM, "client_key_pem": "Hidden1"}}, nil, []problem{{"tls.client_cert_pem", "do not make a client certificate"}}},
		"junk for a certificate":    {block{"tls": block{"client_cert_pem": junk, "client_key_pem": pair.KeyPEM}}, nil, []problem{{"tls.client_cert_pem", "do not make a client certificate"}}},

		"request_timeout without unit": {block{"request_timeout": "30"}, nil, []problem{{"request_timeout", `must be a duration above zero, such as "500ms", "30s" or "1m30s"; it is "30"`}}},
		"request_timeout of zero":      {block{"request_timeout": "0s"}, nil, []problem{{"request_timeout", "above zero"}}},
		"request_timeout below zero":   {block{"request_timeout": "-1s"}, nil, []problem{{"request_timeout", "above zero"}}},
		"request_timeout empty":        {block{"request_timeout": ""}, nil, []problem{{"request_timeout", "must not be empty"}}},
		"retry": {
			block{"retry": block{"max_attempts": 0, "min_backoff": "soon", "max_backoff": "0"}}, nil,
			[]problem{
				{"retry.max_attempts", "must be at least 1, which means no retry; it is 0"},
				{"retry.max_backoff", "must be a duration above zero"},
				{"retry.min_backoff", "must be a duration above zero"},
			},
		},
		"one wait that is wrong, one below the default of the other": {
			block{"retry": block{"min_backoff": "soon", "max_backoff": "1ms"}}, nil,
			[]problem{{"retry.min_backoff", "must be a duration above zero"}},
		},
		"attempts below zero":       {block{"retry": block{"max_attempts": -1}}, nil, []problem{{"retry.max_attempts", "it is -1"}}},
		"shortest wait the longest": {block{"retry": block{"min_backoff": "2s", "max_backoff": "1s"}}, nil, []problem{{"retry.max_backoff", "must not be shorter than min_backoff"}}},
		"rate of zero":              {block{"requests_per_second": 0}, nil, []problem{{"requests_per_second", "must be more than 0"}}},
		"rate below zero":           {block{"requests_per_second": -0.5}, nil, []problem{{"requests_per_second", "must be more than 0"}}},
		"STREAM_DETECT_DRIFT":       {nil, environment{"STREAM_DETECT_DRIFT": "yes"}, []problem{{"detect_drift", `must be "true" or "false" in the environment variable STREAM_DETECT_DRIFT`}}},

		"all at once": {
			block{
				"base_url": "example.com", "token": "a\nb", "headers": block{"Host": "x"}, "tls": block{"ca_cert_pem": "x"},
				"request_timeout": "x", "retry": block{"max_attempts": 0}, "requests_per_second": -1,
			},
			environment{"STREAM_DETECT_DRIFT": "x"},
			[]problem{
				{"base_url", "must begin with"},
				{"detect_drift", "must be"},
				{`headers["Host"]`, "must not set Host"},
				{"request_timeout", "must be a duration"},
				{"requests_per_second", "must be more than 0"},
				{"retry.max_attempts", "must be at least 1"},
				{"tls.ca_cert_pem", "holds no PEM certificate"},
				{"token", "must not hold line breaks"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readBlock(t, test.block, test.env)
			wantProblems(t, s.diags, test.want...)
			if len(s.diags.Warnings()) > 0 {
				t.Errorf("refused, and warned besides: %v", s.diags.Warnings())
			}
		})
	}
}

func TestReadSettingsWarns(t *testing.T) {
	t.Parallel()
	warning := func(at string) []problem { return []problem{{at, at + " is an http:// address of another machine"}} }
	for name, test := range map[string]struct {
		block block
		want  []problem
	}{
		"http":                              {block{"base_url": "http://example.com"}, warning("base_url")},
		"http to a private address":         {block{"base_url": "http://10.0.0.1:8080"}, warning("base_url")},
		"http to localhost":                 {block{"base_url": "http://LocalHost:8080"}, nil},
		"http to 127.0.0.2":                 {block{"base_url": "http://127.0.0.2"}, nil},
		"http to ::1":                       {block{"base_url": "http://[::1]:8080"}, nil},
		"a name that begins like localhost": {block{"base_url": "http://localhost.example.com"}, warning("base_url")},
		"https":                             {block{"base_url": "https://example.com"}, nil},
		"http for tokens": {
			block{"oauth2": block{"token_url": "http://id.example.com", "client_id": "c", "client_secret": "s"}},
			warning("oauth2.token_url"),
		},
		"insecure_skip_verify": {
			block{"tls": block{"insecure_skip_verify": true}},
			[]problem{{"tls.insecure_skip_verify", "set ca_cert_pem instead"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readBlock(t, test.block, nil)
			if s.diags.HasError() {
				t.Error(s.diags.Errors())
			}
			wantProblems(t, s.diags, test.want...)
		})
	}
}

// What is not known yet is no problem, whatever it is, and what the environment says does not stand in.
func TestReadSettingsUnknown(t *testing.T) {
	t.Parallel()
	pair := streamstest.NewAuthority(t).Issue(t, "client")
	both := environment{
		"STREAM_BASE_URL": "junk", "STREAM_TOKEN": "t", "STREAM_USERNAME": "u", "STREAM_PASSWORD": "p", "STREAM_DETECT_DRIFT": "junk",
	}
	for name, test := range map[string]struct {
		block block
		env   environment
	}{
		"base_url":                      {block{"base_url": notKnown}, environment{"STREAM_BASE_URL": "junk"}},
		"token":                         {block{"token": notKnown}, environment{"STREAM_TOKEN": "\n", "STREAM_USERNAME": "u"}},
		"basic_auth":                    {block{"basic_auth": notKnown}, environment{"STREAM_TOKEN": "t", "STREAM_USERNAME": "u"}},
		"basic_auth.username":           {block{"basic_auth": block{"username": notKnown, "password": "p"}}, nil},
		"basic_auth.password":           {block{"basic_auth": block{"username": "u", "password": notKnown}}, nil},
		"oauth2":                        {block{"oauth2": notKnown}, environment{"STREAM_OAUTH2_CLIENT_ID": "c"}},
		"oauth2.token_url":              {block{"oauth2": block{"token_url": notKnown, "client_id": "c", "client_secret": "s"}}, nil},
		"oauth2.client_id":              {block{"oauth2": block{"token_url": "https://id", "client_id": notKnown, "client_secret": "s"}}, nil},
		"oauth2.client_secret":          {block{"oauth2": block{"token_url": "https://id", "client_id": "c", "client_secret": notKnown}}, nil},
		"oauth2.scopes":                 {block{"oauth2": block{"token_url": "https://id", "client_id": "c", "client_secret": "s", "scopes": notKnown}}, nil},
		"oauth2.scopes[0]":              {block{"oauth2": block{"token_url": "https://id", "client_id": "c", "client_secret": "s", "scopes": []any{notKnown}}}, nil},
		"oauth2.endpoint_params":        {block{"oauth2": block{"token_url": "https://id", "client_id": "c", "client_secret": "s", "endpoint_params": notKnown}}, nil},
		`oauth2.endpoint_params["a"]`:   {block{"oauth2": block{"token_url": "https://id", "client_id": "c", "client_secret": "s", "endpoint_params": block{"a": notKnown}}}, nil},
		"headers":                       {block{"headers": notKnown}, environment{"STREAM_TOKEN": "t"}},
		"headers, it may have a scheme": {block{"headers": notKnown}, environment{"STREAM_TOKEN": "t", "STREAM_USERNAME": "u"}},
		`headers["X-Api-Key"]`:          {block{"headers": block{"X-Api-Key": notKnown}}, nil},
		`headers["Authorization"]`:      {block{"headers": block{"Authorization": notKnown}}, environment{"STREAM_TOKEN": "t", "STREAM_USERNAME": "u"}},
		"tls":                           {block{"tls": notKnown}, nil},
		"tls.ca_cert_pem":               {block{"tls": block{"ca_cert_pem": notKnown}}, nil},
		"tls.client_cert_pem":           {block{"tls": block{"client_cert_pem": notKnown, "client_key_pem": pair.KeyPEM}}, nil},
		"tls.client_key_pem":            {block{"tls": block{"client_cert_pem": pair.CertPEM, "client_key_pem": notKnown}}, nil},
		"tls.client_key_pem alone":      {block{"tls": block{"client_key_pem": notKnown}}, nil},
		"tls.server_name":               {block{"tls": block{"server_name": notKnown}}, nil},
		"tls.insecure_skip_verify":      {block{"tls": block{"insecure_skip_verify": notKnown}}, nil},
		"request_timeout":               {block{"request_timeout": notKnown}, nil},
		"retry":                         {block{"retry": notKnown}, nil},
		"retry.max_attempts":            {block{"retry": block{"max_attempts": notKnown}}, nil},
		"retry.min_backoff":             {block{"retry": block{"min_backoff": notKnown, "max_backoff": "1ms"}}, nil},
		"retry.max_backoff":             {block{"retry": block{"min_backoff": "1h", "max_backoff": notKnown}}, nil},
		"requests_per_second":           {block{"requests_per_second": notKnown}, nil},
		"detect_drift":                  {block{"detect_drift": notKnown}, environment{"STREAM_DETECT_DRIFT": "junk"}},
		"everything": {block{
			"base_url": notKnown, "token": notKnown, "headers": notKnown, "tls": notKnown, "request_timeout": notKnown,
			"retry": notKnown, "requests_per_second": notKnown, "detect_drift": notKnown,
		}, both},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readBlock(t, test.block, test.env)
			wantProblems(t, s.diags)
			if !s.unknown {
				t.Error("nothing is unknown")
			}
			if s.noBaseURL != (test.block["base_url"] == nil) {
				t.Errorf("noBaseURL is %t", s.noBaseURL)
			}
		})
	}
}

// readBlock reads a provider block as the framework would hand it over.
func readBlock(t *testing.T, block block, env environment) *settings {
	t.Helper()
	var schema provider.SchemaResponse
	new(streamProvider).Schema(t.Context(), provider.SchemaRequest{}, &schema)
	config := tfsdk.Config{Schema: schema.Schema, Raw: terraformValue(t, schema.Schema.Type().TerraformType(t.Context()), block)}
	var model providerModel
	if diags := config.Get(t.Context(), &model); diags.HasError() {
		t.Fatal(diags)
	}
	return readSettings(model, func(name string) string { return env[name] })
}

// terraformValue makes a value of a type out of Go's. What an object leaves out is null.
func terraformValue(t *testing.T, typ tftypes.Type, v any) tftypes.Value {
	t.Helper()
	elements := map[string]tftypes.Value{}
	switch typ := typ.(type) {
	case tftypes.Object:
		values, ok := v.(block)
		if !ok {
			break
		}
		for name := range values {
			if _, ok := typ.AttributeTypes[name]; !ok {
				t.Fatalf("there is no attribute %q", name)
			}
		}
		for name, attribute := range typ.AttributeTypes {
			elements[name] = terraformValue(t, attribute, values[name])
		}
		return tftypes.NewValue(typ, elements)
	case tftypes.Map:
		values, ok := v.(block)
		if !ok {
			break
		}
		for name, value := range values {
			elements[name] = terraformValue(t, typ.ElementType, value)
		}
		return tftypes.NewValue(typ, elements)
	case tftypes.List:
		values, ok := v.([]any)
		if !ok {
			break
		}
		var list []tftypes.Value
		for _, value := range values {
			list = append(list, terraformValue(t, typ.ElementType, value))
		}
		return tftypes.NewValue(typ, list)
	}
	return tftypes.NewValue(typ, v)
}

// wantProblems fails the test unless there are exactly these problems, by path and text, and none of
// them quotes what the tests hide.
func wantProblems(t *testing.T, diags diag.Diagnostics, want ...problem) {
	t.Helper()
	var got []problem
	for _, d := range diags {
		p := problem{says: d.Detail()}
		if at, ok := d.(diag.DiagnosticWithPath); ok {
			p.at = at.Path().String()
		}
		if strings.Contains(d.Detail()+d.Summary()+p.at, "Hidden") {
			t.Errorf("a secret is quoted: %s: %s", p.at, p.says)
		}
		got = append(got, p)
	}
	slices.SortFunc(got, func(a, b problem) int { return strings.Compare(a.at+"\n"+a.says, b.at+"\n"+b.says) })
	same := func(got, want problem) bool { return got.at == want.at && strings.Contains(got.says, want.says) }
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("problems:\n%s\nwant:\n%s", listing(got), listing(want))
	}
}

func listing(problems []problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "\t%s: %s\n", p.at, p.says)
	}
	return b.String()
}
