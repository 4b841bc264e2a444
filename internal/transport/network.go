package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/http2"
)

// Settings are those of all connections. TLS has no problems.
type Settings struct {
	TLS           TLS
	MaxConcurrent int // requests at the same time
	// DialContext makes connections, as in [http.Transport]; nil means the network.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// Network sends requests to the service and to the token endpoint, which may have the same origin.
type Network map[string]*originNetwork

// New returns the network of a client. tokenURL may be nil.
func New(settings Settings, baseURL, tokenURL *url.URL) Network {
	n := Network{origin(baseURL): newOriginNetwork(settings, baseURL)}
	if tokenURL == nil || n[origin(tokenURL)] != nil {
		return n
	}
	if normalHost(tokenURL) != normalHost(baseURL) {
		settings.TLS.ServerName = ""
	}
	n[origin(tokenURL)] = newOriginNetwork(settings, tokenURL)
	return n
}

// Exchange is what is known of a request that was sent, beside its response.
type Exchange struct {
	Connected bool // a connection was used
	Reused    bool // it was made for another request
	Answered  bool // a response has come over it; requests of HTTP/2 share it from its beginning
	Written   bool // the whole header was written: the host may have read it

	// Abandon makes later requests use new connections, unless they do already. Requests that are under way go on.
	Abandon func()
}

// Send sends a request. The error is ErrNotSent if Go's library refuses to.
func (n Network) Send(req *http.Request) (*http.Response, Exchange, error) {
	o := n[origin(req.URL)]
	c, asked := o.connections.Load(), false
	var wrote atomic.Bool
	var conn *httptrace.GotConnInfo
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn:      func(string) { asked = true },
		GotConn:      func(c httptrace.GotConnInfo) { conn = &c },
		WroteHeaders: func() { wrote.Store(true) },
	}))
	resp, err := o.roundTrip(c, req)
	if err != nil && (!asked && req.Context().Err() == nil || errors.Is(err, ErrLongHeader)) {
		err = fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	x := Exchange{Written: wrote.Load(), Abandon: func() { o.abandon(c) }}
	if conn != nil {
		x.Connected, x.Reused, x.Answered = true, conn.Reused, hasAnswered(*conn)
	}
	return resp, x, err
}

// WantsCertificate reports whether a host has asked for a client certificate, and none is set.
func (n Network) WantsCertificate(u *url.URL) bool { return n[origin(u)].wantsCertificate.Load() }

func origin(u *url.URL) string { return u.Scheme + "://" + normalHost(u) }

// originNetwork sends requests to one host, over HTTP/2 unless the host requires HTTP/1.1.
type originNetwork struct {
	connections      atomic.Pointer[connections]
	proxy            *url.URL // nil without one
	requiresHTTP1    atomic.Bool
	wantsCertificate atomic.Bool // it has asked for a client certificate, and none is set
}

// connections are those to one host that are used now.
type connections struct{ standard, http1 *http.Transport }

func newOriginNetwork(cfg Settings, u *url.URL) *originNetwork {
	var standard, http1 http.Protocols
	standard.SetHTTP1(true)
	standard.SetHTTP2(true) // a custom TLS configuration would disable it
	http1.SetHTTP1(true)
	n := new(originNetwork)
	n.connections.Store(&connections{n.newTransport(cfg, u, &standard), n.newTransport(cfg, u, &http1)})
	return n
}

// abandon makes later requests use new connections, if they do not already: a router may have forgotten all that were open.
// Requests that are under way go on.
func (n *originNetwork) abandon(c *connections) {
	if n.connections.CompareAndSwap(c, &connections{c.standard.Clone(), c.http1.Clone()}) {
		c.standard.CloseIdleConnections()
		c.http1.CloseIdleConnections()
	}
}

// newTransport returns a transport for requests to the host of u.
func (n *originNetwork) newTransport(cfg Settings, u *url.URL, protocols *http.Protocols) *http.Transport {
	config, _ := cfg.TLS.Config() // New has refused what is wrong
	if config.GetClientCertificate == nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			n.wantsCertificate.Store(true)
			return new(tls.Certificate), nil // none
		}
	}
	proxy, err := httpproxy.FromEnvironment().ProxyFunc()(u)
	if err != nil { // a CGI program gets its client's headers in variables, and Proxy would be HTTP_PROXY
		err = errors.New("HTTP_PROXY does not count while REQUEST_METHOD is set; unset one of them, or list the host in NO_PROXY")
	}
	n.proxy = proxy
	dial := checkingProtocol(cfg.DialContext)
	t := &http.Transport{
		Proxy:                  func(*http.Request) (*url.URL, error) { return proxy, err },
		DialContext:            dial,
		TLSClientConfig:        config,
		Protocols:              protocols,
		MaxIdleConnsPerHost:    cfg.MaxConcurrent, // Go's default is 2, so that most requests would reconnect
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10, // Go's default is 10 MB
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		OnProxyConnectResponse: func(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			return &ProxyError{proxy: addressOf(proxy), Status: resp.StatusCode}
		},
	}
	if proxy != nil && proxy.Scheme == "https" {
		// The transport would use the server name and the protocols of the host. It calls this function only for the proxy.
		t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return secureProxy(ctx, conn, proxy, cfg.TLS)
		}
	}
	return t
}

