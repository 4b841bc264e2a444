package acceptance

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// An operation that ends while it waits says what it waited for, and that no request was sent. The resource "gate" is
// applied when the operation that the other ones wait for is under way.
func TestAccWaits(t *testing.T) {
	t.Parallel()
	tokenRequested, updateArrived := make(chan struct{}, 100), make(chan struct{}, 100)
	tokens := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		tokenRequested <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(tokens.Close)
	gates := map[string]chan struct{}{"token-gate": tokenRequested, "stream-gate": updateArrived}
	service := streamstest.New(streamstest.Options{}, streamstest.Streams("token-gate", "stream-gate", "rate-1", "rate-2", "shared")...)
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if r.StreamID == "shared" {
			return &streamstest.Fault{Delay: time.Hour}
		}
		return nil
	})
	// The gates are in front of the service, which calls the function for faults one request at a time.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := path.Base(r.URL.Path)
		if id == "shared" {
			updateArrived <- struct{}{}
		}
		if gate, ok := gates[id]; ok {
			select {
			case <-gate:
			case <-r.Context().Done():
			}
		}
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	resource := func(name, provider, stream, timeout, after string) string {
		return fmt.Sprintf(`
resource "stream_processors" %q {
  provider      = stream.%s
  stream_id     = %q
  processor_ids = ["p1"]
  timeouts      = { create = %q }
  depends_on    = [%s]
}
`, name, provider, stream, timeout, after)
	}
	w := newWorkspace(t, server.URL, fmt.Sprintf(`
provider "stream" {
  alias = "plain"
}

provider "stream" {
  alias  = "oauth2"
  oauth2 = { token_url = %q, client_id = "me", client_secret = "s3cret" }
}

provider "stream" {
  alias               = "rate"
  requests_per_second = 0.01
}
`, tokens.URL)+
		resource("token_first", "oauth2", "token-1", "10s", "")+
		resource("token_gate", "plain", "token-gate", "1m", "")+
		resource("token_waits", "oauth2", "token-2", "1s", "stream_processors.token_gate")+
		resource("stream_first", "plain", "shared", "10s", "")+
		resource("stream_gate", "plain", "stream-gate", "1m", "")+
		resource("stream_waits", "plain", "shared", "1s", "stream_processors.stream_gate")+
		resource("rate_first", "rate", "rate-1", "1m", "")+
		resource("rate_waits", "rate", "rate-2", "1s", "stream_processors.rate_first"))
	got := w.applyErrors()
	hinted{"Timeout Error", []string{"waited for the token request of another operation", "→ no request was sent", "oauth2.token_url"},
		[]string{"base_url", "The service may"}}.check(t, "token", got["stream_processors.token_waits"])
	hinted{"Timeout Error", []string{"The token request to oauth2.token_url failed.", "POST " + tokens.URL},
		[]string{"base_url"}}.check(t, "token request", got["stream_processors.token_first"])
	hinted{"Timeout Error", []string{"nother operation on stream \"shared\" did not end in time", "Another operation on the same stream may be slow"},
		[]string{"base_url", "request_timeout"}}.check(t, "stream", got["stream_processors.stream_waits"])
	hinted{"Timeout Error", []string{"→ no request was sent", "requests_per_second may be too low"},
		[]string{"base_url"}}.check(t, "rate", got["stream_processors.rate_waits"])
	for _, name := range []string{"token_waits", "token_first", "rate_waits"} {
		d := got["stream_processors."+name]
		d.wantLastLine(t, notChanged)
	}
	d := got["stream_processors.stream_waits"]
	d.wantLastLine(t, inDoubt) // the other operation is still under way
}

// A log at DEBUG says of each failed attempt when the next one follows.
func TestAccRetryIsLogged(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	service.Inject(streamstest.Fault{Status: 503}, streamstest.Fault{ResetBefore: true})
	w := newWorkspace(t, url, withProvider(`retry = { min_backoff = "7ms", max_backoff = "7ms" }`))
	w.setenv("TF_LOG_PROVIDER", "DEBUG")
	w.setenv("TF_LOG_PATH", filepath.Join(w.dir, "log"))
	w.mustApply()
	var got []string
	for line := range strings.Lines(w.readFile("log")) {
		if _, fields, found := strings.Cut(line, "stream service request: "); found {
			got = append(got, fields)
		}
	}
	if len(got) != 3 {
		t.Fatalf("want a line for each of 3 attempts, got %q", got)
	}
	for i, want := range [][]string{{"attempt=1", "status=503", "next_in=7ms"}, {"attempt=2", "error=", "next_in=7ms"}, {"attempt=3", "status=200"}} {
		wantContains(t, got[i], want...)
	}
	if strings.Contains(got[2], "next_in") {
		t.Errorf("the last attempt has a next one: %s", got[2])
	}
}

// An error about a value from the environment names the variable, also without a provider block.
func TestAccWrongEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "https://streams.test/eu/v2/streams/cam-1", cam1p1)
	w.setenv("STREAM_TOKEN", "Hidden1\nHidden2")
	w.setenv("STREAM_DETECT_DRIFT", "maybe")
	r := w.plan()
	wantResult(t, r, 1,
		`The environment variable STREAM_BASE_URL (base_url) must be the address of the service, not of its streams; write "https://streams.test/eu".`,
		"The environment variable STREAM_TOKEN (token) must not contain line breaks",
		`The environment variable STREAM_DETECT_DRIFT (detect_drift) must be "true" or "false".`)
	if strings.Contains(r.text(), "Hidden") {
		t.Errorf("a secret is quoted: %v", r)
	}
}

// Addresses that can never work are refused with the reason, and a path where PEM is expected with file(…).
func TestAccWrongAddresses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ block, want string }{
		"collection": {`base_url = "https://streams.test/v2/streams/"`, `not of its streams; write "https://streams.test".`},
		"stream":     {`base_url = "https://streams.test/eu/v2/streams/cam-1"`, `not of its streams; write "https://streams.test/eu".`},
		"port":       {`base_url = "https://streams.test:80800"`, "base_url has a port that is not between 1 and 65535."},
		"dots":       {`base_url = "https://streams.test/eu/../us"`, `base_url must not have "." or ".." in its path.`},
		"path":       {`tls = { ca_cert_pem = "/etc/ssl/ca.crt" }`, `tls.ca_cert_pem contains no PEM certificate. If it is the path of a file, use file("…").`},
	}
	blocks := map[string]string{}
	for name, c := range cases {
		blocks[name] = c.block
	}
	w := newWorkspace(t, "https://streams.test", withAliases(blocks))
	r := w.run("validate", "-no-color")
	for _, c := range cases {
		wantResult(t, r, 1, c.want)
	}
	if got := strings.Count(r.text(), "Error: Invalid Provider Configuration"); got != len(cases) {
		t.Errorf("%d errors, want %d: %v", got, len(cases), r)
	}
}
