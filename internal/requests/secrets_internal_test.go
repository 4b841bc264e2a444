package requests

import (
	"encoding/base64"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// A response may repeat what the service or a proxy received.
func TestConfigSecrets(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://proxy-user:pa%40ss@proxy.example:3128")
	t.Setenv("HTTP_PROXY", "other-user:pr0xyword@:3128")
	cfg := Config{
		Token:     "keyname2:bearerpart",
		BasicAuth: &BasicAuth{Username: "visible-user", Password: "p?ssw0rd~"},
		OAuth2: &OAuth2{ClientID: "visible client", ClientSecret: "cl1ent/secret", TokenURL: "https://visible.example?code=qu3ry&v=12",
			ClientAssertion: "eyJ.assertion", EndpointParams: map[string]string{
				"api_key": "par4m", "version": "12",
			}},
		BaseURL: "https://streams.example",
		Headers: map[string]string{"X-Key": "k3yk3y", "X-Auth": "ApiKey z9y8", "X-Pin": "4711", "X-Version": "123", "X-Two": "v a",
			"X-Eight": "no:exactly8",
			"X-Pair":  "keyname1:s3cretpart", "X-List": `Token token=t0kenpart, sig="c2lnbmF0dXJl+/8="; pin=1234567`,
			"X-Sas": "se=12&sig=ab%2Fcdefgh+i"},
		TLS: transport.TLS{ClientKeyPEM: "key in PEM", ClientCertPEM: "visible cert", CACertPEM: "visible CA"},
	}
	m := new(masking.Redactor)
	m.Add(cfg.secrets()...)
	m.Add(Config{BasicAuth: &BasicAuth{Username: "key-as-user"}}.secrets()...)
	secrets := []string{
		"bearerpart", "p?ssw0rd~", "dmlzaWJsZS11c2VyOnA_c3N3MHJkfg", "cl1ent/secret", "cl1ent%2Fsecret",
		"dmlzaWJsZStjbGllbnQ6Y2wxZW50JTJGc2VjcmV0", "k3yk3y", "ApiKey z9y8", "z9y8", "4711", "key in PEM",
		"key-as-user", "qu3ry", basicCredentials("key-as-user", ""), "keyname2:bearerpart", "eyJ.assertion", "par4m",
		"dmlzaWJsZSBjbGllbnQ6Y2wxZW50L3NlY3JldA==",
		"dmlzaWJsZSBjbGllbnQ6Y2wxZW50L3NlY3JldA", "s3cretpart", "t0kenpart", "exactly8", "c2lnbmF0dXJl+/8", "c2lnbmF0dXJl-_8",
		"a2V5bmFtZTE6czNjcmV0cGFydA", "se%3D12%26sig%3Dab%2Fcdefgh%2Bi", "se=12&amp;sig=ab%2Fcdefgh%2Bi", "ab/cdefgh i",
		"proxy-user", "pa@ss", "pa%40ss", "pr0xyword", basicCredentials("proxy-user", "pa@ss"), basicCredentials("other-user", "pr0xyword"),
	}
	for _, secret := range []string{"keyname2:bearerpart", "p?ssw0rd~", "cl1ent/secret", "eyJ.assertion", "k3yk3y", "par4m", "pr0xyword",
		"key in PEM"} {
		secrets = append(secrets, base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawStdEncoding.EncodeToString([]byte(secret)),
			base64.URLEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)))
	}
	for _, secret := range secrets {
		if got := m.Mask("<"+secret+">", transport.MaxBody); got != "<***>" {
			t.Errorf("%q is not masked: %q", secret, got)
		}
	}
	for _, shown := range []string{
		"visible-user", "visible client", "https://visible.example", "X-Key", "ApiKey", "123", "v a", "visible cert", "visible CA",
		"https://streams.example/v2/streams/s1", "12", "at proxy.example:3128", "1234567",
	} {
		if got := m.Mask(shown, transport.MaxBody); got != shown {
			t.Errorf("%q is masked: %q", shown, got)
		}
	}
}
