package streams_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// writeSecret replaces a file as an agent does: completely, or not at all.
func writeSecret(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path+".new", []byte(content), 0o600), os.Rename(path+".new", path)); err != nil {
		t.Error(err)
	}
}

func TestTokenFileIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	virtual(t, func(t *testing.T) {
		token := "t0ken-1"
		authorize := func(r *http.Request) error { return streamstest.Bearer(token)(r) }
		s := startService(t, streamstest.New(streamstest.Options{Authorize: authorize}, streamstest.Streams(streamIDs(500)...)...).ServeHTTP)
		c := newClient(t, streams.Config{BaseURL: s.URL, TokenFile: path})
		if _, took, err := interruptedUpdate(t, c, time.Hour, time.Second); !errors.Is(err, streams.ErrSecretFile) || took >= 0 {
			t.Errorf("without a file: %v after %s", err, took)
		}
		writeSecret(t, path, "") // the agent is just writing the file
		if _, took, err := interruptedUpdate(t, c, time.Hour, time.Second); asError(t, err).Kind != streams.KindInterrupted || took != 0 {
			t.Errorf("interrupted: %v after %s", err, took)
		}
		time.AfterFunc(30*time.Millisecond, func() { writeSecret(t, path, "\ufefft0ken-1\r\n") })
		mustUpdateAll(t, c, 30)
		s.wantRequests(t, 30)

		token = "t0ken-2" // the file changes at once
		writeSecret(t, path, "  t0ken-2\n")
		mustUpdateAll(t, c, 30)
		s.wantRequests(t, 60)

		token = "t0ken-3" // the file changes a moment later
		time.AfterFunc(200*time.Millisecond, func() { writeSecret(t, path, "t0ken-3") })
		mustUpdateAll(t, c, 30)
		if got := len(s.requests()); got < 91 || got > 100 {
			t.Errorf("%d requests, want 90 and a 401 for each request with the old token", got)
		}

		start := time.Now()
		writeSecret(t, path, "") // the old token serves as long as the service accepts it
		mustUpdateAll(t, c, 30)
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
		mustUpdateAll(t, c, 30)
		if took := time.Since(start); took != 0 {
			t.Errorf("with the old token, 60 streams took %s", took)
		}

		writeSecret(t, path, "t0ken-3")
		mustUpdateAll(t, c, 1)
		token, start = "t0ken-4", time.Now() // the token expires: this costs the wait for another one once
		before := len(s.requests())
		for _, e := range completeErrors(t, updateAll(t, c, 500)) {
			if e.Kind != streams.KindAuthentication {
				t.Errorf("error %#v", e)
			}
		}
		if took, sent := time.Since(start), len(s.requests())-before; took > 3*time.Second || sent > 20 {
			t.Errorf("500 streams took %s, with %d requests", took, sent)
		}
		writeSecret(t, path, "t0ken-4")
		mustUpdateAll(t, c, 30)
	})
}

// The error for a file names the setting and the path, and does not show the content.
func TestBadSecretFiles(t *testing.T) {
	t.Parallel()
	const folder, missing = "folder", "missing"
	for content, want := range map[string]string{
		missing:                          "no such file or directory",
		folder:                           "it is not a regular file",
		" \n\t":                          "it is empty",
		"s3cret-1\ns3cret-2\n":           "more than one line",
		"s3cret\x00\x01":                 "control characters",
		"\xff\xfes\x003\x00":             "it is UTF-16; write it as UTF-8, in PowerShell with Set-Content -Encoding utf8",
		"\xfe\xff\x00s\x003":             "it is UTF-16; write it as UTF-8, in PowerShell with Set-Content -Encoding utf8",
		"Bearer s3cret":                  `it begins with "Bearer", which is sent before the token`,
		strings.Repeat("s3cret", 20_000): "longer than 64 KiB",
	} {
		path := filepath.Join(t.TempDir(), "credential")
		if content == folder {
			path = t.TempDir()
		} else if content != missing {
			writeSecret(t, path, content)
		}
		for _, setting := range []string{"token_file", "oauth2.client_assertion_file"} {
			runVirtual(t, want+"/"+setting, func(t *testing.T) {
				endpoint, s := startService(t, issueTokens(0)), startService(t, applyUpdate)
				cfg := streams.Config{BaseURL: s.URL, TokenFile: path}
				if setting != "token_file" {
					cfg = streams.Config{BaseURL: s.URL, OAuth2: &streams.OAuth2{TokenURL: endpoint.URL, ClientAssertionFile: path}}
				}
				errs := updateAll(t, newClient(t, cfg), 100)
				if got := len(completeErrors(t, errs)); got != 1 {
					t.Errorf("%d complete errors", got)
				}
				for _, err := range errs {
					e := asError(t, err)
					wantFailed(t, e, streams.KindAuthentication, streams.NotChanged, 0)
					if !errors.Is(e, streams.ErrSecretFile) || strings.Contains(e.Error(), "s3cret") {
						t.Errorf("error %#v", e)
					}
					streamstest.WantText(t, e.Reason, " of "+setting, path, want)
				}
				s.wantRequests(t, 0)
				endpoint.wantRequests(t, 0)
			})
		}
	}
}
