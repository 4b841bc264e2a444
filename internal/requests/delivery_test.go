package requests_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// A configured header takes precedence, except over an authentication scheme.
func TestConfiguredHeaders(t *testing.T) {
	t.Parallel()
	apiKey := map[string]string{"AUTHORIZATION": "ApiKey abc"}
	for _, test := range []struct {
		cfg          requests.Config
		header, want string
	}{
		{requests.Config{UserAgent: "terraform", Headers: map[string]string{"user-agent": "me"}}, "User-Agent", "me"},
		{requests.Config{Headers: apiKey}, "Authorization", "ApiKey abc"},
		{requests.Config{Headers: apiKey, Token: "t0ken"}, "Authorization", "Bearer t0ken"},
		{requests.Config{BasicAuth: &requests.BasicAuth{Username: "me", Password: "pa:ss"}}, "Authorization", "Basic bWU6cGE6c3M="},
		{requests.Config{Headers: map[string]string{"Accept": "application/x+json"}}, "Accept", "application/x+json"},
	} {
		s := StartService(t, ApplyUpdate)
		if _, err := s.Update(t, test.cfg); err != nil {
			t.Fatal(err)
		}
		WantEqual(t, test.header, []string{test.want}, s.Requests()[0].Header.Values(test.header))
	}
}

// interruptedUpdate updates stream s1 within a time limit, cancels the operation after the given time, and returns what
// the update returned, and how long it took after the cancellation.
func interruptedUpdate(t *testing.T, c *streams.Client, limit, after time.Duration) (*streams.Stream, time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	time.AfterFunc(after, cancel)
	start := time.Now()
	got, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet("p1"))
	return got, time.Since(start) - after, err
}

// An attempt under way may end within five seconds after an interrupt, and its response counts. Nothing new starts.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	const (
		second, hour = time.Second, time.Hour
		stopped      = streams.KindInterrupted
		rejected     = streams.KindAuthentication
		notRetried   = "the request was not retried, because the operation was interrupted or its time limit had passed"
		interrupted  = "the operation was interrupted"
		noAnswer     = "the service did not respond within 4s; " + notRetried
	)
	later := requests.Result{Status: 503, Message: "later", Form: masking.FormDocumented}
	for name, test := range map[string]struct {
		response http.HandlerFunc
		limit    time.Duration // of the operation
		timeout  time.Duration // of an attempt
		took     time.Duration
		kind     streams.Kind // of the error; none for a success
		reason   string
		outcome  streams.Outcome
		want     requests.Result
	}{
		"success in time": {RespondAfter(5*second, ApplyUpdate), hour, 0, 4 * second, "", "", 0, requests.Result{}},
		"rejection in time": {RespondAfter(5*second, Respond(401, "")), hour, 0, 4 * second, rejected, "", streams.NotChanged,
			requests.Result{Status: 401}},
		"no retry": {RespondAfter(2*second, RespondError(503, "later")), hour, 0, second, streams.KindGeneric, notRetried,
			streams.Unknown, later},
		"no response":         {NeverRespond, hour, 0, 5 * second, stopped, interrupted, streams.Unknown, requests.Result{}},
		"request timeout":     {NeverRespond, hour, 4 * second, 3 * second, streams.KindTimeout, noAnswer, streams.Unknown, requests.Result{}},
		"wait before a retry": {RespondError(503, "later", "Retry-After", "3500"), hour, 0, 0, stopped, interrupted, streams.Unknown, later},
		"near the limit":      {NeverRespond, 3 * second, 0, 2 * second, stopped, interrupted, streams.Unknown, requests.Result{}},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			s := StartService(t, test.response)
			c := NewClient(t, requests.Config{BaseURL: s.URL, RequestTimeout: test.timeout})
			got, took, err := interruptedUpdate(t, c, test.limit, second)
			s.WantRequests(t, 1)
			if (got != nil) != (test.kind == "") || took != test.took {
				t.Fatalf("stream %v, error %v after %s", got, err, took)
			}
			if got == nil {
				test.want.Reason, test.want.Attempts = test.reason, 1
				s.WantError(t, err, test.kind, test.outcome, test.want)
			}
		})
	}
	s := StartService(t, ApplyUpdate) // gets nothing, because the operation has ended before it begins
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewClient(t, requests.Config{BaseURL: s.URL}).UpdateStream(ctx, "s1", streams.NewProcessorSet())
	s.WantError(t, err, streams.KindInterrupted, streams.NotChanged, requests.Result{Reason: interrupted})
	_, err = s.UpdateWithin(t, requests.Config{}, time.Nanosecond)
	s.WantError(t, err, streams.KindTimeout, streams.NotChanged, requests.Result{Reason: "the operation did not finish within its time limit"})
	s.WantRequests(t, 0)
}

