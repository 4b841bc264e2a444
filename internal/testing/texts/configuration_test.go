package texts_test

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
)

// configuring configures the provider with other attributes.
func configuring(others coretest.Attributes) operation {
	return func(w *world) coretest.Diagnostics {
		w.configure(others)
		resp, err := server.New("test", &provider.Host{Dial: w.dial})().ConfigureProvider(context.Background(),
			&tfprotov6.ConfigureProviderRequest{
				Config: coretest.DynamicValue(coretest.ToTerraform(schemas().Provider.ValueType(), w.provider)),
			})
		if err != nil {
			w.Fatal(err)
		}
		return resp.Diagnostics
	}
}

// configurations are provider blocks and variables that are refused, or warned of.
func configurations() (all []failure) {
	configure := func(title string, others coretest.Attributes, env ...string) {
		f := failure{title: "configure: " + title, does: configuring(others)}
		for i := 0; i < len(env); i += 2 {
			if f.env == nil {
				f.env = map[string]string{}
			}
			f.env[env[i]] = env[i+1]
		}
		all = append(all, f)
	}
	configure("no base_url", coretest.Attributes{"base_url": nil})
	configure("an empty STREAM_BASE_URL", coretest.Attributes{"base_url": nil}, "STREAM_BASE_URL", "")
	configure("the address of a stream", coretest.Attributes{"base_url": baseURL + "/v2/streams/cam-01"})
	configure("http://", coretest.Attributes{"base_url": "http://" + serviceHost})
	configure("an empty STREAM_TOKEN", coretest.Attributes{"token": nil}, "STREAM_TOKEN", "")
	configure("a line break in STREAM_TOKEN", coretest.Attributes{"token": nil}, "STREAM_TOKEN", "abc\n")
	configure("two schemes", coretest.Attributes{"basic_auth": coretest.Attributes{"username": "alice", "password": "s3cret"}})
	configure("two schemes in the environment", coretest.Attributes{"token": nil}, "STREAM_TOKEN", "abc", "STREAM_USERNAME", "alice",
		"STREAM_PASSWORD", "s3cret")
	configure("no password", coretest.Attributes{"token": nil, "basic_auth": coretest.Attributes{"username": "alice"}})
	configure("no client_secret", coretest.Attributes{"token": nil, "oauth2": coretest.Attributes{
		"token_url": "https://" + tokenHost + "/token", "client_id": "terraform",
	}})
	configure("token_file in the home folder", coretest.Attributes{"token": nil, "token_file": "~/token"})
	configure("detect_drift and a token that is not known", coretest.Attributes{"detect_drift": true, "token": tftypes.UnknownValue})
	configure("insecure_skip_verify", coretest.Attributes{"tls": coretest.Attributes{"insecure_skip_verify": true}})
	configure("wrong variables", coretest.Attributes{"token": nil, "tls": nil}, "STREAM_TOKEN", `"abc"`, "STREAM_HEADERS", "X-Api-Key: abc",
		"STREAM_DETECT_DRIFT", "yes", "HTTPS_PROXY", "http://proxy.example.com:port", "STREAM_TLS_CA_CERT_PEM", "/etc/ssl/streams.pem")
	configure("wrong attributes", coretest.Attributes{
		"base_url": "streams.example.com", "token": "Bearer abc", "headers": coretest.Attributes{"Content-Type": "text/plain"},
		"tls":             coretest.Attributes{"client_cert_pem": "/etc/ssl/streams.pem"},
		"request_timeout": "30", "max_concurrent_requests": 0, "requests_per_second": -1,
		"retry": coretest.Attributes{"max_attempts": 1.5, "min_backoff": "10s", "max_backoff": "1s"},
	})
	return all
}

// values are those of resources that are refused.
func values() []failure {
	validating := func(config func() tftypes.Value) operation {
		return func(w *world) coretest.Diagnostics {
			diags := w.process().Validate(config())
			slices.SortFunc(diags, func(a, b *tfprotov6.Diagnostic) int { return strings.Compare(at(a)+a.Detail, at(b)+b.Detail) }) // no order
			return diags
		}
	}
	one := func(a coretest.Attributes) operation {
		return validating(func() tftypes.Value {
			return coretest.ToTerraform(schemas().ResourceSchemas[coretest.SingleName].ValueType(), a)
		})
	}
	several := func(streams coretest.Attributes) operation {
		return validating(func() tftypes.Value {
			return coretest.ToTerraform(schemas().ResourceSchemas[coretest.GroupName].ValueType(), coretest.Attributes{"streams": streams})
		})
	}
	return []failure{
		{title: "value: a resource with mistakes", does: one(coretest.Attributes{
			"stream_id": "cam-01 ", "processor_ids": []any{"", nil}, "on_destroy": "forget", "timeouts": coretest.Attributes{"create": "5"},
		})},
		{title: "value: a group with mistakes", does: several(coretest.Attributes{
			"": []string{"p1"}, "cam-01": []string{" p1"}, "cam-02": []string{" p1"}, "cam-03": nil, "cam-04": []any{nil},
		})},
	}
}
