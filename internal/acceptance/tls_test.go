package acceptance

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// The tls settings work directly and through a proxy, with HTTP/2. Only the proxy knows the host streams.test, because Go
// uses no proxy for a loopback address.
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
		tls         string // works
		without     string // does not suffice
		refusal     string // a part of the error without
		hint        string // the setting that the error names
		warning     string
	}{
		{
			name:        "private authority",
			certificate: server,
			tls:         `{ ca_cert_pem = file("ca.pem") }`,
			without:     `null`,
			refusal:     "certificate signed by unknown authority",
			hint:        "tls.ca_cert_pem",
		},
		{
			name:        "mutual TLS",
			certificate: server,
			mutual:      true,
			tls:         `{ ca_cert_pem = file("ca.pem"), client_cert_pem = file("client.pem"), client_key_pem = file("client-key.pem") }`,
			without:     `{ ca_cert_pem = file("ca.pem") }`,
			refusal:     "certificate required",
			hint:        "tls.client_cert_pem and tls.client_key_pem",
		},
		{
			name:        "server name",
			certificate: renamed,
			tls:         `{ ca_cert_pem = file("ca.pem"), server_name = "streams.internal" }`,
			without:     `{ ca_cert_pem = file("ca.pem") }`,
			refusal:     "doesn't contain any IP SANs",
			hint:        "tls.server_name",
		},
		{
			name:        "no verification",
			certificate: renamed,
			tls:         `{ insecure_skip_verify = true }`,
			without:     `{ insecure_skip_verify = false }`,
			refusal:     "failed to verify certificate",
			hint:        "tls.server_name",
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
			proxy, connected := startProxy(t, map[string]string{"streams.test:443": address})

			w := newWorkspace(t, "", "")
			w.setenv("HTTPS_PROXY", proxy)
			w.writeFile("ca.pem", ca.CertPEM)
			w.writeFile("client.pem", client.CertPEM)
			w.writeFile("client-key.pem", client.KeyPEM)
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

			w.writeConfig(config(test.without))
			wantResult(t, w.apply(), 1, test.refusal, test.hint)
			service.WantRequests(t)

			w.writeConfig(config(test.tls))
			r := w.mustApply()
			wantResult(t, r, 0, test.warning)
			if test.warning == "" && strings.Contains(r.text(), "Warning: Certificates") {
				t.Errorf("an unexpected warning: %s", r)
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

// NO_PROXY lists the hosts that need no proxy. The test uses 0.0.0.0: it leads to this machine, but to Go it is no
// loopback address.
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
	proxy, connected := startProxy(t, map[string]string{target: address})

	w := newWorkspace(t, "https://"+target, withProvider(`tls = { ca_cert_pem = file("ca.pem") }`))
	w.writeFile("ca.pem", ca.CertPEM)
	w.setenv("HTTPS_PROXY", proxy)
	w.mustApply()
	if diff := cmp.Diff([]string{target}, connected()); diff != "" {
		t.Fatalf("connections through the proxy (-want +got):\n%s", diff)
	}

	w.setenv("NO_PROXY", "0.0.0.0")
	w.mustApply("-replace=" + this)
	if got := connected(); len(got) != 1 {
		t.Errorf("connections through the proxy in spite of NO_PROXY: %q", got)
	}
	if got := len(service.Requests()); got != 2 {
		t.Errorf("%d requests, want two creates: a replacement on the same stream detaches nothing", got)
	}
}
