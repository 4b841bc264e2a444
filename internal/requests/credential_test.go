package requests_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// ownErrors returns the errors of operations that were rejected themselves, and checks those of the others.
func ownErrors(t *testing.T, errs []error) (own []*streams.Error) {
	t.Helper()
	for _, err := range errs {
		e := AsError(t, err)
		if !strings.Contains(e.Reason, "for other streams") {
			own = append(own, e)
		} else if e.Kind != streams.KindAuthentication || e.Status != 401 {
			t.Errorf("%#v", e)
		}
	}
	return own
}

// rejectSome rejects every tenth stream, whatever its token.
func rejectSome(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "5") {
		RespondError(401, "not you")(w, r)
		return
	}
	ApplyUpdate(w, r)
}

// Until the service accepts a credential, two requests are under way at a time, and there are no more after four rejections: services lock
// accounts. The first errors are complete, and the others are short.
func TestUntestedCredential(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	writeSecret(t, file, "t0ken")
	for name, cfg := range map[string]requests.Config{
		"password": {BasicAuth: &requests.BasicAuth{Username: "me", Password: "t0ken"}},
		"token":    {Token: "t0ken"},
		"header":   {Headers: map[string]string{"X-Api-Key": "t0ken"}},
		"none":     {},
		"file":     {TokenFile: file},
		"oauth2":   {OAuth2: &requests.OAuth2{}},
	} {
		for _, parallel := range []int{Singles, Group} {
			for _, status := range []int{200, 404, 401} {
				RunVirtual(t, fmt.Sprint(name, parallel, status), func(t *testing.T) {
					testUntested(t, cfg, parallel, status, 0, 20*time.Millisecond)
				})
			}
			for _, status := range []int{200, 401} {
				for _, latency := range []time.Duration{20 * time.Millisecond, 1200 * time.Millisecond} {
					RunVirtual(t, fmt.Sprint(name, parallel, status, " after 503, ", latency), func(t *testing.T) {
						testUntested(t, cfg, parallel, status, 4*time.Second, latency)
					})
				}
			}
		}
	}
}

func testUntested(t *testing.T, cfg requests.Config, parallel, status int, outage, latency time.Duration) {
	const count = 100
	start := time.Now()
	s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
		response := RespondError(status, "not you")
		if time.Since(start) < outage {
			response = RespondError(503, "later")
		} else if status == 200 {
			response = ApplyUpdate
		}
		RespondAfter(latency, response)(w, r)
	})
	if cfg.BaseURL, cfg.Retry, cfg.MaxConcurrent = s.URL, requests.DefaultRetry, parallel; cfg.OAuth2 != nil {
		cfg.OAuth2 = OAuth2Config(s, StartService(t, IssueTokens(3600))).OAuth2
	}
	errs := UpdateParallel(t, NewClient(t, cfg), count, parallel, 5*time.Minute)
	took, waves := time.Since(start), (count+parallel-1)/parallel
	sent, tested := 0, start.Add(outage+latency)
	for i, r := range s.Requests() {
		if i >= 2 && r.At.Before(tested) && r.At.Sub(s.Requests()[i-2].At) < latency {
			t.Errorf("request %d was the third under way", i)
		}
		if !r.At.Before(start.Add(outage)) {
			sent++
		}
	}
	err := errors.Join(errs...)
	switch {
	case status == 200 && err != nil:
		t.Errorf("%.500v", err)
	case outage == 0 && status != 401:
		if s.WantRequests(t, count); took > latency*time.Duration(waves+1) {
			t.Errorf("%d streams took %s", count, took)
		}
	case status == 401:
		if sent > 4 {
			t.Errorf("the credential was sent %d times", sent)
		}
		if own := len(ownErrors(t, errs)); outage == 0 && (own < 2 || own > len(s.Requests())) {
			t.Errorf("%d errors of operations that were rejected themselves", own)
		}
		streamstest.WantText(t, errs[count-1].Error(), "Authentication Error: PATCH "+s.URL+"/v2/streams/s", ": 401 Unauthorized: not you: "+
			"the service has rejected the same credentials for other streams")
	}
}

