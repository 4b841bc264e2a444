package config

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// A secret or a name often comes from a file, with a line break at its end. Every text refuses that, but PEM.
func TestTextsAreChecked(t *testing.T) {
	t.Parallel()
	checked := map[string]bool{}
	var walk func(prefix string, attributes map[string]schema.Attribute, inBlock func(any) block)
	walk = func(prefix string, attributes map[string]schema.Attribute, inBlock func(any) block) {
		for name, attribute := range attributes {
			in, at := func(value any) block { return inBlock(block{name: value}) }, prefix+name
			switch a := attribute.(type) {
			case schema.SingleNestedAttribute:
				walk(at+".", a.Attributes, func(value any) block { return in(value) })
				continue
			case schema.MapAttribute:
				at, in = at+`["X-Some"]`, func(value any) block { return inBlock(block{name: block{"X-Some": value}}) }
			case schema.ListAttribute:
				at, in = at+"[0]", func(value any) block { return inBlock(block{name: []any{value}}) }
			case schema.StringAttribute:
				if strings.HasSuffix(name, "_pem") {
					continue
				}
			default:
				continue
			}
			checked[at] = true
			for value, problem := range map[string]string{
				"Hidden\n": "begin or end with white space", " Hidden": "begin or end with white space",
				"Hidden\u00a0": "begin or end with white space",
				"Hid\nden":     "have control characters", "Hid\x00den": "have control characters", "Hid\u009bden": "have control characters",
				"\ufeffHidden": "have a byte order mark",
			} {
				_, diags := read(t, in(value), nil)
				problems := slices.DeleteFunc(problemsIn(diags), func(p string) bool { return !strings.HasPrefix(p, at+" must not "+problem) })
				if len(problems) != 1 || strings.Contains(fmt.Sprint(problems), "Hid") {
					t.Errorf("%s = %q: %q", at, value, problemsIn(diags))
				}
			}
		}
	}
	walk("", Schema().Attributes, func(value any) block { return value.(block) })
	for name, all := range variables {
		variable := all[0]
		if name == "detect_drift" || name == "headers" || strings.HasSuffix(name, "_pem") || strings.HasSuffix(name, "_url") {
			continue
		}
		env := environment{variable: "Hidden\n", "STREAM_OAUTH2_TOKEN_URL": someURL}
		if !strings.HasPrefix(name, "oauth2.") {
			delete(env, "STREAM_OAUTH2_TOKEN_URL")
		}
		_, diags := read(t, nil, env)
		want := name + ": The environment variable " + variable + " (" + name + ") must not begin or end with white space"
		if got := problemsIn(diags); !slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, want) }) {
			t.Errorf("%s: %q", variable, got)
		}
	}
	for _, name := range []string{"basic_auth.username", "oauth2.client_secret", "oauth2.scopes[0]", `oauth2.endpoint_params["X-Some"]`,
		`headers["X-Some"]`} {
		if !checked[name] {
			t.Errorf("%s is not checked: %v", name, checked)
		}
	}
}

// What a sensitive attribute holds is masked, and an error says that requests carry a credential.
func TestSensitiveAttributes(t *testing.T) {
	t.Parallel()
	pair := streamstest.NewAuthority(t).Issue(t, "client")
	values := map[string]string{"client_key_pem": pair.KeyPEM} // any other value may be any text
	neighbors := map[string]block{                             // what must be set beside a secret
		"basic_auth":      {"username": "me"},
		"oauth2":          {"token_url": someURL, "client_id": "me"},
		"endpoint_params": {"client_secret": "another"},
		"tls":             {"client_cert_pem": pair.CertPEM},
	}
	var names []string
	var walk func(attributes map[string]schema.Attribute, inBlock func(block) block)
	walk = func(attributes map[string]schema.Attribute, inBlock func(block) block) {
		for name, attribute := range attributes {
			if object, ok := attribute.(schema.SingleNestedAttribute); ok {
				walk(object.Attributes, func(b block) block { return inBlock(block{name: merge(b, neighbors[name])}) })
				continue
			}
			secret := cmp.Or(values[name], "Hidden-"+name)
			var value any = secret
			if _, isMap := attribute.(schema.MapAttribute); isMap {
				value = block{"X-Some": secret}
			}
			if !attribute.IsSensitive() {
				continue
			}
			names = append(names, name)
			s, diags := read(t, inBlock(merge(block{name: value}, neighbors[name])), nil)
			wantProblems(t, diags)
			client, err := streams.New(s.Client)
			if err != nil {
				t.Fatal(err)
			}
			inBase64 := base64.RawURLEncoding.EncodeToString([]byte(secret))
			if got := client.Redact("<" + secret + "> " + inBase64); got != "<***> ***" || s.Client.Credentials == requests.NoCredentials {
				t.Errorf("%s is shown in %q, beside %q", name, got, s.Client.Credentials)
			}
		}
	}
	walk(Schema().Attributes, func(b block) block { return b })
	slices.Sort(names)
	const want = "[client_assertion client_key_pem client_secret endpoint_params headers password token]"
	if got := fmt.Sprint(names); got != want {
		t.Errorf("sensitive are %s, want %s", got, want)
	}
}
