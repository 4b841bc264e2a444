package streams_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// rotatingService requires the bearer token that was written last.
type rotatingService struct {
	*scriptedService
	path string

	mu    sync.Mutex
	token string
}

func newRotatingService(t *testing.T) *rotatingService {
	t.Helper()
	r := &rotatingService{path: filepath.Join(t.TempDir(), "token")}
	stand := streamstest.New(streamstest.Options{Authorize: func(req *http.Request) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		return streamstest.Bearer(r.token)(req)
	}}, streamstest.Streams(streamIDs(30)...)...)
	r.scriptedService = startService(t, stand.ServeHTTP)
	return r
}

func (r *rotatingService) require(token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.token = token
}

// writeSecret replaces a file as an agent does: completely, or not at all.
func writeSecret(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path+".new", []byte(content), 0o600), os.Rename(path+".new", path)); err != nil {
		t.Error(err)
	}
}

func TestTokenFileIsReadAgain(t *testing.T) {
	t.Parallel()
	s := newRotatingService(t)
	c := newClient(t, streams.Config{BaseURL: s.URL, TokenFile: s.path})

	s.require("t0ken-1")
	writeSecret(t, s.path, "\ufefft0ken-1\r\n") // after the client was made
	updateAll(t, c)
	s.wantRequests(t, 30)

	s.require("t0ken-2") // the file changes at once
	writeSecret(t, s.path, "  t0ken-2\n")
	updateAll(t, c)
	s.wantRequests(t, 60)

	s.require("t0ken-3") // the file changes a moment later
	time.AfterFunc(200*time.Millisecond, func() { writeSecret(t, s.path, "t0ken-3") })
	updateAll(t, c)
	if got := len(s.requests()); got < 91 || got > 120 {
		t.Errorf("%d requests, want 90 and a 401 for each request with the old token", got)
	}

	writeSecret(t, s.path, "") // the agent has just emptied the file
	updateAll(t, c)
}

// A token that the service never accepted is not waited for.
func TestTokenFileIsRefused(t *testing.T) {
	t.Parallel()
	s := newRotatingService(t)
	writeSecret(t, s.path, "wr0ng")
	start := time.Now()
	for _, e := range updateErrors(t, newClient(t, streams.Config{BaseURL: s.URL, TokenFile: s.path}), 30) {
		if e.Status != http.StatusUnauthorized || e.Attempts != 1 || e.Outcome != streams.NotChanged {
			t.Fatalf("error %#v", e)
		}
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("30 operations took %s", took)
	}
	s.wantRequests(t, 30)
}

// The error for a file names the setting and the path, and does not show the content.
func TestBadSecretFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		write func(path string) error
		want  string
	}{
		"missing":   {func(string) error { return nil }, "no such file or directory"},
		"a folder":  {func(path string) error { return os.Mkdir(path, 0o700) }, "it is not a regular file"},
		"empty":     {writeFile(" \n\t"), "it is empty"},
		"two lines": {writeFile("s3cret-1\ns3cret-2\n"), "more than one line"},
		"binary":    {writeFile("s3cret\x00\x01"), "control characters"},
		"huge":      {writeFile(strings.Repeat("s3cret", 20000)), "longer than 64 KiB"},
	} {
		for _, setting := range []string{"token_file", "oauth2.client_assertion_file"} {
			t.Run(name+"/"+setting, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "credential")
				if err := test.write(path); err != nil {
					t.Fatal(err)
				}
				endpoint, s := startService(t, respond(200, `{"access_token":"t"}`)), startService(t, applyUpdate)
				cfg := streams.Config{TokenFile: path}
				if setting != "token_file" {
					cfg = streams.Config{OAuth2: &streams.OAuth2{TokenURL: endpoint.URL, ClientAssertionFile: path}}
				}
				e := s.updateError(t, cfg)
				if e.Kind != streams.KindAuthentication || e.Outcome != streams.NotChanged || e.Attempts != 0 || !errors.Is(e, streams.ErrSecretFile) {
					t.Errorf("error %#v", e)
				}
				wantText(t, e.Reason, " of "+setting, path, test.want)
				if strings.Contains(e.Error(), "s3cret") {
					t.Errorf("the content is shown: %s", e)
				}
				s.wantRequests(t, 0)
				endpoint.wantRequests(t, 0)
			})
		}
	}
}

func writeFile(content string) func(path string) error {
	return func(path string) error { return os.WriteFile(path, []byte(content), 0o600) }
}

// An assertion from a file is read for each token request, and replaces the client's secret.
func TestClientAssertionFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "assertion")
	i := newTokenIssuer(t, time.Hour)
	i.config.OAuth2.ClientSecret, i.config.OAuth2.ClientAssertionFile = "", path
	writeSecret(t, path, i.tokens.IssueAssertion(clientID, time.Hour)+"\n")
	c := newClient(t, i.config)
	updateAll(t, c)
	i.endpoint.wantRequests(t, 1)

	// The old assertion and the old token become invalid at once, and the file changes a moment later.
	i.tokens.Revoke("token-1")
	expired := i.tokens.IssueAssertion(clientID, -time.Second)
	writeSecret(t, path, expired)
	time.AfterFunc(200*time.Millisecond, func() { writeSecret(t, path, i.tokens.IssueAssertion(clientID, time.Hour)) })
	updateAll(t, c)
	i.endpoint.wantRequests(t, 3)
}

// A refused assertion is refused for the run, until there is another one in the file.
func TestRefusedAssertion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "assertion")
	i := newTokenIssuer(t, time.Hour)
	i.config.OAuth2.ClientSecret, i.config.OAuth2.ClientAssertionFile = "", path
	writeSecret(t, path, i.tokens.IssueAssertion("somebody else", time.Hour))
	c := newClient(t, i.config)
	for _, e := range updateErrors(t, c, 30) {
		if e.Status != http.StatusUnauthorized || e.Message != "invalid_client: the assertion is for another client" {
			t.Fatalf("error %#v", e)
		}
	}
	i.endpoint.wantRequests(t, 1)
	writeSecret(t, path, i.tokens.IssueAssertion(clientID, time.Hour))
	updateAll(t, c)
	i.endpoint.wantRequests(t, 2)
}

// What the files held is redacted, as other secrets are.
func TestSecretFilesAreRedacted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "credential")
	writeSecret(t, path, "s3cret-t0ken\n")
	echo := func(w http.ResponseWriter, r *http.Request) {
		respondError(403, r.FormValue("client_assertion")+r.Header.Get("Authorization"))(w, r)
	}
	e := startService(t, echo).updateError(t, streams.Config{TokenFile: path})
	if e.Message != "Bearer ***" {
		t.Errorf("error %#v", e)
	}
	endpoint := startService(t, echo)
	e = startService(t, applyUpdate).updateError(t, streams.Config{OAuth2: &streams.OAuth2{TokenURL: endpoint.URL, ClientAssertionFile: path}})
	if e.Message != "***" {
		t.Errorf("error %#v", e)
	}
}
