package requests

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// response returns an attempt that ends in a response, after a second.
func response(status int, header ...string) attempt {
	a := attempt{status: status, head: http.Header{}, ended: time.Time{}.Add(time.Second), began: time.Time{}}
	for i := 0; i < len(header); i += 2 {
		a.head.Set(header[i], header[i+1])
	}
	return a
}

// failure returns an attempt that ends in an error.
func failure(err error) attempt { return attempt{err: err} }

// What follows attempts, with the longest waits. The attempts but the first one take a second each.
func TestDecide(t *testing.T) {
	t.Parallel()
	const seconds, inFuture = time.Second, time.Hour
	counted := Retry{MaxAttempts: 3, MinBackoff: 500 * time.Millisecond, MaxBackoff: 5 * time.Second}
	second := func(a attempt) attempt { a.secondTry = true; return a }
	waiting := func(backoff time.Duration, a attempt) attempt { a.backoff = backoff; return a }
	taking := func(took time.Duration, a attempt) attempt { a.ended = a.began.Add(took); return a }
	beside := func(a attempt) attempt { a.beside = true; return a }
	whileAll := func(c condition, a attempt) attempt { a.health.condition = c; return a }
	forToken := func(a attempt) attempt { a.forToken = true; return a }
	unavailable, rejected, silence := response(503), response(401), failure(ErrRequestTimeout)
	again := step{ending: goesOn, backoff: seconds}
	short := func(wait int) step {
		return step{ending: goesOn, backoff: time.Duration(wait) * seconds, short: true}
	}
	beShort := func(a attempt) attempt { a.short = true; return a }
	for name, test := range map[string]struct {
		attempts []attempt
		retry    Retry         // the zero value means DefaultRetry
		limit    time.Duration // from now on; 0: none
		ended    bool
		want     step          // without due
		wait     time.Duration // until it
	}{
		"success":         {attempts: []attempt{response(200)}},
		"rejected update": {attempts: []attempt{response(422)}},
		"TLS":             {attempts: []attempt{failure(errors.New("tls: no certificate"))}},
		"unsent":          {attempts: []attempt{failure(transport.ErrNotSent)}},
		"proxy":           {attempts: []attempt{failure(&transport.ProxyError{Status: 407})}},

		"503": {attempts: []attempt{unavailable}, want: step{ending: goesOn, backoff: seconds}, wait: seconds},
		"503 again": {attempts: []attempt{unavailable, unavailable},
			want: step{ending: goesOn, backoff: 2 * seconds}, wait: 2 * seconds},
		"reset":              {attempts: []attempt{failure(io.EOF)}, want: again, wait: seconds},
		"a proxy's fault":    {attempts: []attempt{failure(&transport.ProxyError{Status: 502})}, want: again, wait: seconds},
		"409":                {attempts: []attempt{response(409)}, want: again, wait: seconds},
		"incomplete success": {attempts: []attempt{{status: 200, err: ErrIncomplete}}, want: again, wait: seconds},
		"incomplete 422":     {attempts: []attempt{{status: 422, err: ErrIncomplete}}},
		"503, ended":         {attempts: []attempt{unavailable}, ended: true, want: step{ending: interrupted}},
		"no time":            {attempts: []attempt{response(409)}, limit: seconds / 2, want: step{ending: noTime}},
		"just in time":       {attempts: []attempt{response(409)}, limit: seconds, want: again, wait: seconds},
		"others have failed": {attempts: []attempt{whileAll(failing, unavailable)}, want: step{ending: repeated}},
		"nothing responds":   {attempts: []attempt{whileAll(silent, failure(ErrRequestTimeout))}, want: step{ending: repeated}},
		"Retry-After": {attempts: []attempt{response(409, "Retry-After", "60")},
			want: step{ending: goesOn, backoff: seconds, askedBy: "Retry-After: 60"}, wait: 60 * seconds},
		"shorter Retry-After": {attempts: []attempt{response(409, "Retry-After", "1")}, want: again, wait: seconds},
		"Retry-After, no time": {attempts: []attempt{response(409, "Retry-After", "60")}, limit: 59 * seconds,
			want: step{ending: noTime, askedBy: "Retry-After: 60"}},
		"RateLimit-Reset": {attempts: []attempt{response(429, "RateLimit-Reset", "7")},
			want: step{ending: goesOn, backoff: seconds, askedBy: "RateLimit-Reset: 7"}, wait: 7 * seconds},
		"a long first attempt":  {attempts: []attempt{taking(inFuture, response(409))}, want: again, wait: seconds},
		"a long second attempt": {attempts: []attempt{response(409), taking(22*seconds, response(409))}, want: step{ending: outOfPatience}},
		"the rest": {attempts: []attempt{response(409), taking(21*seconds, response(409))},
			want: step{ending: goesOn, backoff: seconds}, wait: seconds},
		"its own waits": {attempts: []attempt{response(409), waiting(21*seconds, response(409))}, want: step{ending: outOfPatience}},
		"after a rejection": {attempts: []attempt{rejected, second(taking(inFuture, response(409)))},
			want: step{ending: goesOn, backoff: 2 * seconds}, wait: 2 * seconds},
		"others succeed, 503": {attempts: []attempt{response(409), beside(taking(22*seconds, unavailable))},
			want: step{ending: goesOn, backoff: 2 * seconds}, wait: 2 * seconds},
		"others succeed, 423": {attempts: []attempt{response(409), beside(taking(22*seconds, response(423)))},
			want: step{ending: goesOn, backoff: 2 * seconds}, wait: 2 * seconds},
		"others succeed, 425": {attempts: []attempt{response(409), beside(taking(22*seconds, response(425)))},
			want: step{ending: goesOn, backoff: 2 * seconds}, wait: 2 * seconds},
		"others succeed, 429": {attempts: []attempt{response(409), beside(taking(22*seconds, response(429)))},
			want: step{ending: goesOn, backoff: 2 * seconds}, wait: 2 * seconds},
		"others succeed, 500": {attempts: []attempt{response(409), beside(taking(22*seconds, response(500)))},
			want: step{ending: outOfPatience}},
		"others succeed soon": {attempts: []attempt{response(409), taking(11*seconds, response(409)), beside(taking(11*seconds, response(409)))},
			want: step{ending: goesOn, backoff: 4 * seconds}, wait: 4 * seconds},
		"others succeed between": {
			attempts: []attempt{
				response(409), taking(11*seconds, response(409)), beside(taking(11*seconds, response(409))), taking(12*seconds, response(409)),
			},
			want: step{ending: goesOn, backoff: 5 * seconds}, wait: 5 * seconds,
		},
		"others succeed late": {attempts: []attempt{response(409), taking(12*seconds, response(409)), beside(taking(10*seconds, response(409)))},
			want: step{ending: outOfPatience}},
		"others succeeded early": {attempts: []attempt{beside(response(409)), taking(22*seconds, unavailable)},
			want: step{ending: outOfPatience}},

		"silence":                  {attempts: []attempt{taking(30*seconds, silence)}, want: again, wait: seconds},
		"silence beside others":    {attempts: []attempt{beside(taking(30*seconds, silence))}, want: short(1), wait: seconds},
		"silence, out of patience": {attempts: []attempt{silence, taking(30*seconds, silence)}, want: step{ending: outOfPatience}},
		"the third beside others": {attempts: []attempt{silence, silence, beside(taking(22*seconds, silence))},
			want: short(4), wait: 4 * seconds},
		"the fourth beside others": {attempts: []attempt{silence, silence, silence, beside(taking(22*seconds, silence))},
			want: step{ending: goesOn, backoff: 5 * seconds}, wait: 5 * seconds},
		"the fifth beside others": {attempts: []attempt{silence, silence, silence, silence, beside(taking(22*seconds, silence))},
			want: step{ending: outOfPatience}},
		"a short one, out of patience": {attempts: []attempt{silence, beShort(taking(22*seconds, silence))},
			want: step{ending: goesOn, backoff: 2 * seconds}, wait: 2 * seconds},
		"the fifth, short": {attempts: []attempt{silence, silence, silence, silence, beShort(taking(22*seconds, silence))},
			want: step{ending: outOfPatience}},
		"silence, others fail": {attempts: []attempt{silence, whileAll(silent, beside(taking(22*seconds, silence)))},
			want: step{ending: repeated}},
		"a response after silence": {attempts: []attempt{silence, beside(taking(22*seconds, response(500)))},
			want: step{ending: outOfPatience}},
		"counted, silence": {attempts: []attempt{beside(silence)}, retry: counted, want: short(1), wait: seconds},
		"counted, the last silence": {attempts: []attempt{silence, beside(silence)}, retry: counted,
			want: step{ending: goesOn, backoff: 2 * seconds}, wait: 2 * seconds},
		"counted, used up in silence": {attempts: []attempt{silence, silence, beside(silence)}, retry: counted,
			want: step{ending: outOfAttempts}},
		"silence, no time": {attempts: []attempt{beside(silence)}, limit: seconds / 2, want: step{ending: noTime}},

		"counted": {attempts: []attempt{response(409), taking(inFuture, response(409))}, retry: counted,
			want: step{ending: goesOn, backoff: 2 * seconds}, wait: 2 * seconds},
		"counted, used up": {attempts: []attempt{response(409), response(409), response(409)}, retry: counted,
			want: step{ending: outOfAttempts}},
		"counted, others succeed": {attempts: []attempt{response(409), response(409), beside(response(429))}, retry: counted,
			want: step{ending: outOfAttempts}},

		"401":              {attempts: []attempt{rejected}, want: step{ending: goesOn, secondTry: true}, wait: seconds},
		"401 again":        {attempts: []attempt{rejected, second(rejected)}},
		"503, 401":         {attempts: []attempt{unavailable, rejected}, want: step{ending: goesOn, secondTry: true}, wait: seconds},
		"401, 503, 401":    {attempts: []attempt{rejected, second(unavailable), rejected}},
		"401, no time":     {attempts: []attempt{rejected}, limit: seconds / 2},
		"401, ended":       {attempts: []attempt{rejected}, ended: true},
		"401, others fail": {attempts: []attempt{whileAll(failing, rejected)}, want: step{ending: goesOn, secondTry: true}, wait: seconds},
		"401, one attempt": {attempts: []attempt{rejected}, retry: Retry{MaxAttempts: 1}},
		"401, two attempts": {attempts: []attempt{rejected}, retry: Retry{MaxAttempts: 2},
			want: step{ending: goesOn, secondTry: true}, wait: seconds},
		"401 of a token endpoint": {attempts: []attempt{forToken(rejected)}},
	} {
		start := time.Now()
		now := start
		for i := range test.attempts { // each begins at once
			a := &test.attempts[i]
			took := a.ended.Sub(a.began)
			if now = now.Add(took); i == 0 {
				took = max(took, 1)
			}
			a.began, a.ended = now.Add(-took), now
		}
		limit := timeLimit{ended: test.ended}
		if test.limit > 0 {
			limit.deadline = now.Add(test.limit)
		}
		if test.retry == (Retry{}) {
			test.retry = DefaultRetry
		}
		got := decide(test.attempts, test.retry, limit, now, 1)
		if got.ending == goesOn && got.due.Sub(now) != test.wait {
			t.Errorf("%s: a wait of %s, want %s", name, got.due.Sub(now), test.wait)
		}
		if got.due = (time.Time{}); got.ending != goesOn { // what would follow does not matter
			got.backoff, got.short = 0, false
		}
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// What follows attempts that take no time, one after the other, with the longest waits.
func TestWaits(t *testing.T) {
	t.Parallel()
	const seconds = time.Second
	counted := DefaultRetry
	counted.MaxAttempts = 4
	for name, test := range map[string]struct {
		retry  Retry
		limit  time.Duration // of the operation; 0: none
		fails  attempt
		others bool  // succeed beside it
		waits  []int // in milliseconds
		ending ending
	}{
		"the last attempt comes at the end": {retry: DefaultRetry, waits: []int{1000, 2000, 4000, 5000, 5000, 5000}, ending: outOfPatience},
		"the wait is cut": {retry: Retry{MinBackoff: seconds, MaxBackoff: 15 * seconds}, waits: []int{2000, 4000, 8000, 8000},
			ending: outOfPatience},
		"not below the shortest wait": {retry: Retry{MinBackoff: 20 * seconds, MaxBackoff: 20 * seconds}, waits: []int{20_000, 20_000},
			ending: outOfPatience},
		"a longer wait costs the own one": {retry: DefaultRetry, fails: response(503, "Retry-After", "10"),
			waits: []int{10_000, 10_000, 10_000, 10_000, 10_000, 10_000}, ending: outOfPatience},
		"a shorter wait": {retry: DefaultRetry, fails: response(503, "Retry-After", "3"),
			waits: []int{3000, 3000, 4000, 5000, 5000, 5000}, ending: outOfPatience},
		"no wait": {retry: DefaultRetry, fails: response(503, "Retry-After", "0"),
			waits: []int{1000, 2000, 4000, 5000, 5000, 5000}, ending: outOfPatience},
		"429": {retry: DefaultRetry, fails: response(429), waits: []int{1000, 2000, 4000, 5000, 5000, 5000},
			ending: outOfPatience},
		"429 beside others": {retry: DefaultRetry, limit: 35 * seconds, fails: response(429), others: true,
			waits: []int{1000, 2000, 4000, 5000, 5000, 5000, 5000, 5000}, ending: noTime},
		"503 beside others": {retry: DefaultRetry, limit: 35 * seconds, fails: response(503), others: true,
			waits: []int{1000, 2000, 4000, 5000, 5000, 5000, 5000, 5000}, ending: noTime},
		"500 beside others": {retry: DefaultRetry, fails: response(500), others: true, waits: []int{1000, 2000, 4000, 5000, 5000, 5000},
			ending: outOfPatience},
		"counted": {retry: counted, waits: []int{1000, 2000, 4000}, ending: outOfAttempts},
		"counted, a longer wait": {retry: counted, fails: response(503, "Retry-After", "60"), waits: []int{60_000, 60_000, 60_000},
			ending: outOfAttempts},
		"counted, a shorter wait": {retry: counted, fails: response(503, "Retry-After", "3"), waits: []int{3000, 3000, 4000},
			ending: outOfAttempts},
		"no time": {retry: DefaultRetry, limit: 4 * seconds, waits: []int{1000, 2000}, ending: noTime},
	} {
		now := time.Now()
		limit := timeLimit{}
		if test.limit > 0 {
			limit.deadline = now.Add(test.limit)
		}
		if test.fails.status == 0 {
			test.fails.err = io.EOF
		}
		var attempts []attempt
		next := step{ending: goesOn}
		for n := 0; next.ending == goesOn; n++ {
			a := test.fails
			a.began, a.ended, a.backoff = now, now, next.backoff
			a.beside = test.others
			attempts = append(attempts, a)
			next = decide(attempts, test.retry, limit, now, 1)
			wait := next.due.Sub(now)
			if n == len(test.waits) {
				if next.ending != test.ending {
					t.Errorf("%s, after attempt %d: %d, want %d", name, n+1, next.ending, test.ending)
				}
				break
			}
			if next.ending != goesOn || wait != time.Duration(test.waits[n])*time.Millisecond {
				t.Errorf("%s, after attempt %d: %d, a wait of %s; want %d ms", name, n+1, next.ending, wait, test.waits[n])
				break
			}
			now = next.due
		}
	}
}

// A delivery shows that the endpoint fails if it has used up its patience or its attempts, and nothing was taken since its first failure.
func TestShowsOutage(t *testing.T) {
	t.Parallel()
	const seconds = time.Second
	for name, test := range map[string]struct {
		attempts []attempt // each one ends a number of seconds after the start
		end      ending
		at       time.Duration
		want     condition
	}{
		"nothing was sent":      {nil, final, 30 * seconds, working},
		"success":               {[]attempt{endsAt(0, response(503)), endsAt(30, response(200))}, final, 30 * seconds, working},
		"rejection":             {[]attempt{endsAt(0, response(503)), endsAt(30, response(401))}, final, 30 * seconds, working},
		"patience":              {[]attempt{endsAt(0, response(503)), endsAt(22, response(503))}, outOfPatience, 22 * seconds, failing},
		"attempts":              {[]attempt{endsAt(0, response(503)), endsAt(1, response(503))}, outOfAttempts, seconds, failing},
		"its time limit":        {[]attempt{endsAt(0, response(503)), endsAt(1, response(503))}, noTime, seconds, working},
		"its time limit, later": {[]attempt{endsAt(0, response(503)), endsAt(60, response(503))}, noTime, 60 * seconds, failing},
		"in a wait":             {[]attempt{endsAt(0, response(503))}, goesOn, 22 * seconds, failing},
		"in a shorter wait":     {[]attempt{endsAt(0, response(503))}, goesOn, 21 * seconds, working},
		"a long first attempt":  {[]attempt{endsAt(30, response(503))}, goesOn, 31 * seconds, working},
		"after a rejection": {[]attempt{endsAt(0, response(401)), endsAt(10, response(503)), endsAt(31, response(503))}, noTime,
			31 * seconds, working},
		"conflicts":          {[]attempt{endsAt(0, response(409)), endsAt(22, response(409))}, outOfPatience, 22 * seconds, failing},
		"others have failed": {[]attempt{endsAt(0, response(503))}, repeated, 0, working},
		"no responses": {[]attempt{endsAt(0, failure(ErrRequestTimeout)), endsAt(31, failure(ErrRequestTimeout))}, outOfPatience,
			31 * seconds, silent},
		"no connection": {[]attempt{endsAt(0, failure(transport.ErrNoConnection)), endsAt(31, failure(transport.ErrNoConnection))},
			outOfPatience, 31 * seconds, silent},
		"no response in the end": {[]attempt{endsAt(0, response(503)), endsAt(31, failure(ErrRequestTimeout))}, outOfPatience, 31 * seconds,
			silent},
		"a response in the end": {[]attempt{endsAt(0, failure(ErrRequestTimeout)), endsAt(31, response(503))}, outOfPatience, 31 * seconds,
			failing},
		"broken connections": {[]attempt{endsAt(0, failure(io.EOF)), endsAt(22, failure(io.EOF))}, outOfPatience, 22 * seconds, failing},
		"an interrupt": {[]attempt{endsAt(0, response(503)), endsAt(30, failure(context.Canceled))}, interrupted, 30 * seconds,
			failing},
	} {
		for i := range test.attempts {
			test.attempts[i].health.taken = 7 + i
		}
		taken, got := showsOutage(test.attempts, test.end, time.Time{}.Add(test.at))
		if first := slices.IndexFunc(test.attempts, attempt.failedForNow); got != test.want || got != working && taken != 7+first {
			t.Errorf("%s: %d, with %d taken", name, got, taken)
		}
	}
}

// endsAt returns an attempt that ends a number of seconds after the start.
func endsAt(seconds int, a attempt) attempt {
	a.ended = time.Time{}.Add(time.Duration(seconds) * time.Second)
	return a
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
		"seconds":                  {503, map[string]string{"Retry-After": "60"}, 0, minute},
		"a date":                   {503, map[string]string{"Retry-After": "Fri, 27 Nov 2026 12:01:00 GMT"}, 0, minute},
		"an obsolete date":         {503, map[string]string{"Retry-After": "Friday, 27-Nov-26 12:01:00 GMT"}, 0, minute},
		"by another clock":         {503, map[string]string{"Retry-After": "Fri, 27 Nov 2026 12:01:00 GMT", "Date": date}, time.Hour, minute},
		"by a clock behind":        {503, map[string]string{"Retry-After": "Fri, 27 Nov 2026 12:01:00 GMT", "Date": date}, -time.Hour, minute},
		"no clock":                 {503, map[string]string{"Retry-After": "Fri, 27 Nov 2026 12:01:00 GMT", "Date": "now"}, 0, minute},
		"a day":                    {503, map[string]string{"Retry-After": "86400"}, 0, 24 * time.Hour},
		"more than a day":          {503, map[string]string{"Retry-After": "86401"}, 0, 0},
		"a date in two days":       {503, map[string]string{"Retry-After": "Sun, 29 Nov 2026 12:01:00 GMT"}, 0, 0},
		"a date in the past":       {503, map[string]string{"Retry-After": "Fri, 27 Nov 2026 11:00:00 GMT"}, 0, 0},
		"milliseconds since 1970":  {503, map[string]string{"Retry-After": "1795780860000"}, 0, 0},
		"far too many":             {503, map[string]string{"Retry-After": "99999999999999999999999"}, 0, 0},
		"junk":                     {503, map[string]string{"Retry-After": "soon"}, 0, 0},
		"RateLimit-Reset":          {429, map[string]string{"RateLimit-Reset": "60"}, 0, minute},
		"an older name":            {429, map[string]string{"X-RateLimit-Reset": "60"}, 0, minute},
		"the end of a limit":       {429, map[string]string{"X-RateLimit-Reset": "1795780860", "Date": date}, time.Hour, minute},
		"the end, by the standard": {429, map[string]string{"RateLimit-Reset": "1795780860", "Date": date}, 0, minute},
		"a day, for a limit":       {429, map[string]string{"X-RateLimit-Reset": "86400"}, 0, 24 * time.Hour},
		"an end in the past":       {429, map[string]string{"X-RateLimit-Reset": "1795780740", "Date": date}, 0, 0},
		"an end in two days":       {429, map[string]string{"X-RateLimit-Reset": "1795953600", "Date": date}, 0, 0},
		"both names":               {429, map[string]string{"X-RateLimit-Reset": "3600", "RateLimit-Reset": "60"}, 0, minute},
		"an end in milliseconds":   {429, map[string]string{"X-RateLimit-Reset": "1795780860000", "Date": date}, 0, 0},
		"not an end":               {429, map[string]string{"Retry-After": "1795780860", "Date": date}, 0, 0},
		"Retry-After first":        {429, map[string]string{"RateLimit-Reset": "3600", "Retry-After": "60"}, 0, minute},
		"beside junk":              {429, map[string]string{"RateLimit-Reset": "60", "Retry-After": "soon"}, 0, minute},
		"since 1970":               {503, map[string]string{"Retry-After": "1795780860", "Date": date}, 0, 0},
		"not for 503":              {503, map[string]string{"RateLimit-Reset": "60"}, 0, 0},
	} {
		head := http.Header{}
		for header, value := range test.header {
			head.Set(header, value)
		}
		if got, header := askedWait(test.status, head, at.Add(test.skew)); got != test.want || (header == "") != (got == 0) {
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
		"../../docs/index.md":     "of the statuses " + rule + "; ",
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
