package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// oauth2 is a provider block with the required attributes of oauth2 and others.
func oauth2(others block) block {
	return block{"oauth2": merge(block{"token_url": "https://id.example.com", "client_id": "c"}, others)}
}

func TestReadCredentials(t *testing.T) {
	t.Parallel()
	ofUser := func(password, odd, place string) requests.Config {
		return requests.Config{
			BasicAuth: &requests.BasicAuth{Username: "u", Password: password}, Credentials: `the basic_auth of user "u"` + odd, Place: place,
		}
	}
	const scopes = "oauth2.scopes and oauth2.endpoint_params (such as audience or resource)"
	ofClient := func(o requests.OAuth2, with, place string) requests.Config {
		o.TokenURL, o.ClientID, o.Credentials, o.Place = "https://id.example.com", "c", with, place
		return requests.Config{OAuth2: &o, Credentials: `a token of the oauth2 client "c"`, Place: scopes}
	}
	const inBlock, unfilled = " in the provider block", "looks like a reference or a placeholder that nothing has replaced"
	clients{
		"token": {block{"token": "t"}, environment{
			"STREAM_USERNAME": "u", "STREAM_PASSWORD": "p", "STREAM_OAUTH2_CLIENT_ID": "c", "STREAM_TOKEN": "other", "STREAM_TOKEN_FILE": "f",
		}, requests.Config{Token: "t", Credentials: "a bearer token", Place: "token" + inBlock}},
		"token_file": {block{"token_file": "run/token"}, environment{"STREAM_TOKEN_FILE": "other", "STREAM_TOKEN": "t"},
			requests.Config{TokenFile: "run/token", Credentials: `the bearer token in the file "run/token"`, Place: `the file "run/token"`}},
		"token_file from the environment": {nil, environment{"STREAM_TOKEN_FILE": "/run/token"},
			requests.Config{TokenFile: "/run/token", Credentials: `the bearer token in the file "/run/token"`, Place: `the file "/run/token"`}},

		"basic_auth": {block{"basic_auth": block{"username": "u", "password": "p:ü"}}, nil,
			ofUser("p:ü", "", "basic_auth.username"+inBlock+" and basic_auth.password"+inBlock)},
		"basic_auth, its password from the environment": {block{"basic_auth": block{"username": "u"}},
			environment{"STREAM_USERNAME": "environment", "STREAM_PASSWORD": "p"}, ofUser("p", "",
				"basic_auth.username in the provider block and STREAM_PASSWORD")},
		"basic_auth, all of it from the environment": {block{"basic_auth": block{}},
			environment{"STREAM_USERNAME": "u", "STREAM_PASSWORD": "p", "STREAM_TOKEN": "t"}, ofUser("p", "",
				"STREAM_USERNAME and STREAM_PASSWORD")},

		"oauth2": {oauth2(block{"client_secret": "s", "scopes": []any{"b", "a"}, "endpoint_params": block{"audience": "x", "resource": ""}}), nil,
			ofClient(requests.OAuth2{
				ClientSecret: "s", Scopes: []string{"b", "a"}, EndpointParams: map[string]string{"audience": "x", "resource": ""},
			}, `the client_secret of client "c"`, "oauth2.client_secret"+inBlock)},
		"oauth2 from the environment": {nil, environment{
			"STREAM_OAUTH2_TOKEN_URL": "https://id.example.com", "STREAM_OAUTH2_CLIENT_ID": "c", "STREAM_OAUTH2_CLIENT_SECRET": "s",
		}, ofClient(requests.OAuth2{ClientSecret: "s"}, `the client_secret of client "c"`, "STREAM_OAUTH2_CLIENT_SECRET")},
		"oauth2, its assertion from the environment": {oauth2(nil),
			environment{"STREAM_OAUTH2_CLIENT_ASSERTION": "a.b.c", "TFC_WORKLOAD_IDENTITY_TOKEN_STREAM": "d.e.f"},
			ofClient(requests.OAuth2{ClientAssertion: "a.b.c"}, `the client_assertion of client "c"`, "STREAM_OAUTH2_CLIENT_ASSERTION")},
		"oauth2 with an assertion": {oauth2(block{"client_assertion": "a.b.c"}), environment{
			"STREAM_OAUTH2_CLIENT_SECRET": "s", "STREAM_OAUTH2_CLIENT_ASSERTION": "other", "STREAM_OAUTH2_CLIENT_ASSERTION_FILE": "f",
		}, ofClient(requests.OAuth2{ClientAssertion: "a.b.c"}, `the client_assertion of client "c"`, "oauth2.client_assertion"+inBlock)},
		"oauth2 with an assertion from a file": {oauth2(block{"client_assertion_file": "f"}),
			environment{"STREAM_OAUTH2_CLIENT_SECRET": "s", "TFC_WORKLOAD_IDENTITY_TOKEN_STREAM": "d.e.f"},
			ofClient(requests.OAuth2{ClientAssertionFile: "f"}, `the client_assertion_file of client "c"`, "oauth2.client_assertion_file"+inBlock)},
		"oauth2 with the workload identity of HCP Terraform": {oauth2(nil), environment{"TFC_WORKLOAD_IDENTITY_TOKEN_STREAM": "d.e.f"},
			ofClient(requests.OAuth2{ClientAssertion: "d.e.f"}, `the client_assertion of client "c"`, "TFC_WORKLOAD_IDENTITY_TOKEN_STREAM")},
		"a workload identity without oauth2": {nil, environment{"TFC_WORKLOAD_IDENTITY_TOKEN_STREAM": "d.e.f"}, requests.Config{}},

		"headers beside a scheme from the environment": {block{"headers": block{"X-Api-Key": "kü", "x-other": "o"}},
			environment{"STREAM_TOKEN": "t"}, requests.Config{
				Token: "t", Headers: map[string]string{"X-Api-Key": "kü", "x-other": "o"},
				Credentials: "a bearer token and the header X-Api-Key and the header x-other", Place: "STREAM_TOKEN and headers" + inBlock,
			}},
		"Authorization in headers, schemes in the environment": {block{"headers": block{"authorization": "ApiKey k"}},
			environment{"STREAM_TOKEN": "t", "STREAM_USERNAME": "u"},
			requests.Config{
				Headers: map[string]string{"authorization": "ApiKey k"}, Credentials: "the header authorization", Place: "headers" + inBlock,
			}},
		"headers from the environment": {nil, environment{"STREAM_HEADERS": ` {"Authorization": "ApiKey k", "X-Other": "o"}` + "\n"},
			requests.Config{
				Headers:     map[string]string{"Authorization": "ApiKey k", "X-Other": "o"},
				Credentials: "the header Authorization and the header X-Other", Place: "STREAM_HEADERS",
			}},
		"headers in the block, a scheme in those of the environment": {block{"headers": block{}},
			environment{"STREAM_HEADERS": "junk", "STREAM_TOKEN": "t"},
			requests.Config{Token: "t", Credentials: "a bearer token", Place: "STREAM_TOKEN"}},
		"headers in the block, and in the environment": {block{"headers": block{"X-Trace": "t"}},
			environment{"STREAM_HEADERS": `{"X-Api-Key": "k"}`}, requests.Config{
				Headers: map[string]string{"X-Trace": "t"}, Credentials: "the header X-Trace", Place: "headers" + inBlock,
			}},
		"empty variables beside a scheme": {nil, environment{"STREAM_TOKEN": "", "STREAM_TOKEN_FILE": "f"},
			requests.Config{TokenFile: "f", Credentials: `the bearer token in the file "f"`, Place: `the file "f"`}},
		"empty variables beside headers": {block{"headers": block{"X-Api-Key": "k"}}, environment{"STREAM_TOKEN": ""},
			requests.Config{Headers: map[string]string{"X-Api-Key": "k"}, Credentials: "the header X-Api-Key", Place: "headers" + inBlock}},
		"values that look like references": {block{"headers": block{"X-Api-Key": "$(KEY)", "X-Other": "o"}},
			environment{"STREAM_TOKEN": "{{ token }}"}, requests.Config{
				Token: "{{ token }}", Headers: map[string]string{"X-Api-Key": "$(KEY)", "X-Other": "o"},
				Credentials: "a bearer token (the value " + unfilled + ") and the header X-Api-Key (the value " + unfilled + ") and the header X-Other",
				Place:       "STREAM_TOKEN and headers" + inBlock,
			}},
		"a user without a password": {block{"basic_auth": block{"username": "key", "password": ""}}, environment{"STREAM_PASSWORD": "p"},
			requests.Config{
				BasicAuth: &requests.BasicAuth{Username: "key"}, Credentials: "the basic_auth (the password is empty)",
				Place: "basic_auth.username" + inBlock + " and basic_auth.password" + inBlock,
			}},
		"a password without a user": {block{"basic_auth": block{"username": "", "password": "key"}}, nil, requests.Config{
			BasicAuth: &requests.BasicAuth{Password: "key"}, Credentials: `the basic_auth of user ""`,
			Place: "basic_auth.username" + inBlock + " and basic_auth.password" + inBlock,
		}},
		"an empty header": {block{"headers": block{"X-Api-Key": ""}}, nil, requests.Config{
			Headers: map[string]string{"X-Api-Key": ""}, Credentials: "the header X-Api-Key (the value is empty)", Place: "headers" + inBlock,
		}},
		"an empty header from the environment": {nil, environment{"STREAM_HEADERS": `{"X-Api-Key": ""}`}, requests.Config{
			Headers: map[string]string{"X-Api-Key": ""}, Credentials: "the header X-Api-Key (the value is empty)", Place: "STREAM_HEADERS",
		}},
		"a password that looks like a reference": {nil, environment{"STREAM_USERNAME": "u", "STREAM_PASSWORD": "op://a/b"},
			ofUser("op://a/b", " (the password "+unfilled+")", "STREAM_USERNAME and STREAM_PASSWORD")},
		"a user that looks like a reference": {nil, environment{"STREAM_USERNAME": "${USER}", "STREAM_PASSWORD": "p"}, requests.Config{
			BasicAuth:   &requests.BasicAuth{Username: "${USER}", Password: "p"},
			Credentials: `the basic_auth of user "${USER}"`, Place: "STREAM_USERNAME and STREAM_PASSWORD",
		}},
		"a secret that looks like a reference": {oauth2(block{"client_secret": "${SECRET}"}), nil,
			ofClient(requests.OAuth2{ClientSecret: "${SECRET}"},
				"the client_secret of client \"c\" (the value "+unfilled+")", "oauth2.client_secret"+inBlock)},
		"a scheme in the block, headers and schemes in the environment": {block{"token": "t"},
			environment{"STREAM_HEADERS": `{"authorization": "ApiKey k", "X-Api-Key": "k"}`, "STREAM_USERNAME": "u"},
			requests.Config{
				Token: "t", Headers: map[string]string{"X-Api-Key": "k"},
				Credentials: "a bearer token and the header X-Api-Key", Place: "token in the provider block and STREAM_HEADERS",
			}},
	}.run(t)
}

