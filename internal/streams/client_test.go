package streams_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// The request has exactly what INTERFACE.md, section 4 specifies, and what is configured.
func TestUpdateRequest(t *testing.T) {
	t.Parallel()
	s := startService(t, applyUpdate)
	c := newClient(t, requests.Config{
		BaseURL:   s.URL + "/eu/v2/",
		Token:     "t0ken",
		Headers:   map[string]string{"x-api-key": "k3y", "X-Empty": ""},
		UserAgent: "terraform-provider-stream/1.2.3 Terraform/1.14.0",
	})
	got, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet("<ä&b>", "9", "10", "9"))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "stream", streamOf("s1", "10", "9", "<ä&b>"), got, ignoreShown)
	s.wantReceived(t, receivedRequest{
		Method: "PATCH", Target: "/eu/v2/streams/s1", Proto: "HTTP/1.1",
		Body: `{"processor_ids":["10","9","<ä&b>"]}`, Length: 37,
		Header: http.Header{
			"Accept":          {"application/json"},
			"Accept-Encoding": {"identity"},
			"Authorization":   {"Bearer t0ken"},
			"Content-Length":  {"37"},
			"Content-Type":    {"application/json"},
			"User-Agent":      {"terraform-provider-stream/1.2.3 Terraform/1.14.0"},
			"X-Api-Key":       {"k3y"},
			"X-Empty":         {""},
		},
	})
}

// A read has no body: over HTTP/2, an empty one would be sent with an unknown length.
func TestReadRequest(t *testing.T) {
	t.Parallel()
	s := startTLSService(t, nil, respond(http.StatusOK, streamJSON("s1", []string{"p2", "p1", "p1"})))
	c := newClient(t, requests.Config{
		BaseURL: s.URL, TLS: requests.TLS{CACertPEM: s.caPEM()}, Headers: map[string]string{"cache-control": "max-age=60"},
	})
	got, err := c.ReadStream(t.Context(), "s1")
	if err != nil || got.ProcessorIDs.String() != `["p1", "p2"]` {
		t.Errorf("%+v, %v", got, err)
	}
	s.wantReceived(t, receivedRequest{
		Method: "GET", Target: "/v2/streams/s1", Proto: "HTTP/2.0",
		Header: http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"identity"}, "Cache-Control": {"no-cache"}},
	})
}

// A configured header takes precedence, except over an authentication scheme.
func TestConfiguredHeaders(t *testing.T) {
	t.Parallel()
	apiKey := map[string]string{"AUTHORIZATION": "ApiKey abc"}
	for _, test := range []struct {
		cfg          requests.Config
		header, want string
	}{
		{requests.Config{UserAgent: "terraform", Headers: map[string]string{"user-agent": "me"}}, "User-Agent", "me"},
		{requests.Config{Headers: apiKey}, "Authorization", "ApiKey abc"},
		{requests.Config{Headers: apiKey, Token: "t0ken"}, "Authorization", "Bearer t0ken"},
		{requests.Config{BasicAuth: &requests.BasicAuth{Username: "me", Password: "pa:ss"}}, "Authorization", "Basic bWU6cGE6c3M="},
		{requests.Config{Headers: map[string]string{"Accept": "application/x+json"}}, "Accept", "application/x+json"},
	} {
		s := startService(t, applyUpdate)
		if _, err := s.update(t, test.cfg); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, test.header, []string{test.want}, s.requests()[0].Header.Values(test.header))
	}
}

