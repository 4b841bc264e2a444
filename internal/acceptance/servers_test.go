package acceptance

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// faultsByStream breaks each request on a stream in the way of this stream.
func faultsByStream(faults map[string]streamstest.Fault) func(streamstest.Request) *streamstest.Fault {
	return func(r streamstest.Request) *streamstest.Fault {
		if fault, ok := faults[r.StreamID]; ok {
			return &fault
		}
		return nil
	}
}

// drainRequestCounts empties the record of requests and returns the number of requests on each stream.
func drainRequestCounts(service *streamstest.Service) map[string]int {
	counts := map[string]int{}
	for _, r := range service.Requests() {
		counts[r.StreamID]++
	}
	service.ForgetRequests()
	return counts
}

const clientSecret = "s3cret/+ %&"

// startTokenServer starts a token endpoint for the client "me@tenant" and returns it with its URL.
func startTokenServer(t *testing.T, clientSecret string) (tokens *streamstest.TokenServer, tokenURL string) {
	t.Helper()
	tokens = &streamstest.TokenServer{ClientID: "me@tenant", ClientSecret: clientSecret}
	server := httptest.NewServer(tokens)
	t.Cleanup(server.Close)
	return tokens, server.URL + "/token"
}

// withTokenURL replaces "<token url>" in environment variables.
func withTokenURL(variables []string, tokenURL string) []string {
	replaced := make([]string, len(variables))
	for i, variable := range variables {
		replaced[i] = strings.ReplaceAll(variable, "<token url>", tokenURL)
	}
	return replaced
}

// serveTLS serves HTTPS, HTTP/2 included, and returns the host and port. Clients need a certificate of the authority
// clients, unless clients is nil.
func serveTLS(t *testing.T, handler http.Handler, certificate streamstest.KeyPair, clients *streamstest.Authority, change ...func(*tls.Config)) string {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(certificate.CertPEM), []byte(certificate.KeyPEM))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	if clients != nil {
		server.TLS.ClientAuth = tls.RequireAndVerifyClientCert
		server.TLS.ClientCAs = x509.NewCertPool()
		server.TLS.ClientCAs.AppendCertsFromPEM([]byte(clients.CertPEM))
	}
	for _, change := range change {
		change(server.TLS)
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail on purpose
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
