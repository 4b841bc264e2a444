package provider

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

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Each way to adjust TLS works directly and through a proxy, and HTTP/2 stays on. The proxy alone
// knows where the made-up host is; Go sends nothing to a proxy that goes to a loopback address.
func TestAccTLS(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	server := ca.Issue(t, "127.0.0.1", "streams.test")
	renamed := ca.Issue(t, "streams.internal")
	client := ca.Issue(t, "terraform")
	for _, test := range []struct {
		name        string
		certificate streamstest.KeyPair
		mutual      bool
		tls         string // what makes it work
		without     string // what does not suffice
		refusal     string // how that fails
		warning     string
	}{
		{
			name:        "private authority",
			certificate: server,
			tls:         `{ ca_cert_pem = file("ca.pem") }`,
			without:     `null`,
			refusal:     "certificate signed by unknown authority",
		},
		{
			name:        "mutual TLS",
			certificate: server,
			mutual:      true,
			tls:         `{ ca_cert_pem = file("ca.pem"), client_cert_pem = file("client.pem"), client_key_pem = file("client-key.pem") }`,
			without:     `{ ca_cert_pem = file("ca.pem") }`,
			refusal:     "certificate required",
		},
		{
			name:        "server name",
			certificate: renamed,
			tls:         `{ ca_cert_pem = file("ca.pem"), server_name = "streams.internal" }`,
			without:     `{ ca_cert_pem = file("ca.pem") }`,
			refusal:     "doesn't contain any IP SANs",
		},
		{
			name:        "no verification",
			certificate: renamed,
			tls:         `{ insecure_skip_verify = true }`,
			without:     `{ insecure_skip_verify = false }`,
			refusal:     "failed to verify certificate",
			warning:     "Warning: Certificates Are Not Verified",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			service := streamstest.New(streamstest.Options{}, streamstest.Streams("direct", "proxied")...)
			var clients *streamstest.Authority
			if test.mutual {
				clients = ca
			}
			address := serveTLS(t, service, test.certificate, clients)
			proxy, connected := newProxy(t, map[string]string{"streams.test:443": address})

			w := newWorkspace(t, "", "")
			w.setenv("HTTPS_PROXY", proxy)
			w.file("ca.pem", ca.CertPEM)
			w.file("client.pem", client.CertPEM)
			w.file("client-key.pem", client.KeyPEM)
			config := func(tls string) string {
				return fmt.Sprintf(`
provider "stream" {
  base_url = "https://%s"
  tls      = %s
}

provider "stream" {
  alias    = "proxied"
  base_url = "https://streams.test"
  tls      = %[2]s
}

resource "stream_processors" "direct" {
  stream_id     = "direct"
  processor_ids = ["p1"]
}

resource "stream_processors" "proxied" {
  provider      = stream.proxied
  stream_id     = "proxied"
  processor_ids = ["p1"]
}
`, address, tls)
			}

			w.write(config(test.without))
			r := w.apply()
			wantResult(t, r, 1, test.refusal, "(tls.ca_cert_pem)", "(tls.client_cert_pem and client_key_pem)")
			service.WantRequests(t)

			w.write(config(test.tls))
			r = w.mustApply()
			wantResult(t, r, 0, test.warning)
			if test.warning == "" && strings.Contains(r.text(), "Warning: Certificates") {
				t.Errorf("a warning without need: %s", r)
			}
			for _, request := range service.Requests() {
				if request.Proto != "HTTP/2.0" {
					t.Errorf("%s came by %s", request, request.Proto)
				}
			}
			service.WantRequests(t,
				`PATCH /v2/streams/direct {"processor_ids":["p1"]}`,
				`PATCH /v2/streams/proxied {"processor_ids":["p1"]}`,
			)
			for _, target := range connected() {
				if target != "streams.test:443" {
					t.Errorf("the proxy was asked for %s", target)
				}
			}
		})
	}
}

// NO_PROXY decides. Go's rules do not take 0.0.0.0 for a loopback address, although it leads there.
func TestAccNoProxy(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	service := streamstest.New(streamstest.Options{}, streamstest.Streams("cam-1")...)
	address := serveTLS(t, service, ca.Issue(t, "0.0.0.0"), nil)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	target := "0.0.0.0:" + port
	proxy, connected := newProxy(t, map[string]string{target: address})

	w := newWorkspace(t, "https://"+target, withProvider(`tls = { ca_cert_pem = file("ca.pem") }`))
	w.file("ca.pem", ca.CertPEM)
	w.setenv("HTTPS_PROXY", proxy)
	w.mustApply()
	if diff := cmp.Diff([]string{target}, connected()); diff != "" {
		t.Fatalf("connections through the proxy (-want +got):\n%s", diff)
	}

	w.setenv("NO_PROXY", "0.0.0.0")
	w.mustApply("-replace=stream_processors.this")
	if got := connected(); len(got) != 1 {
		t.Errorf("connections through the proxy in spite of NO_PROXY: %q", got)
	}
	if got := len(service.Requests()); got != 3 {
		t.Errorf("%d requests, want a create, a detach and a create", got)
	}
}

// serveTLS serves HTTPS, HTTP/2 included, and returns the address. Clients need a certificate of the
// authority clients, unless that is nil.
func serveTLS(t *testing.T, handler http.Handler, certificate streamstest.KeyPair, clients *streamstest.Authority) string {
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
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail on purpose
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// newProxy starts a proxy for CONNECT that connects to where hosts says, and to nothing else. It
// returns its address and a function that lists what it was asked to connect to.
func newProxy(t *testing.T, hosts map[string]string) (proxyURL string, connected func() []string) {
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
