package streams_test

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Each TLS setting works for the service and for the token endpoint, over HTTP/2.
func TestTLSAccepted(t *testing.T) {
	t.Parallel()
	client := newCertificate(t, "client")
	open, mutual := &tls.Config{}, requireClientCertificate(client, 0)
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
			endpoint := startTLSService(t, test.server.Clone(), respond(200, `{"access_token":"token-1"}`))
			s := startTLSService(t, test.server.Clone(), applyUpdate)
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

// A TLS error is not retried, and the stream is not changed.
func TestTLSRefused(t *testing.T) {
	t.Parallel()
	client, other := newCertificate(t, "client"), newCertificate(t, "other")
	open, mutual := &tls.Config{}, requireClientCertificate(client, tls.VersionTLS12)
	for name, test := range map[string]struct {
		server *tls.Config
		client func(ca string) streams.TLS
		reason string
		cause  error
	}{
		"unknown authority": {open, func(string) streams.TLS { return streams.TLS{} },
			"certificate signed by unknown authority", streams.ErrUnknownAuthority},
		"another authority": {open, func(string) streams.TLS { return streams.TLS{CACertPEM: other.certPEM} },
			"certificate signed by unknown authority", streams.ErrUnknownAuthority},
		"another name": {open, func(ca string) streams.TLS { return streams.TLS{CACertPEM: ca, ServerName: "other.example"} },
			"certificate is valid for example.com", streams.ErrWrongName},
		"client certificate alone": {open, func(string) streams.TLS {
			return streams.TLS{ClientCertPEM: client.certPEM, ClientKeyPEM: client.keyPEM}
		}, "certificate signed by unknown authority", streams.ErrUnknownAuthority},
		"no client certificate": {mutual, func(ca string) streams.TLS { return streams.TLS{CACertPEM: ca} },
			"remote error: tls", streams.ErrClientCertificate},
		"another client certificate": {mutual, func(ca string) streams.TLS {
			return streams.TLS{CACertPEM: ca, ClientCertPEM: other.certPEM, ClientKeyPEM: other.keyPEM}
		}, "remote error: tls", streams.ErrClientCertificate},
		"too old": {&tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}, func(ca string) streams.TLS {
			return streams.TLS{CACertPEM: ca}
		}, "remote error: tls: protocol version not supported", streams.ErrTLS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startTLSService(t, test.server.Clone(), applyUpdate)
			cfg := streams.Config{TLS: test.client(s.caPEM())}
			e := s.updateError(t, cfg)
			if e.Kind != streams.KindConnection || e.Status != 0 || e.Attempts != 1 || e.Outcome != streams.NotChanged || !errors.Is(e, test.cause) || !errors.Is(e, streams.ErrTLS) {
				t.Errorf("error %#v", e)
			}
			wantText(t, e.Reason, test.reason)
			s.wantRequests(t, 0)

			// A token endpoint gives the same error.
			service := startService(t, applyUpdate)
			cfg.OAuth2 = &streams.OAuth2{TokenURL: s.URL}
			e = service.updateError(t, cfg)
			if e.Kind != streams.KindConnection || e.Attempts != 1 || e.Outcome != streams.NotChanged || !e.TokenRequest || !errors.Is(e, test.cause) {
				t.Errorf("token error %#v", e)
			}
			wantText(t, e.Reason, test.reason)
			service.wantRequests(t, 0)
		})
	}
}

// With TLS 1.3, a client learns only after its request that its certificate is missing. The service may
// have closed the connection before that.
func TestNoClientCertificateTLS13(t *testing.T) {
	t.Parallel()
	s := newService(t, applyUpdate)
	var err error
	if s.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil { // in memory, both sides would wait for each other
		t.Fatal(err)
	}
	s.TLS = requireClientCertificate(newCertificate(t, "client"), 0)
	s.StartTLS()
	e := s.updateError(t, streams.Config{TLS: streams.TLS{CACertPEM: s.caPEM()}, DialContext: new(net.Dialer).DialContext})
	if e.Status != 0 || e.Kind != streams.KindConnection || e.Reason == "" {
		t.Errorf("error %#v", e)
	}
	s.wantRequests(t, 0)
}

func TestTLSAndPlainHTTP(t *testing.T) {
	t.Parallel()
	httpService := startService(t, applyUpdate)
	_, err := newClient(t, streams.Config{BaseURL: "https://" + httpService.Listener.Addr().String()}).UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
	e := asError(t, err)
	if e.Attempts != 1 || e.Outcome != streams.NotChanged || e.Status != 0 || !errors.Is(e, streams.ErrNotTLS) {
		t.Errorf("https to http: %#v", e)
	}
	wantText(t, e.Reason, "server gave HTTP response to HTTPS client")
	httpService.wantRequests(t, 0)

	httpsService := startTLSService(t, nil, applyUpdate)
	_, err = newClient(t, streams.Config{BaseURL: "http://" + httpsService.Listener.Addr().String()}).ReadStream(t.Context(), "s1")
	e = asError(t, err)
	if e.Attempts != 1 || e.Outcome != streams.NotChanged || e.Status != 400 || e.Documented {
		t.Errorf("http to https: %#v", e)
	}
	wantText(t, e.Message, "Client sent an HTTP request to an HTTPS server.")
	httpsService.wantRequests(t, 0)
}

func TestTLSSettings(t *testing.T) {
	t.Parallel()
	a, b := newCertificate(t, "a"), newCertificate(t, "b")
	for name, test := range map[string]struct {
		tls  streams.TLS
		want string
	}{
		"authority not PEM":  {streams.TLS{CACertPEM: "junk"}, "CA certificate contains no PEM certificate"},
		"a key as authority": {streams.TLS{CACertPEM: a.keyPEM}, "CA certificate contains no PEM certificate"},
		"certificate alone":  {streams.TLS{ClientCertPEM: a.certPEM}, "client certificate: "},
		"key alone":          {streams.TLS{ClientKeyPEM: a.keyPEM}, "client certificate: "},
		"key of another":     {streams.TLS{ClientCertPEM: a.certPEM, ClientKeyPEM: b.keyPEM}, "client certificate: "},
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
