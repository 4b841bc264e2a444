package requests

import (
	"context"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What follows attempts that take no time, with the longest waits. The waits are in milliseconds.
func TestPlanRetry(t *testing.T) {
	t.Parallel()
	const seconds = time.Second
	respond := func(status int, retryAfter string) *http.Response {
		return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {retryAfter}}}
	}
	counted := DefaultRetry
	counted.MaxAttempts = 4
	for name, test := range map[string]struct {
		retry  Retry
		limit  time.Duration // of the operation; 0: none
		resp   *http.Response
		others bool // succeed beside it
		health condition
		waits  []int // in milliseconds
		ending ending
	}{
		"the last attempt comes at the end": {retry: DefaultRetry, waits: []int{1000, 2000, 4000, 5000, 5000, 5000}, ending: impatient},
		"the wait is cut":                   {retry: Retry{MinBackoff: seconds, MaxBackoff: 15 * seconds}, waits: []int{2000, 4000, 8000, 8000}, ending: impatient},
		"not below the shortest wait":       {retry: Retry{MinBackoff: 20 * seconds, MaxBackoff: 20 * seconds}, waits: []int{20_000, 20_000}, ending: impatient},
		"a longer wait costs the own one": {retry: DefaultRetry, resp: respond(503, "10"),
			waits: []int{10_000, 10_000, 10_000, 10_000, 10_000, 10_000}, ending: impatient},
		"a shorter wait":               {retry: DefaultRetry, resp: respond(503, "3"), waits: []int{3000, 3000, 4000, 5000, 5000, 5000}, ending: impatient},
		"no wait":                      {retry: DefaultRetry, resp: respond(503, "0"), waits: []int{1000, 2000, 4000, 5000, 5000, 5000}, ending: impatient},
		"429":                          {retry: DefaultRetry, resp: respond(429, ""), waits: []int{1000, 2000, 4000, 5000, 5000, 5000}, ending: impatient},
		"429 beside others":            {retry: DefaultRetry, limit: 35 * seconds, resp: respond(429, ""), others: true, waits: []int{1000, 2000, 4000, 5000, 5000, 5000, 5000, 5000}, ending: noTime},
		"503 beside others":            {retry: DefaultRetry, resp: respond(503, ""), others: true, waits: []int{1000, 2000, 4000, 5000, 5000, 5000}, ending: impatient},
		"counted":                      {retry: counted, waits: []int{1000, 2000, 4000}, ending: impatient},
		"counted, 429 beside others":   {retry: counted, resp: respond(429, ""), others: true, waits: []int{1000, 2000, 4000}, ending: impatient},
		"counted, a longer wait":       {retry: counted, resp: respond(503, "60"), waits: []int{60_000, 60_000, 60_000}, ending: impatient},
		"counted, a shorter wait":      {retry: counted, resp: respond(503, "3"), waits: []int{3000, 3000, 4000}, ending: impatient},
		"one attempt":                  {retry: Retry{MaxAttempts: 1}, ending: impatient},
		"no time":                      {retry: DefaultRetry, limit: 4 * seconds, waits: []int{1000, 2000}, ending: noTime},
		"no time for the wanted wait":  {retry: DefaultRetry, limit: 4 * seconds, resp: respond(503, "5"), ending: noTime},
		"another operation has failed": {retry: DefaultRetry, health: failing, ending: repeated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.limit > 0 {
					limited, cancel := context.WithTimeout(ctx, test.limit)
					defer cancel()
					ctx = limited
				}
				var p patience
				for n := 0; ; n++ {
					h := view{condition: test.health}
					if test.others {
						h.successes = n
					}
					next := p.planRetry(ctx, test.retry, n+1, h, test.resp, 1)
					if n == len(test.waits) {
						if next.ending != test.ending {
							t.Errorf("after attempt %d: %d, want %d", n+1, next.ending, test.ending)
						}
						return
					}
					if wait := time.Until(next.due); next.ending != goesOn || wait != time.Duration(test.waits[n])*time.Millisecond {
						t.Fatalf("after attempt %d: %d, a wait of %s; want %d ms", n+1, next.ending, wait, test.waits[n])
					}
					<-time.After(time.Until(next.due))
				}
			})
		})
	}
}

