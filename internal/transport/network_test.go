package transport_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	. "github.com/stream-management/terraform-provider-stream/internal/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// serverWith returns the TLS configuration of a server with a certificate.
func serverWith(t *testing.T, pair streamstest.KeyPair) *tls.Config {
	t.Helper()
	certificate, err := tls.X509KeyPair([]byte(pair.CertPEM), []byte(pair.KeyPEM))
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}}
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

// A host that requires HTTP/1.1 has not processed the request, and will not process the next one either. The error names the setting
// of Go's library by which the provider speaks HTTP/1.1.
func TestHTTP1Required(t *testing.T) {
	var resets atomic.Int32
	s := NewService(t, ApplyUpdate)
	s.Config.TLSNextProto = resetStreams(http2.ErrCodeHTTP11Required, &resets)
	s.StartTLS()
	cfg := requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}}
	e := s.UpdateError(t, cfg)
	if WantFailed(t, e, streams.KindConnection, streams.NotChanged, 1); !errors.Is(e, transport.ErrNeedsHTTP1) || resets.Load() != 1 {
		t.Errorf("%#v, %d resets", e, resets.Load())
	}
	streamstest.WantText(t, e.Reason, "the server requires HTTP/1.1")
	s.WantRequests(t, 0)
	t.Setenv("GODEBUG", "http2client=0")
	if _, err := s.Update(t, cfg); err != nil {
		t.Error(err)
	}
	WantEqual(t, "protocol", "HTTP/1.1", s.Requests()[0].Proto)
}

// Any other reset is retried over HTTP/2.
func TestOtherReset(t *testing.T) {
	t.Parallel()
	var resets atomic.Int32
	s := NewService(t, ApplyUpdate)
	s.Config.TLSNextProto = resetStreams(http2.ErrCodeInternal, &resets)
	s.StartTLS()
	e := s.UpdateError(t, requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}})
	if WantFailed(t, e, streams.KindConnection, streams.Unknown, 5); resets.Load() != 5 {
		t.Errorf("%d resets", resets.Load())
	}
	s.WantRequests(t, 0)
}

// A certificate that Go cannot read stays as it is, so the request is not retried. A connection that breaks is.
func TestUnreadableCertificate(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	for reason, change := range map[string]func(der []byte, leaf *x509.Certificate){
		"x509: negative serial number": func(der []byte, leaf *x509.Certificate) {
			der[bytes.Index(der, leaf.SerialNumber.Bytes())] |= 0x80
		},
		"x509: unsupported time format": func(der []byte, leaf *x509.Certificate) {
			der[bytes.Index(der, []byte(leaf.NotBefore.UTC().Format("060102150405Z")))-2] = 5
		},
	} {
		shown := serverWith(t, ca.Issue(t, "127.0.0.1"))
		change(shown.Certificates[0].Certificate[0], shown.Certificates[0].Leaf)
		server := &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return shown, nil }}
		e := StartTLSService(t, server, ApplyUpdate).UpdateError(t, requests.Config{TLS: transport.TLS{CACertPEM: ca.CertPEM}})
		WantFailed(t, e, streams.KindConnection, streams.NotChanged, 1)
		if !errors.As(e, new(*transport.HandshakeError)) || !transport.IsTLSFailure(e) {
			t.Errorf("%s: %#v", reason, e)
		}
		streamstest.WantText(t, e.Reason, reason)
	}
}

// A connection that breaks in the handshake is no certificate that cannot be read: the next attempt may succeed.
func TestConnectionBreaksInHandshake(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*net.TCPConn) error{
		"closed": (*net.TCPConn).Close,
		"closed in a record": func(conn *net.TCPConn) error {
			_, err := conn.Write([]byte{22, 3, 3, 0, 100, 2})
			return errors.Join(err, conn.Close())
		},
		"reset": func(conn *net.TCPConn) error { return errors.Join(conn.SetLinger(0), conn.Close()) },
	} {
		s := StartTCPService(t, &tls.Config{}, ApplyUpdate)
		var dials atomic.Int32
		broken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer broken.Close()
		go func() {
			for {
				conn, err := broken.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Read(make([]byte, 64<<10)) // the greeting of the client, all of it: a close would reset the connection
				if err := end(conn.(*net.TCPConn)); err != nil {
					t.Error(err)
				}
			}
		}()
		cfg := requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) <= 2 {
				address = broken.Addr().String()
			}
			return DialTCP(ctx, network, address)
		}}
		if _, err := s.Update(t, cfg); err != nil || dials.Load() != 3 {
			t.Errorf("%s: %v after %d connections", name, err, dials.Load())
		}
	}
}

