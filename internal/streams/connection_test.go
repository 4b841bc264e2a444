package streams_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Requests reuse connections, in sequence and in parallel, also after error responses.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]http.HandlerFunc{
		"success": applyUpdate, "refused": respondError(404, "no"), "unavailable": respondError(503, "later"), "HTML": respond(409, "<h1>No</h1>"),
		"redirect": respondError(302, "moved", "Location", "/"), "no content": respond(204, ""),
	} {
		runVirtual(t, name, func(t *testing.T) {
			const parallel = 10 // as in updateAll; Go's default would keep two idle connections
			s := startService(t, respondAfter(time.Second, response))
			c := newClient(t, streams.Config{BaseURL: s.URL, Retry: streams.Retry{MaxAttempts: 1}})
			for range 4 {
				updateAll(t, c, parallel)
				<-time.After(time.Second) // until all connections are idle
			}
			s.wantRequests(t, 4*parallel)
			if got := s.connections(); got != parallel {
				t.Errorf("%d connections, want %d", got, parallel)
			}
		})
	}
}

// setProxy sets the environment variables for a proxy.
func setProxy(t *testing.T, variable, address string) {
	t.Helper()
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "REQUEST_METHOD"} {
		t.Setenv(name, "")
	}
	t.Setenv(variable, address)
}

// The client uses the proxy from the environment with all TLS settings, for the service and the token endpoint.
func TestProxyFromEnvironment(t *testing.T) {
	s := startTLSService(t, nil, respond(200, `{"access_token":"token-1"}`), applyUpdate)
	proxy := startService(t, func(w http.ResponseWriter, r *http.Request) {
		to, dialErr := dial(r.Context(), "", s.Listener.Addr().String())
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
	})
	setProxy(t, "HTTPS_PROXY", proxy.URL)
	c := newClient(t, streams.Config{
		BaseURL: "https://streams.invalid", // only the proxy can reach this host
		OAuth2:  &streams.OAuth2{TokenURL: "https://token.invalid/token"},
		TLS:     streams.TLS{CACertPEM: s.caPEM(), ServerName: "example.com"},
	})
	if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
		t.Fatal(err)
	}
	tunnels := proxy.requests()
	if len(tunnels) != 2 || tunnels[0].Target != "token.invalid:443" || tunnels[1].Target != "streams.invalid:443" {
		t.Errorf("the proxy received %+v", tunnels)
	}
	for _, r := range s.requests() {
		if r.Proto != "HTTP/2.0" {
			t.Errorf("%s %s went over %s", r.Method, r.Target, r.Proto)
		}
	}
}

// The error names a proxy that refuses CONNECT, and its status, but not its credentials. Only a fault that may pass
// is retried. The response is not one of the service, so the stream was not changed.
func TestProxyRefuses(t *testing.T) {
	for status, attempts := range map[string]int{"403 Forbidden": 1, "407 Proxy Authentication Required": 1, "502 Bad Gateway": 5} {
		proxy := startService(t, respondRaw("HTTP/1.1 "+status+" s3cret\r\nContent-Length: 0\r\n\r\n"))
		setProxy(t, "https_proxy", "http://me:s3cret@"+proxy.Listener.Addr().String())
		e := (&service{Server: &httptest.Server{URL: "https://streams.invalid"}}).updateError(t, streams.Config{})
		if e.Kind != streams.KindConnection || e.Status != 0 || e.Outcome != streams.NotChanged || e.Attempts != attempts ||
			!errors.Is(e, streams.ErrProxyRefused) || errors.Is(e, streams.ErrProxyCredentials) != (status[:3] == "407") {
			t.Errorf("error %#v", e)
		}
		wantText(t, e.Reason, "the proxy "+proxy.URL+" responded to CONNECT with "+status)
		if strings.Contains(e.Reason, "s3cret") {
			t.Errorf("the reason has the password: %s", e.Reason)
		}
		proxy.wantRequests(t, attempts)
	}
}

// Go would ignore an address that it cannot use, and send the requests without a proxy, or refuse each request.
func TestInvalidProxy(t *testing.T) {
	const notAddress = `is not the address of a proxy; write it as "http://host:port"`
	oauth2 := streams.Config{BaseURL: "http://host.example", OAuth2: &streams.OAuth2{TokenURL: "https://host.example"}}
	for _, test := range []struct {
		variable, value string
		cfg             streams.Config
		want            string
	}{
		{"HTTPS_PROXY", "::::", streams.Config{BaseURL: "https://host.example"}, notAddress},
		{"https_proxy", "http://user:s3cret@[::1", streams.Config{BaseURL: "https://host.example"}, notAddress},
		{"HTTPS_PROXY", "http://", oauth2, notAddress},
		{"HTTP_PROXY", "%zz", streams.Config{BaseURL: "http://host.example"}, notAddress},
		{"HTTP_PROXY", "%zz", streams.Config{BaseURL: "https://host.example"}, ""},
		{"HTTPS_PROXY", "proxy.example:3128", oauth2, ""},
		{"HTTPS_PROXY", "socks5://proxy.example", oauth2, ""},
	} {
		setProxy(t, test.variable, test.value)
		_, err := streams.New(test.cfg)
		if text := errorText(err); (text == "") != (test.want == "") || !strings.Contains(text, test.want) || strings.Contains(text, "s3cret") {
			t.Errorf("%s=%s: %q, want %q", test.variable, test.value, text, test.want)
		}
	}
	setProxy(t, "HTTP_PROXY", "http://proxy.example")
	t.Setenv("REQUEST_METHOD", "GET")
	_, err := streams.New(streams.Config{BaseURL: "http://host.example"})
	wantText(t, errorText(err), "HTTP_PROXY", "REQUEST_METHOD")
}
