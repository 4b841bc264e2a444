package streams_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Two temporary faults and a success take exactly three requests, which are the same.
func TestRetrySucceeds(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]streamstest.Fault{
		"429": {Status: 429}, "500 applied": {Status: 500, Apply: true},
		"reset before": {ResetBefore: true}, "reset after": {ResetAfter: true},
		"incomplete": {Truncate: true}, "incomplete 400": {Status: 400, Truncate: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stand := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "s1", ProcessorIDs: []string{"old"}})
			stand.Inject(fault, fault)
			s := startService(t, stand.ServeHTTP)
			stream, err := s.update(t, streams.Config{Token: "t0ken", UserAgent: "me"})
			if err != nil || stream.ProcessorIDs.String() != `["p1"]` {
				t.Errorf("%v, %v", stream, err)
			}
			s.wantRequests(t, 3)
			for _, r := range s.requests() {
				r.at = s.requests()[0].at
				if diff := cmp.Diff(s.requests()[0], r, cmp.AllowUnexported(receivedRequest{})); diff != "" {
					t.Errorf("a retry differs (-first +retry):\n%s", diff)
				}
			}
		})
	}
}

// A failed connection is retried. The outcome is unknown if a request may have been sent.
func TestConnectionFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		response http.HandlerFunc
		reason   string
	}{
		"reset":      {resetConnection, "the connection failed: EOF"},
		"incomplete": {respondTruncated(200), "the connection failed: the response is incomplete: unexpected EOF"},
	} {
		s := startService(t, test.response)
		e := s.updateError(t, streams.Config{})
		if e.Kind != streams.KindConnection || e.Status != 0 || e.Attempts != 5 || e.Outcome != streams.Unknown || e.Reason != test.reason {
			t.Errorf("%s: %#v", name, e)
		}
		s.wantRequests(t, 5)
	}
	s := startService(t, applyUpdate)
	s.Close()
	e := s.updateError(t, streams.Config{})
	if e.Kind != streams.KindConnection || e.Status != 0 || e.Attempts != 5 || e.Outcome != streams.NotChanged ||
		e.Reason != "the connection failed: dial tcp: connect: connection refused" {
		t.Errorf("refused: %#v", e)
	}
}

// The default settings make five attempts of 30 seconds, with waits from half a second to 8 seconds.
func TestDefaultSettings(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := startService(t, neverRespond)
		e := s.updateError(t, streams.Config{Retry: streams.DefaultRetry})
		if e.Attempts != 5 || e.Kind != streams.KindTimeout || e.Outcome != streams.Unknown || e.Status != 0 ||
			e.Reason != "the service did not respond within 30s" {
			t.Errorf("error %#v", e)
		}
		for i, wait := range s.waits() {
			if wait -= 30 * time.Second; wait < 500*time.Millisecond || wait > time.Second<<i {
				t.Errorf("wait %d is %s", i+1, wait)
			}
		}
	})
}

// Retry-After sets the wait, also below MinBackoff and above MaxBackoff.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, test := range map[string]struct {
		status int
		value  func(now time.Time) string
		want   time.Duration
	}{
		"seconds":          {503, func(time.Time) string { return "7" }, 7 * second},
		"above MaxBackoff": {429, func(time.Time) string { return "3600" }, time.Hour},
		"no wait":          {429, func(time.Time) string { return "0" }, 0},
		"date":             {503, func(now time.Time) string { return now.Add(90 * second).UTC().Format(http.TimeFormat) }, 90 * second},
		"junk":             {500, func(time.Time) string { return "soon" }, 30 * second},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				s := startService(t, respondError(test.status, "later", "Retry-After", test.value(time.Now())), applyUpdate)
				_, err := s.update(t, streams.Config{Retry: streams.Retry{MaxAttempts: 3, MinBackoff: 30 * second, MaxBackoff: 30 * second}})
				if diff := cmp.Diff([]time.Duration{test.want}, s.waits()); err != nil || diff != "" {
					t.Errorf("error %v, waits (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}

// limitedUpdate updates stream s1 with a time limit.
func (s *service) limitedUpdate(t *testing.T, cfg streams.Config, limit time.Duration) (*streams.Stream, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cfg.BaseURL = s.URL
	return newClient(t, cfg).UpdateStream(ctx, "s1", streams.NewProcessorSet("p1"))
}

// If the wait would end after the operation's time limit, the operation fails at once.
func TestNoTimeForRetry(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		response http.HandlerFunc
		reason   string
	}{
		"Retry-After": {respondError(503, "later", "Retry-After", "3600"),
			"the service asked to wait (Retry-After: 3600), longer than the operation's time limit allows"},
		"longest Retry-After": {respondError(429, "later", "Retry-After", "1000000000000"),
			"the service asked to wait (Retry-After: 1000000000000), longer than the operation's time limit allows"},
		"backoff": {respondError(502, "later"), "the operation's time limit leaves no time for another attempt"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				start, s := time.Now(), startService(t, test.response)
				_, err := s.limitedUpdate(t, streams.Config{Retry: streams.Retry{MaxAttempts: 5, MinBackoff: time.Minute, MaxBackoff: time.Minute}}, 59*time.Second)
				if e := asError(t, err); e.Message != "later" || e.Reason != test.reason || e.Attempts != 1 || time.Since(start) != 0 {
					t.Errorf("error %#v after %s", e, time.Since(start))
				}
			})
		})
	}
}