// A service that rejects a credential only now and then, and is down otherwise, rejects it no more often.
func TestRejectedBetweenFailures(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, Singles, Group} {
		RunVirtual(t, fmt.Sprint(parallel), func(t *testing.T) {
			var requested, rejected atomic.Int32
			s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
				if requested.Add(1)%2 == 0 {
					RespondError(503, "down")(w, r)
					return
				}
				rejected.Add(1)
				RespondError(401, "not you")(w, r)
			})
			c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry})
			if _ = UpdateParallel(t, c, 100, parallel, 5*time.Minute); rejected.Load() > 4 {
				t.Errorf("the credential was rejected %d times", rejected.Load())
			}
		})
	}
}

// After silence, many requests may be rejected at once. Each one that was has its own error, although others show meanwhile that the
// credential is wrong.
func TestRejectedAfterSilence(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := StartService(t, NeverRespond, NeverRespond, RespondError(401, "not you"))
		c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry})
		errs, sent := UpdateParallel(t, c, 50, Singles, 5*time.Minute), map[string]bool{}
		for _, r := range s.Requests() {
			sent[r.Target] = true
		}
		if own := ownErrors(t, errs); len(own) != len(sent) || len(s.Requests()) > 2+2*Singles {
			t.Errorf("%d requests for %d streams, %d of which say so", len(s.Requests()), len(sent), len(own))
		}
	})
}

// Without a credential, none is said to be rejected.
func TestRejectedWithoutCredentials(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := StartService(t, RespondError(401, "not you"))
		cfg := requests.Config{BaseURL: s.URL, Retry: requests.DefaultRetry, Credentials: requests.NoCredentials}
		errs := UpdateParallel(t, NewClient(t, cfg), 10, 10, time.Minute)
		streamstest.WantText(t, errors.Join(errs...).Error(), "the service has rejected requests without credentials for other streams")
	})
}

// A service may reject some streams with 401. After a success, the credential counts as right. A stream whose operation
// looks for another token keeps no other stream waiting.
func TestCredentialRefusedForSomeStreams(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	writeSecret(t, path, "t0ken")
	for name, cfg := range map[string]requests.Config{"token": {Token: "t0ken"}, "file": {TokenFile: path}} {
		RunVirtual(t, name, func(t *testing.T) {
			cfg.BaseURL = StartService(t, rejectSome).URL
			c := NewClient(t, cfg)
			MustUpdateAll(t, c, 1)
			var rejected sync.WaitGroup
			for range 19 {
				rejected.Go(func() {
					_, err := c.UpdateStream(t.Context(), "s5", streams.NewProcessorSet())
					WantFailed(t, AsError(t, err), streams.KindAuthentication, streams.NotChanged, 2)
				})
			}
			synctest.Wait()
			start := time.Now()
			MustUpdateAll(t, c, 5)
			if took := time.Since(start); took != 0 {
				t.Errorf("five streams took %s", took)
			}
			rejected.Wait()
		})
	}
}

// Token requests are bounded, however a service or an endpoint behaves. There are 100 streams.
func TestTokenRequestsAreBounded(t *testing.T) {
	t.Parallel()
	same := Respond(200, `{"access_token":"same","expires_in":3600}`)
	reject := RespondError(401, "not you")
	rejected := `{"error":"invalid_client"}`
	for name, test := range map[string]struct {
		service, endpoint http.HandlerFunc
		requests, tokens  int // at most
		message           string
	}{
		"short tokens":                 {RespondAfter(50*time.Millisecond, ApplyUpdate), IssueTokens(1), 100, 1, ""},
		"fresh tokens are rejected":    {reject, IssueTokens(3600), 8, 2, "not you"},
		"the same token again":         {reject, same, 5, 2, "not you"},
		"401 for some streams":         {rejectSome, IssueTokens(3600), 120, 5, "not you"},
		"client rejected":              {ApplyUpdate, Respond(401, rejected), 0, 2, "invalid_client"},
		"rejected with 200":            {ApplyUpdate, Respond(200, rejected), 0, 2, "invalid_client"},
		"forbidden":                    {ApplyUpdate, RespondError(403, "never"), 0, 2, "never"},
		"too many":                     {ApplyUpdate, RespondError(429, "slow down", "Retry-After", "3600"), 0, 1, "slow down"},
		"down":                         {ApplyUpdate, RespondError(503, "down"), 0, 12, "down"},
		"each token lives too shortly": {reject, IssueTokens(1), 8, 3, "not you"},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			endpoint, s := StartService(t, test.endpoint), StartService(t, test.service)
			cfg := OAuth2Config(s, endpoint)
			cfg.Retry = requests.DefaultRetry
			for _, err := range UpdateAll(t, NewClient(t, cfg), 100) {
				if err != nil {
					streamstest.WantText(t, err.Error(), test.message)
				}
			}
			if tokens, requests := len(endpoint.Requests()), len(s.Requests()); tokens > test.tokens || requests > test.requests {
				t.Errorf("%d token requests, %d requests", tokens, requests)
			}
		})
	}
}