// An https:// proxy speaks HTTP/1.1, and its certificate has its own name, not the server name. An authority of ca_cert_pem
// counts for it.
func TestHTTPSProxy(t *testing.T) {
	proxyCA, ca := streamstest.NewAuthority(t), streamstest.NewAuthority(t)
	client := ca.Issue(t, "client")
	both := transport.TLS{CACertPEM: ca.CertPEM + proxyCA.CertPEM, ServerName: "service.internal"}
	mutual := both
	mutual.ClientCertPEM, mutual.ClientKeyPEM = client.CertPEM, client.KeyPEM
	own := serverWith(t, proxyCA.Issue(t, "127.0.0.1"))
	asking := requireCertificateOf(ca, 0)
	asking.Certificates = own.Certificates
	for name, test := range map[string]struct {
		proxy  *tls.Config
		client transport.TLS
	}{
		"own name":           {own, both},
		"client certificate": {asking, mutual},
		"not verified":       {serverWith(t, proxyCA.Issue(t, "another")), transport.TLS{InsecureSkipVerify: true}},
	} {
		s := StartTLSService(t, serverWith(t, ca.Issue(t, "service.internal")), ApplyUpdate)
		proxy := StartTLSService(t, test.proxy.Clone(), tunnelTo(t, s))
		setProxy(t, "HTTPS_PROXY", proxy.URL)
		c := NewClient(t, requests.Config{BaseURL: "https://streams.invalid", TLS: test.client})
		if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, tunnel := s.Requests()[0], proxy.Requests()[0]; got.Proto != "HTTP/2.0" || tunnel.Proto != "HTTP/1.1" || tunnel.Method != "CONNECT" {
			t.Errorf("%s: the proxy received %+v, the service %+v", name, tunnel, got)
		}
	}

	proxy := StartTLSService(t, own.Clone(), ApplyUpdate) // gets requests to http:// as they are
	setProxy(t, "HTTP_PROXY", proxy.URL)
	c := NewClient(t, requests.Config{BaseURL: "http://streams.invalid", TLS: both})
	if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
		t.Error(err)
	}
	WantEqual(t, "target", "http://streams.invalid/v2/streams/s1", proxy.Requests()[0].Target)
}