// The limit applies to each attempt, retries included. An operation fails at once if its time limit ends
// before its next attempt is allowed.
func TestRateLimit(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := StartService(t, RespondError(503, "later"))
		_ = s.UpdateError(t, requests.Config{RequestsPerSecond: 2, RequestTimeout: time.Millisecond})
		for _, wait := range s.Waits() {
			if wait.Round(time.Millisecond) != 500*time.Millisecond {
				t.Errorf("waits %s, want half a second each", s.Waits())
			}
		}
		start := time.Now()
		attempts := 0
		_, err := s.UpdateWithin(t, requests.Config{
			RequestsPerSecond: 0.01, Observe: func(context.Context, requests.Attempt) { attempts++ },
		}, 10*time.Second)
		s.WantError(t, err, streams.KindTimeout, streams.Unknown, requests.Result{
			Attempts: 1, Status: 503, Message: "later", Form: masking.FormDocumented,
			Reason: "the operation's time limit ends before the limit of requests per second allows another request",
		})
		if took := time.Since(start); took > time.Millisecond || !errors.Is(err, requests.ErrRateLimit) || attempts != 1 {
			t.Errorf("%v after %s, %d attempts in the log", err, took, attempts)
		}
		c := NewClient(t, requests.Config{BaseURL: s.URL, RequestsPerSecond: 0.001, MaxConcurrent: 1, Retry: requests.Retry{MaxAttempts: 1}})
		_, _ = c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet("p1"))
		_, took, err := interruptedUpdate(t, c, time.Hour, time.Second)
		if e := AsError(t, err); e.Attempts != 0 || e.Outcome != streams.NotChanged || took != 0 || !errors.Is(e, context.Canceled) {
			t.Errorf("interrupted after %s: %#v", took, e)
		}
		if _, _, err = interruptedUpdate(t, c, time.Minute, time.Hour); !errors.Is(err, requests.ErrRateLimit) {
			t.Errorf("the next one: %v", err)
		}
	})
}

// No more than MaxConcurrent requests are under way at the same time. An operation that waits before a retry
// does not keep others from sending, and one that ends while it waits for its turn has sent nothing.
func TestMaxConcurrent(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := StartService(t, RespondAfter(time.Second, ApplyUpdate))
		c := NewClient(t, requests.Config{BaseURL: s.URL, MaxConcurrent: 2})
		start := time.Now()
		MustUpdateAll(t, c, 6)
		if took := time.Since(start); took != 3*time.Second || c.MaxUnderWay() != 16 {
			t.Errorf("six requests of a second took %s", took)
		}
		s = StartService(t, RespondError(503, "later", "Retry-After", "60"), NeverRespond)
		c = NewClient(t, requests.Config{BaseURL: s.URL, MaxConcurrent: 1, RequestTimeout: time.Minute})
		go UpdateAll(t, c, 2)
		<-time.After(time.Second)
		s.WantRequests(t, 2)
		_, _, err := interruptedUpdate(t, c, time.Hour, time.Second)
		if e := AsError(t, err); e.Attempts != 0 || e.Outcome != streams.NotChanged || !errors.Is(e.Err, requests.ErrSlotWait) {
			t.Errorf("error %#v", e)
		}
		s.WantRequests(t, 2)

		s = StartService(t, NeverRespond)
		c = NewClient(t, requests.Config{BaseURL: s.URL, RequestTimeout: time.Minute})
		go UpdateAll(t, c, 3) // with credentials that may be wrong
		synctest.Wait()
		_, took, err := interruptedUpdate(t, c, time.Hour, time.Second)
		if e := AsError(t, err); e.Kind != streams.KindInterrupted || e.Attempts != 0 || took != 0 {
			t.Errorf("after %s: %#v", took, e)
		}
		s.WantRequests(t, 2)
	})
}

// The attempts that the user sets are made exactly, also with a second token.
func TestAttempts(t *testing.T) {
	t.Parallel()
	for _, want := range []int{1, 3, 9} {
		RunVirtual(t, fmt.Sprint(want), func(t *testing.T) {
			s := StartService(t, RespondError(503, "later"))
			cfg := requests.Config{Retry: requests.Retry{MaxAttempts: want, MinBackoff: time.Second}, DialContext: refuse}
			refused := s.UpdateError(t, cfg)
			cfg.DialContext = nil
			failed := s.UpdateError(t, cfg)
			renewing := StartService(t, RespondError(401, "expired"), RespondError(503, "later"))
			cfg.OAuth2 = OAuth2Config(s, StartService(t, IssueTokens(3600))).OAuth2
			if e := renewing.UpdateError(t, cfg); e.Attempts != want {
				t.Errorf("%d attempts with two tokens", e.Attempts)
			}
			if refused.Attempts != want || failed.Attempts != want {
				t.Errorf("%d and %d attempts, want %d", refused.Attempts, failed.Attempts, want)
			}
		})
	}
}

