package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

func TestRead(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	pair, standard := ca.Issue(t, "client"), requests.DefaultRetry
	retry := func(attempts int, shortest, longest time.Duration) requests.Config {
		return requests.Config{Retry: requests.Retry{MaxAttempts: attempts, MinBackoff: shortest, MaxBackoff: longest}}
	}
	clients{
		"nothing":       {},
		"empty objects": {block: block{"tls": block{}, "retry": block{}, "headers": block{}}},
		"address":       {block{"base_url": "https://host/eu/v2/"}, nil, requests.Config{BaseURL: "https://host/eu/v2/"}},
		"address with a line break from the environment": {nil, environment{"STREAM_BASE_URL": "https://host\n"},
			requests.Config{BaseURL: "https://host"}},
		"authority alone": {block{"tls": block{"ca_cert_pem": ca.CertPEM}}, nil, requests.Config{TLS: transport.TLS{CACertPEM: ca.CertPEM}}},
		"tls from the environment": {block{"tls": block{"server_name": "host"}}, environment{
			"STREAM_TLS_CA_CERT_PEM": ca.CertPEM, "STREAM_TLS_CLIENT_CERT_PEM": pair.CertPEM, "STREAM_TLS_CLIENT_KEY_PEM": pair.KeyPEM,
		}, requests.Config{
			TLS:         transport.TLS{CACertPEM: ca.CertPEM, ClientCertPEM: pair.CertPEM, ClientKeyPEM: pair.KeyPEM, ServerName: "host"},
			Credentials: "a client certificate", Place: "STREAM_TLS_CLIENT_CERT_PEM",
		}},
		"certificates with byte order marks": {block{"tls": block{"ca_cert_pem": "\ufeff" + ca.CertPEM}}, nil,
			requests.Config{TLS: transport.TLS{CACertPEM: "\ufeff" + ca.CertPEM}}},
		"addition to the User-Agent header": {nil, environment{"TF_APPEND_USER_AGENT": " me/1 \n"}, requests.Config{UserAgent: "me/1"}},
		"tls, the key from the environment": {block{"tls": block{
			"ca_cert_pem": ca.CertPEM, "client_cert_pem": pair.CertPEM, "insecure_skip_verify": false,
		}}, environment{
			"STREAM_TLS_CA_CERT_PEM": "junk", "STREAM_TLS_CLIENT_CERT_PEM": "junk", "STREAM_TLS_CLIENT_KEY_PEM": pair.KeyPEM,
		}, requests.Config{
			TLS:         transport.TLS{CACertPEM: ca.CertPEM, ClientCertPEM: pair.CertPEM, ClientKeyPEM: pair.KeyPEM},
			Credentials: "a client certificate", Place: "tls.client_cert_pem in the provider block",
		}},
		"limits": {block{"request_timeout": "1m30s", "requests_per_second": 0.5, "max_concurrent_requests": 8}, nil,
			requests.Config{RequestTimeout: 90 * time.Second, RequestsPerSecond: 0.5, MaxConcurrent: 8}},
		"retry": {block{"retry": block{"max_attempts": 1, "min_backoff": "10ms", "max_backoff": "10ms"}}, nil,
			retry(1, 10*time.Millisecond, 10*time.Millisecond)},
		"attempts alone": {block{"retry": block{"max_attempts": 3}}, nil, retry(3, standard.MinBackoff, standard.MaxBackoff)},
		"shortest wait above the default of the longest": {block{"retry": block{"min_backoff": "1m"}}, nil,
			retry(standard.MaxAttempts, time.Minute, time.Minute)},
		"longest wait below the default of the shortest": {block{"retry": block{"max_backoff": "1ms"}}, nil,
			retry(standard.MaxAttempts, time.Millisecond, time.Millisecond)},
	}.run(t)
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	pair := ca.Issue(t, "client")
	pem := func(ca, cert, key any) block {
		return block{"tls": block{"ca_cert_pem": ca, "client_cert_pem": cert, "client_key_pem": key}}
	}
	problems{
		"no base_url": {nil, environment{"STREAM_BASE_URL": " \n"}, []string{
			"base_url is missing. The environment variable STREAM_BASE_URL is set, but empty. Set it in the provider block, or set the " +
				"environment variable " +
				"STREAM_BASE_URL. A resource or data source without provider = … uses the provider block without an alias.",
		}},
		"paths that nothing expands": {merge(oauth2(block{"client_assertion_file": "file:///run/token"}), block{"token_file": "~/token"}), nil,
			[]string{
				"oauth2 and token_file are two ways",
				`oauth2.client_assertion_file must be a plain path: nothing here expands "~", a variable or file://. In Terraform, ` +
					`pathexpand() expands "~".`,
				"token_file must be a plain path",
			}},
		"STREAM_TOKEN_FILE of Windows": {nil, environment{"STREAM_TOKEN_FILE": `%USERPROFILE%\token`}, []string{
			"token_file: The environment variable STREAM_TOKEN_FILE (token_file) must be a plain path",
		}},
		"STREAM_TOKEN_FILE": {nil, environment{"STREAM_TOKEN_FILE": "$HOME/token"}, []string{
			"token_file: The environment variable STREAM_TOKEN_FILE (token_file) must be a plain path",
		}},
		"empty texts": {block{
			"base_url": "", "deployment": "", "request_timeout": "", "token": "",
			"tls": block{"ca_cert_pem": "", "client_cert_pem": "", "client_key_pem": "", "server_name": ""},
		}, nil, []string{
			"base_url must not be empty. Leave it out, or set it to null, if it is not needed.",
			"deployment must not be empty",
			"request_timeout must not be empty",
			"tls.ca_cert_pem must not be empty",
			"tls.client_cert_pem must not be empty",
			"tls.client_key_pem must not be empty",
			"tls.server_name must not be empty",
			"token must not be empty",
		}},
		"STREAM_BASE_URL": {nil, environment{"STREAM_BASE_URL": "https://me:Hidden1@example.com"},
			[]string{"base_url: The environment variable STREAM_BASE_URL (base_url) must not contain a user name"}},
		"token, and STREAM_DETECT_DRIFT": {block{"token": "a\nb"}, environment{"STREAM_DETECT_DRIFT": "yes"}, []string{
			`detect_drift: The environment variable STREAM_DETECT_DRIFT (detect_drift) must be "true" or "false".`,
			"token must not have control characters, such as a line break.",
		}},

		"paths": {pem("/etc/ca.pem", "client.pem", pair.KeyPEM), nil, []string{
			"tls.ca_cert_pem contains no PEM block. Set it to the content of the file, in Terraform with file(\"…\"), not to the path.",
			"tls.client_cert_pem contains no PEM block. Set it to the content of the file",
		}},
		"path of a key in the environment": {nil, environment{
			"STREAM_TLS_CLIENT_CERT_PEM": pair.CertPEM, "STREAM_TLS_CLIENT_KEY_PEM": "Hidden1.pem",
		}, []string{
			"tls.client_key_pem: The environment variable STREAM_TLS_CLIENT_KEY_PEM (tls.client_key_pem) contains no PEM block. " +
				"Set it to the content of the file",
		}},
		"paths in the environment": {nil, environment{
			"STREAM_TLS_CA_CERT_PEM": "/etc/Hidden1.pem", "STREAM_TLS_CLIENT_CERT_PEM": "Hidden1.pem", "STREAM_TLS_CLIENT_KEY_PEM": "Hidden1.key",
		}, []string{
			"tls.ca_cert_pem: The environment variable STREAM_TLS_CA_CERT_PEM (tls.ca_cert_pem) contains no PEM block. Set it to the content " +
				"of the " +
				"file, in Terraform with file(\"…\"), not to the path.",
			"tls.client_cert_pem: The environment variable STREAM_TLS_CLIENT_CERT_PEM (tls.client_cert_pem) contains no PEM block. Set it to " +
				"the content",
			"tls.client_key_pem: The environment variable STREAM_TLS_CLIENT_KEY_PEM (tls.client_key_pem) contains no PEM block. Set it to the " +
				"content",
		}},
		"damaged authority, and an encrypted key": {pem(ca.CertPEM+pair.CertPEM[:200], pair.CertPEM,
			strings.ReplaceAll(pair.KeyPEM, "PRIV", "ENCRYPTED PRIV")),
			nil, []string{
				"tls.ca_cert_pem contains a damaged PEM block, number 2; it may have lost its line breaks.",
				"tls.client_key_pem is encrypted. Write the key without a passphrase",
			}},
		"TF_APPEND_USER_AGENT": {nil, environment{"TF_APPEND_USER_AGENT": "a\nb"},
			[]string{"The environment variable TF_APPEND_USER_AGENT must not have control characters, such as a line break."}},
		"key without certificate": {nil, environment{"STREAM_TLS_CLIENT_KEY_PEM": pair.KeyPEM}, []string{
			"tls.client_cert_pem is missing. Set it in the provider block, or set the environment variable STREAM_TLS_CLIENT_CERT_PEM.",
		}},
		"certificate without key": {pem(nil, pair.CertPEM, nil), nil, []string{
			"tls.client_key_pem is missing. Set it in the provider block, or set the environment variable STREAM_TLS_CLIENT_KEY_PEM.",
		}},

		"too few": {block{
			"request_timeout": "30", "retry": block{"max_attempts": 0, "min_backoff": "soon", "max_backoff": "0"},
			"requests_per_second": 0, "max_concurrent_requests": 0,
		}, nil, []string{
			"max_concurrent_requests must be a whole number from 1 to 10000; it is 0.",
			`request_timeout must be a duration above zero, such as "500ms", "30s" or "1m30s"; it is "30".`,
			"requests_per_second must be more than 0, and at most a billion; it is 0.",
			"retry.max_attempts must be a whole number from 1 to 1000000; it is 0.",
			"retry.max_backoff must be a duration above zero",
			"retry.min_backoff must be a duration above zero",
		}},
		"one wait that is wrong, one below the default of the other": {block{"retry": block{"min_backoff": "soon", "max_backoff": "1ms"}}, nil,
			[]string{"retry.min_backoff must be a duration above zero"}},
		"shortest wait the longest": {block{"retry": block{"min_backoff": "2s", "max_backoff": "1s"}}, nil,
			[]string{"retry.max_backoff must not be shorter than min_backoff."}},
		"too many": {block{"max_concurrent_requests": 10001, "retry": block{"max_attempts": 1_000_001}}, nil, []string{
			"max_concurrent_requests must be a whole number from 1 to 10000; it is 10001.",
			"retry.max_attempts must be a whole number from 1 to 1000000; it is 1000001.",
		}},
		"far too many": {block{"requests_per_second": exactly("1e400"), "max_concurrent_requests": exactly("1e400"),
			"retry": block{"max_attempts": exactly("1e-400")}},
			nil, []string{
				"max_concurrent_requests must be a whole number from 1 to 10000; it is 1e+400.",
				"requests_per_second must be more than 0, and at most a billion; it is 1e+400.",
				"retry.max_attempts must be a whole number from 1 to 1000000; it is 1e-400.",
			}},
		"nearly nothing": {block{"requests_per_second": exactly("-1e-400")}, nil,
			[]string{"requests_per_second must be more than 0, and at most a billion; it is -1e-400."}},
		"fraction": {block{"max_concurrent_requests": 1.5}, nil,
			[]string{"max_concurrent_requests must be a whole number from 1 to 10000; it is 1.5."}},
	}.run(t)
}

