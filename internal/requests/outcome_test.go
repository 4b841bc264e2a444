package requests_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// node is what a node of the service does with a connection, which it then ends.
type node func(raw net.Conn, server *tls.Config)

// dies reads the request, which it may apply, and never responds.
func dies(raw net.Conn, server *tls.Config) {
	conn := tls.Server(raw, server)
	if server.NextProtos[0] == "http/1.1" {
		if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = io.ReadAll(r.Body)
		}
		return
	}
	framer := http2.NewFramer(conn, conn)
	_ = framer.WriteSettings()
	_, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface)))
	for err == nil {
		var frame http2.Frame
		if frame, err = framer.ReadFrame(); err == nil && frame.Header().Type == http2.FrameData &&
			frame.Header().Flags.Has(http2.FlagDataEndStream) {
			return
		}
	}
}

// requires asks for a client certificate. With TLS 1.3, the client has sent its request before it learns that it is rejected.
func requires(raw net.Conn, server *tls.Config) {
	asking := server.Clone()
	asking.ClientAuth = tls.RequireAnyClientCert
	_ = tls.Server(raw, asking).Handshake()
}

// alerts ends the handshake with an alert (RFC 8446, section 6).
func alerts(alert tls.AlertError) node {
	return func(raw net.Conn, _ *tls.Config) {
		_, _ = raw.Read(make([]byte, 64<<10))
		_, _ = raw.Write([]byte{21, 3, 3, 0, 2, 2, byte(alert)})
	}
}

// A node of the service may have applied the update before it died. What another node says of a later attempt, such as that it
// rejects the client, changes nothing about that.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	for reason, rejects := range map[string]node{
		"certificate required": requires, "tls: handshake failure": alerts(40), "tls: access denied": alerts(49),
		"tls: bad certificate": alerts(42), "tls: unknown certificate authority": alerts(48),
	} {
		for _, protocol := range []string{"h2", "http/1.1"} {
			for name, test := range map[string]struct {
				before  []node
				outcome streams.Outcome
			}{
				"alone": {nil, streams.NotChanged}, "after a death": {[]node{dies}, streams.Unknown},
				"after two": {[]node{dies, dies}, streams.Unknown},
			} {
				t.Run(reason+"/"+protocol+"/"+name, func(t *testing.T) {
					t.Parallel()
					ca := streamstest.NewAuthority(t)
					pair := ca.Issue(t, "127.0.0.1")
					certificate, err := tls.X509KeyPair([]byte(pair.CertPEM), []byte(pair.KeyPEM))
					if err != nil {
						t.Fatal(err)
					}
					url := startNodes(t, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{protocol}},
						append(test.before, rejects))
					s := &Service{Server: &httptest.Server{URL: url}}
					e := s.UpdateError(t, requests.Config{
						TLS: transport.TLS{CACertPEM: ca.CertPEM}, DialContext: DialTCP,
						Retry: requests.Retry{MaxAttempts: 50, MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond},
					})
					attempts := len(test.before) + 1
					if protocol == "h2" { // an alert may end a connection before it is used: the next attempt has its name
						attempts = max(attempts, e.Attempts)
					}
					WantFailed(t, e, streams.KindConnection, test.outcome, attempts)
					streamstest.WantText(t, e.Reason, reason)
				})
			}
		}
	}
}

// startNodes returns the address of a service whose n-th connection reaches the n-th node, or the last one.
func startNodes(t *testing.T, server *tls.Config, nodes []node) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for n := 0; ; n++ {
			raw, err := listener.Accept()
			if err != nil {
				return
			}
			nodes[min(n, len(nodes)-1)](raw, server)
			_ = raw.Close()
		}
	}()
	return "https://" + listener.Addr().String()
}

// The error of a rejection has what a proxy offers, and what is suspicious about the credential.
func TestRejectionsSayMore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	writeSecret(t, path, "${TOKEN}")
	s := StartService(t, RespondError(407, "who", "Proxy-Authenticate", `NTLM, Negotiate abc, Digest realm="a,b"`), RespondError(403, "no"))
	e := s.UpdateError(t, requests.Config{})
	WantEqual(t, "challenge", `NTLM, Negotiate abc, Digest realm="a,b"`, e.Challenge)
	e = s.UpdateError(t, requests.Config{TokenFile: path})
	streamstest.WantText(t, e.Reason, "the token in the file looks like a reference")
}

// The usual headers identify a request.
func TestRequestID(t *testing.T) {
	t.Parallel()
	for name, header := range map[string][]string{
		"x-request-id": {"X-Request-Id", "7"}, "correlation": {"X-Correlation-Id", "7"}, "trace": {"traceparent", "7"},
		"request": {"Request-Id", "7"},
		"AWS":     {"X-Amzn-RequestId", "7"}, "S3": {"x-amz-request-id", "7"}, "Azure": {"x-ms-request-id", "7"}, "Cloudflare": {"CF-RAY", "7"},
		"several": {"Cf-Ray", "8", "X-Correlation-Id", "7"}, "an empty one": {"X-Request-Id", "", "Cf-Ray", "7"},
	} {
		e := StartService(t, RespondError(400, "no", header...)).UpdateError(t, requests.Config{})
		WantEqual(t, name, "7", e.RequestID)
	}
}
