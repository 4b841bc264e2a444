package acceptance

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// spellings are the ways in which a service or a proxy may write a secret that it received, and a part of the result
// that is as secret.
var spellings = map[string]func(secret string) (text, part string){
	"as it is": func(s string) (string, string) { return s, s },
	"JSON": func(s string) (string, string) {
		quoted, _ := json.Marshal(s)
		return string(quoted), strings.Trim(string(quoted), `"`)
	},
	"JSON in JSON": func(s string) (string, string) {
		quoted, _ := json.Marshal(s)
		quoted, _ = json.Marshal(string(quoted))
		return string(quoted), strings.Trim(string(quoted), `"\`)
	},
	"URL": func(s string) (string, string) { return url.QueryEscape(s), url.QueryEscape(s) },
	"URL in a URL": func(s string) (string, string) {
		twice := url.QueryEscape(url.QueryEscape(s))
		return twice, twice
	},
	"HTML":        func(s string) (string, string) { return html.EscapeString(s), html.EscapeString(s) },
	"hexadecimal": func(s string) (string, string) { h := hex.EncodeToString([]byte(s)); return h, h },
	"base64": func(s string) (string, string) {
		b := base64.StdEncoding.EncodeToString([]byte(s))
		return b, b[:len(b)-4]
	},
	"base64 of a pair": func(s string) (string, string) {
		b := base64.StdEncoding.EncodeToString([]byte("someone:" + s))
		return b, b[12 : len(b)-4]
	},
}

// TestAccSecretsInEverySpelling: for each kind of secret, a service, a token endpoint and a proxy send it back in every
// spelling. Nothing shows it: no diagnostic, no log, no plan and no state.
func TestAccSecretsInEverySpelling(t *testing.T) {
	t.Parallel()
	const secret = `Zq7%41&amp;mK2"xW>\+/ 9`
	const plain = `Zq7-mK2~xW_9.Lp3` // a header can carry it, and the user part of a URL
	for name, test := range map[string]struct {
		secret, block string
		env           []string
	}{
		"token":            {plain, "", []string{"STREAM_TOKEN=" + plain}},
		"token_file":       {plain, `token_file = "secret"`, nil},
		"password":         {secret, `basic_auth = { username = "me", password = file("secret") }`, nil},
		"client_secret":    {secret, `oauth2 = { token_url = "<token url>", client_id = "me@tenant", client_secret = file("secret") }`, nil},
		"client_assertion": {plain, `oauth2 = { token_url = "<token url>", client_id = "me@tenant", client_assertion_file = "secret" }`, nil},
		"endpoint_params": {secret, `oauth2 = { token_url = "<token url>", client_id = "me@tenant", client_secret = "other", ` +
			`endpoint_params = { key = file("secret") } }`, nil},
		"header":         {secret, `headers = { X-Api-Key = file("secret") }`, nil},
		"proxy password": {plain, "", []string{"HTTP_PROXY=http://me:" + plain + "@<proxy>"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names := slices.Sorted(maps.Keys(spellings))
			var parts []string
			for _, spelling := range names {
				_, part := spellings[spelling](test.secret)
				parts = append(parts, part)
			}
			endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"access_token":"t0ken-one-two","refresh_token":"r3fresh-one-two","id_token":"1d-one-two"}`)
			}))
			t.Cleanup(endpoint.Close)
			ids := fleetIDs(2 * len(names))
			service, address := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
			service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
				i := slices.Index(ids, r.StreamID)
				text, _ := spellings[names[i/2]](test.secret)
				text += " t0ken-one-two r3fresh-one-two 1d-one-two"
				if i%2 == 0 {
					return &streamstest.Fault{Status: 403, Message: text}
				}
				return &streamstest.Fault{Status: 400, Body: &text}
			})
			w := newWorkspace(t, address, "provider \"stream\" {\n"+strings.ReplaceAll(test.block, "<token url>", endpoint.URL)+"\n}\n"+fleet(len(ids)))
			w.writeFile("secret", test.secret)
			for _, variable := range test.env {
				if strings.Contains(variable, "<proxy>") {
					proxy := httptest.NewServer(service)
					t.Cleanup(proxy.Close)
					w.setenv("STREAM_BASE_URL", "http://streams.invalid") // Go uses no proxy for loopback addresses
					variable = strings.ReplaceAll(variable, "<proxy>", proxy.Listener.Addr().String())
				}
				w.setenvs(variable)
			}
			w.setenv("TF_LOG", "TRACE")
			w.setenv("TF_LOG_PATH", filepath.Join(w.dir, "log"))
			seen := map[string]string{}
			seen["plan"] = w.plan("-out=tfplan").String()
			apply := w.apply("tfplan")
			wantResult(t, apply, 1, "Error: Unauthorized Error", "***")
			if got := strings.Count(apply.text(), "***"); got < len(ids) {
				t.Errorf("%d secrets are replaced, want at least %d: %s", got, len(ids), apply)
			}
			seen["apply"], seen["the log"] = apply.String(), w.readFile("log")
			maps.Copy(seen, w.unzip("tfplan"))
			if test.block != "" && strings.HasPrefix(test.block, "oauth2") {
				parts = append(parts, "t0ken-one-two", "r3fresh-one-two", "1d-one-two")
			}
			for where, text := range seen {
				wantNoSecrets(t, where, text, parts)
				wantNoSecrets(t, where, strings.Join(strings.Fields(strings.ReplaceAll(text, "│", "")), " "), parts)
			}
		})
	}
}

// A proxy refuses CONNECT and sends the credentials back in the reason phrase.
func TestAccProxyEchoesCredentials(t *testing.T) {
	t.Parallel()
	const password = "pr0xy-Zq7mK2xW"
	credentials := base64.StdEncoding.EncodeToString([]byte("me:" + password))
	for _, status := range []int{403, 407} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Read(make([]byte, 4096))
				fmt.Fprintf(conn, "HTTP/1.1 %d No %s %s\r\nContent-Length: 0\r\n\r\n", status, credentials, password)
				conn.Close()
			}
		}()
		w := newWorkspace(t, "https://streams.invalid", withProvider(`retry = { max_attempts = 2, min_backoff = "1ms" }`))
		w.setenv("HTTPS_PROXY", "http://me:"+password+"@"+listener.Addr().String())
		w.setenv("TF_LOG", "TRACE")
		w.setenv("TF_LOG_PATH", filepath.Join(w.dir, "log"))
		r := w.apply()
		wantResult(t, r, 1, notChanged)
		secrets := []string{password, strings.TrimRight(credentials, "=")}
		wantNoSecrets(t, "apply", r.text(), secrets)
		wantNoSecrets(t, "the log", w.readFile("log"), secrets)
	}
}

// A service that echoes the token in the fields of a stream: the state is truthful, and the warnings are redacted.
func TestAccSecretsInStreams(t *testing.T) {
	t.Parallel()
	const token = "t0ken-Zq7mK2xW"
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{token}})
	w := newWorkspace(t, url, withProvider(`detect_drift = true`))
	w.setenv("STREAM_TOKEN", token)
	r := w.plan()
	wantResult(t, r, 2, "Processors Will Be Detached", "***")
	wantNoSecrets(t, "plan", r.text(), []string{token})
	w.mustApply()

	w.writeConfig(strings.ReplaceAll(withProvider(`detect_drift = true`), `"p1"`, `"p2"`))
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if r.Method == http.MethodPatch {
			return &streamstest.Fault{Edit: func(s *streamstest.Stream) { s.TerminalID = token }}
		}
		return nil
	})
	r = w.apply()
	wantResult(t, r, 1, "Unexpected Change of the Stream", "***")
	if i := strings.Index(r.text(), "Unexpected Change"); strings.Contains(r.text()[i:], token) {
		t.Errorf("the error shows the token: %s", r)
	}
	if !strings.Contains(w.readFile("terraform.tfstate"), token) {
		t.Error("the state does not say what the service reported")
	}
}
