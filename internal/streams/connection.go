package streams

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// newNetwork returns what sends a request to one of the addresses. It keeps an idle connection for each request that
// may be under way; Go's default keeps two per host, and would reconnect for most requests. The request timeout also
// covers connecting and the TLS handshake.
func newNetwork(cfg Config, addresses ...*url.URL) (http.RoundTripper, error) {
	tlsConfig, err := cfg.TLS.config()
	if err != nil {
		return nil, fmt.Errorf("TLS settings: %w", err)
	}
	proxy := httpproxy.FromEnvironment()
	for _, address := range addresses {
		if err := checkProxy(proxy, address); err != nil {
			return nil, err
		}
	}
	proxyFor := proxy.ProxyFunc()
	return &http.Transport{
		Proxy:                  func(req *http.Request) (*url.URL, error) { return proxyFor(req.URL) },
		DialContext:            cfg.DialContext,
		TLSClientConfig:        tlsConfig,
		ForceAttemptHTTP2:      true, // a custom TLS configuration would disable it
		MaxIdleConnsPerHost:    cfg.MaxConcurrent,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10, // Go's default is 10 MB
		OnProxyConnectResponse: func(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			return &proxyError{proxy: proxy.Scheme + "://" + proxy.Host, status: resp.StatusCode}
		},
	}, nil
}

// Causes of an [Error] if a proxy refused to connect to the service. Both hold for other credentials.
var (
	ErrProxyRefused     = errors.New("the proxy refused to connect")
	ErrProxyCredentials = errors.New("the proxy requires other credentials")
)

// proxyError is the response of a proxy to CONNECT.
type proxyError struct {
	proxy  string // its address, without credentials
	status int
}

func (e *proxyError) Error() string {
	return fmt.Sprintf("the proxy %s responded to CONNECT with %s", e.proxy, StatusText(e.status))
}

func (e *proxyError) Is(target error) bool {
	return target == ErrProxyRefused || target == ErrProxyCredentials && e.status == http.StatusProxyAuthRequired
}

// checkProxy returns an error if the environment has no usable address of a proxy for u. Go would connect without
// a proxy, or fail at each request. The address is not shown, because it may have a password.
func checkProxy(environment *httpproxy.Config, u *url.URL) error {
	variable, address := "HTTPS_PROXY", environment.HTTPSProxy
	if u.Scheme == "http" {
		variable, address = "HTTP_PROXY", environment.HTTPProxy
	}
	if address == "" {
		return nil
	}
	if _, err := parseProxy(address); err != nil {
		return fmt.Errorf("the environment variable %s (or its name in small letters) is not the address of a proxy; write it as %q",
			variable, "http://host:port")
	}
	if environment.CGI && u.Scheme == "http" {
		return errors.New("the environment variable HTTP_PROXY cannot be used while REQUEST_METHOD is set, because a web server may " +
			"have set it from a request; unset one of them")
	}
	return nil
}

// parseProxy parses the address of a proxy, which may lack its scheme. Package httpproxy ignores an address that it
// refuses.
func parseProxy(address string) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err == nil && u.Hostname() == "" {
		err = errors.New("no host")
	}
	return u, err
}
