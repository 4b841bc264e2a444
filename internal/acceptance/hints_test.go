package acceptance

import (
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// hinted is what a diagnostic must say, and must not say.
type hinted struct {
	summary string
	want    []string
	not     []string
}

func (h hinted) check(t *testing.T, name string, d diagnostic) {
	t.Helper()
	if d.Summary != h.summary {
		t.Errorf("%s: summary is %q, want %q", name, d.Summary, h.summary)
	}
	for _, part := range h.want {
		if !strings.Contains(d.Detail, part) {
			t.Errorf("%s: no %q in: %s", name, part, d.Detail)
		}
	}
	for _, part := range append(h.not, "t0ken") {
		if strings.Contains(d.Detail, part) {
			t.Errorf("%s: %q in: %s", name, part, d.Detail)
		}
	}
}

// A page of a proxy, whose head alone is longer than what an error shows.
var proxyPage = "<!DOCTYPE html>\n<html><head><style>" + strings.Repeat("p { color: red } ", 40) +
	"</style><title>Proxy Login</title></head><body><script>go()</script><p>Please <b>sign</b> in.</p></body></html>"

// Each response to an update has a hint that fits.
func TestAccHints(t *testing.T) {
	t.Parallel()
	page := func(status int) streamstest.Fault { return streamstest.Fault{Status: status, Body: &proxyPage} }
	const (
		bad, generic = "Bad Request Error", "Generic Error"
		notService   = "may not have come from the service"
		carried      = "The request carried a bearer token from STREAM_TOKEN"
		signIn       = "HTML page: Proxy Login Please sign in."
	)
	cases := map[string]struct {
		fault streamstest.Fault
		hinted
	}{
		"400":      {streamstest.Fault{Status: 400}, hinted{bad, []string{"may not know one of the processor_ids"}, nil}},
		"422":      {streamstest.Fault{Status: 422}, hinted{bad, []string{"may not know one of the processor_ids"}, []string{"keep"}}},
		"400 page": {page(400), hinted{bad, []string{notService, "https://"}, []string{"processor_ids"}}},
		"401":      {streamstest.Fault{Status: 401}, hinted{"Authentication Error", []string{carried}, nil}},
		"401 page": {page(401), hinted{"Authentication Error", []string{notService, "HTTPS_PROXY", signIn}, []string{"carried"}}},
		"403":      {streamstest.Fault{Status: 403}, hinted{"Unauthorized Error", []string{carried, "may not permit"}, nil}},
		"403 page": {page(403), hinted{"Unauthorized Error", []string{notService, "HTTPS_PROXY", signIn}, []string{"permit"}}},
		"404":      {streamstest.Fault{Status: 404}, hinted{"Resource Not Found Error", []string{"stream may not exist", "stream_id"}, nil}},
		"404 page": {page(404), hinted{"Resource Not Found Error", []string{notService, "base_url"}, nil}},
		"405":      {streamstest.Fault{Status: 405}, hinted{bad, []string{"at this address", "base_url"}, []string{"processor_ids may"}}},
		"407":      {page(407), hinted{bad, []string{"user name and password in HTTPS_PROXY"}, []string{"processor_ids may"}}},
		"409":      {streamstest.Fault{Status: 409}, hinted{bad, []string{"Apply again."}, []string{"may not know"}}},
		"413":      {page(413), hinted{bad, []string{"too large"}, []string{"may not know"}}},
		"415":      {streamstest.Fault{Status: 415}, hinted{bad, []string{"base_url"}, []string{"may not know"}}},
		"423":      {streamstest.Fault{Status: 423}, hinted{bad, []string{"Apply again."}, []string{"may not know"}}},
		"429":      {streamstest.Fault{Status: 429}, hinted{bad, []string{"requests_per_second", "-parallelism"}, []string{"may not know"}}},
		"500":      {streamstest.Fault{Status: 500}, hinted{generic, []string{"temporary fault", "Apply again later"}, nil}},
		"501":      {streamstest.Fault{Status: 501}, hinted{generic, []string{"at this address", "base_url"}, []string{"later"}}},
		"502":      {streamstest.Fault{Status: 502}, hinted{"Bad Gateway Error", []string{"A proxy may not reach the service"}, nil}},
		"504":      {streamstest.Fault{Status: 504}, hinted{"Timeout Error", []string{"slow or overloaded"}, []string{"request_timeout"}}},
		"slow":     {streamstest.Fault{Delay: time.Hour}, hinted{"Timeout Error", []string{"did not respond within 2s", "request_timeout", "base_url"}, nil}},
		"reset":    {streamstest.Fault{ResetBefore: true}, hinted{"Connection Failed", []string{"base_url", "HTTPS_PROXY"}, nil}},
		"redirect": {streamstest.Fault{Status: 308, Header: http.Header{"Location": {"https://new.example.com"}}},
			hinted{"Redirect Refused", []string{"Location: https://new.example.com", "change base_url to that address"}, nil}},
		"page":   {streamstest.Fault{Body: &proxyPage}, hinted{"Unexpected Answer", []string{notService, signIn}, nil}},
		"merged": {streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ProcessorIDs = []string{"p1", "p9"} }}, hinted{"Unexpected Answer", []string{"may merge sets"}, nil}},
	}
	faults := map[string]streamstest.Fault{}
	for id, c := range cases {
		faults[id] = c.fault
	}
	ids := slices.Sorted(maps.Keys(cases))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, strings.Replace(resourceForEach(ids, `processor_ids = ["p1"]`),
		"max_attempts = 3, min_backoff = \"1ms\", max_backoff = \"5ms\" }", "max_attempts = 1 }\n  request_timeout = \"2s\"", 1))
	w.setenv("STREAM_TOKEN", "t0ken")
	service.InjectFunc(faultsByStream(faults))
	got := w.applyErrors("-parallelism=30")
	for id, c := range cases {
		c.check(t, id, got[addressOf(id)])
	}

	service.InjectFunc(nil)
	w.mustApply("-parallelism=30")
	service.InjectFunc(faultsByStream(faults))
	got = map[string]diagnostic{} // Terraform prints no address with the error of a destroy
	_, diags := w.diagnostics("apply", "-auto-approve", "-destroy", "-parallelism=30")
	for _, d := range diags {
		if _, after, found := strings.Cut(d.Detail, `of stream "`); found {
			id, _, _ := strings.Cut(after, `"`)
			got[addressOf(id)] = d
		}
	}
	for _, id := range []string{"400", "422", "400 page", "merged"} {
		hinted{cases[id].summary, []string{`set on_destroy = "keep"`}, nil}.check(t, "destroy, "+id, got[addressOf(id)])
	}
	for _, id := range []string{"405", "409", "423", "415", "429", "500", "501", "502", "504"} {
		c := cases[id].hinted
		c.not = append(c.not, "keep")
		c.check(t, "destroy, "+id, got[addressOf(id)])
	}
}

