package config

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

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
			if got := client.Redact("<" + secret + "> " + inBase64); got != "<***> ***" || s.Client.Credentials == streams.NoCredentials {
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
