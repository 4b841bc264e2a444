package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/http2"
)

// HTTP/2 sends all requests over one connection. If it has died without a word, a ping shows it before a request ends. A busy service
// may answer a ping late, and its loss ends all requests.
const (
	pingAfter   = 10 * time.Second
	pingTimeout = 10 * time.Second
)

const maxResponseHeader = 256 << 10 // bytes; Go's default is 10 MB

// Settings are those of all connections.
type Settings struct {
	TLS           TLS // without problems
	MaxConcurrent int // requests at the same time
	// DialContext makes connections, as in [http.Transport]; nil means the network.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// host is the origin of an address, and how it is reached.
type host struct {
	pool             atomic.Pointer[pool] // the one of the next request
	proxy            *url.URL             // nil without one
	wantsCertificate atomic.Bool          // it has asked for a client certificate, and none is set
}

// pool has connections to one host.
type pool struct {
	*http.Transport
	answered atomic.Bool // a response has come over one of them
}

func newHost(settings Settings, u *url.URL) *host {
	h := new(host)
	config, _ := settings.TLS.Config()
	if config.GetClientCertificate == nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			h.wantsCertificate.Store(true)
			return new(tls.Certificate), nil // none
		}
	}
	proxy, err := httpproxy.FromEnvironment().ProxyFunc()(u)
	h.proxy = proxy
	dial := dialing(settings.DialContext)
	t := &http.Transport{
		Proxy:                  func(*http.Request) (*url.URL, error) { return proxy, err },
		DialContext:            dial,
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
			return &ProxyError{Status: resp.StatusCode, Schemes: ProxySchemes(resp.Header), proxy: addressOf(proxy)}
		},
	}
	if proxy != nil && proxy.Scheme == "https" {
		// The transport would use the server name and the protocols of the host. It calls this function only for the proxy.
		t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return secureProxy(ctx, conn, proxy, settings.TLS)
		}
	}
	h.pool.Store(&pool{Transport: t})
	return h
}

// renew replaces a pool, unless that has happened already: a router may have forgotten all connections that were open, or each one
// belongs to one replica of the service, which fails.
func (h *host) renew(p *pool) {
	if h.pool.CompareAndSwap(p, &pool{Transport: p.Clone()}) {
		p.CloseIdleConnections()
	}
}

// The errors of package http that have no type.
const (
	lostPing  = "http2: client connection lost"
	neverUsed = "http2: client conn could not be established" // it ended before the request was written
	notHTTP   = "malformed HTTP response"
)

// speaksHTTP reports whether the answer to a TLS handshake is HTTP.
func speaksHTTP(err error) bool {
	record, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok && string(record.RecordHeader[:]) == "HTTP/"
}

// explain gives a type or a name to an error of package http that has none.
func (h *host) explain(err error, u *url.URL, seen *trace) error {
	failed := seen.handshake.Load()
	reset, isReset := errors.AsType[http2.StreamError](err)
	switch {
	case err.Error() == lostPing:
		return ErrNoPong
	case isReset: // package http also says which stream of the connection it was
		return fmt.Errorf("the server ended the request: stream error %s", reset.Code)
	case strings.Contains(err.Error(), notHTTP):
		err = fmt.Errorf("%w: %w", ErrNotHTTP, err)
	case failed != nil && *failed != nil && errors.Is(err, *failed):
		err = handshakeError(err)
	case err.Error() == neverUsed && seen.used.Conn != nil:
		if _, why := seen.used.Conn.Read(make([]byte, 1)); why != nil { // an alert stays the error of package tls
			err = why
		}
	}
	if h.proxy != nil && (seen.used.Conn == nil && !seen.isThrough(h.proxy) || errors.Is(err, ErrNotHTTP) && u.Scheme == "http") {
		return proxyError(h.proxy, err) // in clear, only the proxy responds
	}
	if speaksHTTP(err) {
		return http.ErrSchemeMismatch // as [http.Client] does
	}
	if h.wantsCertificate.Load() && hasAlert(err, byPeer) {
		err = fmt.Errorf("%w; %w", err, ErrNoCertificate)
	}
	return err
}
