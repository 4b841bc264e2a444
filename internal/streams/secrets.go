package streams

import (
	"net/url"
	"os"
	"strings"

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
	for _, variable := range proxyVariables {
		secrets = append(secrets, proxySecrets(os.Getenv(variable))...)
	}
	return secrets
}

// proxyVariables are the environment variables that Go reads the address of a proxy from.
var proxyVariables = []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"}

// proxySecrets returns the secrets in the address of a proxy. An address that Go refuses is secret as a
// whole, because Go's error quotes the address.
func proxySecrets(address string) []string {
	end := strings.LastIndex(address, "@")
	if end < 0 {
		return nil
	}
	begin := strings.Index(address, "://") // Go takes an address without a scheme for one of HTTP
	if begin >= 0 {
		begin += len("://")
	}
	userinfo := address[max(0, begin):end]
	rawUser, rawPassword, _ := strings.Cut(userinfo, ":")
	user, userErr := url.PathUnescape(rawUser)
	password, passwordErr := url.PathUnescape(rawPassword)
	secrets := []string{address, userinfo, rawPassword}
	if userErr == nil && passwordErr == nil {
		secrets = append(secrets, password, basicCredentials(user, password))
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