// A service may reject some streams whatever their token is. The first of them tries one other token, which shows the others that
// another one would not help.
func TestOtherTokenDoesNotHelp(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		endpoint := StartService(t, IssueTokens(3600))
		s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/rejected") {
				RespondAfter(100*time.Millisecond, RespondError(401, "not you"))(w, r)
				return
			}
			RespondAfter(10*time.Millisecond, ApplyUpdate)(w, r)
		})
		c := NewClient(t, OAuth2Config(s, endpoint))
		done := make(chan struct{})
		var others sync.WaitGroup
		others.Go(func() { // each token works for other streams
			for {
				select {
				case <-done:
					return
				default:
					MustUpdateAll(t, c, 1)
				}
			}
		})
		<-time.After(50 * time.Millisecond)
		for range 4 {
			_, err := c.UpdateStream(t.Context(), "rejected", streams.NewProcessorSet())
			WantFailed(t, AsError(t, err), streams.KindAuthentication, streams.NotChanged, 2)
		}
		close(done)
		others.Wait()
		endpoint.WantRequests(t, 2)
	})
}

// A token that replaces an accepted one is untested, too.
func TestNextTokenIsUntested(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		endpoint := StartService(t, IssueTokens(60))
		s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
			response := RespondAfter(20*time.Millisecond, RespondError(401, "not you"))
			if r.Header.Get("Authorization") == "Bearer token-1" {
				response = ApplyUpdate
			}
			response(w, r)
		})
		c := NewClient(t, OAuth2Config(s, endpoint))
		MustUpdateAll(t, c, 100)
		<-time.After(time.Minute)
		_ = UpdateParallel(t, c, 100, Group, 5*time.Minute)
		s.WantRequests(t, 100+2+2) // two with the second token, two with the third one
		endpoint.WantRequests(t, 3)
	})
}

// A client whose tokens are rejected gets no other token when the last one is too old.
func TestRejectedClient(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		endpoint, s := StartService(t, IssueTokens(1)), StartService(t, RespondError(401, "not you"))
		c := NewClient(t, OAuth2Config(s, endpoint))
		_ = UpdateAll(t, c, 100)
		tokens, requests := len(endpoint.Requests()), len(s.Requests())
		<-time.After(10 * time.Second)
		if own := ownErrors(t, UpdateAll(t, c, 100)); len(own) != 0 {
			t.Error(own)
		}
		endpoint.WantRequests(t, tokens)
		s.WantRequests(t, requests)
	})
}

// A token request that the rate limit does not allow in time says nothing to operations with more time.
func TestTokenRequestAndRateLimit(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		cfg := OAuth2Config(StartService(t, ApplyUpdate), StartService(t, IssueTokens(10)))
		cfg.RequestsPerSecond = 0.05
		c := NewClient(t, cfg)
		MustUpdateAll(t, c, 1) // takes longer than the token lives
		if err := UpdateParallel(t, c, 1, 1, 5*time.Second)[0]; !errors.Is(err, requests.ErrRateLimit) {
			t.Error(err)
		}
		MustUpdateAll(t, c, 1)
	})
}

