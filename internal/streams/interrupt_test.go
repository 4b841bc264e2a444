package streams_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// interruptedUpdate updates stream s1, cancels the operation after the given time, and returns what the update
// returned, and how long it took after the cancellation.
func interruptedUpdate(t *testing.T, c *streams.Client, after time.Duration) (*streams.Stream, time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	time.AfterFunc(after, cancel)
	start := time.Now()
	got, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet("p1"))
	return got, time.Since(start) - after, err
}

// An attempt under way may end within five seconds after an interrupt, and its response counts. Nothing
// new starts.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	const (
		second      = time.Second
		notRetried  = "the request was not retried, because the operation was interrupted or its time limit had passed"
		interrupted = "the operation was interrupted"
	)
	for name, test := range map[string]struct {
		response http.HandlerFunc
		cfg      streams.Config
		took     time.Duration
		ok       bool
		status   int
		outcome  streams.Outcome
		reason   string
	}{
		"success in time": {respondAfter(5*second, applyUpdate), streams.Config{}, 4 * second, true, 0, streams.NotChanged, ""},
		"refusal in time": {respondAfter(5*second, respondError(403, "no")), streams.Config{}, 4 * second, false, 403, streams.NotChanged, ""},
		"no retry":        {respondAfter(2*second, respondError(503, "later")), streams.Config{}, second, false, 503, streams.Unknown, notRetried},
		"no response":     {neverRespond, streams.Config{}, 5 * second, false, 0, streams.Unknown, interrupted},
		"request timeout": {neverRespond, streams.Config{RequestTimeout: 4 * second}, 3 * second, false, 0, streams.Unknown,
			"the service did not respond within 4s; " + notRetried},
		"wait before a retry": {respondError(503, "later", "Retry-After", "3500"), streams.Config{}, 0, false, 503, streams.Unknown, interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				s := startService(t, test.response)
				test.cfg.BaseURL = s.URL
				got, took, err := interruptedUpdate(t, newClient(t, test.cfg), second)
				s.wantRequests(t, 1)
				if (got != nil) != test.ok || took != test.took {
					t.Fatalf("stream %v, error %v after %s", got, err, took)
				}
				if test.ok {
					return
				}
				if e := asError(t, err); e.Status != test.status || e.Outcome != test.outcome || e.Reason != test.reason || e.Attempts != 1 {
					t.Errorf("error %#v", e)
				}
			})
		})
	}
	t.Run("before the start", func(t *testing.T) {
		s := startService(t, applyUpdate)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := newClient(t, streams.Config{BaseURL: s.URL}).UpdateStream(ctx, "s1", streams.NewProcessorSet())
		if e := asError(t, err); e.Kind != streams.KindInterrupted || e.Outcome != streams.NotChanged || e.Reason != interrupted {
			t.Errorf("error %#v", e)
		}
		s.wantRequests(t, 0)
	})
}

// The time limit of the operation also ends an interrupted attempt.
func TestInterruptNearTheTimeLimit(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := startService(t, neverRespond)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		_, err := newClient(t, streams.Config{BaseURL: s.URL}).UpdateStream(ctx, "s1", streams.NewProcessorSet())
		if took := time.Since(start); took != 3*time.Second || !errors.Is(err, context.Canceled) {
			t.Errorf("%v after %s", err, took)
		}
	})
}

// The request timeout covers the body of the response. HTTP/1.1 and HTTP/2 report it in different ways.
func TestRequestTimeout(t *testing.T) {
	virtual(t, func(t *testing.T) {
		noBody := func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
		cfg := streams.Config{RequestTimeout: time.Second, TLS: streams.TLS{InsecureSkipVerify: true}}
		for _, s := range []*service{startService(t, noBody), startTLSService(t, nil, noBody), startTLSService(t, nil, neverRespond)} {
			if e := s.updateError(t, cfg); e.Kind != streams.KindTimeout || e.Reason != "the service did not respond within 1s" {
				t.Errorf("%s: error %#v", s.URL, e)
			}
		}
	})
}

// The limit applies to each attempt, retries included. An operation fails at once if its time limit ends
// before its next attempt is allowed.
func TestRateLimit(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := startService(t, respondError(503, "later"))
		_ = s.updateError(t, streams.Config{RequestsPerSecond: 2, RequestTimeout: time.Millisecond})
		for _, wait := range s.waits() {
			if wait.Round(time.Millisecond) != 500*time.Millisecond {
				t.Errorf("waits %s, want half a second each", s.waits())
			}
		}
		start := time.Now()
		_, err := s.limitedUpdate(t, streams.Config{RequestsPerSecond: 0.01}, 10*time.Second)
		if e := asError(t, err); e.Kind != streams.KindTimeout || e.Attempts != 1 || e.Message != "later" || !errors.Is(e, streams.ErrRateLimit) ||
			e.Reason != "the operation's time limit ends before the limit of requests per second allows another request" || time.Since(start) > time.Millisecond {
			t.Errorf("after %s: %#v", time.Since(start), e)
		}
		c := newClient(t, streams.Config{BaseURL: s.URL, RequestsPerSecond: 0.001, Retry: streams.Retry{MaxAttempts: 1}})
		_, _ = c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
		_, took, err := interruptedUpdate(t, c, time.Second)
		if e := asError(t, err); e.Attempts != 0 || e.Outcome != streams.NotChanged || took != 0 || !errors.Is(e, context.Canceled) {
			t.Errorf("interrupted after %s: %#v", took, e)
		}
	})
}

// No more than MaxConcurrent requests are under way at the same time. An operation that waits before a retry
// does not keep others from sending, and one that ends while it waits for its turn has sent nothing.
func TestMaxConcurrent(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := startService(t, respondAfter(time.Second, applyUpdate))
		c := newClient(t, streams.Config{BaseURL: s.URL, MaxConcurrent: 2})
		start := time.Now()
		mustUpdateAll(t, c, 6)
		if took := time.Since(start); took != 3*time.Second || s.connections() != 2 {
			t.Errorf("six requests of a second took %s, over %d connections", took, s.connections())
		}
		s = startService(t, respondError(503, "later", "Retry-After", "60"), neverRespond)
		c = newClient(t, streams.Config{BaseURL: s.URL, MaxConcurrent: 1, RequestTimeout: time.Minute})
		go func() { _, _ = c.UpdateStream(t.Context(), "s2", streams.NewProcessorSet()) }()
		<-time.After(time.Second)
		go func() { _, _ = c.UpdateStream(t.Context(), "s3", streams.NewProcessorSet()) }()
		<-time.After(time.Second)
		s.wantRequests(t, 2)
		_, _, err := interruptedUpdate(t, c, time.Second)
		if e := asError(t, err); e.Attempts != 0 || e.Outcome != streams.NotChanged {
			t.Errorf("error %#v", e)
		}
		s.wantRequests(t, 2)
	})
}
