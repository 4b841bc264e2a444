package acceptance

import (
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Logs, plans, states and diagnostics have no secret, even if the service sends the secrets back.
func TestAccSecretsStaySecret(t *testing.T) {
	t.Parallel()
	// However a secret is escaped, the letters in the middle stay the same.
	const (
		token        = `eyJ0Vb5gN1cF/~+=`
		password     = `p"&<Zq7mK2xW>\ü+/ %1`
		clientSecret = `c"&<Yh4nR8sT>\ü+/ %2`
		key          = `k"&<Xj9pL3vD>\+/ %3`
	)
	basic := func(user, password string) string {
		return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	}
	ca := streamstest.NewAuthority(t)
	client := ca.Issue(t, "terraform")
	keyLines := strings.Split(strings.TrimSpace(client.KeyPEM), "\n")
	for _, test := range []struct {
		name    string
		block   string
		env     []string
		files   map[string]string
		sent    []string // secrets as the service gets them
		secrets []string // what nothing may show
	}{
		{
			name:    "token",
			env:     []string{"STREAM_TOKEN=" + token},
			sent:    []string{token},
			secrets: []string{"eyJ0Vb5gN1cF"},
		},
		{
			name:    "basic_auth",
			env:     []string{"STREAM_USERNAME=me", "STREAM_PASSWORD=" + password},
			sent:    []string{password, basic("me", password)},
			secrets: []string{"Zq7mK2xW", basic("me", password)[:16]},
		},
		{
			name:    "oauth2",
			env:     []string{"STREAM_OAUTH2_TOKEN_URL=<token url>", "STREAM_OAUTH2_CLIENT_ID=me@tenant", "STREAM_OAUTH2_CLIENT_SECRET=" + clientSecret},
			sent:    []string{"token-1", clientSecret, url.QueryEscape(clientSecret), basic("me%40tenant", url.QueryEscape(clientSecret))},
			secrets: []string{"token-1", "token-2", "Yh4nR8sT", basic("me%40tenant", url.QueryEscape(clientSecret))[:24]},
		},
		{
			name:    "API key",
			block:   `headers = { X-Api-Key = file("key") }`,
			files:   map[string]string{"key": key},
			sent:    []string{key},
			secrets: []string{"Xj9pL3vD"},
		},
		{
			name:    "API key in Authorization",
			block:   `headers = { Authorization = "ApiKey ${file("key")}" }`,
			files:   map[string]string{"key": key},
			sent:    []string{key},
			secrets: []string{"Xj9pL3vD"},
		},
		{
			name:    "client certificate",
			block:   `tls = { client_cert_pem = file("client.pem"), client_key_pem = file("client-key.pem") }`,
			files:   map[string]string{"client.pem": client.CertPEM, "client-key.pem": client.KeyPEM},
			sent:    []string{client.KeyPEM}, // the provider never sends the key
			secrets: keyLines[1 : len(keyLines)-1],
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tokens, tokenURL := startTokenServer(t, clientSecret)
			ids := []string{"good", "flaky", "message", "html", "location", "header", "success", "other", "extra"}
			service, address := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
			flaky := false
			service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
				echo := strings.Join(slices.Concat(test.sent, r.Header["Authorization"], r.Header["X-Api-Key"]), " | ")
				page := "<html>" + html.EscapeString(echo) + "</html>"
				switch r.StreamID {
				case "flaky":
					if flaky = !flaky; flaky {
						return &streamstest.Fault{Status: 503, Message: echo}
					}
				case "message":
					return &streamstest.Fault{Status: 401, Message: echo}
				case "html":
					return &streamstest.Fault{Status: 403, Body: &page}
				case "location":
					return &streamstest.Fault{Status: 301, Header: http.Header{"Location": {"/login?" + url.QueryEscape(echo)}}}
				case "header":
					return &streamstest.Fault{Status: 400, Header: http.Header{"X-Echo": {url.QueryEscape(echo)}}}
				case "success":
					return &streamstest.Fault{Body: &echo}
				case "other":
					return &streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ID = echo }}
				case "extra":
					return &streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, echo) }}
				}
				return nil
			})

			w := newWorkspace(t, address, fmt.Sprintf(`
provider "stream" {
  retry = { min_backoff = "1ms" }
  %s
}

resource "stream_processors" "this" {
  for_each      = toset(split(" ", %q))
  stream_id     = each.key
  processor_ids = ["p1"]
}
`, test.block, strings.Join(ids, " ")))
			w.setenvs(withTokenURL(test.env, tokenURL)...)
			for name, content := range test.files {
				w.writeFile(name, content)
			}
			w.setenv("TF_LOG", "TRACE")
			w.setenv("TF_LOG_PATH", filepath.Join(w.dir, "log"))

			seen := map[string]string{}
			plan := w.plan("-out=tfplan")
			seen["plan"] = plan.String()
			seen["show -json tfplan"] = w.run("show", "-json", "tfplan").stdout
			apply := w.apply("tfplan")
			wantResult(t, apply, 1, "Error: Authentication Error", "Error: Unauthorized Error", "Location:", "***")
			seen["apply"] = apply.String()
			seen["show -json"] = w.run("show", "-json").stdout
			seen["the log"] = w.readFile("log")
			seen["the state"] = w.readFile("terraform.tfstate")
			maps.Copy(seen, w.unzip("tfplan"))
			for where, text := range seen {
				if text == "" {
					t.Errorf("%s is empty", where)
				}
				wantNoSecrets(t, where, text, test.secrets)
			}
			wantLoggedAttempts(t, seen["the log"], append(service.Requests(), tokens.Requests()...))
		})
	}
}