// The error of TLS with a proxy names the proxy. It is not retried.
func TestHTTPSProxyIsRefused(t *testing.T) {
	ca := streamstest.NewAuthority(t)
	trusting := transport.TLS{CACertPEM: ca.CertPEM, ServerName: "other.example"}
	old := serverWith(t, ca.Issue(t, "127.0.0.1"))
	old.MaxVersion = tls.VersionTLS11
	asking := requireCertificateOf(ca, tls.VersionTLS12)
	asking.Certificates = serverWith(t, ca.Issue(t, "127.0.0.1")).Certificates
	for reason, test := range map[string]struct {
		proxy  *tls.Config // nil for plain HTTP
		client transport.TLS
		cause  any
	}{
		"signed by unknown authority": {serverWith(t, ca.Issue(t, "127.0.0.1")), transport.TLS{}, new(x509.UnknownAuthorityError)},
		"unknown authority":           {&tls.Config{}, trusting, new(x509.UnknownAuthorityError)},
		"doesn't contain any IP SANs": {serverWith(t, ca.Issue(t, "other.example")), trusting, new(x509.HostnameError)},
		"certificate has expired":     {serverWith(t, ca.IssueExpired(t, "127.0.0.1")), trusting, new(x509.CertificateInvalidError)},
		"protocol version":            {old, trusting, new(error)},
		"remote error: tls: ":         {asking, trusting, new(error)},
		"first record does not look":  {nil, trusting, new(error)},
	} {
		proxy := NewService(t, ApplyUpdate)
		if proxy.TLS = test.proxy; proxy.TLS != nil {
			proxy.StartTLS()
		} else {
			proxy.Start()
		}
		address := proxy.Listener.Addr().String()
		setProxy(t, "HTTPS_PROXY", "https://me:s3cret@"+address)
		e := (&Service{Server: &httptest.Server{URL: "https://streams.invalid"}}).UpdateError(t, requests.Config{TLS: test.client})
		WantFailed(t, e, streams.KindConnection, streams.NotChanged, 1)
		if !errors.As(e, new(*transport.ProxyError)) || !errors.As(e, test.cause) || !transport.IsTLSFailure(e) || strings.Contains(e.Reason, "s3cret") {
			t.Errorf("%s: %#v", reason, e)
		}
		streamstest.WantText(t, e.Reason, "the proxy https://"+address+" cannot be used: ", reason)
		proxy.WantRequests(t, 0)
	}
}

// The system's authorities count for a proxy, also beside those of ca_cert_pem. A process reads them once, so the test runs
// itself in another process.
func TestSystemAuthoritiesCountForProxies(t *testing.T) {
	const variable = "STREAM_TEST_PROXY_KEY_PAIR"
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("package x509 does not read SSL_CERT_FILE")
	}
	if os.Getenv(variable) == "" {
		system, folder := streamstest.NewAuthority(t), t.TempDir()
		pair := system.Issue(t, "127.0.0.1")
		file := filepath.Join(folder, "ca.pem")
		if err := os.WriteFile(file, []byte(system.CertPEM), 0o600); err != nil {
			t.Fatal(err)
		}
		again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), "SSL_CERT_FILE="+file, variable+"="+pair.CertPEM+pair.KeyPEM)
		output, err := again.CombinedOutput()
		if err != nil || !bytes.Contains(output, []byte("--- PASS: "+t.Name())) {
			t.Errorf("%v\n%s", err, output)
		}
		return
	}
	ca := streamstest.NewAuthority(t)
	s := StartTLSService(t, serverWith(t, ca.Issue(t, "streams.invalid")), ApplyUpdate)
	pair := os.Getenv(variable)
	proxy := StartTLSService(t, serverWith(t, streamstest.KeyPair{CertPEM: pair, KeyPEM: pair}), tunnelTo(t, s))
	setProxy(t, "HTTPS_PROXY", proxy.URL)
	c := NewClient(t, requests.Config{BaseURL: "https://streams.invalid", TLS: transport.TLS{CACertPEM: ca.CertPEM}})
	if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
		t.Error(err)
	}
	proxy.WantRequests(t, 1)
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
						BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, Retry: requests.DefaultRetry, RequestTimeout: 5 * time.Second, MaxConcurrent: parallel, DialContext: network.Dial,
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

