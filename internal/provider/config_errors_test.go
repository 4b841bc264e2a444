package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

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
		"no base_url": {nil, environment{"STREAM_BASE_URL": ""}, []problem{
			{"base_url", "base_url is missing. Set it in the provider block, or set the environment variable STREAM_BASE_URL."},
		}},
		"empty base_url":    {block{"base_url": ""}, nil, []problem{{"base_url", "must not be empty"}}},
		"STREAM_BASE_URL":   {nil, environment{"STREAM_BASE_URL": "https://me:Hidden1@example.com"}, []problem{{"base_url", "The environment variable STREAM_BASE_URL (base_url) must not contain a user name"}}},
		"empty token":       {block{"token": ""}, nil, []problem{{"token", "must not be empty"}}},
		"scheme in a token": {block{"token": "bearer Hidden1"}, nil, []problem{{"token", `cannot be sent: it begins with "Bearer", which is sent before the token.`}}},
		"space at a token":  {block{"token": "Hidden1 "}, nil, []problem{{"token", "trimspace()"}}},
		"STREAM_TOKEN":      {nil, environment{"STREAM_TOKEN": "Hidden1\n"}, []problem{{"token", "The environment variable STREAM_TOKEN (token) must not begin or end with white space"}}},
		"STREAM_USERNAME":   {nil, environment{"STREAM_USERNAME": "a:b", "STREAM_PASSWORD": "Hidden1"}, []problem{{"basic_auth.username", "The environment variable STREAM_USERNAME (basic_auth.username) must not contain a colon"}}},
		"STREAM_OAUTH2_TOKEN_URL": {
			nil, environment{"STREAM_OAUTH2_TOKEN_URL": "id.example.com", "STREAM_OAUTH2_CLIENT_ID": "c", "STREAM_OAUTH2_CLIENT_SECRET": "Hidden1"},
			[]problem{{"oauth2.token_url", "The environment variable STREAM_OAUTH2_TOKEN_URL (oauth2.token_url) must begin with"}},
		},
		"address of a stream": {block{"base_url": "https://example.com/eu/v2/streams/cam-1"}, nil, []problem{{"base_url", `not of its streams; write "https://example.com/eu"`}}},

		"basic_auth without anything": {block{"basic_auth": block{}}, nil, []problem{
			{"basic_auth.password", "is missing. Set it in the provider block, or set the environment variable STREAM_PASSWORD"},
			{"basic_auth.username", "is missing. Set it in the provider block, or set the environment variable STREAM_USERNAME"},
		}},
		"half of basic_auth in the environment": {nil, environment{"STREAM_PASSWORD": "Hidden1"}, []problem{{"basic_auth.username", "STREAM_USERNAME"}}},

		"oauth2 without anything": {block{"oauth2": block{}}, nil, []problem{
			{"oauth2.client_id", "STREAM_OAUTH2_CLIENT_ID"},
			{"oauth2.client_secret", "STREAM_OAUTH2_CLIENT_SECRET. Instead of a secret, you can set client_assertion or client_assertion_file."},
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
				{"oauth2.token_url", "must not contain a user name"},
			},
		},

		"token_file and an assertion in the environment": {
			nil, environment{"STREAM_TOKEN_FILE": "f", "STREAM_OAUTH2_CLIENT_ASSERTION": "Hidden1"},
			[]problem{{"", "token_file (STREAM_TOKEN_FILE) and oauth2 (STREAM_OAUTH2_CLIENT_ASSERTION)"}},
		},
		"three ways to authenticate a client": {
			block{"oauth2": block{
				"token_url": "https://id.example.com", "client_id": "c", "client_secret": "Hidden1", "client_assertion": unknown, "client_assertion_file": "f",
			}}, nil,
			[]problem{
				{"oauth2.client_assertion", "and oauth2.client_secret are two ways"},
				{"oauth2.client_assertion_file", "and oauth2.client_secret are two ways"},
			},
		},
		"two ways to authenticate a client in the environment": {
			block{"oauth2": block{"token_url": "https://id.example.com", "client_id": "c"}},
			environment{"STREAM_OAUTH2_CLIENT_SECRET": "Hidden1", "STREAM_OAUTH2_CLIENT_ASSERTION_FILE": "f"},
			[]problem{{"", "oauth2.client_secret (STREAM_OAUTH2_CLIENT_SECRET) and oauth2.client_assertion_file (STREAM_OAUTH2_CLIENT_ASSERTION_FILE)"}},
		},
		"assertion with a line break": {
			nil, environment{
				"STREAM_OAUTH2_TOKEN_URL": "https://id.example.com", "STREAM_OAUTH2_CLIENT_ID": "c", "STREAM_OAUTH2_CLIENT_ASSERTION": "Hidden1\n",
			},
			[]problem{{"oauth2.client_assertion", "must not begin or end with white space"}},
		},
		"assertion among the parameters": {
			block{"oauth2": block{"token_url": "https://id.example.com", "client_id": "c", "client_secret": "s", "endpoint_params": block{
				"client_assertion": "Hidden1", "client_assertion_type": "x",
			}}}, nil,
			[]problem{
				{`oauth2.endpoint_params["client_assertion"]`, "has an attribute of its own"},
				{`oauth2.endpoint_params["client_assertion_type"]`, "is set by the provider"},
			},
		},

		"two schemes, of which one is not known": {
			block{"token": unknown, "oauth2": unknown}, nil,
			[]problem{{"oauth2", "oauth2 and token are two ways"}},
		},
		"all schemes": {
			block{
				"token": "t", "token_file": "f", "basic_auth": block{"username": "u"}, "oauth2": block{"token_url": "junk", "client_id": "c", "client_secret": "s"},
				"headers": block{"AUTHORIZATION": "x"},
			}, nil,
			[]problem{
				{"basic_auth", "basic_auth and token are two ways"},
				{"basic_auth.password", "is missing"},
				{`headers["AUTHORIZATION"]`, "and token are two ways"},
				{"oauth2", "oauth2 and token are two ways"},
				{"oauth2.token_url", "must begin with"},
				{"token_file", "token_file and token are two ways"},
			},
		},
		"Authorization not known yet, and a scheme": {
			block{"token": "t", "headers": block{"Authorization": unknown}}, nil,
			[]problem{{`headers["Authorization"]`, "and token are two ways"}},
		},
		"two schemes in the environment": {
			nil, environment{"STREAM_TOKEN": "Hidden1", "STREAM_USERNAME": "u", "STREAM_PASSWORD": "Hidden2"},
			[]problem{{"", "token (STREAM_TOKEN) and basic_auth (STREAM_PASSWORD, STREAM_USERNAME)"}},
		},

		"headers": {
			block{"headers": block{
				"HOST": "x", "": "x", "X-Line": "Hidden1\r\nX: 1", "X-Null": nil, "X-Space": " Hidden1", "X-Key": "1", "x-key": "2",
			}}, nil,
			[]problem{
				{`headers[""]`, "is not a valid header name"},
				{`headers["HOST"]`, "must not set Host"},
				{`headers["X-Line"]`, "a line break"},
				{`headers["X-Null"]`, "must not be null"},
				{`headers["X-Space"]`, "must not begin or end with white space"},
				{`headers["x-key"]`, `is the same header as "X-Key"`},
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
		"a path for an authority":   {block{"tls": block{"ca_cert_pem": "/etc/ca.pem"}}, nil, []problem{{"tls.ca_cert_pem", `contains no PEM certificate. If it is the path of a file, use file("…").`}}},
		"paths for a pair":          {block{"tls": block{"client_cert_pem": "client.pem", "client_key_pem": "Hidden1.pem"}}, nil, []problem{{"tls.client_cert_pem", `If it is the path of a file, use file("…").`}}},
		"certificate without key":   {block{"tls": block{"client_cert_pem": pair.CertPEM}}, nil, []problem{{"tls.client_key_pem", "tls.client_key_pem is missing"}}},
		"key without certificate":   {block{"tls": block{"client_key_pem": pair.KeyPEM}}, nil, []problem{{"tls.client_cert_pem", "tls.client_cert_pem is missing"}}},
		"another certificate's key": {block{"tls": block{"client_cert_pem": pair.CertPEM, "client_key_pem": other.KeyPEM}}, nil, []problem{{"tls.client_cert_pem", "does not match"}}},
		"junk for a certificate":    {block{"tls": block{"client_cert_pem": junk, "client_key_pem": pair.KeyPEM}}, nil, []problem{{"tls.client_cert_pem", "do not make a client certificate"}}},

		"request_timeout without unit": {block{"request_timeout": "30"}, nil, []problem{{"request_timeout", `must be a duration above zero, such as "500ms", "30s" or "1m30s"; it is "30"`}}},
		"request_timeout empty":        {block{"request_timeout": ""}, nil, []problem{{"request_timeout", "must not be empty"}}},
		"retry": {
			block{"retry": block{"max_attempts": 0, "min_backoff": "soon", "max_backoff": "0"}}, nil,
			[]problem{
				{"retry.max_attempts", "must be a whole number from 1 to 1000000; it is 0"},
				{"retry.max_backoff", "must be a duration above zero"},
				{"retry.min_backoff", "must be a duration above zero"},
			},
		},
		"one wait that is wrong, one below the default of the other": {
			block{"retry": block{"min_backoff": "soon", "max_backoff": "1ms"}}, nil,
			[]problem{{"retry.min_backoff", "must be a duration above zero"}},
		},
		"shortest wait the longest": {block{"retry": block{"min_backoff": "2s", "max_backoff": "1s"}}, nil, []problem{{"retry.max_backoff", "must not be shorter than min_backoff"}}},
		"rate of zero":              {block{"requests_per_second": 0}, nil, []problem{{"requests_per_second", "must be more than 0"}}},
		"no request at a time":      {block{"max_concurrent_requests": 0}, nil, []problem{{"max_concurrent_requests", "must be a whole number from 1 to 10000; it is 0"}}},
		"half a request":            {block{"max_concurrent_requests": 1.5}, nil, []problem{{"max_concurrent_requests", "must be a whole number from 1 to 10000; it is 1.5"}}},
		"too many at a time":        {block{"max_concurrent_requests": 10001}, nil, []problem{{"max_concurrent_requests", "must be a whole number from 1 to 10000; it is 10001"}}},
		"STREAM_DETECT_DRIFT":       {nil, environment{"STREAM_DETECT_DRIFT": "yes"}, []problem{{"detect_drift", `The environment variable STREAM_DETECT_DRIFT (detect_drift) must be "true" or "false".`}}},

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
				{"retry.max_attempts", "must be a whole number"},
				{"tls.ca_cert_pem", "contains no PEM certificate"},
				{"token", "cannot be sent: it has control characters"},
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
	warning := func(path string) []problem {
		return []problem{{path, path + " is an http:// address of another machine"}}
	}
	for name, test := range map[string]struct {
		block block
		want  []problem
	}{
		"http": {block{"base_url": "http://example.com"}, warning("base_url")},
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

// Terraform validates in environments without the address too. Another problem is reported together with a missing address.
func TestValidateConfig(t *testing.T) {
	t.Setenv("STREAM_BASE_URL", "")
	for name, test := range map[string]struct {
		block block
		want  []problem
	}{
		"nothing":             {nil, nil},
		"warning":             {block{"base_url": "http://example.com"}, nil},
		"problem":             {block{"base_url": someURL, "request_timeout": "x"}, []problem{{"request_timeout", "must be a duration"}}},
		"problem, no address": {block{"request_timeout": "x"}, []problem{{"base_url", "is missing"}, {"request_timeout", "must be a duration"}}},
	} {
		t.Run(name, func(t *testing.T) {
			var resp provider.ValidateConfigResponse
			new(streamProvider).ValidateConfig(t.Context(), provider.ValidateConfigRequest{Config: blockConfig(t, test.block)}, &resp)
			wantProblems(t, resp.Diagnostics, test.want...)
		})
	}
}