// What internal/config refuses, the client refuses, too, and without showing a key.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	a, b := ca.Issue(t, "a"), ca.Issue(t, "b")
	for want, cfg := range map[string]requests.Config{
		`tls.ca_cert_pem contains a "PRIVATE KEY" instead of`:        {TLS: requests.TLS{CACertPEM: a.KeyPEM}},
		"tls.client_key_pem does not make a client certificate with": {TLS: requests.TLS{ClientCertPEM: a.CertPEM, ClientKeyPEM: b.KeyPEM}},
		"tls.client_key_pem contains no PEM block":                   {TLS: requests.TLS{ClientCertPEM: a.CertPEM}},
		"oauth2.token_url must not contain a user name or password":  {OAuth2: &requests.OAuth2{TokenURL: "https://me:p@host.example"}},
		"tls.client_cert_pem contains no PEM block":                  {TLS: requests.TLS{ClientKeyPEM: a.KeyPEM}},
	} {
		cfg.BaseURL = "https://host.example"
		_, err := streams.New(cfg)
		if text := errorText(err); !strings.HasPrefix(text, want) || strings.Contains(text, a.KeyPEM[40:80]) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A server gets exactly one path segment and decodes it to the id. An id that a path cannot contain is refused.
func TestStreamIDIsOneSegment(t *testing.T) {
	t.Parallel()
	s := startService(t, applyUpdate)
	c := newClient(t, requests.Config{BaseURL: s.URL + "/eu%20west/v2/"})
	for _, id := range []string{
		"s1", "a/b", "a b", "a%2Fb", "%2e%2e", "...", "a?b=c", "a#b", "a;b,c", "a:b@c&d=e+f$g!h*i'(j)", `a\b`, "{a|b}^`~<[\"", "grün 流 😀",
		"a\u202eb", "~", "v2", "//", "../x", "a/../b", "%", "%zz", strings.Repeat("long/", 200),
	} {
		if stream, err := c.UpdateStream(t.Context(), id, streams.NewProcessorSet()); err != nil || stream.ID != id {
			t.Errorf("%q: %+v, %v", id, stream, err)
		}
	}
	for _, r := range s.requests() {
		segment := strings.TrimPrefix(r.Target, "/eu%20west/v2/streams/")
		if segment == r.Target || strings.ContainsAny(segment, "/?#; ") {
			t.Errorf("%s is not one segment below the prefix", r.Target)
		}
	}
	sent := len(s.requests())
	_, updateErr := c.UpdateStream(t.Context(), "..", streams.NewProcessorSet())
	_, readErr := c.ReadStream(t.Context(), "..")
	for _, err := range []error{updateErr, readErr} {
		wantFailed(t, asError(t, err), streams.KindBadRequest, streams.NotChanged, 0)
		streamstest.WantText(t, asError(t, err).Reason, "stream id must not ")
	}
	s.wantRequests(t, sent)
}

// Whether an update replaces or merges is not shown (INTERFACE.md, section 4). The error lists the difference.
func TestDifferentSet(t *testing.T) {
	t.Parallel()
	const (
		merged = "; it may have merged the set instead of replacing it"
		inCase = "; some of these ids differ only in case: write them as the service does"
	)
	for reason, test := range map[string]struct{ sent, reported []string }{
		`the service reports additional processors ["p0"]` + merged:                                                {[]string{"p1"}, []string{"p0", "p1"}},
		`the service did not attach ["p1", "p3"]`:                                                                  {[]string{"p1", "p2", "p3"}, []string{"p2"}},
		`the service did not attach ["p1"]`:                                                                        {[]string{"p1"}, nil},
		`the service did not attach ["p1"]; the service reports additional processors ["P1"]` + inCase:             {[]string{"p1"}, []string{"P1"}},
		`the service did not attach ["6F-FF", "p1"]; the service reports additional processors ["6f-ff"]` + inCase: {[]string{"6F-FF", "p1"}, []string{"6f-ff"}},
		`the service did not attach ["Äb"]; the service reports additional processors ["p2", "äb"]` + inCase:       {[]string{"Äb"}, []string{"äb", "p2"}},
		`the service reports additional processors ["P1"]` + merged:                                                {[]string{"p1"}, []string{"P1", "p1"}},
		`the service reports additional processors ["\x1b[2J\"\u202e"]` + merged:                                   {nil, []string{"\x1b[2J\"\u202e"}},
	} {
		s := startService(t, respond(200, streamJSON("s1", test.reported)))
		c := newClient(t, requests.Config{BaseURL: s.URL})
		_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet(test.sent...))
		s.wantError(t, err, streams.Error{
			Kind: streams.KindUnexpected, Status: 200, Reason: reason, Attempts: 1, Outcome: streams.Changed,
			Stream: streamOf("s1", test.reported...),
		})
		s.wantRequests(t, 1)
	}

	// A reason with thousands of ids is truncated.
	e := startService(t, respond(200, streamJSON("s1", append(streamIDs(2000), "p1")))).updateError(t, requests.Config{})
	if n := len([]rune(e.Reason)); n != 4001 || e.Stream.ProcessorIDs.Len() != 2001 {
		t.Errorf("the reason has %d characters, the stream %d ids", n, e.Stream.ProcessorIDs.Len())
	}
}