// A stream that is rejected once looks for another credential. If that search fails, the stream is sent once more with the current one,
// which goes on to work for all others.
func TestFailedSearchReplacesNothing(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]http.HandlerFunc{
		"429": RespondError(429, "slow down"), "429, an hour": RespondError(429, "slow down", "Retry-After", "3600"),
		"503": RespondError(503, "down"),
		"400": Respond(400, `{"error":"invalid_grant","error_description":"the assertion has expired"}`), "silence": NeverRespond, "file": nil,
	} {
		for _, slots := range []int{Singles, Group} {
			path := filepath.Join(t.TempDir(), "token")
			writeSecret(t, path, "token-1")
			RunVirtual(t, fmt.Sprint(name, "/", slots), func(t *testing.T) {
				var rejected atomic.Int32
				s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
					if strings.HasSuffix(r.URL.Path, "/s50") && rejected.Add(1) == 1 || r.Header.Get("Authorization") != "Bearer token-1" {
						_ = os.Remove(path)
						time.AfterFunc(30*time.Second, func() { writeSecret(t, path, "token-1") })
						RespondError(401, "not you")(w, r)
						return
					}
					RespondAfter(time.Second, ApplyUpdate)(w, r)
				})
				cfg := requests.Config{BaseURL: s.URL, TokenFile: path}
				if fail != nil {
					cfg = OAuth2Config(s, StartService(t, IssueTokens(0), fail))
				}
				cfg.Retry, cfg.MaxConcurrent = requests.DefaultRetry, slots
				if err := errors.Join(UpdateParallel(t, NewClient(t, cfg), 700, slots, 5*time.Minute)...); err != nil {
					t.Errorf("%.300v", err)
				}
				s.WantRequests(t, 701)
				<-time.After(time.Minute) // the file is written again
			})
		}
	}
}

// After its end, a token is no longer current: then a search that failed is the error.
func TestFailedSearchAfterTheEnd(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := StartService(t, RespondError(401, "once"), ApplyUpdate)
		endpoint := StartService(t, IssueTokens(60), RespondError(400, "no"))
		c := NewClient(t, OAuth2Config(s, endpoint))
		MustUpdateAll(t, c, 10)
		<-time.After(49 * time.Second)
		MustUpdateAll(t, c, 10)
		<-time.After(5 * time.Second)
		for _, err := range UpdateAll(t, c, 10) {
			if e := AsError(t, err); !e.TokenRequest || e.Status != 400 || e.Outcome != streams.NotChanged {
				t.Errorf("%+v", e)
			}
		}
		s.WantRequests(t, 21)
	})
}

// A stream that was rejected, and whose token has ended by its second try, has failed because no other token was issued.
func TestFailedSearchAfterARejection(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := StartService(t, RespondError(401, "expired"))
		endpoint := StartService(t, IssueTokens(1), RespondError(403, "no more"))
		e := s.UpdateError(t, OAuth2Config(s, endpoint))
		if !e.TokenRequest || e.Message != "no more" || e.Outcome != streams.NotChanged {
			t.Errorf("%+v", e)
		}
		s.WantRequests(t, 1)
	})
}

// A token that expires while its request waits for the limits is renewed before the request is sent.
func TestTokenExpiresInAWait(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]requests.Config{
		"rate limit": {RequestsPerSecond: 2, MaxConcurrent: Group}, "slots": {MaxConcurrent: 1}, "slots, singles": {MaxConcurrent: 2},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			const life = 20 * time.Second
			issued, expired := map[string]time.Time{}, 0
			var mu sync.Mutex
			endpoint := StartService(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				token := fmt.Sprint("token-", len(issued))
				issued[token] = time.Now()
				Respond(200, fmt.Sprintf(`{"access_token":%q,"expires_in":%g}`, token, life.Seconds()))(w, r)
			})
			s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				if time.Since(issued[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]) >= life {
					expired++
				}
				mu.Unlock()
				RespondAfter(time.Second, ApplyUpdate)(w, r)
			})
			cfg.BaseURL, cfg.OAuth2, cfg.Retry = s.URL, OAuth2Config(s, endpoint).OAuth2, requests.DefaultRetry
			if err := errors.Join(UpdateParallel(t, NewClient(t, cfg), 100, Group, 5*time.Minute)...); err != nil || expired > 0 {
				t.Errorf("%d of %d requests had a token that had expired: %.300v", expired, len(s.Requests()), err)
			}
		})
	}
}

