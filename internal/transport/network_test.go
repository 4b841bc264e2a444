package transport_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

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

// Package http does not say that a request asks for a connection of HTTP/2 that another one has made. It may have been read.
func TestConnectionOfAnother(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := startOver(t, "HTTP/2.0", ResetConnection)
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			<-time.After(2 * time.Second)
			return streamstest.Dial(context.WithoutCancel(ctx), network, address)
		}
		n := newNetwork(t, s.URL, transport.Settings{MaxConcurrent: 2, DialContext: dial})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if x, err := send(ctx, n, s.URL); !errors.Is(err, context.DeadlineExceeded) || x.MayBeRead {
			t.Errorf("%+v, %v", x, err)
		}
		<-time.After(5 * time.Second)
		start := time.Now()
		if x, err := send(t.Context(), n, s.URL); err == nil || errors.Is(err, transport.ErrNotSent) || !x.MayBeRead || time.Since(start) > 0 {
			t.Errorf("%+v, %v after %s", x, err, time.Since(start))
		}
	})
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
		sendLong := func(_ context.Context, a requests.Attempt) {
			if a.Status != 503 {
				return
			}
			long.Go(func() {
				if _, err := c.UpdateStream(t.Context(), "long", streams.NewProcessorSet(StreamIDs(100_000)...)); err != nil {
					t.Errorf("%s: %v", protocol, err)
				}
			})
			<-written // before the delivery of the other request goes on
		}
		c = NewClient(t, requests.Config{BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, Observe: sendLong})
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
		"SSH-2.0-OpenSSH_9.9\r\n", "certificate?\r\n",
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
	for name, address := range map[string]net.Addr{
		"a server of package http": s.Listener.Addr(), "package tls": rawTLS.Addr(), "HTTP/2": h2c.Listener.Addr(),
	} {
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

// A firewall may drop what begins a connection. The request was not sent then. Operations that send nothing because of it say
// the same.
func TestNoConnection(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		silent := requests.Config{BaseURL: "https://streams.invalid", Token: "t", Retry: requests.DefaultRetry, DialContext: neverConnect}
		for _, err := range UpdateAll(t, NewClient(t, silent), 100) {
			if e := AsError(t, err); !errors.Is(e, transport.ErrNoConnection) || !strings.HasSuffix(e.Reason, ": no connection was made") {
				t.Fatalf("error %#v", e)
			}
		}
		c := NewClient(t, requests.Config{BaseURL: "https://streams.invalid", DialContext: neverConnect})
		e := AsError(t, UpdateAll(t, c, 1)[0])
		if WantFailed(t, e, streams.KindTimeout, streams.NotChanged, 5); !errors.Is(e, transport.ErrNoConnection) {
			t.Errorf("error %#v", e)
		}
		streamstest.WantText(t, e.Reason, "the service did not respond within 30s: no connection was made")
	})
}

// Package net gives up earlier than the request timeout. The request is retried then.
func TestSilentHost(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		dials := 0
		silent := func(context.Context, string, string) (net.Conn, error) {
			dials++
			<-time.After(10 * time.Second)
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}
		}
		s := &Service{Server: &httptest.Server{URL: "https://streams.invalid"}}
		e := s.UpdateError(t, requests.Config{DialContext: silent})
		if WantFailed(t, e, streams.KindConnection, streams.NotChanged, 5); dials != 5 || !errors.Is(e, transport.ErrNoConnection) {
			t.Errorf("%d connections, %#v", dials, e)
		}
		WantEqual(t, "reason", "the connection failed: no connection was made: dial tcp: context deadline exceeded", e.Reason)
	})
}

// neverConnect gives up after two minutes, as a kernel does: package http goes on to connect without the request.
func neverConnect(ctx context.Context, _, _ string) (net.Conn, error) {
	select {
	case <-ctx.Done():
	case <-time.After(2 * time.Minute):
	}
	return nil, errors.New("timed out")
}