// Requests reuse connections, in sequence and in parallel, also after error responses.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]http.HandlerFunc{
		"success": applyUpdate, "unavailable": respondError(503, "later"), "HTML": respond(409, "<h1>No</h1>"),
		"redirect": respondError(302, "moved", "Location", "/"), "no content": respond(204, ""),
	} {
		runVirtual(t, name, func(t *testing.T) {
			const parallel = 10 // as in updateAll; Go's default would keep two idle connections
			s := startService(t, respondAfter(time.Second, applyUpdate), respondAfter(time.Second, response))
			var connections atomic.Int32
			count := func(ctx context.Context, network, address string) (net.Conn, error) {
				connections.Add(1)
				return streamstest.Dial(ctx, network, address)
			}
			c := newClient(t, requests.Config{BaseURL: s.URL, Retry: requests.Retry{MaxAttempts: 1}, DialContext: count})
			for range 4 {
				updateAll(t, c, parallel)
				<-time.After(time.Second) // until all connections are idle
			}
			s.wantRequests(t, 4*parallel)
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
func tunnelTo(t *testing.T, s *service) http.HandlerFunc {
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
	s := startTLSService(t, nil, respond(200, `{"access_token":"token-1"}`), applyUpdate)
	proxy := startService(t, tunnelTo(t, s))
	setProxy(t, "HTTPS_PROXY", proxy.URL)
	c := newClient(t, requests.Config{
		BaseURL: "https://streams.invalid", // only the proxy can reach this host
		OAuth2:  &requests.OAuth2{TokenURL: "https://example.com/token"},
		TLS:     requests.TLS{CACertPEM: s.caPEM(), ServerName: "example.com"},
	})
	if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
		t.Fatal(err)
	}
	tunnels := proxy.requests()
	if len(tunnels) != 2 || tunnels[0].Target != "example.com:443" || tunnels[1].Target != "streams.invalid:443" {
		t.Errorf("the proxy received %+v", tunnels)
	}
}

// In a CGI program, HTTP_PROXY may come from a client. The error names the variable that makes a program one.
func TestProxyOfACGIProgram(t *testing.T) {
	setProxy(t, "HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("REQUEST_METHOD", "GET")
	e := (&service{Server: &httptest.Server{URL: "http://streams.invalid"}}).updateError(t, requests.Config{})
	if wantFailed(t, e, streams.KindConnection, streams.NotChanged, 0); !errors.Is(e, requests.ErrNotSent) {
		t.Errorf("error %#v", e)
	}
	streamstest.WantText(t, e.Reason, "the request cannot be sent: HTTP_PROXY does not count while REQUEST_METHOD is set")
}

// The error names a proxy that refuses CONNECT, and its status, but not its credentials. Only a fault that may pass
// is retried. The response is not one of the service, so the stream was not changed.
func TestProxyRefuses(t *testing.T) {
	for status, attempts := range map[string]int{"403 Forbidden": 1, "407 Proxy Authentication Required": 1, "502 Bad Gateway": 5} {
		proxy := startService(t, respondRaw("HTTP/1.1 "+status+" s3cret\r\nContent-Length: 0\r\n\r\n"))
		setProxy(t, "https_proxy", "http://me:s3cret@"+proxy.Listener.Addr().String())
		e := (&service{Server: &httptest.Server{URL: "https://streams.invalid"}}).updateError(t, requests.Config{})
		if e.Kind != streams.KindConnection || e.Status != 0 || e.Outcome != streams.NotChanged || e.Attempts != attempts ||
			!errors.As(e, new(*requests.ProxyError)) {
			t.Errorf("error %#v", e)
		}
		streamstest.WantText(t, e.Reason, "the proxy "+proxy.URL+" responded to CONNECT with "+status)
		if strings.Contains(e.Reason, "s3cret") {
			t.Errorf("the reason has the password: %s", e.Reason)
		}
		proxy.wantRequests(t, attempts)
	}
}

func (s *service) caPEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// requireCertificateOf returns the TLS configuration of a service that accepts the certificates of an authority.
func requireCertificateOf(ca *streamstest.Authority, maxVersion uint16) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(ca.CertPEM))
	return &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MaxVersion: maxVersion}
}

