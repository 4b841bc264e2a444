package streams

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBackoffBetweenAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, e := runUpdate(t, Config{Retry: Retry{MaxAttempts: 7, MinBackoff: time.Second, MaxBackoff: 8 * time.Second}}, 0, respond503)
		if e == nil || e.Attempts != 7 {
			t.Fatalf("error %#v", e)
		}
		const second = time.Second
		for i, bound := range []time.Duration{2 * second, 4 * second, 8 * second, 8 * second, 8 * second, 8 * second} {
			if wait := s.waits()[i]; wait < second || wait > bound {
				t.Errorf("wait %d is %s, want 1s to %s", i+1, wait, bound)
			}
		}
	})
}

// The default settings make five attempts, with waits from half a second to 16 seconds.
func TestDefaultSettings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, e := runUpdate(t, Config{}, 0, neverRespond)
		if e == nil || e.Attempts != 5 || e.Kind != KindTimeout || e.Outcome != Unknown || e.Status != 0 ||
			e.Reason != "the service did not respond within 30s" || !errors.Is(e, ErrRequestTimeout) {
			t.Fatalf("error %#v", e)
		}
		for i, wait := range s.waits() {
			if wait -= DefaultRequestTimeout; wait < 500*time.Millisecond || wait > time.Second<<i {
				t.Errorf("wait %d is %s", i+1, wait)
			}
		}
	})
}

// Retry-After sets the wait, also below MinBackoff and above MaxBackoff.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		value  func(now time.Time) string
		want   time.Duration
	}{
		"seconds":             {503, func(time.Time) string { return "7" }, 7 * time.Second},
		"above MaxBackoff":    {429, func(time.Time) string { return "3600" }, time.Hour},
		"no wait":             {429, func(time.Time) string { return "0" }, 0},
		"date":                {503, func(now time.Time) string { return now.Add(90 * time.Second).UTC().Format(http.TimeFormat) }, 90 * time.Second},
		"past date":           {503, func(now time.Time) string { return now.Add(-time.Hour).UTC().Format(http.TimeFormat) }, 0},
		"with a timeout":      {408, func(time.Time) string { return "2" }, 2 * time.Second},
		"with a server error": {500, func(time.Time) string { return "2" }, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, e := runUpdate(t, Config{Retry: Retry{MaxAttempts: 3, MinBackoff: 30 * time.Second, MaxBackoff: time.Minute}}, 0,
					respond(test.status, laterBody, "Retry-After", test.value(time.Now())), respondSuccess)
				if diff := cmp.Diff([]time.Duration{test.want}, s.waits()); e != nil || diff != "" {
					t.Errorf("error %v, waits (-want +got):\n%s", e, diff)
				}
			})
		})
	}
}

func TestInvalidRetryAfter(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "soon", "-1", "1.5", "\u0665"} {
		synctest.Test(t, func(t *testing.T) {
			s, e := runUpdate(t, Config{Retry: Retry{MaxAttempts: 2, MinBackoff: time.Second, MaxBackoff: time.Second}}, 0,
				respond(503, laterBody, "Retry-After", value), respondSuccess)
			if e != nil || len(s.waits()) != 1 || s.waits()[0] != time.Second {
				t.Errorf("Retry-After %q: error %v, waits %s", value, e, s.waits())
			}
		})
	}
}

