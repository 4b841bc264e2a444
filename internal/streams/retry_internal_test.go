package streams

import (
	"math"
	"testing"
	"time"
)

// The waits double up to the longest one, and spread.
func TestBackoff(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, test := range []struct {
		retry  Retry
		bounds []time.Duration // longest wait after the first, the second, … attempt
	}{
		{DefaultRetry, []time.Duration{1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 16000 * ms, 30000 * ms, 30000 * ms}},
		{Retry{MinBackoff: ms, MaxBackoff: 5 * ms}, []time.Duration{2 * ms, 4 * ms, 5 * ms, 5 * ms}},
		{Retry{MinBackoff: 5 * ms, MaxBackoff: ms}, []time.Duration{5 * ms, 5 * ms}}, // MinBackoff takes precedence
		{Retry{MinBackoff: math.MaxInt64, MaxBackoff: math.MaxInt64}, []time.Duration{math.MaxInt64, math.MaxInt64}},
	} {
		for i, bound := range test.bounds {
			shortest, middle, longest := test.retry.backoff(i+1, 0), test.retry.backoff(i+1, 0.5), test.retry.backoff(i+1, 1)
			if shortest != max(test.retry.MinBackoff, bound/4) || middle < shortest || middle > longest || longest != bound {
				t.Errorf("%+v after attempt %d: %s, %s, %s; want up to %s", test.retry, i+1, shortest, middle, longest, bound)
			}
		}
	}
}

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	const none = -1
	longest := time.Duration(math.MaxInt64).Truncate(time.Second)
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"0":                                 0,
		"120":                               2 * time.Minute,
		"1000000000000":                     longest,
		"99999999999999999999999999999":     longest, // beyond 64 bits
		"Wed, 04 Mar 2026 05:06:17 GMT":     10 * time.Second,
		"Wed, 04 Mar 2026 05:06:06 GMT":     0,
		"Wednesday, 04-Mar-26 05:07:07 GMT": time.Minute, // RFC 9110 requires the obsolete forms, too
		"Wed Mar  4 06:06:07 2026":          time.Hour,
		"Fri, 31 Dec 9999 23:59:59 GMT":     math.MaxInt64,
		"":                                  none, "-1": none, "+1": none, "1.5": none, "1e3": none, "0x10": none, "5s": none, "1, 2": none,
		"2026-03-04T05:06:17Z": none, "٥": none,
	} {
		wait, ok := parseRetryAfter(value, now)
		if ok != (want != none) || ok && wait != want {
			t.Errorf("parseRetryAfter(%q) = %s, %t; want %s", value, wait, ok, want)
		}
	}
}