// The result of a rejection says what the service accepts of other requests with the credential: nothing, reads, or updates.
func TestAcceptanceOfOthers(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403} {
		for name, cfg := range map[string]requests.Config{"token": {Token: "t0ken"}, "oauth2": {OAuth2: &requests.OAuth2{}}} {
			RunVirtual(t, fmt.Sprint(name, status), func(t *testing.T) {
				s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
					if strings.HasSuffix(r.URL.Path, "/forbidden") {
						RespondError(status, "no")(w, r)
						return
					}
					Respond(200, StreamJSON("s1", []string{"p1"}))(w, r)
				})
				if cfg.BaseURL = s.URL; cfg.OAuth2 != nil {
					cfg.OAuth2 = OAuth2Config(s, StartService(t, IssueTokens(3600))).OAuth2
				}
				c := NewClient(t, cfg)
				want := func(accepted requests.Acceptance) {
					t.Helper()
					_, err := c.UpdateStream(t.Context(), "forbidden", streams.NewProcessorSet())
					if e := AsError(t, err); e.Accepted != accepted || e.Status != status {
						t.Errorf("%+v", e)
					}
				}
				want(requests.NotAccepted)
				if _, err := c.ReadStream(t.Context(), "s1"); err != nil {
					t.Error(err)
				}
				want(requests.AcceptedReads)
				if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet("p1")); err != nil {
					t.Error(err)
				}
				want(requests.AcceptedUpdates)
			})
		}
	}
}

// A search for a token belongs to all operations that wait for it: the interrupt, the time limit or the rate limit of the one that began
// it ends no other one. It ends when nobody waits for it.
func TestSearchBelongsToEverybody(t *testing.T) {
	t.Parallel()
	down := RespondError(503, "down")
	for name, responses := range map[string][]http.HandlerFunc{
		"slow": nil, "silent": {NeverRespond}, "503": {down, down, down, down},
		"Retry-After": {RespondError(429, "slow down", "Retry-After", "60")},
	} {
		for how, first := range map[string]struct{ limit, interrupted time.Duration }{
			"interrupt": {time.Hour, 4 * time.Second}, "time limit": {10 * time.Second, time.Hour}, "short time limit": {time.Second, time.Hour},
		} {
			for _, begins := range []time.Duration{500 * time.Millisecond, 30 * time.Second} { // beside the first one, or after it
				RunVirtual(t, fmt.Sprint(name, "/", how, "/", begins), func(t *testing.T) {
					endpoint := StartService(t, append(slices.Clip(responses), RespondAfter(20*time.Second, IssueTokens(3600)))...)
					s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
						if r.Header.Get("Authorization") != "Bearer token-1" {
							RespondError(400, "no token")(w, r)
							return
						}
						ApplyUpdate(w, r)
					})
					cfg := OAuth2Config(s, endpoint)
					cfg.Retry = requests.DefaultRetry
					c := NewClient(t, cfg)
					var operations sync.WaitGroup
					operations.Go(func() {
						start := time.Now()
						_, _, _ = interruptedUpdate(t, c, first.limit, first.interrupted)
						if took := time.Since(start); took > min(first.limit, first.interrupted) {
							t.Errorf("the first operation took %s", took)
						}
					})
					<-time.After(begins)
					for range 3 {
						operations.Go(func() { MustUpdateAll(t, c, 1) })
					}
					<-time.After(12 * time.Second)
					MustUpdateAll(t, c, 1)
					if operations.Wait(); name == "slow" && begins < time.Second {
						endpoint.WantRequests(t, 1)
					}
					if name == "Retry-After" && how != "interrupt" && endpoint.Waits()[0] < time.Minute {
						t.Errorf("waits %s", endpoint.Waits())
					}
				})
			}
		}
	}
}

