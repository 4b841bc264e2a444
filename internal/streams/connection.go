package streams

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
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

// firstConnection makes all attempts wait until the first one has connected. Over HTTP/2 they then
// share its connection, while Go would open one for each attempt that starts in the meantime.
type firstConnection struct {
	claimed  atomic.Bool   // by the first attempt
	finished chan struct{} // closed when the first attempt has connected or failed
}

// wait returns at once for the first attempt, and for all others when the first one has connected
// or failed. The attempt must call finish when it has connected or failed; it may do so repeatedly.
func (f *firstConnection) wait(operation, attempt context.Context) (finish func()) {
	if f == nil {
		return func() {}
	}
	if f.claimed.CompareAndSwap(false, true) {
		return sync.OnceFunc(func() { close(f.finished) })
	}
	select {
	case <-f.finished:
	case <-operation.Done():
	case <-attempt.Done(): // the request with this context fails
	}
	return func() {}
}
