package streams

import (
	"net/url"
	"os"
	"strings"
)

// minSecretHeader is the length of the shortest header value that is redacted, in bytes. To redact
// a value such as "1" would make other texts unreadable.
const minSecretHeader = 4

// secrets returns the configured secrets, in each form in which they are sent.
func (cfg Config) secrets() []string {
	secrets := []string{cfg.Token, cfg.TLS.ClientKeyPEM}
	if a := cfg.BasicAuth; a != nil {
		secrets = append(secrets, a.Password, basicCredentials(a.Username, a.Password))
	}
	if a := cfg.OAuth2; a != nil {
		secrets = append(secrets, a.ClientSecret,
			basicCredentials(url.QueryEscape(a.ClientID), url.QueryEscape(a.ClientSecret)))
	}
	// Go's error for an invalid proxy address quotes the address, which may contain a password.
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if address := os.Getenv(name); strings.Contains(address, "@") {
			secrets = append(secrets, address)
		}
	}
	for _, value := range cfg.Headers {
		if len(value) >= minSecretHeader {
			secrets = append(secrets, value)
		}
		// In "ApiKey abc", the credential without its scheme is secret, too.
		if _, credential, found := strings.Cut(value, " "); found && len(credential) >= minSecretHeader {
			secrets = append(secrets, credential)
		}
	}
	return secrets
}
