package streams_test

import (
	"net/http"
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

// The default settings make five attempts of 30 seconds, with waits from half a second to 8 seconds.
func TestDefaultSettings(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := startService(t, neverRespond)
		s.wantError(t, s.updateError(t, streams.Config{Retry: streams.DefaultRetry}), streams.Error{
			Kind: streams.KindTimeout, Attempts: 5, Outcome: streams.Unknown, Reason: "the service did not respond within 30s",
		})
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
		runVirtual(t, name, func(t *testing.T) {
			s := startService(t, respondError(test.status, "later", "Retry-After", test.value(time.Now())), applyUpdate)
			retry := streams.Retry{MaxAttempts: 3, MinBackoff: 30 * second, MaxBackoff: 30 * second}
			_, err := s.updateWithin(t, streams.Config{Retry: retry}, 2*time.Hour)
			if diff := cmp.Diff([]time.Duration{test.want}, s.waits()); err != nil || diff != "" {
				t.Errorf("error %v, waits (-want +got):\n%s", err, diff)
			}
		})
	}
}

// If the wait would end after the operation's time limit, the operation fails at once.
func TestNoTimeForRetry(t *testing.T) {
	t.Parallel()
	for after, reason := range map[string]string{
		"3600":          "the service asked to wait (Retry-After: 3600), longer than the operation's time limit allows",
		"1000000000000": "the service asked to wait (Retry-After: 1000000000000), longer than the operation's time limit allows",
		"":              "the operation's time limit leaves no time for another attempt",
	} {
		runVirtual(t, after, func(t *testing.T) {
			start, s := time.Now(), startService(t, respondError(503, "later", "Retry-After", after))
			retry := streams.Retry{MaxAttempts: 5, MinBackoff: time.Minute, MaxBackoff: time.Minute}
			_, err := s.updateWithin(t, streams.Config{Retry: retry}, 59*time.Second)
			if e := asError(t, err); e.Message != "later" || e.Reason != reason || e.Attempts != 1 || time.Since(start) != 0 {
				t.Errorf("error %#v after %s", e, time.Since(start))
			}
		})
	}
}
