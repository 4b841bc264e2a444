package requests

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http/httpproxy"
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
	Headers           map[string]string // sent to the service, not to a token endpoint; the values are secret
	TLS               TLS
	RequestTimeout    time.Duration // of one attempt; 0 means 30 seconds
	Retry             Retry         // the zero value means DefaultRetry
	RequestsPerSecond float64       // 0 means no limit
	MaxConcurrent     int           // requests at the same time; 0 means 64
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
	TokenURL       string // see [ParseURL]
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

// NormalURL returns the parsed address of a deployment in one form: a host in lower case, and no default port.
func NormalURL(base *url.URL) string {
	u := *base
	u.Host = normalHost(base)
	return u.String()
}

func normalHost(u *url.URL) string {
	defaultPort := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return strings.TrimSuffix(strings.ToLower(u.Host), defaultPort)
}

// ParseURL parses an address of requests. Its errors do not quote it, because it may contain a password.
func ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case inQuotes(raw):
		return nil, errors.New("must not be in quotes")
	case err != nil, strings.TrimSpace(raw) != raw:
		return nil, errors.New(`is not a URL; write it as "https://host"`)
	case u.User != nil:
		return nil, errors.New("must not contain a user name or password; use an authentication attribute")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New(`must begin with "https://" (or "http://")`)
	case u.Hostname() == "":
		return nil, errors.New(`has no host; write it as "https://host"`)
	case hasTwoSchemes(u):
		return nil, errors.New(`must have "https://" (or "http://") once`)
	case !validHost(u):
		return nil, errors.New("has characters in its host that no host has; a variable may not have been replaced")
	case strings.HasSuffix(u.Host, ":"):
		return nil, errors.New("has a colon without a port")
	case !validPort(u):
		return nil, errors.New("has a port that is not between 1 and 65535")
	case reference.MatchString(raw), strings.ContainsAny(raw, notInURL):
		return nil, errors.New("has characters that no URL has, such as braces; a variable may not have been replaced")
	case strings.Contains(raw, "#"): // u.Fragment is also empty for a bare #
		return nil, errors.New("must not have a fragment")
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(s string) bool { return s == "." || s == ".." }):
		return nil, errors.New(`must not have "." or ".." in its path`)
	}
	return u, nil
}

// hasTwoSchemes reports whether an address is one like https://https://host.
func hasTwoSchemes(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	return (host == "https" || host == "http") && strings.HasPrefix(u.Path, "//")
}

const notInURL = `{}<>"\^|` + "`" // RFC 3986, appendix A; Go escapes them

// validHost reports whether the host of an address is an IP address, or a name that DNS or a hosts file may have.
func validHost(u *url.URL) bool {
	return strings.HasPrefix(u.Host, "[") || hostName.MatchString(u.Hostname())
}

var hostName = regexp.MustCompile(`^[\pL\pM\pN._-]*$`)

// ParseProxy parses the address of a proxy, which may lack its scheme. Package httpproxy ignores an address that it cannot
// parse, and requests would go past the proxy. The error does not quote the address, because it may contain a password.
func ParseProxy(address string) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || hasTwoSchemes(u) || !validHost(u) || !validPort(u) {
		return nil, errors.New(`is not the address of a proxy; write it as "http://host:port", with escapes such as %40 for an @ ` +
			"in a user name or password")
	}
	return u, nil
}

// validPort reports whether the port of an address is missing or possible.
func validPort(u *url.URL) bool {
	port, _ := strconv.Atoi(cmp.Or(u.Port(), "443")) // out of range, port is the largest number
	return port >= 1 && port <= 65535
}

// SentInClear reports whether requests to u can be read in transit: plain HTTP to another machine.
func SentInClear(u *url.URL) bool { return u.Scheme == "http" && !isThisMachine(u.Hostname()) }

// isThisMachine reports whether a host is a loopback address or a name for one (RFC 6761, section 6.3). Go connects to this
// machine for an unspecified address, too.
func isThisMachine(host string) bool {
	name, ip := strings.ToLower(strings.TrimSuffix(host, ".")), net.ParseIP(host)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || shortLoopback.MatchString(name) ||
		ip.IsLoopback() || ip.IsUnspecified()
}

var shortLoopback = regexp.MustCompile(`^127(\.\d+){1,2}$`) // such as 127.1

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
	secrets := append(parts(cfg.Token), cfg.Token, cfg.TLS.ClientKeyPEM)
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
		secrets = append(secrets, parts(value)...)
	}
	proxies := httpproxy.FromEnvironment()
	for _, address := range []string{proxies.HTTPSProxy, proxies.HTTPProxy} {
		if u, err := ParseProxy(address); err == nil && u.User != nil {
			password, _ := u.User.Password()
			secrets = append(secrets, password, basicCredentials(u.User.Username(), password))
			values = append(values, u.User.Username())
		}
	}
	return append(secrets, slices.DeleteFunc(values, func(value string) bool { return len(value) < minSecretValue })...)
}

// basicCredentials encodes a user for HTTP Basic authentication (RFC 7617, section 2).
func basicCredentials(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}
