package streams_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// pair is a self-signed certificate with its key.
type pair struct {
	certPEM, keyPEM string
	cert            *x509.Certificate
}

func newPair(t *testing.T, name string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{
		certPEM: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		keyPEM:  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})),
		cert:    cert,
	}
}

// serveTLS starts a service with a certificate for 127.0.0.1 and example.com by an unknown authority.
func serveTLS(t *testing.T, config *tls.Config, steps ...http.HandlerFunc) *service {
	t.Helper()
	s := newService(t, steps...)
	s.TLS = config
	s.EnableHTTP2 = true
	s.StartTLS()
	return s
}

func (s *service) caPEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// wantClients is the configuration of a service that demands a client's certificate.
func wantClients(p pair, maxVersion uint16) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(p.cert)
	return &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MaxVersion: maxVersion}
}

// Every setting of TLS leaves HTTP/2 on, for the service and for the token endpoint.
func TestTLSAccepted(t *testing.T) {
	t.Parallel()
	client := newPair(t, "client")
	open, mutual := &tls.Config{}, wantClients(client, 0)
	for name, test := range map[string]struct {
		server *tls.Config
		client func(ca string) streams.TLS
	}{
		"authority alone": {open, func(ca string) streams.TLS { return streams.TLS{CACertPEM: ca} }},
		"one of several authorities": {open, func(ca string) streams.TLS {
			return streams.TLS{CACertPEM: "# ours\n" + client.certPEM + "\n# theirs\n" + ca}
		}},
		"server name": {open, func(ca string) streams.TLS { return streams.TLS{CACertPEM: ca, ServerName: "example.com"} }},
		"insecure":    {open, func(string) streams.TLS { return streams.TLS{InsecureSkipVerify: true} }},
		"insecure, with another name": {open, func(string) streams.TLS {
			return streams.TLS{InsecureSkipVerify: true, ServerName: "other.example"}
		}},
		"client certificate": {mutual, func(ca string) streams.TLS {
			return streams.TLS{CACertPEM: ca, ClientCertPEM: client.certPEM, ClientKeyPEM: client.keyPEM}
		}},
		"client certificate, insecure": {mutual, func(string) streams.TLS {
			return streams.TLS{InsecureSkipVerify: true, ClientCertPEM: client.certPEM, ClientKeyPEM: client.keyPEM}
		}},
		"client certificate, unasked": {open, func(ca string) streams.TLS {
			return streams.TLS{CACertPEM: ca, ClientCertPEM: client.certPEM, ClientKeyPEM: client.keyPEM}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := serveTLS(t, test.server.Clone(), answer(200, `{"access_token":"token-1"}`))
			s := serveTLS(t, test.server.Clone(), accept)
			cfg := streams.Config{TLS: test.client(s.caPEM()), OAuth2: &streams.OAuth2{TokenURL: endpoint.URL}}
			if _, err := s.update(t, cfg); err != nil {
				t.Fatal(err)
			}
			for _, r := range append(s.requests(), endpoint.requests()...) {
				if r.Proto != "HTTP/2.0" {
					t.Errorf("%s %s went over %s", r.Method, r.Target, r.Proto)
				}
			}
		})
	}
}