// A wait for a token can be interrupted. The token request ends with the last wait.
func TestInterruptedTokenRequest(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		ended := make(chan struct{})
		endpoint := StartService(t, func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			close(ended)
		})
		s := StartService(t, ApplyUpdate)
		c := NewClient(t, OAuth2Config(s, endpoint))
		_, took, err := interruptedUpdate(t, c, time.Hour, time.Second)
		s.WantError(t, err, streams.KindInterrupted, streams.NotChanged, requests.Result{Reason: "the operation was interrupted"})
		streamstest.WantText(t, fmt.Sprint(took, AsError(t, err).Err), "0s", requests.ErrTokenWait.Error(), "context canceled")
		<-ended
		endpoint.WantRequests(t, 1)
		s.WantRequests(t, 0)
	})
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
	Virtual(t, func(t *testing.T) {
		token := "t0ken-1"
		authorize := func(r *http.Request) error { return streamstest.Bearer(token)(r) }
		s := StartService(t, streamstest.New(streamstest.Options{Authorize: authorize}, streamstest.Streams(StreamIDs(500)...)...).ServeHTTP)
		c := NewClient(t, requests.Config{BaseURL: s.URL, TokenFile: path})
		start := time.Now()
		for range 2 { // the second one does not wait again
			if err := UpdateAll(t, c, 1)[0]; !errors.Is(err, requests.ErrSecretFile) || time.Since(start) != 2*time.Second {
				t.Errorf("without a file: %v after %s", err, time.Since(start))
			}
		}
		writeSecret(t, path, "") // the agent is just writing the file
		c = NewClient(t, requests.Config{BaseURL: s.URL, TokenFile: path})
		if _, took, err := interruptedUpdate(t, c, time.Hour, time.Second); AsError(t, err).Kind != streams.KindInterrupted || took != 0 {
			t.Errorf("interrupted: %v after %s", err, took)
		}
		c = NewClient(t, requests.Config{BaseURL: s.URL, TokenFile: path})
		if err := os.Remove(path); err != nil { // or deletes the file before
			t.Error(err)
		}
		time.AfterFunc(500*time.Millisecond, func() { writeSecret(t, path, "") })
		time.AfterFunc(time.Second, func() { writeSecret(t, path, "\ufefft0ken-1\r\n") })
		MustUpdateAll(t, c, 30)
		s.WantRequests(t, 30)

		token = "t0ken-2" // the file changes at once
		writeSecret(t, path, "  t0ken-2\n")
		MustUpdateAll(t, c, 30)
		s.WantRequests(t, 60)

		token = "t0ken-3" // the file changes a moment later
		time.AfterFunc(200*time.Millisecond, func() { writeSecret(t, path, "t0ken-3") })
		MustUpdateAll(t, c, 30)
		if got := len(s.Requests()); got < 91 || got > 100 {
			t.Errorf("%d requests, want 90 and a 401 for each request with the old token", got)
		}

		start = time.Now()
		writeSecret(t, path, "") // the old token serves as long as the service accepts it
		MustUpdateAll(t, c, 30)
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
		MustUpdateAll(t, c, 30)
		if took := time.Since(start); took != 0 {
			t.Errorf("with the old token, 60 streams took %s", took)
		}

		wrong := NewClient(t, requests.Config{BaseURL: s.URL, TokenFile: path})
		writeSecret(t, path, "wrong from the first request on")
		_ = ownErrors(t, UpdateAll(t, wrong, 30))
		writeSecret(t, path, "t0ken-3")
		MustUpdateAll(t, wrong, 30)
		MustUpdateAll(t, c, 1)
		token, start = "t0ken-4", time.Now() // the token expires: this costs the wait for another one once
		for _, e := range ownErrors(t, UpdateGroup(t, c, 500, time.Minute)) {
			if e.Kind != streams.KindAuthentication || e.Accepted != requests.AcceptedUpdates {
				t.Errorf("error %#v", e)
			}
		}
		if took := time.Since(start); took > 12*time.Second {
			t.Errorf("500 streams took %s", took)
		}
		writeSecret(t, path, "t0ken-4")
		MustUpdateAll(t, c, 30)
	})
}