func TestCredentialsRefused(t *testing.T) {
	t.Parallel()
	const missing = "is missing. Set it in the provider block, or set the environment variable "
	problems{
		"scheme in a token": {block{"token": "bearer Hidden1"}, nil,
			[]string{`token cannot be sent: it begins with "Bearer", which is sent before the token: remove it.`}},
		"space at a token": {block{"token": "Hidden1 "}, nil,
			[]string{"token must not begin or end with white space, such as the line break of a file. In Terraform, trimspace() removes it."}},
		"nothing but empty variables": {nil, environment{"STREAM_TOKEN": "", "STREAM_USERNAME": "", "STREAM_OAUTH2_CLIENT_SECRET": ""}, []string{
			"basic_auth.username: The environment variable STREAM_USERNAME is set, but empty. If requests need no credentials, unset the variable.",
			"oauth2.client_secret: The environment variable STREAM_OAUTH2_CLIENT_SECRET is set, but empty.",
			"token: The environment variable STREAM_TOKEN is set, but empty.",
		}},
		"an empty password": {nil, environment{"STREAM_USERNAME": "u", "STREAM_PASSWORD": ""}, []string{
			"basic_auth.password is missing. The environment variable STREAM_PASSWORD is set, but empty. Set it",
		}},

		"STREAM_USERNAME": {nil, environment{"STREAM_USERNAME": "a:b", "STREAM_PASSWORD": "Hidden1"},
			[]string{"basic_auth.username: The environment variable STREAM_USERNAME (basic_auth.username) must not contain a colon"}},
		"basic_auth without anything": {block{"basic_auth": block{}}, nil,
			[]string{"basic_auth.password " + missing + "STREAM_PASSWORD.", "basic_auth.username " + missing + "STREAM_USERNAME."}},
		"oauth2 without anything": {block{"oauth2": block{}}, nil, []string{
			"oauth2.client_id " + missing + "STREAM_OAUTH2_CLIENT_ID.",
			"oauth2.client_secret " + missing + "STREAM_OAUTH2_CLIENT_SECRET. " +
				"Instead of a secret, you can set client_assertion or client_assertion_file.",
			"oauth2.token_url " + missing + "STREAM_OAUTH2_TOKEN_URL.",
		}},
		"oauth2 beyond repair": {oauth2(block{
			"token_url": "https://me:Hidden1@example.com", "client_secret": "s", "scopes": []any{"a", nil},
			"endpoint_params": block{
				"audience": nil, "client_id": "x", "client_secret": "Hidden1", "client_assertion": "Hidden1", "client_assertion_type": "x",
				"scope": "x",
			},
		}), nil, []string{
			`oauth2.endpoint_params["audience"] must not be null.`,
			`oauth2.endpoint_params["client_assertion"] is set by the attributes of oauth2.`,
			`oauth2.endpoint_params["client_assertion_type"] is set by the attributes of oauth2.`,
			`oauth2.endpoint_params["client_id"] is set by the attributes of oauth2.`,
			`oauth2.endpoint_params["client_secret"] is set by the attributes of oauth2.`,
			`oauth2.endpoint_params["scope"] is set by the attributes of oauth2.`,
			"oauth2.scopes[1] must not be null.",
			"oauth2.token_url must not contain a user name",
		}},
		"oauth2 in the environment": {nil, environment{
			"STREAM_OAUTH2_TOKEN_URL": "id.example.com", "STREAM_OAUTH2_CLIENT_ID": "c",
			"TFC_WORKLOAD_IDENTITY_TOKEN_STREAM": "Hidden1\n",
		}, []string{
			"oauth2.client_assertion: The environment variable TFC_WORKLOAD_IDENTITY_TOKEN_STREAM " +
				"(oauth2.client_assertion) must not begin or end",
			"oauth2.token_url: The environment variable STREAM_OAUTH2_TOKEN_URL (oauth2.token_url) must begin with",
		}},
		"three schemes of a client": {oauth2(block{
			"client_secret": "Hidden1", "client_assertion": "a", "client_assertion_file": "f",
		}), nil, []string{
			"oauth2.client_assertion and oauth2.client_secret are two ways to authenticate. A request carries one.",
			"oauth2.client_assertion_file and oauth2.client_secret are two ways",
		}},
		"two schemes of a client in the environment": {
			oauth2(nil), environment{"STREAM_OAUTH2_CLIENT_SECRET": "Hidden1", "STREAM_OAUTH2_CLIENT_ASSERTION_FILE": "f"},
			[]string{"The environment has several ways to authenticate: STREAM_OAUTH2_CLIENT_ASSERTION_FILE, " +
				"STREAM_OAUTH2_CLIENT_SECRET. A request carries one."},
		},

		"all schemes": {merge(oauth2(block{"token_url": "junk", "client_secret": "s"}), block{
			"token": "t", "token_file": "f", "basic_auth": block{"username": "u"}, "headers": block{"AUTHORIZATION": "x"},
		}), nil, []string{
			"basic_auth and token are two ways",
			"basic_auth.password is missing",
			`headers["AUTHORIZATION"] and token are two ways`,
			"oauth2 and token are two ways",
			"oauth2.token_url must begin with",
			"token_file and token are two ways",
		}},
		"schemes in the environment": {
			nil, environment{
				"STREAM_TOKEN_FILE": "f", "STREAM_USERNAME": "u", "STREAM_PASSWORD": "Hidden2", "STREAM_OAUTH2_CLIENT_ASSERTION": "Hidden1",
				"STREAM_HEADERS": `{"authorization": "Hidden3"}`,
			},
			[]string{"The environment has several ways to authenticate: STREAM_HEADERS, " +
				"STREAM_OAUTH2_CLIENT_ASSERTION, STREAM_PASSWORD, STREAM_TOKEN_FILE, STREAM_USERNAME. A request carries one. Unset the variables " +
				"of the others, or set one in the "},
		},

		"STREAM_HEADERS, JSON": {nil, environment{"STREAM_HEADERS": `{"X-Api-Key": Hidden1}`}, []string{
			`headers: The environment variable STREAM_HEADERS (headers) must be a JSON object of texts, such as {"X-Api-Key": "…"}.`,
		}},
		"STREAM_HEADERS, a header twice in another case": {nil, environment{"STREAM_HEADERS": `{"X-Api-Key": "1", "x-api-key": "2"}`}, []string{
			`headers["x-api-key"]: The environment variable STREAM_HEADERS (headers["x-api-key"]) is the same header as "X-Api-Key".`,
		}},
		"STREAM_HEADERS, two objects": {nil, environment{"STREAM_HEADERS": `{"X": "1"} {"Y": "2"}`},
			[]string{"headers: The environment variable STREAM_HEADERS"}},
		"STREAM_HEADERS, an object": {nil, environment{"STREAM_HEADERS": `null`}, []string{"headers: The environment variable STREAM_HEADERS"}},
		"STREAM_HEADERS, of texts": {nil, environment{"STREAM_HEADERS": `{"X-Api-Key": 1}`},
			[]string{"headers: The environment variable STREAM_HEADERS"}},
		"STREAM_HEADERS": {nil, environment{"STREAM_HEADERS": `{"Host": "Hidden1", "X-Line": "Hidden1\n!", "X-Null": null}`}, []string{
			`headers["Host"]: The environment variable STREAM_HEADERS (headers["Host"]) must not set Host`,
			`headers["X-Line"]: The environment variable STREAM_HEADERS (headers["X-Line"]) must not have control characters, such as a line break.`,
			`headers["X-Null"]: The environment variable STREAM_HEADERS (headers["X-Null"]) must not be null.`,
		}},
		"headers": {block{"headers": block{
			"HOST": "x", "content-type": "x", "": "x", "X\r\nY": "x",
			"X-Line": "Hidden1\r\nX: 1", "Host": nil, "X-Space": " Hidden1", "X-Key": "1", "x-key": "2",
		}}, nil, []string{
			`headers[""] is not a valid header name`,
			`headers["HOST"] must not set Host, which the HTTP client controls.`,
			`headers["X-Line"] must not have control characters, such as a line break.`,
			`headers["X-Space"] must not begin or end with white space`,
			"headers[\"X\\r\\nY\"] is not a valid header name",
			`headers["content-type"] must not set Content-Type, which the HTTP client controls.`,
			`headers["x-key"] is the same header as "X-Key".`,
		}},
	}.run(t)
}

