package transport_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
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

// requireCertificateOf returns the TLS configuration of a service that accepts the certificates of an authority.
func requireCertificateOf(ca *streamstest.Authority, maxVersion uint16) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(ca.CertPEM))
	return &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MaxVersion: maxVersion}
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
		if !transport.IsTLSFailure(e) {
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
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) <= 2 {
				address = broken.Addr().String()
			}
			return DialTCP(ctx, network, address)
		}
		cfg := requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}, DialContext: dial}
		if _, err := s.Update(t, cfg); err != nil || dials.Load() != 3 {
			t.Errorf("%s: %v after %d connections", name, err, dials.Load())
		}
	}
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

// An alert that rejects the client shows that the service has read nothing, but only on a connection over which no response has come.
func TestAlertAfterTheRequest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		used      bool // the connection, before
		alert     string
		mayBeRead bool
	}{{false, "tls: bad certificate", false}, {true, "tls: bad certificate", true}, {false, "tls: internal error", true}} {
		header := []string{"Connection", "close"}
		if test.used {
			header = nil
		}
		s := StartService(t, Respond(200, "", header...), ResetConnection)
		n := newNetwork(t, s.URL, transport.Settings{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := streamstest.Dial(ctx, network, address)
			return alertingConn{c, test.alert}, err
		}})
		if _, err := send(t.Context(), n, s.URL); err != nil {
			t.Fatal(err)
		}
		if x, err := send(t.Context(), n, s.URL); !transport.IsTLSFailure(err) || x.MayBeRead != test.mayBeRead {
			t.Errorf("%+v: %+v, %v", test, x, err)
		}
	}
}

// alertingConn ends with an alert of TLS.
type alertingConn struct {
	net.Conn
	alert string
}

func (c alertingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		err = &net.OpError{Op: "remote error", Err: errors.New(c.alert)}
	}
	return n, err
}

// With TLS 1.3, a client learns only after its request that the service rejects its certificate, and the service may have
// closed the connection before that. Each error has the alert, and the stream was not changed.
func TestClientIsRejectedAfterItsRequest(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	other, expired := streamstest.NewAuthority(t).Issue(t, "other"), ca.IssueExpired(t, "client")
	for alert, pair := range map[string]streamstest.KeyPair{
		"certificate required": {}, "unknown certificate authority": other, "expired certificate": expired,
	} {
		for _, protocol := range []string{"h2", "http/1.1"} {
			server := requireCertificateOf(ca, 0)
			server.NextProtos = []string{protocol}
			s := StartTCPService(t, server, ApplyUpdate)
			client := transport.TLS{CACertPEM: s.CAPEM(), ClientCertPEM: pair.CertPEM, ClientKeyPEM: pair.KeyPEM}
			for range 10 { // which side is faster is a matter of luck
				wantClientRejected(t, s.UpdateError(t, requests.Config{TLS: client, DialContext: DialTCP}), alert)
			}
			s.WantRequests(t, 0)
		}
	}
}

// Over HTTP/2, requests share a connection from its beginning. A service that rejects the client has read none of them.
func TestClientIsRejectedAfterManyRequests(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	for range 10 {
		s := StartTCPService(t, requireCertificateOf(ca, 0), ApplyUpdate)
		c := NewClient(t, requests.Config{BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, DialContext: DialTCP})
		for _, err := range UpdateAll(t, c, 12) {
			wantClientRejected(t, AsError(t, err), "certificate required")
		}
		s.WantRequests(t, 0)
	}
}

// wantClientRejected expects the alert. Over HTTP/2, one that arrives before the request is written ends an attempt without its name,
// one time in a few hundred: the next attempt has it.
func wantClientRejected(t *testing.T, e *streams.Error, alert string) {
	t.Helper()
	outcome := streams.NotChanged
	if e.Attempts > 1 && e.Outcome == streams.Unknown {
		outcome = streams.Unknown
	}
	WantFailed(t, e, streams.KindConnection, outcome, e.Attempts)
	streamstest.WantText(t, e.Reason, "remote error: tls: "+alert)
}

// A client certificate that has expired is named where a handshake fails, whatever the error says.
func TestExpiredClientCertificate(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	expired, valid := ca.IssueExpired(t, "client"), streamstest.NewAuthority(t).Issue(t, "client")
	ended := serverWith(t, expired).Certificates[0].Leaf.NotAfter.UTC().Format("2006-01-02")
	mutual, mutual12, open := requireCertificateOf(ca, 0), requireCertificateOf(ca, tls.VersionTLS12), &tls.Config{}
	old := &tls.Config{MaxVersion: tls.VersionTLS11}
	for name, test := range map[string]struct {
		server   *tls.Config
		response http.HandlerFunc
		client   streamstest.KeyPair
		trusts   bool
		want     bool
	}{
		"TLS 1.3": {mutual, ApplyUpdate, expired, true, true}, "TLS 1.2": {mutual12, ApplyUpdate, expired, true, true},
		"another alert": {old, ApplyUpdate, expired, true, true}, "another authority": {open, ApplyUpdate, expired, false, true},
		"after the handshake": {open, ResetConnection, expired, true, false}, "not expired": {mutual, ApplyUpdate, valid, true, false},
		"none": {mutual, ApplyUpdate, streamstest.KeyPair{}, true, false},
	} {
		s := StartTCPService(t, test.server.Clone(), test.response)
		client := transport.TLS{ClientCertPEM: test.client.CertPEM, ClientKeyPEM: test.client.KeyPEM}
		if test.trusts {
			client.CACertPEM = s.CAPEM()
		}
		e := s.UpdateError(t, requests.Config{TLS: client, DialContext: DialTCP})
		const named = "; the certificate of tls.client_cert_pem expired on "
		if strings.Contains(e.Reason, named) != test.want || test.want && !strings.Contains(e.Reason, named+ended) {
			t.Errorf("%s: %s", name, e.Reason)
		}
	}
}

// A service that does not know the host, or no version or cipher of Go, says so with an alert. The request was not sent. Only an
// internal error is retried: servers send it while they load a certificate.
func TestAlertsOfAHandshake(t *testing.T) {
	t.Parallel()
	unknownHost := func(err error) *tls.Config {
		return &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, err }}
	}
	for alert, config := range map[string]*tls.Config{
		"unrecognized name":              unknownHost(nil),
		"internal error":                 unknownHost(errors.New("x")),
		"protocol version not supported": {MaxVersion: tls.VersionTLS11},
		"handshake failure":              {MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}},
	} {
		s := NewService(t, ApplyUpdate)
		s.TLS = config
		s.StartTLS()
		if config.GetCertificate != nil {
			s.TLS.Certificates = nil
		}
		e := s.UpdateError(t, requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}})
		attempts := 1
		if alert == "internal error" {
			attempts = 5
		}
		if WantFailed(t, e, streams.KindConnection, streams.NotChanged, attempts); !transport.IsTLSFailure(e) {
			t.Errorf("%s: %#v", alert, e)
		}
		streamstest.WantText(t, e.Reason, "remote error: tls: "+alert)
	}
}