// addressOf returns the address of a proxy without its credentials.
func addressOf(proxy *url.URL) string { return proxy.Scheme + "://" + proxy.Host }

// secureProxy begins TLS with an https:// proxy.
func secureProxy(ctx context.Context, conn net.Conn, proxy *url.URL, settings TLS) (net.Conn, error) {
	config := settings.proxyConfig(proxy.Hostname())
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, handshakeError(err, config)
	}
	return secured, nil
}

// roundTrip sends a request. A host that requires HTTP/1.1, for example to ask for a client certificate, has not processed the
// request.
func (n *originNetwork) roundTrip(c *connections, req *http.Request) (*http.Response, error) {
	if n.requiresHTTP1.Load() {
		return n.sendOver(c.http1, req)
	}
	resp, err := n.sendOver(c.standard, req)
	reset, isReset := errors.AsType[http2.StreamError](err)
	if !isReset || reset.Code != http2.ErrCodeHTTP11Required {
		return resp, err
	}
	n.requiresHTTP1.Store(true)
	if req.GetBody != nil {
		if req.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return n.sendOver(c.http1, req)
}

// The errors of package http that have no type.
const (
	lostPing  = "http2: client connection lost"
	neverUsed = "http2: client conn could not be established" // it ended before the request was written
	tooLong   = "request header list larger than peer's advertised limit"
)

// sendOver gives a type to the errors of connections that have none.
func (n *originNetwork) sendOver(transport *http.Transport, req *http.Request) (*http.Response, error) {
	var handshake atomic.Pointer[error]
	var conn httptrace.GotConnInfo
	var throughProxy atomic.Bool // or there is none
	throughProxy.Store(n.proxy == nil)
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		TLSHandshakeStart: func() { throughProxy.Store(true) },
		TLSHandshakeDone:  func(_ tls.ConnectionState, err error) { handshake.Store(&err) },
		GotConn:           func(info httptrace.GotConnInfo) { conn = info },
	})
	resp, err := transport.RoundTrip(req.WithContext(ctx))
	if checked := checkedConnOf(conn.Conn); err == nil && checked != nil {
		checked.responded.Store(true)
	}
	if err == nil {
		return resp, nil
	}
	failed := handshake.Load()
	switch other, isOther := errors.AsType[*ProtocolError](err); {
	case isOther && n.proxy != nil: // only the proxy speaks in clear
		return nil, proxyError(n.proxy, other)
	case isOther:
		return nil, other // without what package http says around it
	case conn.Conn == nil && !throughProxy.Load() && ctx.Err() == nil:
		return nil, proxyError(n.proxy, err)
	case err.Error() == lostPing:
		return nil, ErrNoPong
	case strings.HasSuffix(err.Error(), tooLong):
		return nil, ErrLongHeader
	case failed != nil && *failed != nil && errors.Is(err, *failed):
		err = handshakeError(err, transport.TLSClientConfig)
	case err.Error() == neverUsed && conn.Conn != nil:
		if _, why := conn.Conn.Read(make([]byte, 1)); why != nil { // an alert stays the error of package tls
			err = why
		}
	}
	brokeEarly := conn.Conn != nil && !hasAnswered(conn) && ctx.Err() == nil && hasBroken(err)
	if n.wantsCertificate.Load() && (sentAlert(err, byService) || brokeEarly) {
		err = fmt.Errorf("%w; %w", err, ErrNoCertificate)
	}
	return nil, err
}

// proxyError gives a type to an error of the connection to a proxy.
func proxyError(proxy *url.URL, err error) error {
	if refused, ok := errors.AsType[*ProxyError](err); ok {
		return refused
	}
	if around, ok := errors.AsType[*net.OpError](err); ok && around.Op == "proxyconnect" {
		err = around.Err
	}
	return &ProxyError{proxy: addressOf(proxy), err: err}
}

// handshakeError gives a type to an error of a TLS handshake that has none, and details to one of a certificate.
func handshakeError(err error, config *tls.Config) error {
	if IsTLSFailure(err) || hasBroken(err) {
		return certificateError(err, config.RootCAs)
	}
	return &HandshakeError{err}
}

// hasBroken reports whether a connection has ended.
func hasBroken(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, end) {
			return true
		}
	}
	return errors.As(err, new(net.Error))
}