// withAliases has a provider block and a resource for each stream, with the alias and the id of its name.
func withAliases(blocks map[string]string) string {
	var hcl strings.Builder
	for name, block := range blocks {
		fmt.Fprintf(&hcl, `
provider "stream" {
  alias = %[1]q
  retry = { max_attempts = 1 }
  %[2]s
}

resource "stream_processors" %[1]q {
  provider      = stream.%[1]s
  stream_id     = %[1]q
  processor_ids = ["p1"]
  timeouts      = { create = "5s" }
}
`, name, block)
	}
	return hcl.String()
}

// Each failure of the token request says that it was the token request, and names its address.
func TestAccTokenHints(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	ca := streamstest.NewAuthority(t)
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s3cret"}
	respond := func(status int, body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if strings.HasPrefix(body, "{") {
				w.Header().Set("Content-Type", "application/json")
			}
			w.Header().Set("Location", "https://login.example.com/")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client has gone
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	theClient := []string{"may not know the client"}
	cases := map[string]struct {
		tokenURL string
		hinted
	}{
		"refused":   {respond(401, `{"error":"invalid_client"}`), hinted{"Authentication Error", append(theClient, "The token endpoint said: invalid_client"), nil}},
		"bad":       {respond(400, `{"error":"invalid_scope"}`), hinted{"Authentication Error", theClient, nil}},
		"forbidden": {respond(403, proxyPage), hinted{"Authentication Error", []string{"Proxy Login"}, theClient}},
		"not_found": {respond(404, proxyPage), hinted{"Authentication Error", []string{"another address"}, theClient}},
		"too_many":  {respond(429, ""), hinted{"Bad Request Error", []string{"may limit requests"}, theClient}},
		"redirect":  {respond(302, ""), hinted{"Redirect Refused", []string{"Location: https://login.example.com/", "change oauth2.token_url"}, theClient}},
		"down":      {respond(503, ""), hinted{"Generic Error", []string{"token endpoint may have a temporary fault"}, theClient}},
		"gateway":   {respond(502, ""), hinted{"Bad Gateway Error", []string{"may not reach the token endpoint"}, theClient}},
		"page":      {respond(200, proxyPage), hinted{"Unexpected Answer", []string{"login page"}, theClient}},
		"no_token":  {respond(200, `{}`), hinted{"Unexpected Answer", []string{"may not have come from a token endpoint"}, theClient}},
		"closed":    {closed.URL, hinted{"Connection Failed", []string{"token endpoint may be down"}, theClient}},
		"slow":      {silent.URL, hinted{"Timeout Error", []string{"token endpoint did not respond within 1s"}, theClient}},
		"tls": {"https://" + serveTLS(t, tokens, ca.Issue(t, "127.0.0.1"), nil),
			hinted{"Connection Failed", []string{"unknown authority", "tls.ca_cert_pem"}, theClient}},
	}
	blocks := map[string]string{}
	for name, c := range cases {
		blocks[name] = fmt.Sprintf("request_timeout = \"1s\"\noauth2 = { token_url = %q, client_id = \"me\", client_secret = \"s3cret\" }", c.tokenURL)
	}
	got := newWorkspace(t, url, withAliases(blocks)).applyErrors("-parallelism=20")
	for name, c := range cases {
		c.want = append(c.want, "The token request to oauth2.token_url failed.", "POST "+c.tokenURL)
		c.not = append(c.not, "base_url", "The service said", "s3cret")
		d := got["stream_processors."+name]
		c.check(t, name, d)
		d.wantLastLine(t, notChanged)
	}
	service.WantRequests(t)
}

// Each failure of TLS has a hint of its own.
func TestAccTLSHints(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	service := streamstest.New(streamstest.Options{})
	plain := httptest.NewServer(service)
	t.Cleanup(plain.Close)
	serve := func(certificate streamstest.KeyPair, clients *streamstest.Authority) string {
		// With TLS 1.3, a client may see that the connection is closed before it learns that its certificate is missing.
		return "https://" + serveTLS(t, service, certificate, clients, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 })
	}
	good := ca.Issue(t, "127.0.0.1")
	trust := `tls = { ca_cert_pem = file("ca.pem") }`
	cases := map[string]struct {
		baseURL, tls string
		want, not    []string
	}{
		"authority":   {serve(good, nil), "", []string{"private authority", "tls.ca_cert_pem"}, []string{"server_name", "client_cert_pem"}},
		"name":        {serve(ca.Issue(t, "streams.internal"), nil), trust, []string{"another name", "tls.server_name"}, []string{"client_cert_pem"}},
		"expired":     {serve(ca.IssueExpired(t, "127.0.0.1"), nil), trust, []string{"renew its certificate", "clock"}, []string{"_pem", "server_name"}},
		"not_tls":     {strings.Replace(plain.URL, "http://", "https://", 1), trust, []string{"may not use TLS", "http://"}, []string{"_pem", "server_name"}},
		"certificate": {serve(good, ca), trust, []string{"may require a client certificate", "tls.client_cert_pem"}, []string{"ca_cert_pem", "server_name"}},
	}
	blocks := map[string]string{}
	for name, c := range cases {
		blocks[name] = fmt.Sprintf("base_url = %q\n%s", c.baseURL, c.tls)
	}
	w := newWorkspace(t, "", withAliases(blocks))
	w.writeFile("ca.pem", ca.CertPEM)
	got := w.applyErrors("-parallelism=20")
	for name, c := range cases {
		hinted{"Connection Failed", append(c.want, "base_url"), c.not}.check(t, name, got["stream_processors."+name])
	}
	service.WantRequests(t)
}

// A proxy that wants other credentials is asked once.
func TestAccProxyCredentialsHint(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method
		http.Error(w, "who are you", http.StatusProxyAuthRequired)
	}))
	t.Cleanup(proxy.Close)
	w := newWorkspace(t, "https://streams.test", withProvider(""))
	w.setenv("HTTPS_PROXY", proxy.URL)
	hinted{"Connection Failed", []string{"407 Proxy Authentication Required", "user name and password in HTTPS_PROXY"}, nil}.
		check(t, "CONNECT", w.applyErrors()[this])
	if len(asked) != 1 {
		t.Errorf("the proxy was asked %d times", len(asked))
	}
}
