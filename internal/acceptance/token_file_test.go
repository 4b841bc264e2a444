package acceptance

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// rotation replaces a credential twice while a service handles the requests of 200 streams.
type rotation struct {
	path    string
	replace func() // makes a new credential, writes it and invalidates the old one

	mu       sync.Mutex
	accepted int
	refused  int
}

const rotationStreams, rotations = 200, 2

// authorize is Options.Authorize around the check of the current credential.
func (r *rotation) authorize(check func(*http.Request) error) func(*http.Request) error {
	return func(req *http.Request) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := check(req); err != nil {
			r.refused++
			return err
		}
		r.accepted++
		if r.accepted%(rotationStreams/(rotations+1)) == 0 && r.accepted < rotationStreams-10 {
			r.replace()
		}
		return nil
	}
}

// checkApply checks that all streams were applied, and that few requests were repeated.
func (r *rotation) checkApply(t *testing.T, service *streamstest.Service) {
	t.Helper()
	for _, id := range fleetIDs(rotationStreams) {
		service.WantAttached(t, id, "p1")
	}
	if r.accepted != rotationStreams || r.refused > rotations*10 {
		t.Errorf("the service accepted %d requests and refused %d", r.accepted, r.refused)
	}
}

// replaceFile replaces a file as an agent does: completely, or not at all.
func replaceFile(t *testing.T, path, content string) {
	if err := os.WriteFile(path+".new", []byte(content), 0o600); err != nil {
		t.Error(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Error(err)
	}
}

// A token that is replaced twice during an apply, and refused at once: there is no error, and one read for each token.
func TestAccTokenFileRotation(t *testing.T) {
	t.Parallel()
	r := &rotation{path: filepath.Join(t.TempDir(), "token")}
	token := 1
	replaceFile(t, r.path, "t0ken-1\n")
	r.replace = func() {
		token++
		replaceFile(t, r.path, fmt.Sprintf("t0ken-%d\n", token))
	}
	service, url := streamstest.Start(t, streamstest.Options{Latency: 10 * time.Millisecond,
		Authorize: r.authorize(func(req *http.Request) error { return streamstest.Bearer(fmt.Sprintf("t0ken-%d", token))(req) }),
	}, streamstest.Streams(fleetIDs(rotationStreams)...)...)
	w := newWorkspace(t, url, fleet(rotationStreams))
	w.setenv("STREAM_TOKEN_FILE", r.path)
	opens := countOpens(t, r.path)
	w.mustApply()
	r.checkApply(t, service)
	if token != 1+rotations {
		t.Errorf("the token was replaced %d times", token-1)
	}
	if got := opens(); got != -1 && got != 1+rotations {
		t.Errorf("the file was read %d times, want %d", got, 1+rotations)
	}
}

// An assertion that is replaced twice during an apply, with all tokens revoked at once: there is one token request for
// each assertion.
func TestAccClientAssertionRotation(t *testing.T) {
	t.Parallel()
	tokens, tokenURL := startTokenServer(t, "")
	r := &rotation{path: filepath.Join(t.TempDir(), "assertion")}
	issued := 1
	replaceFile(t, r.path, tokens.IssueAssertion(tokens.ClientID, time.Hour)+"\n")
	r.replace = func() {
		replaceFile(t, r.path, tokens.IssueAssertion(tokens.ClientID, time.Hour))
		tokens.Revoke(fmt.Sprintf("token-%d", issued))
		issued++
	}
	service, url := streamstest.Start(t, streamstest.Options{Latency: 10 * time.Millisecond, Authorize: r.authorize(tokens.Authorize)},
		streamstest.Streams(fleetIDs(rotationStreams)...)...)
	w := newWorkspace(t, url, fleet(rotationStreams))
	w.setenvs("STREAM_OAUTH2_TOKEN_URL="+tokenURL, "STREAM_OAUTH2_CLIENT_ID="+tokens.ClientID, "STREAM_OAUTH2_CLIENT_ASSERTION_FILE="+r.path)
	opens := countOpens(t, r.path)
	w.mustApply()
	r.checkApply(t, service)
	if r.refused < rotations {
		t.Errorf("the service refused %d requests", r.refused)
	}
	if got := len(tokens.Requests()); got != 1+rotations {
		t.Errorf("%d token requests, want %d", got, 1+rotations)
	}
	if got := opens(); got != -1 && got != 1+rotations {
		t.Errorf("the file was read %d times, want %d", got, 1+rotations)
	}
}

// An assertion works from the configuration and from the environment. A wrong one is refused with one token request.
func TestAccClientAssertion(t *testing.T) {
	t.Parallel()
	tokens, tokenURL := startTokenServer(t, "")
	service, url := streamstest.Start(t, streamstest.Options{Authorize: tokens.Authorize}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, withProvider(`oauth2 = { client_id = "me@tenant" }`))
	w.setenv("STREAM_OAUTH2_TOKEN_URL", tokenURL)
	w.setenv("STREAM_OAUTH2_CLIENT_ASSERTION", tokens.IssueAssertion(tokens.ClientID, -time.Minute))
	wantResult(t, w.apply(), 1, "invalid_client: the assertion has expired", notChanged)
	if got := len(tokens.Requests()); got != 1 {
		t.Errorf("%d token requests, want 1", got)
	}
	service.WantRequests(t)

	w.setenv("STREAM_OAUTH2_CLIENT_ASSERTION", tokens.IssueAssertion(tokens.ClientID, time.Hour))
	w.mustApply()
	service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["p1"]}`)

	w.writeFile("assertion", tokens.IssueAssertion(tokens.ClientID, time.Hour)+"\n") // relative to the root module
	w.writeConfig(strings.ReplaceAll(withProvider(`oauth2 = { client_id = "me@tenant", client_assertion_file = "assertion" }`), `"p1"`, `"p2"`))
	w.mustApply()
	service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["p2"]}`)
}