// The second try after a rejection has the token that is in the file by then.
func TestTokenFileChangesLate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	Virtual(t, func(t *testing.T) {
		token := "t0ken-1"
		authorize := func(r *http.Request) error { return streamstest.Bearer(token)(r) }
		s := StartService(t, streamstest.New(streamstest.Options{Authorize: authorize}, streamstest.Streams(StreamIDs(2)...)...).ServeHTTP)
		writeSecret(t, path, token)
		c := NewClient(t, requests.Config{BaseURL: s.URL, TokenFile: path})
		MustUpdateAll(t, c, 1)
		token = "t0ken-2"
		time.AfterFunc(2500*time.Millisecond, func() { writeSecret(t, path, token) })
		var early sync.WaitGroup
		early.Go(func() {
			_, err := c.UpdateStream(t.Context(), "s0", streams.NewProcessorSet())
			WantFailed(t, AsError(t, err), streams.KindAuthentication, streams.NotChanged, 2)
		})
		<-time.After(1900 * time.Millisecond)
		if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
			t.Error(err)
		}
		early.Wait()
		s.WantRequests(t, 5)
	})
}

// A token that may be a reference is sent. The error of a rejection mentions it, without the token.
func TestTokenFileWithReference(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"${s3cret}": "the token in the file looks like a reference or a placeholder that nothing has replaced", "s3cret": "",
	} {
		path := filepath.Join(t.TempDir(), "token")
		writeSecret(t, path, token)
		RunVirtual(t, token, func(t *testing.T) {
			s := StartService(t, Respond(http.StatusUnauthorized, `{"message":"no"}`))
			e := s.UpdateError(t, requests.Config{TokenFile: path})
			if e.Reason != want || e.Attempts == 0 {
				t.Errorf("after %d attempts: %q", e.Attempts, e.Reason)
			}
		})
	}
}

// The error for a file names the setting and the path, and does not show the content.
func TestBadSecretFiles(t *testing.T) {
	t.Parallel()
	const folder, missing = "folder", "missing"
	for content, want := range map[string]string{
		missing:                          "no such file or directory",
		folder:                           "is a directory",
		" \n\t":                          "it is empty",
		"s3cret-1\ns3cret-2\n":           "more than one line",
		"\xff\xfes\x003\x00\r\x00\n\x00": "not UTF-8 text", // as PowerShell writes a file
		"\xfe\xff\x00s\x003\x00\r\x00\n": "not UTF-8 text",
		"s3cret\x00\x01":                 "control characters",
		"\xff\xfes\x003\x00":             "not UTF-8 text",
		"Bearer s3cret":                  `it begins with "Bearer", which is sent before the token: remove it`,
		strings.Repeat("s3cret", 20_000): "longer than 64 KiB",
	} {
		path := filepath.Join(t.TempDir(), "credential")
		if content == folder {
			path = t.TempDir()
		} else if content != missing {
			writeSecret(t, path, content)
		}
		for _, setting := range []string{"token_file", "oauth2.client_assertion_file"} {
			RunVirtual(t, want+"/"+setting, func(t *testing.T) {
				endpoint, s := StartService(t, IssueTokens(0)), StartService(t, ApplyUpdate)
				cfg := requests.Config{BaseURL: s.URL, TokenFile: path}
				if setting != "token_file" {
					cfg = requests.Config{BaseURL: s.URL, OAuth2: &requests.OAuth2{TokenURL: endpoint.URL, ClientAssertionFile: path}}
				}
				errs := UpdateAll(t, NewClient(t, cfg), 100)
				for _, err := range errs {
					e := AsError(t, err)
					WantFailed(t, e, streams.KindAuthentication, streams.NotChanged, 0)
					if !errors.Is(e, requests.ErrSecretFile) || strings.Contains(e.Error(), "s3cret") {
						t.Errorf("error %#v", e)
					}
					streamstest.WantText(t, e.Reason, " of "+setting, path, want)
				}
				s.WantRequests(t, 0)
				endpoint.WantRequests(t, 0)
			})
		}
	}
}