// What both sides will not agree on next time either is final, and the stream is as it was.
func TestTLSRefused(t *testing.T) {
	t.Parallel()
	client, other := newPair(t, "client"), newPair(t, "other")
	open, mutual := &tls.Config{}, wantClients(client, tls.VersionTLS12)
	for name, test := range map[string]struct {
		server *tls.Config
		client func(ca string) streams.TLS
		reason string
	}{
		"unknown authority": {open, func(string) streams.TLS { return streams.TLS{} }, "certificate signed by unknown authority"},
		"another authority": {open, func(string) streams.TLS { return streams.TLS{CACertPEM: other.certPEM} },
			"certificate signed by unknown authority"},
		"another name": {open, func(ca string) streams.TLS { return streams.TLS{CACertPEM: ca, ServerName: "other.example"} },
			"certificate is valid for example.com"},
		"client certificate alone": {open, func(string) streams.TLS {
			return streams.TLS{ClientCertPEM: client.certPEM, ClientKeyPEM: client.keyPEM}
		}, "certificate signed by unknown authority"},
		"no client certificate": {mutual, func(ca string) streams.TLS { return streams.TLS{CACertPEM: ca} }, "remote error: tls"},
		"another client certificate": {mutual, func(ca string) streams.TLS {
			return streams.TLS{CACertPEM: ca, ClientCertPEM: other.certPEM, ClientKeyPEM: other.keyPEM}
		}, "remote error: tls"},
		"too old": {&tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}, func(ca string) streams.TLS {
			return streams.TLS{CACertPEM: ca}
		}, "remote error: tls: protocol version not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveTLS(t, test.server.Clone(), accept)
			cfg := streams.Config{TLS: test.client(s.caPEM())}
			e := s.fail(t, cfg)
			if e.Kind != streams.KindGeneric || e.Status != 0 || e.Attempts != 1 || e.Outcome != streams.NotChanged || e.Err == nil {
				t.Errorf("error %#v", e)
			}
			wantText(t, e.Reason, test.reason)
			s.wantRequests(t, 0)

			// The same at a token endpoint.
			service := serve(t, accept)
			cfg.OAuth2 = &streams.OAuth2{TokenURL: s.URL}
			e = service.fail(t, cfg)
			if e.Kind != streams.KindGeneric || e.Attempts != 1 || e.Outcome != streams.NotChanged || e.Method != "POST" {
				t.Errorf("token error %#v", e)
			}
			wantText(t, e.Reason, test.reason)
			service.wantRequests(t, 0)
		})
	}
}

// With TLS 1.3 a client hears only after its request that its certificate is missing, if at all: the
// service may have closed the connection by then.
func TestNoClientCertificateTLS13(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, wantClients(newPair(t, "client"), 0), accept)
	e := s.fail(t, streams.Config{TLS: streams.TLS{CACertPEM: s.caPEM()}})
	if e.Status != 0 || e.Kind != streams.KindGeneric || e.Reason == "" {
		t.Errorf("error %#v", e)
	}
	s.wantRequests(t, 0)
}

func TestTLSOnTheWrongPort(t *testing.T) {
	t.Parallel()
	plain := serve(t, accept)
	_, err := connect(t, streams.Config{BaseURL: "https://" + plain.Listener.Addr().String()}).UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
	e := failure(t, err)
	if e.Attempts != 1 || e.Outcome != streams.NotChanged || e.Status != 0 {
		t.Errorf("https to http: %#v", e)
	}
	wantText(t, e.Reason, "server gave HTTP response to HTTPS client")
	plain.wantRequests(t, 0)

	secure := serveTLS(t, nil, accept)
	_, err = connect(t, streams.Config{BaseURL: "http://" + secure.Listener.Addr().String()}).ReadStream(t.Context(), "s1")
	e = failure(t, err)
	if e.Attempts != 1 || e.Outcome != streams.NotChanged || e.Status != 400 || e.Documented {
		t.Errorf("http to https: %#v", e)
	}
	wantText(t, e.Message, "Client sent an HTTP request to an HTTPS server.")
	secure.wantRequests(t, 0)
}

func TestTLSSettings(t *testing.T) {
	t.Parallel()
	a, b := newPair(t, "a"), newPair(t, "b")
	for name, test := range map[string]struct {
		tls  streams.TLS
		want string
	}{
		"junk authority":     {streams.TLS{CACertPEM: "junk"}, "CA certificate contains no PEM certificate"},
		"a key as authority": {streams.TLS{CACertPEM: a.keyPEM}, "CA certificate contains no PEM certificate"},
		"certificate alone":  {streams.TLS{ClientCertPEM: a.certPEM}, "client certificate: "},
		"key alone":          {streams.TLS{ClientKeyPEM: a.keyPEM}, "client certificate: "},
		"another's key":      {streams.TLS{ClientCertPEM: a.certPEM, ClientKeyPEM: b.keyPEM}, "client certificate: "},
		"swapped":            {streams.TLS{ClientCertPEM: a.keyPEM, ClientKeyPEM: a.certPEM}, "client certificate: "},
	} {
		c, err := streams.New(streams.Config{BaseURL: "https://host.example", TLS: test.tls})
		if c != nil || err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), a.keyPEM[40:80]) {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
	if err := streams.CheckCACert(a.certPEM + b.certPEM); err != nil {
		t.Errorf("two authorities: %v", err)
	}
	if err := streams.CheckKeyPair(a.certPEM, a.keyPEM); err != nil {
		t.Errorf("a pair: %v", err)
	}
}