// Behind a balancer for TCP, each connection reaches one replica of the service. One that fails fails nothing: a retry goes over
// another connection. With HTTP/1.1, a request of many at a time may meet that replica in each of three attempts. A stream that always
// fails costs few connections.
func TestReplicas(t *testing.T) {
	t.Parallel()
	for which, isBad := range map[string]func(connection int) bool{
		"each second": func(n int) bool { return n%2 == 0 }, "each other": func(n int) bool { return n%2 == 1 },
		"the first": func(n int) bool { return n == 1 }, "none": func(int) bool { return false },
	} {
		for protocol, config := range map[string]*tls.Config{"HTTP/2": nil, "HTTP/1.1": {NextProtos: []string{"http/1.1"}}} {
			for _, status := range []int{500, 503} {
				for _, attempts := range []int{0, 3} {
					for _, parallel := range []int{1, Singles, Group} {
						if protocol == "HTTP/1.1" && attempts == 3 && parallel > 1 {
							continue
						}
						RunVirtual(t, fmt.Sprint(which, "/", protocol, "/", status, "/", attempts, "/", parallel), func(t *testing.T) {
							testReplicas(t, isBad, config, status, attempts, parallel, which == "none")
						})
					}
				}
			}
		}
	}
}

func testReplicas(t *testing.T, isBad func(int) bool, config *tls.Config, status, attempts, parallel int, withBroken bool) {
	s, connections := startReplicas(t, config, status, isBad)
	retry := requests.DefaultRetry
	retry.MaxAttempts = attempts
	c := NewClient(t, requests.Config{BaseURL: s.URL, Retry: retry, TLS: transport.TLS{CACertPEM: s.CAPEM()}, MaxConcurrent: parallel})
	if withBroken {
		if _, err := c.UpdateStream(t.Context(), "broken", streams.NewProcessorSet()); err == nil {
			t.Error("the broken stream succeeds")
		}
	}
	if err := errors.Join(UpdateParallel(t, c, 30, parallel, 5*time.Minute)...); err != nil {
		t.Errorf("%d connections: %.300v", connections.Load(), err)
	}
	if got := int(connections.Load()); withBroken && got > 12+parallel {
		t.Errorf("%d connections", got)
	}
}

// All connections that are open may belong to a replica that fails from now on. It fails nothing: a retry goes over a new one.
func TestReplicaFails(t *testing.T) {
	t.Parallel()
	for protocol, config := range map[string]*tls.Config{"HTTP/2": nil, "HTTP/1.1": {NextProtos: []string{"http/1.1"}}} {
		for _, parallel := range []int{1, Singles, Group} {
			RunVirtual(t, fmt.Sprint(protocol, "/", parallel), func(t *testing.T) {
				var failed atomic.Int32 // connections
				s, connections := startReplicas(t, config, 503, func(n int) bool { return n <= int(failed.Load()) })
				retry := requests.DefaultRetry
				retry.MaxAttempts = 2
				c := NewClient(t, requests.Config{BaseURL: s.URL, Retry: retry, TLS: transport.TLS{CACertPEM: s.CAPEM()}, MaxConcurrent: Group})
				MustUpdateAll(t, c, 1)
				before := UpdateParallel(t, c, Group, Group, time.Minute)
				failed.Store(connections.Load())
				after := UpdateParallel(t, c, 100, parallel, 5*time.Minute)
				if err := errors.Join(append(before, after...)...); err != nil {
					t.Errorf("%d connections: %.300v", connections.Load(), err)
				}
			})
		}
	}
}

// startReplicas starts a service that counts its connections. The n-th one may reach a replica that responds with an error.
func startReplicas(t *testing.T, config *tls.Config, status int, isBad func(n int) bool) (s *Service, connections *atomic.Int32) {
	t.Helper()
	type key struct{}
	s, connections = NewService(t), new(atomic.Int32)
	s.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, key{}, int(connections.Add(1)))
	}
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, _ := r.Context().Value(key{}).(int); isBad(n) || strings.HasSuffix(r.URL.Path, "/broken") {
			RespondError(status, "bad")(w, r)
			return
		}
		RespondAfter(20*time.Millisecond, ApplyUpdate)(w, r)
	})
	s.TLS = config
	s.StartTLS()
	return s, connections
}
