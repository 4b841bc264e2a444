package requests_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// A run loses one response at most until the first responses show that the credential is right, and a healthy service fails
// nothing if each operation has time for two responses.
func TestFirstResponses(t *testing.T) {
	t.Parallel()
	const latency, limit = 2 * time.Second, 5 * time.Second
	for _, test := range []struct{ streams, parallel int }{{30, Singles}, {60, Group}, {100, Group}} {
		RunVirtual(t, fmt.Sprint(test), func(t *testing.T) {
			s := StartService(t, RespondAfter(latency, ApplyUpdate))
			start, waves := time.Now(), (test.streams+test.parallel-1)/test.parallel
			err := errors.Join(UpdateParallel(t, NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", MaxConcurrent: test.parallel}),
				test.streams, test.parallel, limit)...)
			if took := time.Since(start); err != nil || took > latency*time.Duration(waves+1) {
				t.Errorf("%d streams took %s: %.500v", test.streams, took, err)
			}
			s.WantRequests(t, test.streams)
		})
	}
}

// A wait ends with the time limit of its operation. The error says what the operation has waited for.
func TestWaitsEnd(t *testing.T) {
	const late = "the operation did not finish within its time limit: "
	Virtual(t, func(t *testing.T) {
		s := StartService(t, NeverRespond)
		c := NewClient(t, requests.Config{BaseURL: s.URL})
		go UpdateParallel(t, c, 3, 3, 20*time.Second)
		synctest.Wait()
		start := time.Now()
		err := UpdateParallel(t, c, 1, 1, time.Second)[0]
		e := AsError(t, err)
		if WantFailed(t, e, streams.KindTimeout, streams.NotChanged, 0); time.Since(start) != time.Second ||
			e.Reason != late+requests.ErrTurnWait.Error() {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		s.WantRequests(t, 2)

		<-time.After(time.Minute)
		s = StartService(t, RespondAfter(2*time.Second, ApplyUpdate), NeverRespond)
		c = NewClient(t, requests.Config{BaseURL: s.URL, MaxConcurrent: 1})
		go UpdateParallel(t, c, 2, 2, time.Minute)
		synctest.Wait()
		err = UpdateParallel(t, c, 1, 1, 3*time.Second)[0]
		if streamstest.WantText(t, err.Error(), late+requests.ErrSlotWait.Error()); !errors.Is(err, requests.ErrSlotWait) {
			t.Error(err)
		}
	})
}

// An operation that does not send its request ends its turn: the next one gets it.
func TestTurnsEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg   requests.Config
		cause error
		took  time.Duration
	}{
		"slot":       {requests.Config{MaxConcurrent: 1}, requests.ErrSlotWait, 5 * time.Minute},
		"rate limit": {requests.Config{RequestsPerSecond: 0.01}, requests.ErrRateLimit, 0},
		"not sent":   {requests.Config{UserAgent: "a\nb"}, transport.ErrNotSent, 0},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			test.cfg.BaseURL, test.cfg.RequestTimeout = StartService(t, NeverRespond).URL, time.Hour
			c := NewClient(t, test.cfg)
			go UpdateParallel(t, c, 1, 1, time.Hour)
			synctest.Wait()
			start := time.Now()
			for range 5 {
				if err := UpdateParallel(t, c, 1, 1, time.Minute)[0]; !errors.Is(err, test.cause) {
					t.Error(err)
				}
			}
			if took := time.Since(start); took != test.took {
				t.Errorf("took %s", took)
			}
		})
	}
}

// A bug in the middle of an attempt keeps nothing from the next operations: neither a slot, nor a turn or a try of the credential.
func TestPanicInAnAttempt(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := StartService(t, Respond(200, "{}"))
		base, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		sender := requests.New(requests.Config{Token: "t0ken", MaxConcurrent: 1, DialContext: streamstest.Dial}, base)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 6 { // more than the slots, turns and tries
			func() {
				defer func() {
					if recover() == nil {
						t.Error("a request to a host that the client does not know causes no panic")
					}
				}()
				sender.Send(ctx, requests.Request{Method: http.MethodPatch, URL: "http://elsewhere.example"})
			}()
		}
		if r := sender.Send(ctx, requests.Request{Method: http.MethodPatch, URL: s.URL}); r.Status != 200 {
			t.Errorf("%+v", r)
		}
	})
}

