package streams

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// newHTTPTransport keeps an idle connection for each request that may be under way. Go's default keeps two
// per host, and would reconnect for most requests. The request timeout also covers connecting and the TLS
// handshake.
func newHTTPTransport(cfg Config, tlsConfig *tls.Config, proxy *httpproxy.Config) *http.Transport {
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
	}
}