// A file may have an odd name.
func TestOddPath(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("~token", []byte("t"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, diags := read(t, block{"token_file": "~token"}, nil)
	if wantProblems(t, diags); s.Client.TokenFile != "~token" {
		t.Errorf("token_file is %q", s.Client.TokenFile)
	}
	_, diags = read(t, block{"token_file": "~other"}, nil)
	wantProblems(t, diags, "token_file must be a plain path")
}

// What can be sent is sent as it is, from each source: a token may have every visible character.
func TestOddValuesAreSent(t *testing.T) {
	t.Parallel()
	for _, token := range []string{
		"k8$Zp!x", "Qz(7w]kL2", "a=b=c", "user:pass", `"quoted" inside`, "`a`", `{"a":1}`, "${REFERENCE}", "$(REFERENCE)", "{{ reference }}",
		"op://vault/item", "vault://secret/x", "STREAM_TOKEN=x", "$(cat", "{{token}}", `it's"half`, `\d\\`, "#1,;*~^&|`", "%41%zz",
		"<token>", "null", "%TOKEN%", `back\slash`, "tök€n", "two words", strings.Repeat("x", 8000),
	} {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		service, url := streamstest.Start(t, streamstest.Options{Authorize: streamstest.Bearer(token)}, streamstest.Streams("cam-1")...)
		for name, from := range map[string]struct {
			block block
			env   environment
		}{
			"block":    {block{"token": token, "headers": block{"X-Empty": ""}}, nil},
			"variable": {nil, environment{"STREAM_TOKEN": token, "STREAM_HEADERS": `{"X-Empty": ""}`}},
			"file":     {block{"token_file": file, "headers": block{"X-Empty": ""}}, nil},
		} {
			s, diags := read(t, merge(block{"base_url": url}, from.block), from.env)
			wantProblems(t, diags)
			client, err := streams.New(s.Client)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.UpdateStream(t.Context(), "cam-1", streams.NewProcessorSet("p1")); err != nil {
				t.Errorf("%.40q from a %s: %v", token, name, err)
			}
		}
		for _, request := range service.Requests() {
			if empty, isSent := request.Header["X-Empty"]; !isSent || empty[0] != "" {
				t.Errorf("the header X-Empty is %q", empty)
			}
		}
	}
}