// A credential that the service does not know for a second fails nothing, for one stream and for many, before and after
// the first success. Nor does a rejection by one node of several.
func TestNewCredential(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	writeSecret(t, path, "t0ken")
	type refusal func(request int, at time.Duration) bool
	first := func(count int) refusal { return func(request int, _ time.Duration) bool { return request <= count } }
	until := func(end time.Duration) refusal { return func(_ int, at time.Duration) bool { return at < end } }
	for name, cfg := range map[string]requests.Config{
		"token":  {Token: "t0ken"},
		"file":   {TokenFile: path},
		"none":   {},
		"oauth2": {OAuth2: &requests.OAuth2{}},
	} {
		for what, refuse := range map[string]refusal{
			"0.2 s": until(200 * time.Millisecond), "1 s": until(time.Second), "the first": first(1), "two": first(2),
		} {
			for _, test := range []struct{ streams, parallel int }{{1, 1}, {2, Singles}, {3, Singles}, {4, Singles}, {100, Singles}, {100, Group}} {
				for _, known := range []bool{false, true} { // whether the service has accepted the credential before
					if what == "two" && test.streams < 2 {
						continue // one of the streams would be rejected twice
					}
					RunVirtual(t, fmt.Sprint(name, "/", what, "/", test, "/", known), func(t *testing.T) {
						cfg, start, requests := cfg, time.Now(), 0
						var mu sync.Mutex
						s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
							mu.Lock()
							requests++
							response := http.HandlerFunc(ApplyUpdate)
							if refuse(requests, time.Since(start)) && !strings.HasSuffix(r.URL.Path, "/known") {
								response = RespondError(401, "not yet")
							}
							mu.Unlock()
							RespondAfter(20*time.Millisecond, response)(w, r)
						})
						cfg.BaseURL = s.URL
						if name == "oauth2" {
							cfg.OAuth2 = OAuth2Config(s, StartService(t, IssueTokens(3600))).OAuth2
						}
						c := NewClient(t, cfg)
						if known {
							if _, err := c.UpdateStream(t.Context(), "known", streams.NewProcessorSet()); err != nil {
								t.Error(err)
							}
							requests, start = 0, time.Now()
						}
						err := errors.Join(UpdateParallel(t, c, test.streams, test.parallel, 5*time.Minute)...)
						if took := time.Since(start); err != nil || took > 3*time.Second {
							t.Errorf("after %s: %.500v", took, err)
						}
					})
				}
			}
		}
	}
}

// Each rejection is tried once more after a second, unless the credential is known to be wrong, the user wants no retry, or the operation
// has no time. Two deliveries that end with a rejection show that a credential is wrong, unless one was accepted before.
func TestRejectedTwice(t *testing.T) {
	t.Parallel()
	reject := RespondError(401, "not you")
	update := func(t *testing.T, s *Service, c *streams.Client, limit time.Duration, requests, attempts int, took time.Duration) {
		t.Helper()
		before, start := len(s.Requests()), time.Now()
		e := AsError(t, UpdateParallel(t, c, 1, 1, limit)[0])
		WantFailed(t, e, streams.KindAuthentication, streams.NotChanged, attempts)
		if s.WantRequests(t, before+requests); time.Since(start) != took || e.Status != 401 || e.Message != "not you" {
			t.Errorf("after %s: %v", time.Since(start), e)
		}
	}
	RunVirtual(t, "alone", func(t *testing.T) {
		s := StartService(t, reject)
		c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken"})
		update(t, s, c, time.Minute, 2, 2, time.Second)
		update(t, s, c, time.Minute, 2, 2, time.Second)
		update(t, s, c, time.Minute, 0, 2, 0)
	})
	RunVirtual(t, "after a success", func(t *testing.T) {
		s := StartService(t, ApplyUpdate, reject)
		c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken"})
		MustUpdateAll(t, c, 1)
		for range 10 {
			update(t, s, c, time.Minute, 2, 2, time.Second)
		}
	})
	RunVirtual(t, "one attempt", func(t *testing.T) {
		s := StartService(t, reject)
		c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.Retry{MaxAttempts: 1}})
		update(t, s, c, time.Minute, 1, 1, 0)
		update(t, s, c, time.Minute, 1, 1, 0)
		update(t, s, c, time.Minute, 0, 1, 0)
	})
	RunVirtual(t, "no time", func(t *testing.T) {
		s := StartService(t, reject)
		update(t, s, NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken"}), 900*time.Millisecond, 1, 1, 0)
	})
	RunVirtual(t, "the time ends in the second attempt", func(t *testing.T) {
		s := StartService(t, reject, NeverRespond)
		e := AsError(t, UpdateParallel(t, NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken"}), 1, 1, 2*time.Second)[0])
		WantFailed(t, e, streams.KindTimeout, streams.Unknown, 2)
	})
}

// A rejection that has arrived is the result of an operation that has ended: nothing looks for another credential, nor
// waits for one.
func TestRejectionAfterTheEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	writeSecret(t, path, "t0ken")
	const hour, answer = time.Hour, 2 * time.Second
	for name, cfg := range map[string]requests.Config{
		"token": {Token: "t0ken"}, "file": {TokenFile: path}, "oauth2": {OAuth2: &requests.OAuth2{}}, "none": {},
	} {
		for how, test := range map[string]struct{ limit, interrupted time.Duration }{
			"interrupt": {hour, time.Second}, "interrupt while it looks": {hour, answer + time.Second/2},
			"time limit": {answer, hour}, "time limit while it looks": {answer + time.Second/2, hour},
		} {
			RunVirtual(t, name+"/"+how, func(t *testing.T) {
				grace := 5 * time.Second // of a token request that is under way
				for range 20 {
					s, endpoint := StartService(t, RespondAfter(answer, RespondError(401, "not you"))), StartService(t, IssueTokens(3600), NeverRespond)
					cfg := cfg
					if cfg.BaseURL = s.URL; name == "oauth2" {
						cfg.OAuth2 = OAuth2Config(s, endpoint).OAuth2
					}
					_, took, err := interruptedUpdate(t, NewClient(t, cfg), test.limit, test.interrupted)
					e := AsError(t, err)
					if test.limit == answer && e.Status == 0 { // both at the same moment
						WantFailed(t, e, streams.KindTimeout, streams.Unknown, 1)
					} else if WantFailed(t, e, streams.KindAuthentication, streams.NotChanged, 1); e.Message != "not you" || took > max(answer, grace) {
						t.Errorf("%v after %s", e, took)
					}
					s.WantRequests(t, 1)
				}
			})
		}
	}
}
