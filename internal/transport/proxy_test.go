package transport_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// An https:// proxy works as far as Go's library does it: over HTTP/1.1, and verified like the service. An error of TLS names it.
func TestHTTPSProxy(t *testing.T) {
	ca, proxyCA := streamstest.NewAuthority(t), streamstest.NewAuthority(t)
	s := StartTLSService(t, serverWith(t, ca.Issue(t, "streams.invalid")), ApplyUpdate)
	own := serverWith(t, proxyCA.Issue(t, "127.0.0.1"))
	own.NextProtos = []string{"http/1.1"}
	proxy := StartTLSService(t, own, tunnelTo(t, s))
	setProxy(t, "HTTPS_PROXY", "https://me:s3cret@"+proxy.Listener.Addr().String())
	update := func(authorities string) error {
		c := NewClient(t, requests.Config{BaseURL: "https://streams.invalid", TLS: transport.TLS{CACertPEM: authorities}})
		_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
		return err
	}
	if err := update(ca.CertPEM + proxyCA.CertPEM); err != nil {
		t.Error(err)
	}
	proxy.WantRequests(t, 1)
	e := AsError(t, update(ca.CertPEM))
	WantFailed(t, e, streams.KindConnection, streams.NotChanged, 1)
	if !errors.As(e, new(*transport.ProxyError)) || !errors.As(e, new(x509.UnknownAuthorityError)) || !transport.IsTLSFailure(e) {
		t.Errorf("%#v", e)
	}
	streamstest.WantText(t, e.Reason, "the proxy "+proxy.URL+" cannot be used: ", "signed by unknown authority")
}

// Behind a proxy, an error of TLS with the host is not one of the proxy.
func TestHostBehindAProxyIsRefused(t *testing.T) {
	s := StartTLSService(t, nil, ApplyUpdate)
	setProxy(t, "HTTPS_PROXY", StartService(t, tunnelTo(t, s)).URL)
	invalid := &Service{Server: &httptest.Server{URL: "https://streams.invalid"}}
	e := invalid.UpdateError(t, requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}})
	WantFailed(t, e, streams.KindConnection, streams.NotChanged, 1)
	if errors.As(e, new(*transport.ProxyError)) || !errors.As(e, new(x509.HostnameError)) {
		t.Errorf("%#v", e)
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

// HTTPS_PROXY is for https:// alone, also where the service and the token endpoint have one host.
func TestProxyOfOneScheme(t *testing.T) {
	setProxy(t, "HTTPS_PROXY", "http://proxy.invalid:3128")
	var dialed []string
	settings := transport.Settings{DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
		dialed = append(dialed, address)
		return nil, net.ErrClosed
	}}
	for _, swapped := range []bool{false, true} {
		base, token := &url.URL{Scheme: "https", Host: "host.invalid"}, &url.URL{Scheme: "http", Host: "host.invalid"}
		if swapped {
			base, token = token, base
		}
		n := transport.NewNetwork(settings, base, token)
		dialed = nil
		for _, u := range []string{"https://host.invalid", "http://host.invalid"} {
			if _, err := send(t.Context(), n, u); err == nil {
				t.Errorf("%s: no error", u)
			}
		}
		WantEqual(t, "connections", []string{"proxy.invalid:3128", "host.invalid:80"}, dialed)
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
		if strings.Contains(e.Reason, "s3cret") || strings.Contains(e.Reason, "offers") {
			t.Errorf("the reason has the password, or an offer: %s", e.Reason)
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
	} {
		t.Run(name, func(t *testing.T) {
			setProxy(t, test.variable, test.proxy)
			e := (&Service{Server: &httptest.Server{URL: test.host}}).UpdateError(t, requests.Config{TLS: transport.TLS{InsecureSkipVerify: true}})
			WantFailed(t, e, streams.KindConnection, streams.NotChanged, test.attempts)
			if !errors.As(e, new(*transport.ProxyError)) {
				t.Errorf("error %#v", e)
			}
			streamstest.WantText(t, e.Reason, "the proxy "+test.proxy+" cannot be used: "+test.reason)
		})
	}
}

// Over http://, a proxy that has the request is not told from the service.
func TestProxyEndsARequest(t *testing.T) {
	setProxy(t, "HTTP_PROXY", StartService(t, ResetConnection).URL)
	x, err := send(t.Context(), newNetwork(t, "http://streams.invalid", transport.Settings{}), "http://streams.invalid")
	if err == nil || errors.As(err, new(*transport.ProxyError)) || !x.MayBeRead {
		t.Errorf("%v, %+v", err, x)
	}
}

// A proxy that asks for credentials says which kinds it takes, and the error quotes it. For https:// it does so before the request is
// sent, and for http:// in place of a response.
func TestProxyAuthenticate(t *testing.T) {
	const offer = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: NTLM\r\n" +
		"Proxy-Authenticate: Negotiate abc==\r\nContent-Length: 0\r\n\r\n"
	proxy := StartService(t, RespondRaw(offer))
	setProxy(t, "HTTPS_PROXY", proxy.URL)
	_, err := send(t.Context(), newNetwork(t, "https://streams.invalid", transport.Settings{}), "https://streams.invalid")
	refused, ok := errors.AsType[*transport.ProxyError](err)
	if !ok || refused.Status != 407 {
		t.Errorf("%#v", err)
	}
	streamstest.WantText(t, err.Error(), "responded to CONNECT with 407 Proxy Authentication Required, and offers NTLM, Negotiate abc==")
	setProxy(t, "HTTP_PROXY", proxy.URL)
	u := &url.URL{Scheme: "http", Host: "streams.invalid"}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, u.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, _, err := newNetwork(t, u.String(), transport.Settings{}).Send(req)
	if err != nil || resp.StatusCode != 407 || transport.ProxySchemes(resp.Header) != "NTLM, Negotiate abc==" {
		t.Fatalf("%+v, %v", resp, err)
	}
	_ = resp.Body.Close()
}

// A proxy that does not respond to CONNECT is silent: package http waits for a minute, and the operation has not ended.
func TestSilentProxy(t *testing.T) {
	const minute = time.Minute
	for _, test := range []struct {
		timeout time.Duration // of an attempt
		took    time.Duration
		reason  string
	}{
		{30 * time.Second, 30 * time.Second, "the service did not respond within 30s: no connection was made"},
		{5 * minute, minute, "cannot be used: no connection was made: context deadline exceeded"},
	} {
		synctest.Test(t, func(t *testing.T) {
			proxy := StartService(t, NeverRespond)
			setProxy(t, "HTTPS_PROXY", proxy.URL)
			start := time.Now()
			e := (&Service{Server: &httptest.Server{URL: "https://streams.invalid"}}).UpdateError(t, requests.Config{
				RequestTimeout: test.timeout, Retry: requests.Retry{MaxAttempts: 1},
			})
			if took := time.Since(start); took != test.took || e.Outcome != streams.NotChanged || !errors.Is(e, transport.ErrNoConnection) {
				t.Errorf("after %s: %#v", took, e)
			}
			streamstest.WantText(t, e.Reason, test.reason)
			if errors.Is(e, context.DeadlineExceeded) {
				t.Errorf("the operation has not ended: %v", e)
			}
		})
	}
}
