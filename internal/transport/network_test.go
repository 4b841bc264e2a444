package transport_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// newNetwork returns a network for a service, which trusts it.
func newNetwork(t *testing.T, address string, settings transport.Settings) transport.Network {
	t.Helper()
	u, err := transport.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	settings.TLS.InsecureSkipVerify = true
	if settings.DialContext == nil {
		settings.DialContext = streamstest.Dial
	}
	return transport.NewNetwork(settings, u, nil)
}

// send sends a request, and reads the response.
func send(ctx context.Context, n transport.Network, address string) (transport.Exchange, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, address, strings.NewReader("{}"))
	if err != nil {
		return transport.Exchange{}, err
	}
	resp, x, err := n.Send(req)
	if err == nil {
		_, err = transport.ReadBody(resp)
	}
	return x, err
}

// startOver starts a service that speaks one version of HTTP.
func startOver(t *testing.T, protocol string, responses ...http.HandlerFunc) *Service {
	t.Helper()
	s := NewService(t, responses...)
	s.EnableHTTP2 = protocol == "HTTP/2.0"
	s.StartTLS()
	return s
}

var bothProtocols = []string{"HTTP/1.1", "HTTP/2.0"}

// A request that failed may have been read if a connection was used.
func TestMayBeRead(t *testing.T) {
	t.Parallel()
	for _, protocol := range bothProtocols {
		s := startOver(t, protocol, ApplyUpdate, ResetConnection)
		n := newNetwork(t, s.URL, transport.Settings{})
		check := func(name string, n transport.Network, works, mayBeRead bool) {
			if x, err := send(t.Context(), n, s.URL); (err == nil) != works || x.MayBeRead != mayBeRead {
				t.Errorf("%s, %s: %+v, %v", protocol, name, x, err)
			}
		}
		check("response", n, true, true)
		check("broken", n, false, true)
		check("broken at once", newNetwork(t, s.URL, transport.Settings{}), false, true)
		s.Close()
		check("no connection", newNetwork(t, s.URL, transport.Settings{}), false, false)
	}
}

// After Renew, the next request has a new connection, and those that are under way go on. A second one of the same connections
// changes nothing.
func TestRenew(t *testing.T) {
	t.Parallel()
	for _, protocol := range bothProtocols {
		RunVirtual(t, protocol, func(t *testing.T) {
			var dials atomic.Int32
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.Add(1)
				return streamstest.Dial(ctx, network, address)
			}
			s := startOver(t, protocol, ApplyUpdate, RespondAfter(time.Minute, ApplyUpdate), ApplyUpdate)
			n := newNetwork(t, s.URL, transport.Settings{MaxConcurrent: 2, DialContext: dial})
			again := func(connections int32) transport.Exchange {
				t.Helper()
				x, err := send(t.Context(), n, s.URL)
				if err != nil || dials.Load() != connections {
					t.Errorf("%d connections, want %d: %v", dials.Load(), connections, err)
				}
				return x
			}
			first := again(1)
			var slow sync.WaitGroup
			slow.Go(func() {
				if _, err := send(t.Context(), n, s.URL); err != nil {
					t.Errorf("under way: %v", err)
				}
			})
			<-time.After(time.Second)
			first.Renew()
			second := again(2)
			first.Renew()
			again(2)
			second.Renew()
			again(3)
			slow.Wait()
			again(3)
		})
	}
}

// A failure of one request breaks no other one, which may be written over the same connection at that time.
func TestFailureBreaksNoOtherRequest(t *testing.T) {
	t.Parallel()
	for _, protocol := range bothProtocols {
		s := startOver(t, protocol)
		var attempts sync.Map // by their path
		fails, written := make(chan struct{}), make(chan struct{})
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := attempts.LoadOrStore(r.URL.Path, new(atomic.Int32))
			switch attempt := n.(*atomic.Int32).Add(1); {
			case strings.HasSuffix(r.URL.Path, "/long") && attempt == 1:
				close(written) // its header
				<-fails
			case strings.HasSuffix(r.URL.Path, "/fails") && attempt == 1:
				RespondError(503, "later")(w, r)
				return
			case attempt == 2:
				close(fails)
			}
			ApplyUpdate(w, r)
		})
		var c *streams.Client
		var long sync.WaitGroup
		c = NewClient(t, requests.Config{BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, Observe: func(_ context.Context, a requests.Attempt) {
			if a.Status != 503 {
				return
			}
			long.Go(func() {
				if _, err := c.UpdateStream(t.Context(), "long", streams.NewProcessorSet(StreamIDs(100_000)...)); err != nil {
					t.Errorf("%s: %v", protocol, err)
				}
			})
			<-written // before the delivery of the other request goes on
		}})
		if _, err := c.UpdateStream(t.Context(), "fails", streams.NewProcessorSet()); err != nil {
			t.Errorf("%s: %v", protocol, err)
		}
		long.Wait()
		if n, _ := attempts.Load("/v2/streams/long"); n.(*atomic.Int32).Load() != 1 {
			t.Errorf("%s: the other request was sent again", protocol)
		}
	}
}

