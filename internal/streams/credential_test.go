package streams_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A refused credential that cannot be renewed is not sent again and again: services lock accounts. The first errors
// are complete, and the others are short.
func TestRefusedCredential(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	writeSecret(t, file, "wr0ng")
	for name, cfg := range map[string]streams.Config{
		"password": {BasicAuth: &streams.BasicAuth{Username: "me", Password: "wr0ng"}},
		"token":    {Token: "wr0ng"},
		"header":   {Headers: map[string]string{"X-Api-Key": "wr0ng"}},
		"none":     {},
		"file":     {TokenFile: file},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				s := startService(t, respondError(401, "not you"))
				cfg.BaseURL = s.URL
				start, full := time.Now(), 0
				for _, err := range updateAll(t, newClient(t, cfg), 150) {
					e := asError(t, err)
					if e.Kind != streams.KindAuthentication || e.Outcome != streams.NotChanged {
						t.Errorf("error %#v", e)
					}
					if !e.Repeated {
						if full++; e.Status != 401 || e.Message != "not you" || e.Attempts != 1 {
							t.Errorf("error %#v", e)
						}
						continue
					}
					if e.Attempts != 0 || e.URL != "" {
						t.Errorf("error %#v", e)
					}
					wantText(t, e.Reason, "nothing was sent, because the service has refused the same credentials for other streams: "+
						"Authentication Error: PATCH "+s.URL+"/v2/streams/s", ": 401 Unauthorized: not you")
				}
				if took := time.Since(start); full < 3 || full > 12 || took > 2*time.Second {
					t.Errorf("%d complete errors after %s", full, took)
				}
				s.wantRequests(t, full)
			})
		})
	}
}

// A service may refuse some streams with 401. After a success, the credential counts as right.
func TestCredentialRefusedForSomeStreams(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var refused atomic.Int32
		s := startService(t, applyUpdate, func(w http.ResponseWriter, r *http.Request) {
			if refused.Add(1) < 20 {
				respondError(401, "not this one")(w, r)
				return
			}
			applyUpdate(w, r)
		})
		c := newClient(t, streams.Config{BaseURL: s.URL, Token: "t0ken"})
		mustUpdateAll(t, c, 1)
		for _, err := range updateAll(t, c, 19) {
			if e := asError(t, err); e.Message != "not this one" {
				t.Errorf("error %#v", e)
			}
		}
		mustUpdateAll(t, c, 1)
	})
}

// rotatingService requires the bearer token that was set last.
func rotatingService(t *testing.T, token *string) *service {
	t.Helper()
	stand := streamstest.New(streamstest.Options{Authorize: func(r *http.Request) error { return streamstest.Bearer(*token)(r) }},
		streamstest.Streams(streamIDs(500)...)...)
	return startService(t, stand.ServeHTTP)
}

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
		s := rotatingService(t, &token)
		c := newClient(t, streams.Config{BaseURL: s.URL, TokenFile: path})
		if _, took, err := interruptedUpdate(t, c, time.Second); !errors.Is(err, streams.ErrSecretFile) || took >= 0 {
			t.Errorf("without a file: %v after %s", err, took)
		}
		writeSecret(t, path, "") // the agent is just writing the file
		if _, took, err := interruptedUpdate(t, c, time.Second); asError(t, err).Kind != streams.KindInterrupted || took != 0 {
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
	})
}

// A token that expires in the middle of a run, without another one in the file, costs the wait for another one once.
func TestTokenFileExpires(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	writeSecret(t, path, "t0ken-1")
	virtual(t, func(t *testing.T) {
		token := "t0ken-1"
		s := rotatingService(t, &token)
		c := newClient(t, streams.Config{BaseURL: s.URL, TokenFile: path})
		mustUpdateAll(t, c, 30)
		token = "t0ken-2"
		start := time.Now()
		for _, err := range updateAll(t, c, 500) {
			if e := asError(t, err); e.Kind != streams.KindAuthentication {
				t.Errorf("error %#v", e)
			}
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("500 streams took %s", took)
		}
		if got := len(s.requests()) - 30; got > 20 {
			t.Errorf("%d requests with the refused token", got)
		}
		writeSecret(t, path, "t0ken-2")
		mustUpdateAll(t, c, 30)
	})
}

// A stream whose operation looks for another token keeps no other stream waiting.
func TestStreamsDoNotWaitForAnotherToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	writeSecret(t, path, "t0ken")
	virtual(t, func(t *testing.T) {
		c := newClient(t, streams.Config{BaseURL: startService(t, refuseSome).URL, TokenFile: path})
		mustUpdateAll(t, c, 1)
		refused := make(chan error)
		go func() {
			_, err := c.UpdateStream(t.Context(), "s5", streams.NewProcessorSet())
			refused <- err
		}()
		synctest.Wait()
		start := time.Now()
		mustUpdateAll(t, c, 5)
		if took := time.Since(start); took != 0 {
			t.Errorf("five streams took %s", took)
		}
		if e := asError(t, <-refused); e.Status != 401 {
			t.Errorf("error %#v", e)
		}
	})
}

