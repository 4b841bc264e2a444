package streams

import (
	"context"
	"crypto/tls"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// newHTTPTransport keeps a connection for each operation that Terraform may run in parallel; Go's
// default keeps two and would dial anew for nearly every request. It also limits the time to dial
// and to shake hands, which is the request timeout's business.
func newHTTPTransport(tlsConfig *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		TLSClientConfig:     tlsConfig,
		ForceAttemptHTTP2:   true, // a TLS configuration of one's own would turn it off
		MaxIdleConnsPerHost: 1024,
		IdleConnTimeout:     90 * time.Second,
	}
}

// firstDial lets one attempt connect before all others. Over HTTP/2 they then share its connection,
// where Go would open one for each that starts in the meantime. It costs them nothing: the wait is
// for a handshake that they would have made themselves.
type firstDial struct {
	taken atomic.Bool
	done  chan struct{} // closed when the first attempt has a connection, or has failed
}

// begin waits for the first dial, or returns at once to who makes it. The function that it returns
// says that the dial is over; it may be called more than once.
func (d *firstDial) begin(ctx context.Context) (end func()) {
	if d == nil {
		return func() {}
	}
	if d.taken.CompareAndSwap(false, true) {
		return sync.OnceFunc(func() { close(d.done) })
	}
	select {
	case <-d.done:
	case <-ctx.Done(): // the request will say so
	}
	return func() {}
}