// wantNoSecrets fails the test if a text has one of the secrets.
func wantNoSecrets(t *testing.T, where, text string, secrets []string) {
	t.Helper()
	for _, secret := range secrets {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%s: %q is shown: …%s…", where, secret, text[max(0, i-200):min(len(text), i+200)])
		}
	}
}

// wantLoggedAttempts fails the test unless the log has exactly one line at DEBUG for each request.
func wantLoggedAttempts(t *testing.T, log string, requests []streamstest.Request) {
	t.Helper()
	var got, want []string
	for line := range strings.Lines(log) {
		if _, attempt, found := strings.Cut(line, ": stream service request: "); found {
			fields := map[string]string{}
			for field := range strings.FieldsSeq(attempt) {
				name, value, _ := strings.Cut(field, "=")
				fields[name] = value
			}
			if !strings.Contains(line, "[DEBUG] provider.") || fields["duration_ms"] == "" {
				t.Errorf("the line of an attempt: %s", line)
			}
			got = append(got, strings.Join([]string{fields["method"], fields["url"], fields["status"], fields["attempt"]}, " "))
		}
	}
	attempts := map[string]int{}
	for _, r := range requests {
		url := "http://" + r.Host + r.Target
		if attempts[url]++; r.Method == http.MethodPost {
			attempts[url] = 1 // each token request is one operation
		}
		want = append(want, fmt.Sprintf("%s %s %d %d", r.Method, url, r.Status, attempts[url]))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempts in the log (-want +got):\n%s", diff)
	}
}

// The same holds if a token endpoint sends the secrets back.
func TestAccSecretsStaySecretAtTheTokenEndpoint(t *testing.T) {
	t.Parallel()
	const secret = `c"&<Yh4nR8sT>\ü+/ %2`
	for name, respond := range map[string]func(w http.ResponseWriter, echo string){
		"OAuth error": func(w http.ResponseWriter, echo string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error": "invalid_client", "error_description": %q}`, echo)
		},
		"page": func(w http.ResponseWriter, echo string) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, html.EscapeString(echo))
		},
		"redirect": func(w http.ResponseWriter, echo string) {
			w.Header().Set("Location", "/login?"+url.QueryEscape(echo))
			w.WriteHeader(http.StatusFound)
		},
		"success": func(w http.ResponseWriter, echo string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, echo)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			secrets := []string{"Yh4nR8sT"}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				_, credential, _ := strings.Cut(r.Header.Get("Authorization"), " ")
				if credential != "" {
					secrets = append(secrets, credential)
				}
				form, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				respond(w, fmt.Sprintf("%s | %s | %s", secret, form, credential))
			}))
			t.Cleanup(server.Close)
			service, address := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
			w := newWorkspace(t, address, withProvider(`oauth2 = { client_id = "me" }`))
			w.setenv("STREAM_OAUTH2_TOKEN_URL", server.URL)
			w.setenv("STREAM_OAUTH2_CLIENT_SECRET", secret)
			w.setenv("TF_LOG", "TRACE")
			w.setenv("TF_LOG_PATH", filepath.Join(w.dir, "log"))

			r := w.apply()
			wantResult(t, r, 1, "POST "+server.URL, notChanged)
			service.WantRequests(t)
			mu.Lock()
			defer mu.Unlock()
			wantNoSecrets(t, "apply", r.String(), secrets)
			wantNoSecrets(t, "the log", w.readFile("log"), secrets)
		})
	}
}
