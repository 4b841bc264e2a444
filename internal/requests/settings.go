package requests

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http/httpproxy"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// NoCredentials is Config.Credentials of requests without any.
const NoCredentials = "no credentials"

// Config is the address of a deployment and the settings for requests to it. Only BaseURL is required.
type Config struct {
	BaseURL string // the deployment; see ParseBaseURL of package streams

	// Set at most one of these. No scheme is specified (INTERFACE.md, section 5).
	Token     string
	TokenFile string // the path of a file with a bearer token, which may change at any time
	BasicAuth *BasicAuth
	OAuth2    *OAuth2

	Credentials       string            // for errors: what authenticates requests, such as "a bearer token"; no secret
	Unused            string            // for errors of a rejection: a variable of credentials without effect, and why; no secret
	Headers           map[string]string // sent to the service, not to a token endpoint; the values are secret
	TLS               transport.TLS
	RequestTimeout    time.Duration // of one attempt; 0 means 30 seconds
	Retry             Retry         // the zero value means DefaultRetry
	RequestsPerSecond float64       // 0 means no limit
	MaxConcurrent     int           // requests at the same time; 0 means 10
	UserAgent         string
	Observe           func(context.Context, Attempt) // called after each attempt; may be nil
	// DialContext makes connections, as in [http.Transport]; nil means the network.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// BasicAuth is a user of HTTP Basic authentication.
type BasicAuth struct{ Username, Password string }

// OAuth2 is a client of the client credentials grant (RFC 6749, section 4.4).
type OAuth2 struct {
	Credentials    string // for errors: which of the three authenticates the client; no secret
	TokenURL       string // see [transport.ParseURL]
	ClientID       string
	Scopes         []string
	EndpointParams map[string]string // the values are secret

	// Set one of these. An assertion authenticates the client instead of a secret (RFC 7523, section 2.2).
	ClientSecret        string
	ClientAssertion     string
	ClientAssertionFile string // read for each token request
}

// Retry limits the attempts of one request and the waits between them. An update has the whole set, so it can be repeated.
type Retry struct {
	MaxAttempts int           // 1 means no retry; 0 means as many as Patience allows
	MinBackoff  time.Duration // shortest wait
	MaxBackoff  time.Duration // longest wait, unless the service asks for a longer one
}

// DefaultRetry is used if [Config] has no Retry.
var DefaultRetry = Retry{MinBackoff: 500 * time.Millisecond, MaxBackoff: 5 * time.Second}

// Patience is how long an operation retries by default: longer than an outage of 20 seconds.
const Patience = 22 * time.Second

// CheckHeader returns an error, such as "must not set Host", if a configuration cannot set this header.
func CheckHeader(name string) error {
	canonical := http.CanonicalHeaderKey(name)
	controlled := []string{"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host",
		"Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return errors.New("is not a valid header name")
	case slices.Contains(controlled, canonical):
		return fmt.Errorf("must not set %s, which the HTTP client controls", canonical)
	}
	return nil
}

// secrets returns the secrets of the configuration and the environment, also as basic authentication sends them.
func (cfg Config) secrets() []string {
	secrets := append(masking.Parts(cfg.Token), cfg.Token, cfg.TLS.ClientKeyPEM)
	var values []string
	if a := cfg.BasicAuth; a != nil {
		secrets = append(secrets, a.Password, basicCredentials(a.Username, a.Password))
	}
	if a := cfg.OAuth2; a != nil {
		secrets = append(secrets, a.ClientSecret, a.ClientAssertion, basicCredentials(a.ClientID, a.ClientSecret),
			basicCredentials(url.QueryEscape(a.ClientID), url.QueryEscape(a.ClientSecret)))
		values = slices.Collect(maps.Values(a.EndpointParams))
	}
	for _, value := range cfg.Headers {
		_, credential, _ := strings.Cut(value, " ") // in "ApiKey abc", the credential without its scheme is secret, too
		values = append(values, value, credential)
		secrets = append(secrets, masking.Parts(value)...)
	}
	proxies := httpproxy.FromEnvironment()
	for _, address := range []string{proxies.HTTPSProxy, proxies.HTTPProxy} {
		if u, err := transport.ParseProxy(address); err == nil && u.User != nil {
			password, _ := u.User.Password()
			secrets = append(secrets, password, basicCredentials(u.User.Username(), password))
			values = append(values, u.User.Username())
		}
	}
	return append(secrets, slices.DeleteFunc(values, func(value string) bool { return len(value) < masking.MinValue })...)
}

// basicCredentials encodes a user for HTTP Basic authentication (RFC 7617, section 2).
func basicCredentials(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}
