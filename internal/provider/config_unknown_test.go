package provider

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// An unknown value is no problem, and no environment variable replaces it.
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
		"base_url":                      {block{"base_url": unknown}, environment{"STREAM_BASE_URL": "junk"}},
		"token":                         {block{"token": unknown}, environment{"STREAM_TOKEN": "\n", "STREAM_USERNAME": "u"}},
		"basic_auth":                    {block{"basic_auth": unknown}, environment{"STREAM_TOKEN": "t", "STREAM_USERNAME": "u"}},
		"basic_auth.username":           {block{"basic_auth": block{"username": unknown, "password": "p"}}, nil},
		"oauth2":                        {block{"oauth2": unknown}, environment{"STREAM_OAUTH2_CLIENT_ID": "c"}},
		"oauth2.token_url":              {block{"oauth2": block{"token_url": unknown, "client_id": "c", "client_secret": "s"}}, nil},
		"oauth2.client_secret":          {block{"oauth2": block{"token_url": "https://id", "client_id": "c", "client_secret": unknown}}, nil},
		"oauth2.scopes[0]":              {block{"oauth2": block{"token_url": "https://id", "client_id": "c", "client_secret": "s", "scopes": []any{unknown}}}, nil},
		`oauth2.endpoint_params["a"]`:   {block{"oauth2": block{"token_url": "https://id", "client_id": "c", "client_secret": "s", "endpoint_params": block{"a": unknown}}}, nil},
		"headers, it may have a scheme": {block{"headers": unknown}, environment{"STREAM_TOKEN": "t", "STREAM_USERNAME": "u"}},
		`headers["X-Api-Key"]`:          {block{"headers": block{"X-Api-Key": unknown}}, nil},
		`headers["Authorization"]`:      {block{"headers": block{"Authorization": unknown}}, environment{"STREAM_TOKEN": "t", "STREAM_USERNAME": "u"}},
		"tls.ca_cert_pem":               {block{"tls": block{"ca_cert_pem": unknown}}, nil},
		"tls.client_cert_pem":           {block{"tls": block{"client_cert_pem": unknown, "client_key_pem": pair.KeyPEM}}, nil},
		"tls.client_key_pem alone":      {block{"tls": block{"client_key_pem": unknown}}, nil},
		"retry.max_attempts":            {block{"retry": block{"max_attempts": unknown}}, nil},
		"retry.min_backoff":             {block{"retry": block{"min_backoff": unknown, "max_backoff": "1ms"}}, nil},
		"detect_drift":                  {block{"detect_drift": unknown}, environment{"STREAM_DETECT_DRIFT": "junk"}},
		"everything": {block{
			"base_url": unknown, "token": unknown, "headers": unknown, "tls": unknown, "request_timeout": unknown,
			"retry": unknown, "requests_per_second": unknown, "max_concurrent_requests": unknown, "detect_drift": unknown, "deployment": unknown,
		}, both},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readBlock(t, test.block, test.env)
			wantProblems(t, s.diags)
			if !s.unknown {
				t.Error("nothing is unknown")
			}
		})
	}
}
