package streams_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

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
		to, err := dial(r.Context(), "", s.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		w.WriteHeader(http.StatusOK)
		from, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
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
	var tunnels []string
	for _, r := range proxy.requests() {
		tunnels = append(tunnels, r.Method+" "+r.Target)
	}
	if got := strings.Join(tunnels, ", "); got != "CONNECT token.invalid:443, CONNECT streams.invalid:443" {
		t.Errorf("the proxy received %q", got)
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
	for status, attempts := range map[string]int{"403 Forbidden": 1, "407 Proxy Authentication Required": 1, "502 Bad Gateway": 5, "503 Service Unavailable": 5} {
		proxy := startService(t, respondRaw("HTTP/1.1 "+status+" s3cret\r\nContent-Length: 0\r\n\r\n"))
		setProxy(t, "https_proxy", "http://me:s3cret@"+proxy.Listener.Addr().String())
		_, err := newClient(t, streams.Config{BaseURL: "https://streams.invalid"}).UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
		e := asError(t, err)
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
	for _, test := range []struct{ variable, value, url, want string }{
		{"HTTPS_PROXY", "::::", "https://host.example", notAddress},
		{"https_proxy", "http://user:s3cret@[::1", "https://host.example", notAddress},
		{"HTTPS_PROXY", "http://", "https://host.example", notAddress},
		{"HTTP_PROXY", "%zz", "http://host.example", notAddress},
		{"HTTP_PROXY", "%zz", "https://host.example", ""},
		{"HTTPS_PROXY", "proxy.example:3128", "https://host.example", ""},
		{"HTTPS_PROXY", "socks5://proxy.example", "https://host.example", ""},
	} {
		setProxy(t, test.variable, test.value)
		for _, cfg := range []streams.Config{
			{BaseURL: test.url}, {BaseURL: "http://[::1]:1", OAuth2: &streams.OAuth2{TokenURL: test.url}},
		} {
			if test.variable == "HTTP_PROXY" && cfg.OAuth2 != nil {
				cfg.BaseURL = "https://host.example"
			}
			_, err := streams.New(cfg)
			if text := errorText(err); (text == "") != (test.want == "") || !strings.Contains(text, test.want) || strings.Contains(text, "s3cret") {
				t.Errorf("%s=%s: %q, want %q", test.variable, test.value, text, test.want)
			}
		}
	}
	setProxy(t, "HTTP_PROXY", "http://proxy.example")
	t.Setenv("REQUEST_METHOD", "GET")
	_, err := streams.New(streams.Config{BaseURL: "http://host.example"})
	wantText(t, errorText(err), "HTTP_PROXY", "REQUEST_METHOD")
}
