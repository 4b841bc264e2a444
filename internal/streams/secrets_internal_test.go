package streams

import (
	"testing"
)

func TestConfigSecrets(t *testing.T) {
	t.Parallel()
	cfg := Config{
		Token:     "t0ken",
		BasicAuth: &BasicAuth{Username: "visible-user", Password: "passw0rd"},
		OAuth2:    &OAuth2{ClientID: "visible client", ClientSecret: "cl1ent/secret", TokenURL: "https://visible.example"},
		Headers:   map[string]string{"X-Key": "k3yk3y", "X-Auth": "ApiKey z9y8", "X-Pin": "4711", "X-Version": "123", "X-Two": "v a"},
		TLS:       TLS{ClientKeyPEM: "key in PEM", ClientCertPEM: "visible cert", CACertPEM: "visible CA"},
	}
	m := newTestRedactor(cfg.secrets()...)
	for _, secret := range []string{
		"t0ken", "passw0rd", "dmlzaWJsZS11c2VyOnBhc3N3MHJk", "cl1ent/secret", "cl1ent%2Fsecret",
		"dmlzaWJsZStjbGllbnQ6Y2wxZW50JTJGc2VjcmV0", "k3yk3y", "ApiKey z9y8", "z9y8", "4711", "key in PEM",
	} {
		if got := m.redact("<" + secret + ">"); got != "<***>" {
			t.Errorf("%q is not redacted: %q", secret, got)
		}
	}
	for _, shown := range []string{"visible-user", "visible client", "https://visible.example", "X-Key", "ApiKey", "123", "v a", "visible cert", "visible CA"} {
		if got := m.redact(shown); got != shown {
			t.Errorf("%q is redacted: %q", shown, got)
		}
	}
}

// Go's error for an invalid proxy address quotes the address, so one with a password is a secret.
func TestProxyAddressIsSecret(t *testing.T) {
	const with, without = "http://user:pr0xy-secret@[::1", "http://proxy.example:3128"
	t.Setenv("HTTPS_PROXY", with)
	t.Setenv("http_proxy", without)
	r := new(redactor)
	r.add(Config{}.secrets()...)
	if got, want := r.redact("invalid proxy address "+with+", not "+without), "invalid proxy address ***, not "+without; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