// The error for a file names the setting and the path, and does not show the content.
func TestBadSecretFiles(t *testing.T) {
	t.Parallel()
	write := func(content string) func(path string) error {
		return func(path string) error { return os.WriteFile(path, []byte(content), 0o600) }
	}
	for name, test := range map[string]struct {
		write func(path string) error
		want  string
	}{
		"missing":     {func(string) error { return nil }, "no such file or directory"},
		"a folder":    {func(path string) error { return os.Mkdir(path, 0o700) }, "it is not a regular file"},
		"empty":       {write(" \n\t"), "it is empty"},
		"two lines":   {write("s3cret-1\ns3cret-2\n"), "more than one line"},
		"binary":      {write("s3cret\x00\x01"), "control characters"},
		"with scheme": {write("Bearer s3cret"), `it begins with "Bearer", which is sent before the token`},
		"huge":        {write(strings.Repeat("s3cret", 20000)), "longer than 64 KiB"},
	} {
		for _, setting := range []string{"token_file", "oauth2.client_assertion_file"} {
			path := filepath.Join(t.TempDir(), "credential")
			if err := test.write(path); err != nil {
				t.Fatal(err)
			}
			t.Run(name+"/"+setting, func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					endpoint, s := startService(t, issueTokens(0)), startService(t, applyUpdate)
					cfg := streams.Config{BaseURL: s.URL, TokenFile: path}
					if setting != "token_file" {
						cfg = streams.Config{BaseURL: s.URL, OAuth2: &streams.OAuth2{TokenURL: endpoint.URL, ClientAssertionFile: path}}
					}
					full := 0
					for _, err := range updateAll(t, newClient(t, cfg), 100) {
						e := asError(t, err)
						if !e.Repeated {
							full++
						}
						if e.Kind != streams.KindAuthentication || e.Outcome != streams.NotChanged || e.Attempts != 0 || !errors.Is(e, streams.ErrSecretFile) {
							t.Errorf("error %#v", e)
						}
						wantText(t, e.Reason, " of "+setting, path, test.want)
						if strings.Contains(e.Error(), "s3cret") {
							t.Errorf("the content is shown: %s", e)
						}
					}
					if full != 1 {
						t.Errorf("%d complete errors", full)
					}
					s.wantRequests(t, 0)
					endpoint.wantRequests(t, 0)
				})
			})
		}
	}
}

// A client assertion comes from a file that may change: at once, or a moment after the endpoint refuses the old one. A
// refusal holds until there is another assertion in the file.
func TestClientAssertionFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assertion")
	virtual(t, func(t *testing.T) {
		i := newTokenIssuer(t)
		i.config.OAuth2.ClientSecret, i.config.OAuth2.ClientAssertionFile = "", path
		writeSecret(t, path, i.tokens.IssueAssertion("somebody else"))
		c := newClient(t, i.config)
		for _, err := range updateAll(t, c, 30) {
			e := asError(t, err)
			wantText(t, e.Message+e.Reason, "invalid_client: the assertion is for another client")
		}
		i.endpoint.wantRequests(t, 1)

		writeSecret(t, path, i.tokens.IssueAssertion(clientID)+"\n")
		mustUpdateAll(t, c, 30)
		i.endpoint.wantRequests(t, 2)

		i.tokens.Revoke("token-1")
		writeSecret(t, path, i.tokens.IssueAssertion("somebody else"))
		time.AfterFunc(200*time.Millisecond, func() { writeSecret(t, path, i.tokens.IssueAssertion(clientID)) })
		mustUpdateAll(t, c, 30)
		i.endpoint.wantRequests(t, 4)
	})
}

// What the files held is masked, as other secrets are, and so is a token that was received.
func TestFoundSecretsAreMasked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "credential")
	writeSecret(t, path, "s3cret-t0ken\n")
	echo := func(w http.ResponseWriter, r *http.Request) {
		respondError(403, r.FormValue("client_assertion")+r.Header.Get("Authorization"))(w, r)
	}
	if e := startService(t, echo).updateError(t, streams.Config{TokenFile: path}); e.Message != "Bearer ***" {
		t.Errorf("error %#v", e)
	}
	cfg := streams.Config{OAuth2: &streams.OAuth2{TokenURL: startService(t, echo).URL, ClientAssertionFile: path}}
	if e := startService(t, applyUpdate).updateError(t, cfg); e.Message != "***" {
		t.Errorf("error %#v", e)
	}
	s := startService(t, respondError(403, "t0ken-1 t0ken-2 t0ken-3"))
	issue := respond(200, `{"access_token":"t0ken-1","refresh_token":"t0ken-2","id_token":"t0ken-3"}`)
	if e := s.updateError(t, oauth2Config(s, startService(t, issue))); e.Message != "*** *** ***" {
		t.Errorf("error %#v", e)
	}
}
