package streams_test

import (
	"context"
	"testing"
	"time"

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
		runVirtual(t, name, func(t *testing.T) {
			stand := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "s1", ProcessorIDs: []string{"old"}})
			stand.Inject(fault, fault)
			s := startService(t, stand.ServeHTTP)
			stream, err := s.update(t, streams.Config{Token: "t0ken", UserAgent: "me"})
			if err != nil || stream.ProcessorIDs.String() != `["p1"]` {
				t.Errorf("%v, %v", stream, err)
			}
			first := s.requests()[0]
			s.wantReceived(t, first, first, first)
		})
	}
}

// Retry-After sets the wait, in seconds or as a date, also below MinBackoff and above MaxBackoff. Junk sets none.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const second, none = time.Second, 30 * time.Second
	for value, want := range map[string]time.Duration{ // a virtual clock starts on Saturday, 1 January 2000
		"0": 0, "7": 7 * second, "3600": time.Hour,
		"Sat, 01 Jan 2000 00:01:30 GMT":    90 * second,
		"Saturday, 01-Jan-00 00:01:00 GMT": time.Minute, // RFC 9110 requires the obsolete forms, too
		"Sat Jan  1 01:00:00 2000":         time.Hour,
		"Fri, 31 Dec 1999 23:59:59 GMT":    0,
		"":                                 none, "soon": none, "-1": none, "+1": none,
		"1.5": none, "1e3": none, "0x10": none, "5s": none, "1, 2": none,
		"2000-01-01T00:01:30Z": none, "٥": none,
	} {
		runVirtual(t, value, func(t *testing.T) {
			s := startService(t, respondError(503, "later", "Retry-After", value), applyUpdate)
			retry := streams.Retry{MaxAttempts: 3, MinBackoff: none, MaxBackoff: none}
			var logged []time.Duration
			observe := func(_ context.Context, a streams.Attempt) { logged = append(logged, a.RetryWait) }
			if _, err := s.updateWithin(t, streams.Config{Retry: retry, Observe: observe}, 2*time.Hour); err != nil {
				t.Error(err)
			}
			wantEqual(t, "waits", []time.Duration{want}, s.waits())
			wantEqual(t, "waits in the log", []time.Duration{want, 0}, logged)
		})
	}
}
