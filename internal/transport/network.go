// Package transport reaches hosts: it parses their addresses, and sends one request over a connection, directly or through a
// proxy. It says what became of the request as a value, and why it failed as an error that has a name or the text of Go's library.
// Whether another request follows, and what a person reads, is decided elsewhere.
package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Settings are those of all connections.
type Settings struct {
	TLS           TLS // without problems
	MaxConcurrent int // requests at the same time
	// DialContext makes connections, as in [http.Transport]; nil means the network.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// Network sends requests to the service and to the token endpoint, which may have the same origin. It is safe for concurrent use.
type Network map[string]*host

// NewNetwork returns the network of a client. tokenURL may be nil.
func NewNetwork(settings Settings, baseURL, tokenURL *url.URL) Network {
	n := Network{}
	if tokenURL != nil {
		ofToken := settings
		ofToken.TLS.ServerName = ""
		n[origin(tokenURL)] = newHost(ofToken, tokenURL)
	}
	n[origin(baseURL)] = newHost(settings, baseURL) // perhaps the same one
	return n
}

func origin(u *url.URL) string { return u.Scheme + "://" + normalHost(u) }

// host is the origin of an address, and how it is reached.
type host struct {
	proxy    *url.URL             // nil without one
	certEnds time.Time            // when the client certificate expires; zero without one
	pool     atomic.Pointer[pool] // the one of the next request
}

// pool has connections to one host.
type pool struct {
	*http.Transport
	answered atomic.Bool // a response has come over one of them
}

const (
	// HTTP/2 sends all requests over one connection. If it has died without a word, a ping shows it before a request ends. A busy
	// service may answer a ping late, and its loss ends all requests.
	pingAfter, pingTimeout = 10 * time.Second, 10 * time.Second

	maxResponseHeader = 256 << 10 // bytes; Go's default is 10 MB
)

func newHost(settings Settings, u *url.URL) *host {
	h := new(host)
	config, _ := settings.TLS.Config()
	if config.Certificates != nil {
		h.certEnds = config.Certificates[0].Leaf.NotAfter
	}
	proxy, err := httpproxy.FromEnvironment().ProxyFunc()(u)
	h.proxy = proxy
	dial := settings.DialContext
	if dial == nil {
		dial = newDialer().DialContext
	}
	h.pool.Store(&pool{Transport: &http.Transport{
		Proxy: func(*http.Request) (*url.URL, error) { return proxy, err },
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			return conn{c}, err
		},
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      true,                   // a TLS configuration would disable it; GODEBUG=http2client=0 still does
		MaxIdleConnsPerHost:    settings.MaxConcurrent, // Go's default is 2, so that most requests would reconnect
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: maxResponseHeader,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		OnProxyConnectResponse: func(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			return refusalOf(proxy, resp)
		},
	}})
	return h
}

// dialLimit is how long it may take to look up a name and to connect. Package net divides it among the addresses of the name, so
// that one that is silent does not keep it from the others.
const dialLimit = 10 * time.Second

func newDialer() *net.Dialer { return &net.Dialer{Timeout: dialLimit} }

// conn waits before a write fails. With TLS 1.3, a service rejects a client after its first request, and ends the connection: to fail
// at once would close it before the alert is read, which says why.
type conn struct{ net.Conn }

const lastWords = 250 * time.Millisecond

func (c conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if errors.As(err, new(*net.OpError)) && !errors.Is(err, net.ErrClosed) { // of a socket, and not on this side
		<-time.After(lastWords)
	}
	return n, err
}

// Exchange is what is known of a request beside its response.
type Exchange struct {
	// MayBeRead reports whether the host may have read the request: a connection was used, and the host did not reject the client on a
	// new one, as with TLS 1.3 it does after the request.
	MayBeRead bool
	// Renew makes later requests use new connections, unless another exchange over the same ones has done so already. Requests that
	// are under way go on.
	Renew func()
}

// trace is what package http did for a request.
type trace struct {
	asked     bool                  // for a connection
	used      httptrace.GotConnInfo // without Conn if there was none
	handshake atomic.Bool           // one has begun, with the host or with an https:// proxy
}

// Send sends a request. The error is ErrNotSent if Go's library refuses to. If the context has ended, the error is its cause.
func (n Network) Send(req *http.Request) (*http.Response, Exchange, error) {
	h := n[origin(req.URL)]
	p := h.pool.Load()
	var seen trace
	resp, err := p.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn:           func(string) { seen.asked = true },
		GotConn:           func(info httptrace.GotConnInfo) { seen.used = info },
		TLSHandshakeStart: func() { seen.handshake.Store(true) },
	})))
	x := Exchange{MayBeRead: seen.used.Conn != nil, Renew: func() { h.renew(p) }}
	switch {
	case err == nil:
		p.answered.Store(true)
		return resp, x, nil
	case req.Context().Err() != nil:
		return nil, x, context.Cause(req.Context()) // package http reports it in several ways
	case !seen.asked && seen.used.Conn == nil: // with HTTP/2, another request may have asked for the connection
		return nil, x, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	err = h.explain(err, &seen)
	isNew := !seen.used.Reused || !p.answered.Load() // requests of HTTP/2 share a connection from its beginning
	if isUnused(err) || isNew && rejectsClient(err) {
		x.MayBeRead = false
	}
	return nil, x, err
}

// renew replaces a pool, unless that has happened already: a router may have forgotten all connections that were open, or each one
// belongs to one replica of the service, which fails.
func (h *host) renew(p *pool) {
	if h.pool.CompareAndSwap(p, &pool{Transport: p.Clone()}) {
		p.CloseIdleConnections()
	}
}
