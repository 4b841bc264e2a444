package texts_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// The addresses of a world. Nothing else can be reached.
const (
	serviceHost = "streams.example.com"
	tokenHost   = "login.example.com"
	proxyHost   = "proxy.example.com"
	baseURL     = "https://" + serviceHost
)

var schemas = sync.OnceValue(func() *coretest.Schemas { return coretest.SchemasOf(server.New("test", nil)()) })

type dialer func(context.Context) (net.Conn, error)

// world is a service with its network in memory, and what somebody has configured.
type world struct {
	*testing.T
	authority *streamstest.Authority
	service   *streamstest.Service
	tokens    *streamstest.TokenServer
	hosts     map[string]dialer // by host and port
	provider  coretest.Attributes

	fails   func(*world) // begins the failure
	handler atomic.Value // a [http.HandlerFunc] in place of the service
	arrived chan struct{}
}

func newWorld(t *testing.T, fails func(*world)) *world {
	t.Helper()
	w := &world{
		T: t, authority: streamstest.NewAuthority(t), hosts: map[string]dialer{}, fails: fails, arrived: make(chan struct{}, 1000),
		service: streamstest.New(streamstest.Options{ServeGet: true}, streamstest.Streams(cameras(30)...)...),
		tokens:  &streamstest.TokenServer{ClientID: "terraform", ClientSecret: "s3cret-of-terraform"},
	}
	if fails == nil {
		w.fails = func(*world) {}
	}
	w.handler.Store(http.HandlerFunc(w.service.ServeHTTP))
	w.hosts[serviceHost+":443"] = w.serveTLS(w.certificate(serviceHost), func(rw http.ResponseWriter, r *http.Request) {
		w.arrived <- struct{}{}
		handler, _ := w.handler.Load().(http.HandlerFunc)
		handler(rw, r)
	})
	w.hosts[tokenHost+":443"] = w.serveTLS(w.certificate(tokenHost), w.tokens.ServeHTTP)
	w.provider = coretest.Attributes{
		"base_url": baseURL, "token": "eyJhbGciOiJSUzI1NiJ9", "tls": coretest.Attributes{"ca_cert_pem": w.authority.CertPEM},
	}
	return w
}

// cameras returns cam-01, cam-02 and so on.
func cameras(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("cam-%02d", i+1))
	}
	return ids
}

// certificate returns the configuration of a server with a certificate of the authority that the provider trusts.
func (w *world) certificate(names ...string) *tls.Config {
	return w.configOf(w.authority.Issue(w, names...))
}

func (w *world) configOf(pair streamstest.KeyPair) *tls.Config {
	certificate, err := tls.X509KeyPair([]byte(pair.CertPEM), []byte(pair.KeyPEM))
	if err != nil {
		w.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}}
}

// serve starts a server that speaks plain HTTP.
func (w *world) serve(handler http.HandlerFunc) dialer {
	l := w.newServer(handler)
	l.Start()
	return w.dialerOf(l)
}

func (w *world) serveTLS(config *tls.Config, handler http.HandlerFunc) dialer {
	s := w.newServer(handler)
	s.TLS = config
	s.StartTLS()
	return w.dialerOf(s)
}