// A header that the host has said to be too long is not sent, and not again: the error blames no service. A credential may grow
// while a run goes on.
func TestLongHeaderIsNotSent(t *testing.T) {
	t.Parallel()
	s := NewService(t, ApplyUpdate)
	var err error
	if s.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.Config.MaxHeaderBytes = 8192
	s.StartTLS()
	path := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		if err := os.WriteFile(path, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sh0rt")
	c := NewClient(t, requests.Config{BaseURL: s.URL, TokenFile: path, TLS: transport.TLS{CACertPEM: s.CAPEM()}, DialContext: DialTCP})
	MustUpdateAll(t, c, 1)
	write(strings.Repeat("k", 12000))
	for _, err := range UpdateAll(t, c, 5) {
		e := AsError(t, err)
		WantFailed(t, e, streams.KindConnection, streams.NotChanged, 0)
		if !errors.Is(e, transport.ErrLongHeader) || !errors.Is(e, transport.ErrNotSent) {
			t.Errorf("%#v", e)
		}
	}
	s.WantRequests(t, 1)
	write("sh0rt-again")
	MustUpdateAll(t, c, 1)
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

// Requests reuse connections, in sequence and in parallel, also after error responses.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]http.HandlerFunc{
		"success": ApplyUpdate, "unavailable": RespondError(503, "later"), "HTML": Respond(409, "<h1>No</h1>"),
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

// setProxy sets the environment variables for a proxy.
func setProxy(t *testing.T, variable, address string) {
	t.Helper()
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"} {
		t.Setenv(name, "")
	}
	t.Setenv(variable, address)
}

// tunnelTo responds to CONNECT with a connection to a service, whatever its address is.
func tunnelTo(t *testing.T, s *Service) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		to, dialErr := streamstest.Dial(r.Context(), "", s.Listener.Addr().String())
		w.WriteHeader(http.StatusOK)
		from, buffered, err := http.NewResponseController(w).Hijack()
		if err = errors.Join(dialErr, err); err != nil {
			t.Error(err)
			return
		}
		defer from.Close()
		go func() {
			_, _ = io.Copy(to, buffered)
			_ = to.Close()
		}()
		_, _ = io.Copy(from, to)
	}
}

// The client uses the proxy from the environment with all TLS settings, for the service and the token endpoint.
func TestProxyFromEnvironment(t *testing.T) {
	s := StartTLSService(t, nil, Respond(200, `{"access_token":"token-1"}`), ApplyUpdate)
	proxy := StartService(t, tunnelTo(t, s))
	setProxy(t, "HTTPS_PROXY", proxy.URL)
	c := NewClient(t, requests.Config{
		BaseURL: "https://streams.invalid", // only the proxy can reach this host
		OAuth2:  &requests.OAuth2{TokenURL: "https://example.com/token"},
		TLS:     transport.TLS{CACertPEM: s.CAPEM(), ServerName: "example.com"},
	})
	if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
		t.Fatal(err)
	}
	tunnels := proxy.Requests()
	if len(tunnels) != 2 || tunnels[0].Target != "example.com:443" || tunnels[1].Target != "streams.invalid:443" {
		t.Errorf("the proxy received %+v", tunnels)
	}
}

// The error names a proxy that refuses CONNECT, and its status, but not its credentials. Only a fault that may pass
// is retried. The response is not one of the service, so the stream was not changed.
func TestProxyRefuses(t *testing.T) {
	for status, attempts := range map[string]int{"403 Forbidden": 1, "407 Proxy Authentication Required": 1, "502 Bad Gateway": 5} {
		proxy := StartService(t, RespondRaw("HTTP/1.1 "+status+" s3cret\r\nContent-Length: 0\r\n\r\n"))
		setProxy(t, "https_proxy", "http://me:s3cret@"+proxy.Listener.Addr().String())
		e := (&Service{Server: &httptest.Server{URL: "https://streams.invalid"}}).UpdateError(t, requests.Config{})
		if e.Kind != streams.KindConnection || e.Status != 0 || e.Outcome != streams.NotChanged || e.Attempts != attempts ||
			!errors.As(e, new(*transport.ProxyError)) {
			t.Errorf("error %#v", e)
		}
		streamstest.WantText(t, e.Reason, "the proxy "+proxy.URL+" responded to CONNECT with "+status)
		if strings.Contains(e.Reason, "s3cret") {
			t.Errorf("the reason has the password: %s", e.Reason)
		}
		proxy.WantRequests(t, attempts)
	}
}

