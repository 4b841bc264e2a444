package acceptance

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// serveTLS serves HTTPS, HTTP/2 included, and returns the host and port.
func serveTLS(t *testing.T, handler http.Handler, certificate streamstest.KeyPair) string {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(certificate.CertPEM), []byte(certificate.KeyPEM))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// startProxy starts a proxy for CONNECT that knows the addresses of hosts, and no others. It returns its URL and a
// function that lists the hosts of the requests so far.
func startProxy(t *testing.T, hosts map[string]string) (proxyURL string, connected func() []string) {
	t.Helper()
	var mu sync.Mutex
	var targets []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		targets = append(targets, r.Host)
		mu.Unlock()
		if r.Method != http.MethodConnect || hosts[r.Host] == "" {
			http.Error(w, "no such host", http.StatusBadGateway)
			return
		}
		upstream, err := net.Dial("tcp", hosts[r.Host])
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer upstream.Close()
		downstream, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer downstream.Close()
		fmt.Fprint(downstream, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() {
			defer upstream.Close()
			_, _ = io.Copy(upstream, buffered)
		}()
		_, _ = io.Copy(downstream, upstream)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(targets)
	}
}