func TestReadWarns(t *testing.T) {
	t.Parallel()
	_, diags := read(t, merge(oauth2(block{"token_url": "http://id.example.com", "client_secret": "s"}), block{
		"base_url": "http://example.com", "tls": block{"insecure_skip_verify": true},
	}), nil)
	wantProblems(t, diags, "Warning: base_url is an http:// address of another machine.",
		"Warning: oauth2.token_url is an http:// address of another machine.",
		"Warning: tls.insecure_skip_verify: Anyone between Terraform and the service can read the credentials")
}

func TestReadDeploymentAndDrift(t *testing.T) {
	t.Parallel()
	const host = "https://host"
	for name, test := range map[string]struct {
		block block
		env   environment
		want  Settings
	}{
		"address":                   {block{"base_url": "HTTPS://Host:443/EU/v2/"}, nil, Settings{Deployment: "https://host/EU"}},
		"name":                      {block{"deployment": "eu-west/1"}, nil, Settings{Deployment: "eu-west/1"}},
		"name from the environment": {nil, environment{"STREAM_DEPLOYMENT": "eu"}, Settings{Deployment: "eu"}},
		"decomposed name":           {nil, environment{"STREAM_DEPLOYMENT": "Zu\u0308rich"}, Settings{Deployment: "Z\u00fcrich"}},
		"decomposed Hangul":         {nil, environment{"STREAM_DEPLOYMENT": "\u1112\u1161\u11ab"}, Settings{Deployment: "\ud55c"}},
		"decomposed address": {nil, environment{"STREAM_BASE_URL": "https://host/Zu\u0308rich"},
			Settings{Deployment: "https://host/Z%C3%BCrich"}},
		"any name":                  {block{"deployment": "EU West 1"}, nil, Settings{Deployment: "EU West 1"}},
		"name known after apply":    {block{"deployment": afterApply}, environment{"STREAM_DEPLOYMENT": "eu"}, Settings{}},
		"address known after apply": {block{"base_url": afterApply}, environment{"STREAM_BASE_URL": host}, Settings{}},
		"name of such an address":   {block{"base_url": afterApply, "deployment": "eu"}, nil, Settings{Deployment: "eu"}},

		"drift":                     {block{"detect_drift": true}, nil, Settings{Deployment: someURL, DetectDrift: true}},
		"drift, in the environment": {nil, environment{"STREAM_DETECT_DRIFT": "true"}, Settings{Deployment: someURL, DetectDrift: true}},
		"no drift":                  {block{"detect_drift": false}, environment{"STREAM_DETECT_DRIFT": "junk"}, Settings{Deployment: someURL}},
		"no drift, environment":     {nil, environment{"STREAM_DETECT_DRIFT": "false"}, Settings{Deployment: someURL}},
	} {
		s, diags := read(t, test.block, test.env)
		wantProblems(t, diags)
		if diff := cmp.Diff(test.want, s, cmpopts.IgnoreFields(Settings{}, "Client", "Complete")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, other := range []string{"1", "0", "t", "True", "TRUE", "yes"} {
		_, diags := read(t, nil, environment{"STREAM_DETECT_DRIFT": other})
		wantProblems(t, diags, `detect_drift: The environment variable STREAM_DETECT_DRIFT (detect_drift) must be "true" or "false".`)
	}
}

// Another problem is reported together with a missing address.
func TestValidate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		block block
		want  []string
	}{
		{nil, nil},
		{block{"base_url": "http://example.com"}, nil},
		{block{"base_url": "", "token": "t"}, []string{"base_url must not be empty"}},
		{block{"base_url": someURL, "token": "t", "request_timeout": "x"}, []string{"request_timeout must be a duration"}},
		{block{"basic_auth": block{"username": "u"}}, nil}, // the environment may have the password later
		{block{"request_timeout": "x"}, []string{
			"base_url is missing", "request_timeout must be a duration", "token: The environment variable STREAM_TOKEN is set, but empty",
		}},
	} {
		env := environment{"STREAM_BASE_URL": "", "STREAM_TOKEN": ""} // a pipeline may have no secrets
		wantProblems(t, Validate(t.Context(), decoded(t, test.block), env.lookup), test.want...)
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
	for _, test := range []block{{"tls": block{"client_cert_pem": afterApply, "client_key_pem": afterApply}}, {"headers": afterApply},
		{"token": afterApply}} {
		_, diags := read(t, test, environment{"STREAM_TOKEN": ""}) // an empty variable is no problem beside another credential
		wantProblems(t, diags)
	}
}