// The error names a proxy that cannot be used at all. It is retried, unless the proxy speaks another protocol.
func TestProxyCannotBeUsed(t *testing.T) {
	secure := StartTLSService(t, nil)
	closing := StartService(t, RespondRaw(""))
	alert := StartService(t, RespondRaw("\x15\x03\x01\x00\x02\x02\x46"))
	for name, test := range map[string]struct {
		variable, proxy, host, reason string
		attempts                      int
	}{
		"nobody listens":           {"HTTPS_PROXY", "http://127.0.0.1:1", "https://streams.invalid", "dial tcp", 5},
		"nobody listens, in clear": {"HTTP_PROXY", "http://127.0.0.1:1", "http://streams.invalid", "dial tcp", 5},
		"socks":                    {"HTTPS_PROXY", "socks5://127.0.0.1:1", "https://streams.invalid", "dial tcp", 5},
		"https in place of http":   {"HTTPS_PROXY", "http://" + secure.Listener.Addr().String(), "https://streams.invalid", "unexpected EOF", 5},
		"no answer to CONNECT":     {"HTTPS_PROXY", closing.URL, "https://streams.invalid", "unexpected EOF", 5},
		"no HTTP":                  {"HTTPS_PROXY", alert.URL, "https://streams.invalid", "the response is not HTTP/1.1", 1},
		"no HTTP, in clear":        {"HTTP_PROXY", alert.URL, "http://streams.invalid", "the response is not HTTP/1.1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			setProxy(t, test.variable, test.proxy)
			e := (&Service{Server: &httptest.Server{URL: test.host}}).UpdateError(t, requests.Config{})
			outcome := streams.NotChanged
			if name == "no HTTP, in clear" { // it got the request
				outcome = streams.Unknown
			}
			WantFailed(t, e, streams.KindConnection, outcome, test.attempts)
			if !errors.As(e, new(*transport.ProxyError)) {
				t.Errorf("error %#v", e)
			}
			streamstest.WantText(t, e.Reason, "the proxy "+test.proxy+" cannot be used: "+test.reason)
		})
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

// neverConnect gives up after two minutes, as a kernel does: package http goes on to connect without the request.
func neverConnect(ctx context.Context, _, _ string) (net.Conn, error) {
	select {
	case <-ctx.Done():
	case <-time.After(2 * time.Minute):
	}
	return nil, errors.New("timed out")
}

// If TLS fails on a connection that was used before, the service may have read the request.
func TestTLSFailureOfAReusedConnection(t *testing.T) {
	t.Parallel()
	s := StartTLSService(t, &tls.Config{NextProtos: []string{"http/1.1"}}, ApplyUpdate, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		raw := conn.(*tls.Conn).NetConn()
		defer raw.Close()
		_, _ = io.WriteString(raw, "220 mail.example ready\r\n")
	})
	c := NewClient(t, requests.Config{BaseURL: s.URL, TLS: transport.TLS{InsecureSkipVerify: true}})
	MustUpdateAll(t, c, 1)
	e := AsError(t, UpdateAll(t, c, 1)[0])
	WantFailed(t, e, streams.KindConnection, streams.Unknown, 1)
	if !transport.IsTLSFailure(e.Err) {
		t.Error(e)
	}
}

// An alert on a connection that was used before does not say that the service has read nothing of the request.
func TestAlertOnAReusedConnection(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := StartTLSService(t, &tls.Config{NextProtos: []string{"http/1.1"}}, ApplyUpdate)
		var damaged damagedConn
		c := NewClient(t, requests.Config{
			BaseURL: s.URL, TLS: transport.TLS{InsecureSkipVerify: true},
			DialContext: func(ctx context.Context, network, address string) (conn net.Conn, err error) {
				damaged.Conn, err = streamstest.Dial(ctx, network, address)
				return &damaged, err
			},
		})
		MustUpdateAll(t, c, 1)
		damaged.damage.Store(true)
		e := AsError(t, UpdateAll(t, c, 1)[0])
		WantFailed(t, e, streams.KindConnection, streams.Unknown, 1)
		streamstest.WantText(t, e.Reason, "remote error: tls: bad record MAC")
	})
}

// damagedConn damages all that is written from some time on.
type damagedConn struct {
	net.Conn
	damage atomic.Bool
}

func (c *damagedConn) Write(b []byte) (int, error) {
	if c.damage.Load() {
		b = slices.Clone(b)
		b[len(b)-1] ^= 1
	}
	return c.Conn.Write(b)
}
