package streams_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
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
			issueTokens(0)(w, r)
			return
		}
		applyUpdate(w, r)
	}
	for name, endpoint := range map[string]*service{
		"another host": startTLSService(t, public, both), "the same host": nil, "the same name": startTLSService(t, internal, both),
	} {
		s := startTLSService(t, internal.Clone(), both)
		cfg := streams.Config{TLS: streams.TLS{CACertPEM: ca.CertPEM, ServerName: "service.internal"}, OAuth2: &streams.OAuth2{}}
		if cfg.OAuth2.TokenURL = s.URL + "/token"; endpoint != nil {
			cfg.OAuth2.TokenURL = endpoint.URL
		}
		_, err := s.update(t, cfg)
		if accepted := err == nil; accepted != (name != "the same name") || !accepted && !errors.As(err, new(x509.HostnameError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// resetStreams answers each request over HTTP/2 with a reset, and counts them.
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

// A host that requires HTTP/1.1 gets it at once, and from then on. The request is part of the same attempt.
func TestHTTP1Required(t *testing.T) {
	t.Parallel()
	var resets atomic.Int32
	start := func(responses ...http.HandlerFunc) *service {
		s := newService(t, responses...)
		s.Config.TLSNextProto = resetStreams(http2.ErrCodeHTTP11Required, &resets)
		s.StartTLS()
		return s
	}
	s, endpoint := start(applyUpdate), start(issueTokens(0))
	attempts := 0
	c := newClient(t, streams.Config{
		BaseURL: s.URL, TLS: streams.TLS{CACertPEM: s.caPEM()}, Retry: streams.Retry{MaxAttempts: 1},
		OAuth2:  &streams.OAuth2{TokenURL: endpoint.URL, ClientID: clientID, ClientSecret: clientSecret},
		Observe: func(context.Context, streams.Attempt) { attempts++ },
	})
	for range 3 {
		if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet("p1")); err != nil {
			t.Error(err)
		}
	}
	if attempts != 4 || resets.Load() != 2 {
		t.Errorf("%d attempts, %d resets", attempts, resets.Load())
	}
	s.wantRequests(t, 3)
	endpoint.wantRequests(t, 1)
	for _, r := range s.requests() {
		if r.Proto != "HTTP/1.1" || r.Body != `{"processor_ids":["p1"]}` {
			t.Errorf("%+v", r)
		}
	}
}

// Any other reset is retried over HTTP/2.
func TestOtherReset(t *testing.T) {
	t.Parallel()
	var resets atomic.Int32
	s := newService(t, applyUpdate)
	s.Config.TLSNextProto = resetStreams(http2.ErrCodeInternal, &resets)
	s.StartTLS()
	e := s.updateError(t, streams.Config{TLS: streams.TLS{CACertPEM: s.caPEM()}})
	if wantFailed(t, e, streams.KindConnection, streams.Unknown, 5); resets.Load() != 5 {
		t.Errorf("%d resets", resets.Load())
	}
	s.wantRequests(t, 0)
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
		e := startTLSService(t, server, applyUpdate).updateError(t, streams.Config{TLS: streams.TLS{CACertPEM: ca.CertPEM}})
		wantFailed(t, e, streams.KindConnection, streams.NotChanged, 1)
		if !errors.As(e, new(*streams.HandshakeError)) || !streams.IsTLSFailure(e) {
			t.Errorf("%s: %#v", reason, e)
		}
		streamstest.WantText(t, e.Reason, reason)
	}
	s := startTLSService(t, nil, applyUpdate)
	e := s.updateError(t, streams.Config{DialContext: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		return client, server.Close()
	}})
	wantFailed(t, e, streams.KindConnection, streams.NotChanged, 5)
}