// A response that is no HTTP/1.1 has a name, and Go's text. The service may have read the request, and will not read another one.
func TestNotHTTP(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"\x15\x03\x01\x00\x02\x02\x0a", "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x04\x00\x10\x00\x00", // an alert of TLS, a frame of HTTP/2
		"SSH-2.0-OpenSSH_9.9\r\n",
	} {
		s := StartService(t, RespondRaw(answer))
		x, err := send(t.Context(), newNetwork(t, s.URL, transport.Settings{}), s.URL)
		if !errors.Is(err, transport.ErrNotHTTP) || !transport.WouldFailAgain(err) || transport.IsTLSFailure(err) || !x.MayBeRead {
			t.Errorf("%q: %v, %+v", answer, err, x)
		}
		streamstest.WantText(t, err.Error(), "the response is not HTTP/1.1", "malformed HTTP response")
	}
	for _, bad := range []string{"HTTP/1.1 1000 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno header\r\n\r\n"} {
		s := StartService(t, RespondRaw(bad))
		if _, err := send(t.Context(), newNetwork(t, s.URL, transport.Settings{}), s.URL); err == nil || errors.Is(err, transport.ErrNotHTTP) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Go's own servers of TLS and of HTTP/2 just end the connection of a plain request.
func TestPlainRequestToAnotherProtocol(t *testing.T) {
	t.Parallel()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	s := StartTCPService(t, nil, ApplyUpdate)
	rawTLS := listen()
	go func() {
		for {
			c, err := rawTLS.Accept()
			if err != nil {
				return
			}
			_ = tls.Server(c, s.TLS).Handshake()
			_ = c.Close()
		}
	}()
	var http2Only http.Protocols
	http2Only.SetUnencryptedHTTP2(true)
	h2c := &httptest.Server{Listener: listen(), Config: &http.Server{Handler: http.HandlerFunc(ApplyUpdate), Protocols: &http2Only}}
	h2c.Start()
	t.Cleanup(h2c.Close)
	for name, address := range map[string]net.Addr{"a server of package http": s.Listener.Addr(), "package tls": rawTLS.Addr(), "HTTP/2": h2c.Listener.Addr()} {
		u := "http://" + address.String()
		x, err := send(t.Context(), newNetwork(t, u, transport.Settings{DialContext: DialTCP}), u)
		if err == nil || !x.MayBeRead || transport.IsTLSFailure(err) {
			t.Errorf("%s: %v, %+v", name, err, x)
		}
	}
}

// A context that has ended is the error, whatever was under way: nobody else is blamed.
func TestContextHasEnded(t *testing.T) {
	ended := errors.New("out of time")
	never := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, proxy := range map[string]string{"direct": "", "proxy": "http://proxy.invalid:3128"} {
		setProxy(t, "HTTPS_PROXY", proxy)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Millisecond, func() { cancel(ended) })
		n := newNetwork(t, "https://streams.invalid", transport.Settings{DialContext: never})
		x, err := send(ctx, n, "https://streams.invalid")
		if !errors.Is(err, ended) || errors.As(err, new(*transport.ProxyError)) || x.MayBeRead {
			t.Errorf("%s: %v, %+v", name, err, x)
		}
	}
}

// With TLS 1.3, the alert of a host that wants a client certificate may arrive before the request is written over HTTP/2. Package http
// then has an error of its own.
func TestAlertBeforeTheRequest(t *testing.T) {
	t.Parallel()
	s := StartTCPService(t, requireCertificateOf(streamstest.NewAuthority(t), 0), ApplyUpdate)
	closed := make(chan struct{})
	n := newNetwork(t, s.URL, transport.Settings{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := DialTCP(ctx, network, address)
		return &closingConn{c, sync.OnceFunc(func() { close(closed) })}, err
	}})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { <-closed }})
	x, err := send(ctx, n, s.URL)
	if x.MayBeRead || !errors.Is(err, transport.ErrNoCertificate) {
		t.Errorf("%+v, %v", x, err)
	}
	streamstest.WantText(t, err.Error(), "certificate required")
}

// closingConn calls a function when it is closed.
type closingConn struct {
	net.Conn
	onClose func()
}

func (c *closingConn) Close() error {
	c.onClose()
	return c.Conn.Close()
}

// The server name is expected of the host of the base URL, and of no other one. The other settings are for both.
func TestServerNameIsForTheService(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	internal, public := serverWith(t, ca.Issue(t, "service.internal")), serverWith(t, ca.Issue(t, "127.0.0.1"))
	both := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			IssueTokens(0)(w, r)
			return
		}
		ApplyUpdate(w, r)
	}
	for name, endpoint := range map[string]*Service{
		"another host": StartTLSService(t, public, both), "the same host": nil, "the same name": StartTLSService(t, internal, both),
	} {
		s := StartTLSService(t, internal.Clone(), both)
		cfg := requests.Config{TLS: transport.TLS{CACertPEM: ca.CertPEM, ServerName: "service.internal"}, OAuth2: &requests.OAuth2{}}
		if cfg.OAuth2.TokenURL = s.URL + "/token"; endpoint != nil {
			cfg.OAuth2.TokenURL = endpoint.URL
		}
		_, err := s.Update(t, cfg)
		if accepted := err == nil; accepted != (name != "the same name") || !accepted && !errors.As(err, new(x509.HostnameError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
