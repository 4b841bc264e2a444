package streams

import (
	"net/url"
	"strings"
	"testing"
)

func TestConfigSecrets(t *testing.T) {
	t.Parallel()
	cfg := Config{
		Token:     "t0ken",
		BasicAuth: &BasicAuth{Username: "visible-user", Password: "passw0rd"},
		OAuth2: &OAuth2{ClientID: "visible client", ClientSecret: "cl1ent/secret", TokenURL: "https://visible.example",
			ClientAssertion: "eyJ.assertion", EndpointParams: map[string]string{
				"api_key": "par4m", "version": "12",
			}},
		BaseURL: "https://streams.example",
		Headers: map[string]string{"X-Key": "k3yk3y", "X-Auth": "ApiKey z9y8", "X-Pin": "4711", "X-Version": "123", "X-Two": "v a"},
		TLS:     TLS{ClientKeyPEM: "key in PEM", ClientCertPEM: "visible cert", CACertPEM: "visible CA"},
	}
	m := newRedactor(cfg.secrets()...)
	for _, secret := range []string{
		"t0ken", "passw0rd", "dmlzaWJsZS11c2VyOnBhc3N3MHJk", "cl1ent/secret", "cl1ent%2Fsecret",
		"dmlzaWJsZStjbGllbnQ6Y2wxZW50JTJGc2VjcmV0", "k3yk3y", "ApiKey z9y8", "z9y8", "4711", "key in PEM",
		"eyJ.assertion", "par4m", "dmlzaWJsZSBjbGllbnQ6Y2wxZW50L3NlY3JldA==",
	} {
		if got := m.mask("<" + secret + ">"); got != "<***>" {
			t.Errorf("%q is not masked: %q", secret, got)
		}
	}
	for _, shown := range []string{"visible-user", "visible client", "https://visible.example", "X-Key", "ApiKey", "123", "v a", "visible cert", "visible CA",
		"https://streams.example/v2/streams/s1", "12"} {
		if got := m.mask(shown); got != shown {
			t.Errorf("%q is masked: %q", shown, got)
		}
	}
}

// A proxy may echo the header that it gets, and Go's errors quote the address of a proxy.
func TestProxySecrets(t *testing.T) {
	for _, variable := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		t.Setenv(variable, "http://proxy-user:pa%40ss-"+variable+"@proxy.example:3128")
	}
	r := new(redactor)
	r.add(Config{}.secrets()...)
	for _, variable := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		password := "pa@ss-" + variable
		for text, want := range map[string]string{
			"407 for Basic " + basicCredentials("proxy-user", password): "407 for Basic ***",
			"wrong password " + password:                                "wrong password ***",
			"wrong password " + url.QueryEscape(password):               "wrong password ***",
			"proxy-user at proxy.example:3128":                          "proxy-user at proxy.example:3128",
		} {
			if got := strings.TrimRight(r.mask(text), "="); got != want {
				t.Errorf("%q is shown as %q, want %q", text, got, want)
			}
		}
	}
}

func TestProxySecretsInAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][]string{
		"":                                  nil,
		"proxy.example:3128":                nil,
		"user:passw0rd@proxy.example":       {"passw0rd", "user:passw0rd", "dXNlcjpwYXNzdzByZA=="},
		"socks5://t0ken@proxy.example":      {"t0ken"},
		"http://user:p@ss/w0rd@host":        {"p@ss/w0rd"},
		"http://user:100%-wr0ng@host":       {"100%-wr0ng", "http://user:100%-wr0ng@host"},
		"https://me:passw%30rd@[::1]:3128/": {"passw0rd", "passw%30rd", "bWU6cGFzc3cwcmQ="},
	} {
		r := new(redactor)
		r.add(proxySecrets(address)...)
		for _, secret := range want {
			if got := r.mask(secret); strings.Trim(got, "*=") != "" {
				t.Errorf("%s: %q is shown as %q", address, secret, got)
			}
		}
		if got := r.mask("proxy.example host ::1 3128"); got != "proxy.example host ::1 3128" {
			t.Errorf("%s: too much is masked: %q", address, got)
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
	if got, want := r.mask("invalid proxy address "+with+", not "+without), "invalid proxy address ***, not "+without; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
