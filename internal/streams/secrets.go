package streams

import (
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/oauth2"
)

// This file lists all places that secrets come from: the configuration, the environment, files and
// the responses of a token endpoint.

// minSecretValue is the length of the shortest header or parameter value that is masked, in bytes.
// To mask a value such as "1" would make other texts unreadable.
const minSecretValue = 4

// secrets returns the configured secrets, in each form in which they are sent.
func (cfg Config) secrets() []string {
	secrets := []string{cfg.Token, cfg.TLS.ClientKeyPEM}
	if a := cfg.BasicAuth; a != nil {
		secrets = append(secrets, a.Password, basicCredentials(a.Username, a.Password))
	}
	if a := cfg.OAuth2; a != nil {
		secrets = append(secrets, a.ClientSecret, url.QueryEscape(a.ClientSecret), a.ClientAssertion, basicCredentials(a.ClientID, a.ClientSecret),
			basicCredentials(url.QueryEscape(a.ClientID), url.QueryEscape(a.ClientSecret)))
		for _, value := range a.EndpointParams {
			if len(value) >= minSecretValue {
				secrets = append(secrets, value)
			}
		}
	}
	for _, value := range cfg.Headers {
		if len(value) >= minSecretValue {
			secrets = append(secrets, value)
		}
		// In "ApiKey abc", the credential without its scheme is secret, too.
		if _, credential, found := strings.Cut(value, " "); found && len(credential) >= minSecretValue {
			secrets = append(secrets, credential)
		}
	}
	proxies := httpproxy.FromEnvironment()
	for _, address := range []string{proxies.HTTPSProxy, proxies.HTTPProxy} {
		if u, err := parseProxy(address); err == nil && u.User != nil {
			password, _ := u.User.Password()
			secrets = append(secrets, password, u.User.String(), basicCredentials(u.User.Username(), password))
		}
	}
	return secrets
}

// tokenSecrets returns the secrets in the response of a token endpoint.
func tokenSecrets(t *oauth2.Token) []string {
	secrets := []string{t.AccessToken, t.RefreshToken}
	for _, name := range []string{"refresh_token", "id_token"} {
		if token, ok := t.Extra(name).(string); ok {
			secrets = append(secrets, token)
		}
	}
	return secrets
}
