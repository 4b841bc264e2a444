package acceptance

import (
	"crypto/tls"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// 30 streams share one token, although the first token request fails, and all renew it once when the service refuses it.
// The private authority applies to the token endpoint as well.
func TestAccOAuth2(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: "s3cret"}
	tokens.Inject(http.StatusServiceUnavailable)
	service := streamstest.New(streamstest.Options{Authorize: tokens.Authorize}, streamstest.Streams(fleetIDs(30)...)...)
	arrivals := 0
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		if arrivals++; arrivals == 10 {
			tokens.Revoke("token-1")
		}
		return nil
	})
	certificate := ca.Issue(t, "127.0.0.1")
	w := newWorkspace(t, "https://"+serveTLS(t, service, certificate), providerWith(fmt.Sprintf(`
  oauth2 = { token_url = "https://%s/token", client_id = "me" }
  retry  = { min_backoff = "1ms" }
  tls    = { ca_cert_pem = file("ca.pem") }
`, serveTLS(t, tokens, certificate)))+resourceForEach(fleetIDs(30), `"p1"`))
	w.writeFile("ca.pem", ca.CertPEM)
	w.setenv("STREAM_OAUTH2_CLIENT_SECRET", "s3cret")
	w.mustApply("-parallelism=30")
	for _, id := range fleetIDs(30) {
		service.WantAttached(t, id, "p1")
	}
	if got := len(tokens.Requests()); got != 3 {
		t.Errorf("%d token requests, want one that fails, one for the first token and one for the second", got)
	}
}

// Logs, plans, states and diagnostics have no secret, even if the service sends the secrets back.
func TestAccSecretsStaySecret(t *testing.T) {
	t.Parallel()
	// However a secret is escaped, the letters in the middle stay the same.
	secrets := map[string]string{"token": "eyJ0Vb5gN1cF/~+=", "basic": `p"&<Zq7mK2xW>\ü+/ %1`, "key": `k"&<Xj9pL3vD>\+/ %3`, "oauth2": `c"&<Yh4nR8sT>\ü+/ %2`}
	parts := []string{"Vb5gN1cF", "Zq7mK2xW", "Xj9pL3vD", "Yh4nR8sT", "token-1"}
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: secrets["oauth2"]}
	tokenServer := httptest.NewServer(tokens)
	t.Cleanup(tokenServer.Close)
	config, seeds := "", []streamstest.Stream{}
	for scheme, block := range map[string]string{
		"token": `token = file("token")`, "basic": `basic_auth = { username = "me", password = file("basic") }`,
		"key": `headers = { X-Api-Key = file("key") }`, "oauth2": fmt.Sprintf(`oauth2 = { token_url = %q, client_id = "me", client_secret = file("oauth2") }`, tokenServer.URL),
	} {
		config += fmt.Sprintf("provider \"stream\" {\n  alias = %q\n  retry = { min_backoff = \"1ms\" }\n  %s\n}\n", scheme, block)
		for _, where := range []string{"good", "message", "html", "location", "success", "extra"} {
			name := scheme + "-" + where
			seeds = append(seeds, streamstest.Stream{ID: name})
			config += resourceOf(name, name, `"p1"`, "provider = stream."+scheme)
		}
	}
	service, address := streamstest.Start(t, streamstest.Options{}, seeds...)
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		scheme, where, _ := strings.Cut(r.StreamID, "-")
		echo := strings.Join(slices.Concat([]string{secrets[scheme]}, r.Header["Authorization"], r.Header["X-Api-Key"]), " | ")
		switch where {
		case "message":
			return &streamstest.Fault{Status: 401, Message: echo}
		case "html":
			return &streamstest.Fault{Status: 403, Body: new("<html>" + html.EscapeString(echo) + "</html>")}
		case "location":
			return &streamstest.Fault{Status: 301, Header: http.Header{"Location": {"/login?" + url.QueryEscape(echo)}}}
		case "success":
			return &streamstest.Fault{Body: &echo}
		case "extra":
			return &streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, echo) }}
		}
		return nil
	})
	w := newWorkspace(t, address, config)
	for name, secret := range secrets {
		w.writeFile(name, secret)
	}
	w.setenvs("TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(w.dir, "log"))

	seen := map[string]string{"plan": w.plan("-out=tfplan").String(), "show tfplan": w.run("show", "-json", "tfplan").stdout}
	apply := w.apply("tfplan")
	wantResult(t, apply, 1, "Error: Authentication Error", "Error: Unauthorized Error", "Location:", "***")
	seen["apply"], seen["the log"], seen["the state"] = apply.String(), w.readFile("log"), w.readFile("terraform.tfstate")
	wantContains(t, seen["the log"], "Access-Control-Allow-Origin: *") // the headers are logged, too
	for _, r := range append(service.Requests(), tokens.Requests()...) {
		if _, credentials, found := strings.Cut(r.Header.Get("Authorization"), "Basic "); found {
			parts = append(parts, credentials)
		}
	}
	for where, text := range seen {
		if text == "" {
			t.Errorf("%s is empty", where)
		}
		for _, part := range parts {
			if i := strings.Index(text, part); i >= 0 {
				t.Errorf("%s: %q is shown: …%s…", where, part, text[max(0, i-200):min(len(text), i+200)])
			}
		}
	}
}

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
