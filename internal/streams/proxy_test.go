package streams_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// The client uses the proxy from the environment with all TLS settings. Go reads these variables once
// per process, so the test starts itself as another process.
func TestProxyFromEnvironment(t *testing.T) {
	const ca, token, setting = "STREAMS_TEST_CA", "STREAMS_TEST_TOKEN_URL", "STREAMS_TEST_SETTING"
	if pem := os.Getenv(ca); pem != "" {
		cfg := streams.Config{
			BaseURL: "https://streams.invalid", // only the proxy can reach this host
			OAuth2:  &streams.OAuth2{TokenURL: os.Getenv(token)},
			TLS:     streams.TLS{CACertPEM: pem, ServerName: "example.com"},
			Retry:   streams.Retry{MaxAttempts: 1},
		}
		if os.Getenv(setting) == "insecure" {
			cfg.TLS = streams.TLS{InsecureSkipVerify: true}
		}
		if _, err := newClient(t, cfg).UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
			t.Fatal(err)
		}
		return
	}

	for _, how := range []string{"authority", "insecure"} {
		t.Run(how, func(t *testing.T) {
			s := startTLSService(t, nil, respond(200, `{"access_token":"token-1"}`), applyUpdate)
			proxy := startService(t, func(w http.ResponseWriter, _ *http.Request) { tunnel(w, s.Listener.Addr().String()) })
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
				t.Errorf("the proxy received %q", got)
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

// tunnel connects the client of a CONNECT request with the address.
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

// A response of the proxy is not one of the service, so the stream was not changed.
func TestProxyRefuses(t *testing.T) {
	if os.Getenv("STREAMS_TEST_PROXY_REFUSES") != "" {
		_, err := newClient(t, streams.Config{BaseURL: "https://streams.invalid"}).UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
		e := asError(t, err)
		credentials := os.Getenv("STREAMS_TEST_PROXY_REFUSES") == "407"
		if e.Status != 0 || e.Outcome != streams.NotChanged || errors.Is(e, streams.ErrProxyCredentials) != credentials ||
			e.Kind != streams.KindConnection || credentials != (e.Attempts == 1) {
			t.Errorf("error %#v", e)
		}
		wantText(t, e.Reason, map[bool]string{true: "Proxy Authentication Required", false: "Forbidden"}[credentials])
		return
	}
	for status, attempts := range map[int]int{403: 5, 407: 1} {
		wantProxyRefusal(t, status, attempts)
	}
}

func wantProxyRefusal(t *testing.T, status, attempts int) {
	t.Helper()
	proxy := startService(t, respondError(status, "no"))
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyRefuses$", "-test.count=1")
	child.Env = append(os.Environ(), "HTTPS_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=", fmt.Sprintf("STREAMS_TEST_PROXY_REFUSES=%d", status))
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	proxy.wantRequests(t, attempts)
	if got := proxy.requests()[0].Method; got != "CONNECT" {
		t.Errorf("the proxy received %s", got)
	}
}