// Dates count by the clock of the service. A wait of more than a day, and junk, are none.
func TestAskedWait(t *testing.T) {
	t.Parallel()
	const date, minute = "Fri, 27 Nov 2026 12:00:00 GMT", time.Minute
	at, err := http.ParseTime(date)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		status int
		header map[string]string
		skew   time.Duration // of the client's clock
		want   time.Duration
	}{
		"seconds":                 {503, map[string]string{"Retry-After": "60"}, 0, minute},
		"a date":                  {503, map[string]string{"Retry-After": "Fri, 27 Nov 2026 12:01:00 GMT"}, 0, minute},
		"an obsolete date":        {503, map[string]string{"Retry-After": "Friday, 27-Nov-26 12:01:00 GMT"}, 0, minute},
		"by another clock":        {503, map[string]string{"Retry-After": "Fri, 27 Nov 2026 12:01:00 GMT", "Date": date}, time.Hour, minute},
		"by a clock behind":       {503, map[string]string{"Retry-After": "Fri, 27 Nov 2026 12:01:00 GMT", "Date": date}, -time.Hour, minute},
		"no clock":                {503, map[string]string{"Retry-After": "Fri, 27 Nov 2026 12:01:00 GMT", "Date": "now"}, 0, minute},
		"since 1970":              {503, map[string]string{"Retry-After": "1795780860", "Date": date}, time.Hour, minute},
		"a day":                   {503, map[string]string{"Retry-After": "86400"}, 0, 24 * time.Hour},
		"more than a day":         {503, map[string]string{"Retry-After": "86401"}, 0, 0},
		"a date in two days":      {503, map[string]string{"Retry-After": "Sun, 29 Nov 2026 12:01:00 GMT"}, 0, 0},
		"a date in the past":      {503, map[string]string{"Retry-After": "Fri, 27 Nov 2026 11:00:00 GMT"}, 0, 0},
		"milliseconds since 1970": {503, map[string]string{"Retry-After": "1795780860000"}, 0, 0},
		"far too many":            {503, map[string]string{"Retry-After": "99999999999999999999999"}, 0, 0},
		"junk":                    {503, map[string]string{"Retry-After": "soon"}, 0, 0},
		"RateLimit-Reset":         {429, map[string]string{"RateLimit-Reset": "60"}, 0, minute},
		"X-RateLimit-Reset":       {429, map[string]string{"X-RateLimit-Reset": "1795780860", "Date": date}, time.Hour, minute},
		"Retry-After first":       {429, map[string]string{"X-RateLimit-Reset": "3600", "Retry-After": "60"}, 0, minute},
		"not beside junk":         {429, map[string]string{"X-RateLimit-Reset": "60", "Retry-After": "soon"}, 0, minute},
		"not for 503":             {503, map[string]string{"RateLimit-Reset": "60", "X-RateLimit-Reset": "60"}, 0, 0},
	} {
		resp := &http.Response{StatusCode: test.status, Header: http.Header{}}
		for header, value := range test.header {
			resp.Header.Set(header, value)
		}
		if got, header := askedWait(resp, at.Add(test.skew)); got != test.want || (header == "") != (got == 0) {
			t.Errorf("%s: %s by %q, want %s", name, got, header, test.want)
		}
	}
}

// The waits double up to the longest one, and spread.
func TestBackoff(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, test := range []struct {
		retry  Retry
		bounds []time.Duration // longest wait after the first, the second, … attempt
	}{
		{DefaultRetry, []time.Duration{1000 * ms, 2000 * ms, 4000 * ms, 5000 * ms, 5000 * ms}},
		{Retry{MinBackoff: ms, MaxBackoff: 5 * ms}, []time.Duration{2 * ms, 4 * ms, 5 * ms, 5 * ms}},
		{Retry{MinBackoff: 5 * ms, MaxBackoff: ms}, []time.Duration{5 * ms, 5 * ms}}, // MinBackoff takes precedence
		{Retry{MinBackoff: math.MaxInt64, MaxBackoff: math.MaxInt64}, []time.Duration{math.MaxInt64, math.MaxInt64}},
	} {
		for i, bound := range test.bounds {
			shortest, middle, longest := test.retry.backoff(i+1, 0), test.retry.backoff(i+1, 0.5), test.retry.backoff(i+1, 1)
			if shortest != max(test.retry.MinBackoff, bound/2) || middle < shortest || middle > longest || longest != bound {
				t.Errorf("%+v after attempt %d: %s, %s, %s; want up to %s", test.retry, i+1, shortest, middle, longest, bound)
			}
		}
	}
}

// The documents name exactly the statuses that are retried.
func TestRetriedStatusesAreDocumented(t *testing.T) {
	t.Parallel()
	const rule = "408, 409, 423, 425, 429 and every 5xx but 501, 505 and 511"
	for document, want := range map[string]string{
		"../streams/INTERFACE.md": "after the statuses " + rule + ".",
		"../../README.md":         "the statuses " + rule + ".",
		"../config/schema.go":     "of the statuses " + rule + "; ",
	} {
		if text, err := os.ReadFile(document); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q: %v", document, want, err)
		}
	}
	for status := 100; status < 600; status++ {
		want := slices.Contains([]int{408, 409, 423, 425, 429}, status) || status >= 500 && status != 501 && status != 505 && status != 511
		if got := isRetryableStatus(status); got != want {
			t.Errorf("%d: %t", status, got)
		}
	}
}