// The error has the last message of the service, also if later attempts get no response.
func TestErrorKeepsLastMessage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit     time.Duration
		responses []http.HandlerFunc
		kind      streams.Kind
		reason    string
	}{
		"two messages":             {time.Hour, []http.HandlerFunc{respondError(502, "first"), respondError(503, "later")}, streams.KindGeneric, ""},
		"then a failed connection": {time.Hour, []http.HandlerFunc{respondError(503, "later"), resetConnection}, streams.KindConnection, "the connection failed: EOF"},
		"then no response": {time.Hour, []http.HandlerFunc{respondError(503, "later"), neverRespond}, streams.KindTimeout,
			"the service did not respond within 30s"},
		"then the time limit": {10 * time.Second, []http.HandlerFunc{respondError(503, "later"), neverRespond}, streams.KindTimeout,
			"the operation did not finish within its time limit"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				s := startService(t, test.responses...)
				_, err := s.limitedUpdate(t, streams.Config{Retry: streams.Retry{MaxAttempts: 2, MinBackoff: time.Second, MaxBackoff: time.Second}}, test.limit)
				if e := asError(t, err); e.Kind != test.kind || e.Message != "later" || !e.Documented || e.Status != 503 || e.Attempts != 2 ||
					e.Outcome != streams.Unknown || e.Reason != test.reason {
					t.Errorf("error %#v", e)
				}
			})
		})
	}
}

// Observe gets each attempt once, with its result and the wait before the next one.
func TestObserve(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := startService(t, respondError(503, "later", "X-Request-Id", "req-1", "Set-Cookie", "session=s3cret"), resetConnection, applyUpdate)
		var got []string
		key := struct{ name string }{"key"}
		ctx := context.WithValue(t.Context(), key, "value")
		c := newClient(t, streams.Config{BaseURL: s.URL, Observe: func(ctx context.Context, a streams.Attempt) {
			if ctx.Value(key) != "value" || a.Method != "PATCH" || a.URL != s.URL+"/v2/streams/s1" || a.Retry != (a.RetryWait > 0) {
				t.Errorf("attempt %+v", a)
			}
			got = append(got, fmt.Sprintf("%d: %s → %d %s %s, retry %t", a.Number, a.RequestBody, a.Status, a.Err, a.ResponseBody, a.Retry))
			if a.Number == 1 {
				if header := a.Header; !strings.Contains(header, "X-Request-Id: req-1\r\n") || strings.Contains(header, "s3cret") {
					t.Errorf("headers %q", header)
				}
			}
		}})
		if _, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet("p1")); err != nil {
			t.Fatal(err)
		}
		const sent = `{"processor_ids":["p1"]}`
		if diff := cmp.Diff([]string{
			"1: " + sent + ` → 503  {"message":"later"}, retry true`,
			"2: " + sent + " → 0 EOF , retry true",
			"3: " + sent + " → 200  " + streamJSON("s1", []string{"p1"}) + ", retry false",
		}, got); diff != "" {
			t.Errorf("attempts (-want +got):\n%s", diff)
		}
	})
}