// resetStreams resets each request over HTTP/2, and counts them.
func resetStreams(code http2.ErrCode, count *atomic.Int32) map[string]func(*http.Server, *tls.Conn, http.Handler) {
	return map[string]func(*http.Server, *tls.Conn, http.Handler){"h2": func(_ *http.Server, conn *tls.Conn, _ http.Handler) {
		framer, writes := http2.NewFramer(conn, conn), make(chan func() error, 10)
		defer close(writes)
		go func() { // not before the next read, because both sides of a connection in memory would wait for each other
			for write := range writes {
				_ = write()
			}
		}()
		writes <- func() error { return framer.WriteSettings() }
		_, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface)))
		for err == nil {
			var frame http2.Frame
			if frame, err = framer.ReadFrame(); err == nil && frame.Header().Type == http2.FrameHeaders {
				count.Add(1)
				id := frame.Header().StreamID
				writes <- func() error { return framer.WriteRSTStream(id, code) }
			}
		}
	}}
}

// A reset is retried over HTTP/2.
func TestReset(t *testing.T) {
	t.Parallel()
	var resets atomic.Int32
	s := NewService(t, ApplyUpdate)
	s.Config.TLSNextProto = resetStreams(http2.ErrCodeInternal, &resets)
	s.StartTLS()
	e := s.UpdateError(t, requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}})
	if WantFailed(t, e, streams.KindConnection, streams.Unknown, 5); resets.Load() != 5 {
		t.Errorf("%d resets", resets.Load())
	}
	streamstest.WantText(t, e.Reason, "INTERNAL_ERROR; received from peer")
	s.WantRequests(t, 0)
}

// A connection of HTTP/2 that dies without a word costs an attempt at most, however many streams it has, and whether it dies
// before the request, during it, or long before the next one.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	const latency = time.Second
	for name, test := range map[string]struct {
		idle, during time.Duration // before and after the requests are sent
		attempts     int
	}{
		"before the requests": {0, 0, 2}, "during the requests": {0, latency / 2, 2}, "idle": {time.Minute, 0, 1},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			s := StartTLSService(t, nil, RespondAfter(latency, ApplyUpdate))
			var network Relay
			var attempts atomic.Int32
			c := NewClient(t, requests.Config{
				BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, Retry: requests.DefaultRetry, DialContext: network.Dial,
				Observe: func(_ context.Context, a requests.Attempt) { attempts.Store(max(attempts.Load(), int32(a.Number))) },
			})
			MustUpdateAll(t, c, 1)
			if test.during > 0 {
				time.AfterFunc(test.during, func() { network.Freeze() })
			} else if conns := network.Freeze(); conns != 1 {
				t.Errorf("%d connections", conns)
			}
			<-time.After(test.idle)
			start := time.Now()
			MustUpdateAll(t, c, 10)
			if took := time.Since(start); attempts.Load() != int32(test.attempts) || took > 25*time.Second {
				t.Errorf("%d attempts, %s", attempts.Load(), took)
			}
		})
	}
}

// After an attempt without a response, the next one uses a new connection: one over which nothing comes costs one attempt,
// with HTTP/1.1 and with HTTP/2, whether it dies before the response or in it, and however many others have died with it.
func TestNewConnectionAfterNoResponse(t *testing.T) {
	t.Parallel()
	slowly := RespondAfter(time.Second, ApplyUpdate)
	inBody := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		slowly(w, r)
	}
	for name, test := range map[string]struct {
		response http.HandlerFunc
		during   time.Duration // the requests; 0: before them
	}{"before": {slowly, 0}, "during": {slowly, time.Second / 2}, "in the body": {inBody, time.Second / 2}} {
		for protocol, config := range map[string]*tls.Config{"HTTP/2": nil, "HTTP/1.1": {NextProtos: []string{"http/1.1"}}} {
			for _, parallel := range []int{1, Singles, Group} {
				RunVirtual(t, fmt.Sprint(name, "/", protocol, "/", parallel), func(t *testing.T) {
					s := StartTLSService(t, config, test.response)
					var network Relay
					var attempts atomic.Int32
					c := NewClient(t, requests.Config{
						BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, Retry: requests.DefaultRetry, RequestTimeout: 5 * time.Second,
						MaxConcurrent: parallel, DialContext: network.Dial,
						Observe: func(_ context.Context, a requests.Attempt) { attempts.Store(max(attempts.Load(), int32(a.Number))) },
					})
					if err := errors.Join(UpdateParallel(t, c, parallel, parallel, time.Minute)...); err != nil {
						t.Fatal(err)
					}
					if test.during > 0 {
						time.AfterFunc(test.during, func() { network.Freeze() })
					} else {
						network.Freeze()
					}
					start := time.Now()
					err := errors.Join(UpdateParallel(t, c, parallel, parallel, time.Minute)...)
					if took := time.Since(start); err != nil || attempts.Load() != 2 || took > 9*time.Second {
						t.Errorf("%d attempts, %s: %.300v", attempts.Load(), took, err)
					}
					<-time.After(time.Minute) // pings end what has died
				})
			}
		}
	}
}