// The error for a file names the attribute and the path. A file that is not needed is not read.
func TestAccBadTokenFiles(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, withProvider(`token_file = "run/token"`))
	if err := os.Mkdir(filepath.Join(w.dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	wantResult(t, w.plan(), 2)
	for content, want := range map[string]string{
		"":                        "it is empty",
		"t0ken-1\nt0ken-2":        "it has more than one line",
		"t0ken\x01":               "it has control characters",
		"<65 KiB>":                "it is longer than 64 KiB",
		"<the file is not there>": "no such file or directory",
	} {
		switch content {
		case "<the file is not there>":
			_ = os.Remove(filepath.Join(w.dir, "run", "token"))
		case "<65 KiB>":
			w.writeFile("run/token", strings.Repeat("t0ken", 13<<10))
		default:
			w.writeFile("run/token", content)
		}
		r := w.apply()
		wantResult(t, r, 1, "Error: Authentication Error", `The file "run/token" of token_file cannot be used: `+want, "relative to the folder where Terraform runs", notChanged)
		if strings.Contains(r.text(), "t0ken") {
			t.Errorf("the content is shown: %s", r)
		}
	}
	service.WantRequests(t)

	w.writeConfig(withProvider(`
  token_file = "run/token"
  token      = "t0ken"
`))
	wantResult(t, w.plan(), 1, "token_file and token are two ways to authenticate")
	w.writeConfig(withProvider(""))
	w.setenv("STREAM_TOKEN", "t0ken")
	w.setenv("STREAM_TOKEN_FILE", "run/token")
	wantResult(t, w.plan(), 1, "token (STREAM_TOKEN) and token_file (STREAM_TOKEN_FILE)")
	w.setenv("STREAM_TOKEN", "")
	w.writeFile("run/token", "t0ken\n")
	w.mustApply()
	service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["p1"]}`)
}
