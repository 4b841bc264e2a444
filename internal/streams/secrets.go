package streams

import (
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// minSecretValue is the length of the shortest header or parameter value that is masked, in bytes.
// To mask a value such as "1" would make other texts unreadable.
const minSecretValue = 4

// secrets returns the secrets of the configuration and the environment, also in base64 where they are sent so.
func (cfg Config) secrets() []string {
	secrets := []string{cfg.Token, cfg.TLS.ClientKeyPEM}
	addValue := func(value string) {
		if len(value) >= minSecretValue {
			secrets = append(secrets, value)
		}
	}
	if a := cfg.BasicAuth; a != nil {
		secrets = append(secrets, a.Password, basicCredentials(a.Username, a.Password))
	}
	if a := cfg.OAuth2; a != nil {
		secrets = append(secrets, a.ClientSecret, a.ClientAssertion, basicCredentials(a.ClientID, a.ClientSecret),
			basicCredentials(url.QueryEscape(a.ClientID), url.QueryEscape(a.ClientSecret)))
		for _, value := range a.EndpointParams {
			addValue(value)
		}
	}
	for _, value := range cfg.Headers {
		addValue(value)
		_, credential, _ := strings.Cut(value, " ") // in "ApiKey abc", the credential without its scheme is secret, too
		addValue(credential)
	}
	proxies := httpproxy.FromEnvironment()
	for _, address := range []string{proxies.HTTPSProxy, proxies.HTTPProxy} {
		if u, err := parseProxy(address); err == nil && u.User != nil {
			password, _ := u.User.Password()
			secrets = append(secrets, password, basicCredentials(u.User.Username(), password))
		}
	}
	return secrets
}