// If the wait would end after the operation's time limit, the operation fails at once.
func TestNoTimeForRetry(t *testing.T) {
	t.Parallel()
	longBackoff := Retry{MaxAttempts: 5, MinBackoff: time.Minute, MaxBackoff: time.Minute}
	for name, test := range map[string]struct {
		response roundTrip
		kind     Kind
		status   int
		message  string
		reason   string
	}{
		"Retry-After": {respond(503, laterBody, "Retry-After", "3600"), KindGeneric, 503, "later",
			"the service asked to wait 1h0m0s, which is longer than the operation's time limit allows"},
		"longest Retry-After": {respond(429, laterBody, "Retry-After", "18446744073709551615"), KindBadRequest, 429, "later",
			"the service asked to wait 2562047h47m16s, which is longer than the operation's time limit allows"},
		"backoff": {respond(502, laterBody), KindBadGateway, 502, "later",
			"the operation's time limit leaves no time for another attempt"},
		"backoff without response": {failWith(errConnectionRefused), KindConnection, 0, "",
			"the connection failed: dial tcp: connect: connection refused; the operation's time limit leaves no time for another attempt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s, e := runUpdate(t, Config{Retry: longBackoff}, 59*time.Second, test.response)
				if e == nil || len(s.times) != 1 || time.Since(start) != 0 {
					t.Fatalf("error %v after %d attempts and %s", e, len(s.times), time.Since(start))
				}
				if e.Kind != test.kind || e.Status != test.status || e.Message != test.message || e.Reason != test.reason || e.Attempts != 1 {
					t.Errorf("error %#v", e)
				}
			})
		})
	}
	// A wait that ends before the time limit.
	synctest.Test(t, func(t *testing.T) {
		s, e := runUpdate(t, Config{Retry: longBackoff}, time.Minute+time.Second, respond(503, laterBody, "Retry-After", "60"), respondSuccess)
		if e != nil || len(s.times) != 2 {
			t.Errorf("error %v after %d attempts", e, len(s.times))
		}
	})
}

// The error has the last message of the service, also if later attempts get no response.
func TestErrorKeepsLastMessage(t *testing.T) {
	t.Parallel()
	oneRetry := Retry{MaxAttempts: 2, MinBackoff: time.Second, MaxBackoff: time.Second}
	failMidway := func(req *http.Request) (*http.Response, error) {
		traceConnection(req)
		return nil, io.ErrUnexpectedEOF
	}
	for name, test := range map[string]struct {
		limit     time.Duration
		responses []roundTrip
		kind      Kind
		reason    string
	}{
		"two messages": {0, []roundTrip{respond(502, `{"message":"first"}`), respond503}, KindGeneric, ""},
		"then no connection": {0, []roundTrip{respond503, failWith(errConnectionRefused)}, KindConnection,
			"the connection failed: dial tcp: connect: connection refused"},
		"then a failed connection": {0, []roundTrip{respond503, failMidway}, KindConnection, "the connection failed: unexpected EOF"},
		"then no response": {0, []roundTrip{respond503, neverRespond}, KindTimeout,
			"the service did not respond within 30s"},
		"then the operation's time limit": {10 * time.Second, []roundTrip{respond503, neverRespond}, KindTimeout,
			"the operation did not finish within its time limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, e := runUpdate(t, Config{Retry: oneRetry}, test.limit, test.responses...)
				if e == nil || e.Kind != test.kind || e.Message != "later" || !e.Documented || e.Status != 503 || e.Attempts != 2 ||
					e.Outcome != Unknown || e.Reason != test.reason {
					t.Errorf("error %#v", e)
				}
			})
		})
	}
}

// A cancellation ends the wait before a retry at once. The error describes the attempts before it.
func TestCancelDuringBackoff(t *testing.T) {
	t.Parallel()
	for name, header := range map[string][]string{"backoff": nil, "Retry-After": {"Retry-After", "3600"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cfg := Config{Retry: Retry{MaxAttempts: 5, MinBackoff: time.Hour, MaxBackoff: time.Hour}}
				c := clientOver(t, cfg, scripted(respond(503, laterBody, header...)))
				ctx, cancel := context.WithCancel(t.Context())
				start, done := time.Now(), make(chan error, 1)
				go func() {
					_, err := c.UpdateStream(ctx, "s1", NewProcessorSet("p1"))
					done <- err
				}()
				synctest.Wait() // for the wait before the retry
				cancel()
				e := (*Error)(nil)
				if err := <-done; !errors.As(err, &e) || !errors.Is(err, context.Canceled) || e.Reason != "the operation was interrupted" ||
					e.Message != "later" || e.Attempts != 1 || e.Outcome != Unknown {
					t.Errorf("error %#v", err)
				}
				if time.Since(start) != 0 {
					t.Errorf("the operation took %s", time.Since(start))
				}
			})
		})
	}
}