func (w *world) newServer(handler http.Handler) *httptest.Server {
	s := &httptest.Server{Listener: streamstest.Listen(), EnableHTTP2: true, Config: &http.Server{Handler: handler}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail
	return s
}

// dialerOf connects through a buffer: without one, two sides that both send would wait for each other.
func (w *world) dialerOf(s *httptest.Server) dialer {
	w.Cleanup(s.Close)
	address := s.Listener.Addr().String()
	return func(ctx context.Context) (net.Conn, error) {
		far, err := streamstest.Dial(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		near, inner := net.Pipe()
		go forward(far, inner)
		go forward(inner, far)
		return socket{near}, nil
	}
}

// socket writes as a socket does, also when the other side has ended the connection: only what is read shows that.
type socket struct{ net.Conn }

func (s socket) Write(b []byte) (int, error) {
	if n, err := s.Conn.Write(b); !errors.Is(err, io.ErrClosedPipe) {
		return n, err
	}
	return len(b), nil
}

// latency is how long each part of a message is on its way. Without it, a side could see what follows a handshake before it sends anything.
const latency = time.Millisecond

// forward copies what arrives until one side ends. What is on its way when a side ends still arrives at the other one.
func forward(to, from net.Conn) {
	chunks := make(chan []byte, 1000)
	go func() {
		for chunk := range chunks {
			<-time.After(latency)
			_, _ = to.Write(chunk)
		}
		_ = to.Close()
	}()
	defer close(chunks)
	for {
		chunk := make([]byte, 32<<10)
		n, err := from.Read(chunk)
		if err != nil {
			return
		}
		chunks <- chunk[:n]
	}
}

func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	connect, ok := w.hosts[address]
	if !ok {
		host, _, _ := net.SplitHostPort(address)
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
	}
	return connect(ctx)
}

// refuse is the dialer of a port where nothing listens.
func refuse(context.Context) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 443},
		Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// dialTimeout is when Linux gives up.
const dialTimeout = 127 * time.Second

// vanish is the dialer of an address behind a firewall that drops everything.
func vanish(ctx context.Context) (net.Conn, error) {
	err := os.NewSyscallError("connect", syscall.ETIMEDOUT)
	select {
	case <-time.After(dialTimeout):
	case <-ctx.Done():
		err = ctx.Err()
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 443}, Err: err}
}

// process starts a process of the provider.
func (w *world) process() *coretest.Process {
	p := &coretest.Process{T: w, Server: server.New("test", &provider.Host{Dial: w.dial})(), Schemas: schemas(), Limit: 24 * time.Hour}
	p.Configure(w.provider)
	return p
}

// configure changes attributes of the provider block.
func (w *world) configure(a coretest.Attributes) { maps.Copy(w.provider, a) }

// identify configures a client certificate.
func (w *world) identify(pair streamstest.KeyPair) {
	w.configure(coretest.Attributes{"tls": coretest.Attributes{
		"ca_cert_pem": w.authority.CertPEM, "client_cert_pem": pair.CertPEM, "client_key_pem": pair.KeyPEM,
	}})
}

// single makes a configuration of a single resource.
func single(id string, others coretest.Attributes, processors ...string) tftypes.Value {
	a := coretest.Attributes{"stream_id": id, "processor_ids": append([]string{}, processors...)}
	maps.Copy(a, others)
	return coretest.ToTerraform(schemas().ResourceSchemas[coretest.SingleName].ValueType(), a)
}

// group makes a configuration of a group of cameras with one set.
func group(ids []string, others coretest.Attributes, processors ...string) tftypes.Value {
	streams := coretest.Attributes{}
	for _, id := range ids {
		streams[id] = append([]string{}, processors...)
	}
	a := coretest.Attributes{"streams": streams}
	maps.Copy(a, others)
	return coretest.ToTerraform(schemas().ResourceSchemas[coretest.GroupName].ValueType(), a)
}

func null(like tftypes.Value) tftypes.Value { return tftypes.NewValue(like.Type(), nil) }

// apply plans in one process and applies in another one, as Terraform does.
func (w *world) apply(state coretest.Managed, config tftypes.Value) (coretest.Managed, coretest.Diagnostics) {
	planned, _, diags := w.process().Plan(state, config)
	if diags.Failed() {
		return state, diags
	}
	after, applied := w.applyIn(w.process(), state, planned, config)
	return after, append(diags, applied...)
}

func (w *world) applyIn(
	p *coretest.Process, state, planned coretest.Managed, config tftypes.Value,
) (coretest.Managed, coretest.Diagnostics) {
	if !config.IsNull() {
		planned, _, _ = p.Plan(state, config)
	}
	return p.Apply(state.Value, planned, config)
}

// existing returns the state of a resource that was applied while everything worked.
func (w *world) existing(config tftypes.Value) coretest.Managed {
	w.Helper()
	state, diags := w.apply(coretest.Managed{Value: null(config)}, config)
	if diags.Failed() {
		w.Fatalf("before the failure: %s", diags)
	}
	for len(w.arrived) > 0 {
		<-w.arrived
	}
	return state
}