// The same faults over HTTP/2, where a connection is shared and only a stream is reset.
func TestHTTP2Faults(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, nil, reset, truncated(200), refuse(503, "later"), accept)
	if _, err := s.update(t, streams.Config{TLS: streams.TLS{CACertPEM: s.caPEM()}}); err != nil {
		t.Fatal(err)
	}
	s.wantRequests(t, 4)
	for _, r := range s.requests() {
		if r.Proto != "HTTP/2.0" || r.Body != `{"processor_ids":["p1"]}` {
			t.Errorf("request %+v", r)
		}
	}
	cut := serveTLS(t, nil, reset)
	if e := cut.fail(t, streams.Config{TLS: streams.TLS{CACertPEM: cut.caPEM()}}); e.Outcome != streams.Unknown || e.Attempts != 5 || e.Reason == "" {
		t.Errorf("error %#v", e)
	}
}

// The proxy of the environment is used whatever the TLS settings are. Go reads it once per process,
// so the client runs in a process of its own: this test again.
func TestProxyFromEnvironment(t *testing.T) {
	const ca, token, setting = "STREAMS_TEST_CA", "STREAMS_TEST_TOKEN_URL", "STREAMS_TEST_SETTING"
	if pem := os.Getenv(ca); pem != "" {
		cfg := streams.Config{
			BaseURL: "https://streams.invalid", // nobody but the proxy knows that name
			OAuth2:  &streams.OAuth2{TokenURL: os.Getenv(token)},
			TLS:     streams.TLS{CACertPEM: pem, ServerName: "example.com"},
			Retry:   streams.Retry{MaxAttempts: 1},
		}
		if os.Getenv(setting) == "insecure" {
			cfg.TLS = streams.TLS{InsecureSkipVerify: true}
		}
		if _, err := connect(t, cfg).UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
			t.Fatal(err)
		}
		return
	}

	for _, how := range []string{"authority", "insecure"} {
		t.Run(how, func(t *testing.T) {
			s := serveTLS(t, nil, answer(200, `{"access_token":"token-1"}`), accept)
			proxy := serve(t, func(w http.ResponseWriter, _ *http.Request) { tunnel(w, s.Listener.Addr().String()) })
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyFromEnvironment$", "-test.count=1")
			child.Env = append(os.Environ(), "HTTPS_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=",
				ca+"="+s.caPEM(), token+"=https://token.invalid/token", setting+"="+how)
			if out, err := child.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var tunnels []string
			for _, r := range proxy.requests() {
				tunnels = append(tunnels, r.Method+" "+r.Target)
			}
			if got := strings.Join(tunnels, ", "); got != "CONNECT token.invalid:443, CONNECT streams.invalid:443" {
				t.Errorf("the proxy saw %q", got)
			}
			s.wantRequests(t, 2)
			for _, r := range s.requests() {
				if r.Proto != "HTTP/2.0" {
					t.Errorf("%s %s went over %s", r.Method, r.Target, r.Proto)
				}
			}
		})
	}
}

// tunnel joins the request's connection with the address.
func tunnel(w http.ResponseWriter, address string) {
	to, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer to.Close()
	w.WriteHeader(http.StatusOK)
	from, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	go func() {
		_, _ = io.Copy(to, buffered)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}

// A proxy that refuses is no answer of the service: nothing reached the stream.
func TestProxyRefuses(t *testing.T) {
	if os.Getenv("STREAMS_TEST_PROXY_REFUSES") != "" {
		_, err := connect(t, streams.Config{BaseURL: "https://streams.invalid"}).UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
		e := failure(t, err)
		if e.Status != 0 || e.Outcome != streams.NotChanged || e.Attempts != 5 {
			t.Errorf("error %#v", e)
		}
		wantText(t, e.Reason, "Forbidden")
		return
	}
	proxy := serve(t, refuse(http.StatusForbidden, "no"))
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyRefuses$", "-test.count=1")
	child.Env = append(os.Environ(), "HTTPS_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=", "STREAMS_TEST_PROXY_REFUSES=1")
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	proxy.wantRequests(t, 5)
	if got := proxy.requests()[0].Method; got != "CONNECT" {
		t.Errorf("the proxy saw %s", got)
	}
}