// If every connection dies after the handshake, the service counts as one that does not respond.
func TestDeadConnections(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := StartTLSService(t, nil, NeverRespond)
		var network Relay
		c := NewClient(t, requests.Config{
			BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, Retry: requests.DefaultRetry,
			DialContext: func(ctx context.Context, net, address string) (net.Conn, error) {
				time.AfterFunc(time.Second, func() { network.Freeze() })
				return network.Dial(ctx, net, address)
			},
		})
		start := time.Now()
		for _, err := range UpdateAll(t, c, 300) {
			if !errors.Is(err, transport.ErrNoPong) && !errors.Is(err, requests.ErrRequestTimeout) {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took > 240*time.Second {
			t.Errorf("300 streams took %s", took)
		}
	})
}

// The header of a response is bounded, so that 64 of them at a time fit into memory.
func TestLongResponseHeader(t *testing.T) {
	t.Parallel()
	for length, works := range map[int]bool{200 << 10: true, 300 << 10: false} {
		for _, protocol := range []string{"HTTP/2.0", "HTTP/1.1"} {
			s := NewService(t, Respond(200, StreamJSON("s1", []string{"p1"}), "X-Long", strings.Repeat("a", length)))
			s.EnableHTTP2 = protocol == "HTTP/2.0"
			s.StartTLS()
			_, err := s.Update(t, requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}, Retry: requests.Retry{MaxAttempts: 1}})
			if (err == nil) != works {
				t.Errorf("%d bytes over %s: %v", length, protocol, err)
			}
			WantEqual(t, "protocol", protocol, s.Requests()[0].Proto)
		}
	}
}

// A connection that nobody has used for minutes is not used again: a router may have forgotten it.
func TestIdleConnection(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		var dials atomic.Int32
		s := startOver(t, "HTTP/1.1", ApplyUpdate)
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return streamstest.Dial(ctx, network, address)
		}
		n := newNetwork(t, s.URL, transport.Settings{MaxConcurrent: 1, DialContext: dial})
		for _, idle := range []time.Duration{0, time.Minute, 2 * time.Minute} {
			<-time.After(idle)
			if _, err := send(t.Context(), n, s.URL); err != nil || dials.Load() != 1+int32(idle/(2*time.Minute)) {
				t.Errorf("after %s: %d connections, %v", idle, dials.Load(), err)
			}
		}
	})
}

// Requests reuse connections, in sequence and in parallel, also after rejections.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]http.HandlerFunc{
		"success": ApplyUpdate, "HTML": Respond(409, "<h1>No</h1>"),
		"redirect": RespondError(302, "moved", "Location", "/"), "no content": Respond(204, ""),
	} {
		RunVirtual(t, name, func(t *testing.T) {
			const parallel = 10 // as in updateAll; Go's default would keep two idle connections
			s := StartService(t, RespondAfter(time.Second, ApplyUpdate), RespondAfter(time.Second, response))
			var connections atomic.Int32
			count := func(ctx context.Context, network, address string) (net.Conn, error) {
				connections.Add(1)
				return streamstest.Dial(ctx, network, address)
			}
			c := NewClient(t, requests.Config{BaseURL: s.URL, Retry: requests.Retry{MaxAttempts: 1}, DialContext: count})
			for range 4 {
				UpdateAll(t, c, parallel)
				<-time.After(time.Second) // until all connections are idle
			}
			s.WantRequests(t, 4*parallel)
			if got := connections.Load(); got != parallel {
				t.Errorf("%d connections, want %d", got, parallel)
			}
		})
	}
}