// Each TLS setting works for the service and for the token endpoint, over HTTP/2.
func TestTLSAccepted(t *testing.T) {
	t.Parallel()
	ca, theirs := streamstest.NewAuthority(t), startTLSService(t, nil).caPEM() // which all services share
	client := ca.Issue(t, "client")
	pair := requests.TLS{CACertPEM: theirs, ClientCertPEM: client.CertPEM, ClientKeyPEM: client.KeyPEM}
	open, mutual := &tls.Config{}, requireCertificateOf(ca, 0)
	for name, test := range map[string]struct {
		server *tls.Config
		client requests.TLS
	}{
		"authority alone":             {open, requests.TLS{CACertPEM: theirs}},
		"one of several authorities":  {open, requests.TLS{CACertPEM: client.CertPEM + "\n# theirs\n" + theirs}},
		"server name":                 {open, requests.TLS{CACertPEM: theirs, ServerName: "example.com"}},
		"insecure, with another name": {open, requests.TLS{InsecureSkipVerify: true, ServerName: "other.example"}},
		"client certificate":          {mutual, pair},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := startTLSService(t, test.server.Clone(), issueTokens(0))
			s := startTLSService(t, test.server.Clone(), applyUpdate)
			cfg := requests.Config{TLS: test.client, OAuth2: &requests.OAuth2{TokenURL: endpoint.URL}}
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

// A TLS error is not retried, and the stream is not changed. A service without a TLS configuration speaks plain HTTP.
func TestTLSRefused(t *testing.T) {
	t.Parallel()
	ca, otherCA, theirs := streamstest.NewAuthority(t), streamstest.NewAuthority(t), startTLSService(t, nil).caPEM()
	other, expired := otherCA.Issue(t, "other"), ca.IssueExpired(t, "127.0.0.1")
	open, mutual, old := &tls.Config{}, requireCertificateOf(ca, tls.VersionTLS12), &tls.Config{MaxVersion: tls.VersionTLS11}
	expiredPair, _ := tls.X509KeyPair([]byte(expired.CertPEM), []byte(expired.KeyPEM))
	named := ca.Issue(t, "example.com")
	namedPair, _ := tls.X509KeyPair([]byte(named.CertPEM), []byte(named.KeyPEM))
	for reason, test := range map[string]struct {
		server *tls.Config
		client requests.TLS
		cause  any
	}{
		"x509: certificate signed by unknown authority": {open, requests.TLS{}, new(x509.UnknownAuthorityError)},
		"certificate signed by unknown authority":       {open, requests.TLS{CACertPEM: otherCA.CertPEM}, new(x509.UnknownAuthorityError)},
		"doesn't contain any IP SANs": {
			&tls.Config{Certificates: []tls.Certificate{namedPair}}, requests.TLS{CACertPEM: ca.CertPEM}, new(x509.HostnameError)},
		"certificate has expired": {
			&tls.Config{Certificates: []tls.Certificate{expiredPair}}, requests.TLS{CACertPEM: ca.CertPEM}, new(x509.CertificateInvalidError)},
		"remote error: tls": {mutual, requests.TLS{CACertPEM: theirs}, new(error)},
		"remote error: tls: ": {
			mutual, requests.TLS{CACertPEM: theirs, ClientCertPEM: other.CertPEM, ClientKeyPEM: other.KeyPEM}, new(error)},
		"remote error: tls: protocol version not supported": {old, requests.TLS{CACertPEM: theirs}, new(error)},
		"server gave HTTP response to HTTPS client":         {nil, requests.TLS{}, new(error)},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s, plain := newService(t, applyUpdate), startService(t, applyUpdate)
			if s.TLS = test.server.Clone(); s.TLS != nil {
				s.StartTLS()
			} else {
				s.Start()
				s.URL = strings.Replace(s.URL, "http", "https", 1)
			}
			cfg := requests.Config{TLS: test.client}
			asEndpoint := cfg
			asEndpoint.OAuth2 = &requests.OAuth2{TokenURL: s.URL}
			for _, e := range []*streams.Error{s.updateError(t, cfg), plain.updateError(t, asEndpoint)} {
				wantFailed(t, e, streams.KindConnection, streams.NotChanged, 1)
				if e.Status != 0 || !errors.As(e, test.cause) || !requests.IsTLSFailure(e) {
					t.Errorf("error %#v", e)
				}
				streamstest.WantText(t, e.Reason, reason)
			}
			s.wantRequests(t, 0)
			plain.wantRequests(t, 0)
		})
	}
}
