package streams

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, test := range []struct {
		retry  Retry
		bounds []time.Duration // the longest wait after the first, second, … attempt
	}{
		{DefaultRetry, []time.Duration{1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 16000 * ms, 30000 * ms, 30000 * ms}},
		{Retry{MinBackoff: ms, MaxBackoff: 5 * ms}, []time.Duration{2 * ms, 4 * ms, 5 * ms, 5 * ms}},
		{Retry{MinBackoff: ms, MaxBackoff: 4 * ms}, []time.Duration{2 * ms, 4 * ms, 4 * ms}},
		{Retry{MinBackoff: ms, MaxBackoff: ms}, []time.Duration{ms, ms}},
		{Retry{MinBackoff: 5 * ms, MaxBackoff: ms}, []time.Duration{5 * ms, 5 * ms}}, // the shortest wait is a promise
		{Retry{MinBackoff: 0, MaxBackoff: 0}, []time.Duration{0, 0}},
		{Retry{MinBackoff: 0, MaxBackoff: time.Second}, []time.Duration{0, 0}},
		{Retry{MinBackoff: 1 << 61, MaxBackoff: 1<<62 + 1<<61}, []time.Duration{1 << 62, 1<<62 + 1<<61, 1<<62 + 1<<61}},
		{Retry{MinBackoff: math.MaxInt64, MaxBackoff: math.MaxInt64}, []time.Duration{math.MaxInt64, math.MaxInt64}},
	} {
		for i, bound := range test.bounds {
			last := time.Duration(-1)
			for _, random := range []float64{0, 0.25, 0.5, 0.75, 1} {
				got := test.retry.backoff(i+1, random)
				if got < test.retry.MinBackoff || got > max(bound, test.retry.MinBackoff) || got < last {
					t.Errorf("%+v after attempt %d at %g: %s, want between %s and %s, no less than %s",
						test.retry, i+1, random, got, test.retry.MinBackoff, bound, last)
				}
				last = got
			}
			if last != bound {
				t.Errorf("%+v waits at most %s after attempt %d, want %s", test.retry, last, i+1, bound)
			}
		}
	}
	if got := DefaultRetry.backoff(math.MaxInt32, 1); got != DefaultRetry.MaxBackoff {
		t.Errorf("after very many attempts: %s", got)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for value, want := range map[string]struct {
		wait  time.Duration
		asked bool
	}{
		"0":                                 {0, true},
		"1":                                 {time.Second, true},
		" 120 ":                             {2 * time.Minute, true},
		"007":                               {7 * time.Second, true},
		"9223372036":                        {9223372036 * time.Second, true},
		"9223372037":                        {9223372036 * time.Second, true}, // as long as Go can wait
		"18446744073709551615":              {9223372036 * time.Second, true},
		"18446744073709551616":              {0, false},
		"Wed, 04 Mar 2026 05:06:17 GMT":     {10 * time.Second, true},
		"Wed, 04 Mar 2026 05:06:07 GMT":     {0, true},
		"Wed, 04 Mar 2026 05:06:06 GMT":     {0, true},
		"Thu, 01 Jan 1970 00:00:00 GMT":     {0, true},
		"Wednesday, 04-Mar-26 05:07:07 GMT": {time.Minute, true}, // the obsolete forms that RFC 9110 still demands
		"Wed Mar  4 06:06:07 2026":          {time.Hour, true},
		"Fri, 31 Dec 9999 23:59:59 GMT":     {math.MaxInt64, true},
		"":                                  {0, false},
		" ":                                 {0, false},
		"-1":                                {0, false},
		"+1":                                {0, false},
		"1.5":                               {0, false},
		"1e3":                               {0, false},
		"0x10":                              {0, false},
		"1_000":                             {0, false},
		"5s":                                {0, false},
		"1, 2":                              {0, false},
		"soon":                              {0, false},
		"2026-03-04T05:06:17Z":              {0, false},
		"Wed, 04 Mar 2026 05:06:17 +0100":   {0, false},
		"٥":                                 {0, false},
	} {
		if wait, asked := parseRetryAfter(value, now); wait != want.wait || asked != want.asked {
			t.Errorf("parseRetryAfter(%q) = %s, %t; want %s, %t", value, wait, asked, want.wait, want.asked)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{
		"0", "120", "-1", "18446744073709551615", "99999999999999999999", "Wed, 04 Mar 2026 05:06:17 GMT",
		"Wednesday, 04-Mar-26 05:07:07 GMT", "Wed Mar  4 06:06:07 2026", "Fri, 31 Dec 9999 23:59:59 GMT", "soon", "\xff",
	} {
		f.Add(value, int64(1772600767))
	}
	f.Add("Mon, 01 Jan 0001 00:00:00 GMT", int64(math.MaxInt64))
	f.Add("Fri, 31 Dec 9999 23:59:59 GMT", int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, value string, now int64) {
		wait, asked := parseRetryAfter(value, time.Unix(now, 0))
		if wait < 0 || !asked && wait != 0 {
			t.Errorf("parseRetryAfter(%q, %d) = %s, %t", value, now, wait, asked)
		}
	})
}

func TestIsRetryableError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"refused":              {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true},
		"reset":                {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, true},
		"no such host":         {&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}, true},
		"end of file":          {io.ErrUnexpectedEOF, true},
		"request timeout":      {ErrRequestTimeout, true},
		"local TLS alert":      {&net.OpError{Op: "local error", Err: errors.New("tls: bad record MAC")}, true},
		"remote TLS alert":     {&net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}, false},
		"our own error":        {&Error{}, false},
		"unknown authority":    {x509.UnknownAuthorityError{}, false},
		"other host":           {x509.HostnameError{Certificate: &x509.Certificate{}}, false},
		"expired":              {x509.CertificateInvalidError{Reason: x509.Expired}, false},
		"certificate":          {&tls.CertificateVerificationError{Err: errors.New("no")}, false},
		"no TLS there":         {tls.RecordHeaderError{}, false},
		"no TLS there by HTTP": {http.ErrSchemeMismatch, false},
	} {
		for _, err := range []error{test.err, fmt.Errorf("proxy: %w", test.err), &url.Error{Op: "Patch", Err: test.err}} {
			if got := isRetryableError(err); got != test.want {
				t.Errorf("%s (%T): %t", name, err, got)
			}
		}
	}
}

// script is a connection on which the n-th attempt takes the n-th step, and later ones the last.
type script struct {
	steps []func(*http.Request) (*http.Response, error)
	times []time.Time // of each attempt
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	s.times = append(s.times, time.Now())
	step := s.steps[min(len(s.times), len(s.steps))-1]
	return step(req)
}

// waits are the times between the attempts.
func (s *script) waits() []time.Duration {
	var waits []time.Duration
	for i := 1; i < len(s.times); i++ {
		waits = append(waits, s.times[i].Sub(s.times[i-1]))
	}
	return waits
}

func gotConnection(req *http.Request) {
	httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{})
}

func answers(status int, text string, header ...string) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		gotConnection(req)
		resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewBufferString(text)), Request: req}
		for i := 0; i < len(header); i += 2 {
			resp.Header.Add(header[i], header[i+1])
		}
		return resp, nil
	}
}

func fails(err error) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// silence takes the request and never answers.
func silence(req *http.Request) (*http.Response, error) {
	gotConnection(req)
	<-req.Context().Done()
	return nil, req.Context().Err()
}

const later = `{"message":"later"}`

var (
	success  = answers(200, body(map[string]string{"processor_ids": `["p1"]`}))
	unusable = answers(503, later)
	refused  = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
)

// play runs an update over a script, in the bubble's time.
func play(t *testing.T, cfg Config, limit time.Duration, steps ...func(*http.Request) (*http.Response, error)) (*script, *Error) {
	t.Helper()
	cfg.BaseURL = "https://host.example"
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{steps: steps}
	c.base = s
	ctx := t.Context()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	_, err = c.UpdateStream(ctx, "s1", NewProcessorSet("p1"))
	e := (*Error)(nil)
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%v (%T) is no *Error", err, err)
	}
	return s, e
}

func TestBackoffBetweenAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, e := play(t, Config{Retry: Retry{MaxAttempts: 7, MinBackoff: time.Second, MaxBackoff: 8 * time.Second}}, 0, unusable)
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

// Without configuration, what passes soon is sat out: five attempts, half a second to 16 s apart.
func TestDefaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, e := play(t, Config{}, 0, silence)
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

// The service knows best how long it will take, also beyond MaxBackoff.
func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		value  func(now time.Time) string
		want   time.Duration
	}{
		"seconds":             {503, func(time.Time) string { return "7" }, 7 * time.Second},
		"beyond the longest":  {429, func(time.Time) string { return "3600" }, time.Hour},
		"at once":             {429, func(time.Time) string { return "0" }, 0},
		"date":                {503, func(now time.Time) string { return now.Add(90 * time.Second).UTC().Format(http.TimeFormat) }, 90 * time.Second},
		"past date":           {503, func(now time.Time) string { return now.Add(-time.Hour).UTC().Format(http.TimeFormat) }, 0},
		"with a timeout":      {408, func(time.Time) string { return "2" }, 2 * time.Second},
		"with a server error": {500, func(time.Time) string { return "2" }, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, e := play(t, Config{Retry: Retry{MaxAttempts: 3, MinBackoff: 30 * time.Second, MaxBackoff: time.Minute}}, 0,
					answers(test.status, later, "Retry-After", test.value(time.Now())), success)
				if diff := cmp.Diff([]time.Duration{test.want}, s.waits()); e != nil || diff != "" {
					t.Errorf("error %v, waits (-want +got):\n%s", e, diff)
				}
			})
		})
	}
}

func TestRetryAfterGarbage(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "soon", "-1", "1.5", "\u0665"} {
		synctest.Test(t, func(t *testing.T) {
			s, e := play(t, Config{Retry: Retry{MaxAttempts: 2, MinBackoff: time.Second, MaxBackoff: time.Second}}, 0,
				answers(503, later, "Retry-After", value), success)
			if e != nil || len(s.waits()) != 1 || s.waits()[0] != time.Second {
				t.Errorf("Retry-After %q: error %v, waits %s", value, e, s.waits())
			}
		})
	}
}

// Nobody waits for an attempt that the operation's time limit does not allow any more.
func TestNoRoomForAnotherAttempt(t *testing.T) {
	t.Parallel()
	patient := Retry{MaxAttempts: 5, MinBackoff: time.Minute, MaxBackoff: time.Minute}
	for name, test := range map[string]struct {
		step   func(*http.Request) (*http.Response, error)
		kind   Kind
		status int
		said   string
		reason string
	}{
		"Retry-After": {answers(503, later, "Retry-After", "3600"), KindGeneric, 503, "later",
			"the service asked to wait 1h0m0s, which is longer than the operation's time limit allows"},
		"Retry-After as long as can be": {answers(429, later, "Retry-After", "18446744073709551615"), KindBadRequest, 429, "later",
			"the service asked to wait 2562047h47m16s, which is longer than the operation's time limit allows"},
		"backoff": {answers(502, later), KindBadGateway, 502, "later",
			"the operation's time limit leaves no time for another attempt"},
		"backoff after no answer": {fails(refused), KindGeneric, 0, "",
			"the connection failed: dial tcp: connect: connection refused; the operation's time limit leaves no time for another attempt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s, e := play(t, Config{Retry: patient}, 59*time.Second, test.step)
				if e == nil || len(s.times) != 1 || time.Since(start) != 0 {
					t.Fatalf("error %v after %d attempts and %s", e, len(s.times), time.Since(start))
				}
				if e.Kind != test.kind || e.Status != test.status || e.Message != test.said || e.Reason != test.reason || e.Attempts != 1 {
					t.Errorf("error %#v", e)
				}
			})
		})
	}
	// What just fits is waited for.
	synctest.Test(t, func(t *testing.T) {
		s, e := play(t, Config{Retry: patient}, time.Minute+time.Second, answers(503, later, "Retry-After", "60"), success)
		if e != nil || len(s.times) != 2 {
			t.Errorf("error %v after %d attempts", e, len(s.times))
		}
	})
}

// The last thing that the service said survives whatever comes after it.
func TestMessageSurvives(t *testing.T) {
	t.Parallel()
	once := Retry{MaxAttempts: 2, MinBackoff: time.Second, MaxBackoff: time.Second}
	cut := func(req *http.Request) (*http.Response, error) {
		gotConnection(req)
		return nil, io.ErrUnexpectedEOF
	}
	for name, test := range map[string]struct {
		limit  time.Duration
		steps  []func(*http.Request) (*http.Response, error)
		kind   Kind
		reason string
	}{
		"the last of two": {0, []func(*http.Request) (*http.Response, error){answers(502, `{"message":"first"}`), unusable}, KindGeneric, ""},
		"then no connection": {0, []func(*http.Request) (*http.Response, error){unusable, fails(refused)}, KindGeneric,
			"the connection failed: dial tcp: connect: connection refused"},
		"then a cut connection": {0, []func(*http.Request) (*http.Response, error){unusable, cut}, KindGeneric, "the connection failed: unexpected EOF"},
		"then no answer": {0, []func(*http.Request) (*http.Response, error){unusable, silence}, KindTimeout,
			"the service did not respond within 30s"},
		"then the end of the operation": {10 * time.Second, []func(*http.Request) (*http.Response, error){unusable, silence}, KindTimeout,
			"the operation did not finish within its time limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, e := play(t, Config{Retry: once}, test.limit, test.steps...)
				if e == nil || e.Kind != test.kind || e.Message != "later" || !e.Documented || e.Status != 503 || e.Attempts != 2 ||
					e.Outcome != Unknown || e.Reason != test.reason {
					t.Errorf("error %#v", e)
				}
			})
		})
	}
}

// An interruption ends a wait at once, and what was known before it is told.
func TestCancelDuringBackoff(t *testing.T) {
	t.Parallel()
	for name, header := range map[string][]string{"backoff": nil, "Retry-After": {"Retry-After", "3600"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, err := New(Config{BaseURL: "https://host.example", Retry: Retry{MaxAttempts: 5, MinBackoff: time.Hour, MaxBackoff: time.Hour}})
				if err != nil {
					t.Fatal(err)
				}
				c.base = &script{steps: []func(*http.Request) (*http.Response, error){answers(503, later, header...)}}
				ctx, cancel := context.WithCancel(t.Context())
				start, done := time.Now(), make(chan error, 1)
				go func() {
					_, err := c.UpdateStream(ctx, "s1", NewProcessorSet("p1"))
					done <- err
				}()
				synctest.Wait() // until it waits
				cancel()
				e := (*Error)(nil)
				if err := <-done; !errors.As(err, &e) || !errors.Is(err, context.Canceled) || e.Reason != "the operation was interrupted" ||
					e.Message != "later" || e.Attempts != 1 || e.Outcome != Unknown {
					t.Errorf("error %#v", err)
				}
				if time.Since(start) != 0 {
					t.Errorf("it took %s", time.Since(start))
				}
			})
		})
	}
}

// A time limit of the network's own is no limit of the operation's.
func TestNetworkTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dial := &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded} // so says Is of a dialer's own error
		if _, e := play(t, Config{}, 0, fails(dial)); e == nil || e.Kind != KindTimeout || e.Attempts != 5 || e.Outcome != NotChanged ||
			strings.Contains(e.Reason, "operation") {
			t.Errorf("error %#v", e)
		}
		if _, e := play(t, Config{}, 0, fails(os.ErrDeadlineExceeded)); e == nil || e.Kind != KindTimeout || e.Reason != "the connection failed: i/o timeout" {
			t.Errorf("error %#v", e)
		}
	})
}

// The outcome counts from when the request may have left.
func TestOutcomeOfFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	for name, test := range map[string]struct {
		steps []func(*http.Request) (*http.Response, error)
		want  Outcome
	}{
		"no connection": {[]func(*http.Request) (*http.Response, error){fails(refused)}, NotChanged},
		"no answer": {[]func(*http.Request) (*http.Response, error){func(req *http.Request) (*http.Response, error) {
			gotConnection(req)
			return nil, broken
		}}, Unknown},
		"no answer, then no connection": {[]func(*http.Request) (*http.Response, error){func(req *http.Request) (*http.Response, error) {
			gotConnection(req)
			return nil, broken
		}, fails(refused)}, Unknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			if _, e := play(t, Config{}, 0, test.steps...); e == nil || e.Outcome != test.want {
				t.Errorf("%s: %#v, want outcome %d", name, e, test.want)
			}
		})
	}
}

// The limit counts attempts, so that retries do not go around it; none waits in vain for its turn.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	eager := Retry{MaxAttempts: 5, MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond}
	synctest.Test(t, func(t *testing.T) {
		s, e := play(t, Config{RequestsPerSecond: 2, Retry: eager}, 0, unusable)
		if e == nil || e.Attempts != 5 {
			t.Fatalf("error %#v", e)
		}
		for _, wait := range s.waits() {
			if wait < 499*time.Millisecond || wait > 501*time.Millisecond {
				t.Errorf("waits %s, want half a second each", s.waits())
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s, e := play(t, Config{RequestsPerSecond: 0.01, Retry: eager}, 10*time.Second, unusable)
		if e == nil || e.Kind != KindTimeout || e.Attempts != 1 || len(s.times) != 1 || e.Message != "later" || e.Outcome != Unknown ||
			e.Reason != "the operation's time limit ends before the limit of requests per second allows another request" || time.Since(start) > time.Millisecond {
			t.Errorf("after %s: %#v", time.Since(start), e)
		}
	})
	// The time limit of an attempt begins with its turn.
	synctest.Test(t, func(t *testing.T) {
		s, e := play(t, Config{RequestsPerSecond: 0.1, RequestTimeout: time.Second, Retry: eager}, 0, unusable, unusable, success)
		if e != nil || len(s.times) != 3 {
			t.Errorf("error %#v after %d attempts", e, len(s.times))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{BaseURL: "https://host.example", RequestsPerSecond: 0.001, Retry: eager})
		if err != nil {
			t.Fatal(err)
		}
		c.base = &script{steps: []func(*http.Request) (*http.Response, error){success}}
		if _, err := c.UpdateStream(t.Context(), "s1", NewProcessorSet("p1")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := c.UpdateStream(ctx, "s1", NewProcessorSet("p1"))
			done <- err
		}()
		synctest.Wait()
		cancel()
		e := (*Error)(nil)
		if err := <-done; !errors.As(err, &e) || !errors.Is(err, context.Canceled) || e.Attempts != 0 || e.Outcome != NotChanged {
			t.Errorf("error %#v", err)
		}
	})
}

// With TLS 1.3 a client has sent its request before it hears that its certificate is refused. Of a new
// connection, the service has not read it then; of an old one, nobody knows.
func TestOutcomeOfARefusedCertificate(t *testing.T) {
	t.Parallel()
	alert := &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}
	for name, test := range map[string]struct {
		reused bool
		err    error
		want   Outcome
	}{
		"new connection, alert": {false, alert, NotChanged},
		"old connection, alert": {true, alert, Unknown},
		"new connection, cut":   {false, io.ErrUnexpectedEOF, Unknown},
	} {
		_, e := play(t, Config{Retry: Retry{MaxAttempts: 1}}, 0, func(req *http.Request) (*http.Response, error) {
			httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{Reused: test.reused})
			return nil, test.err
		})
		if e == nil || e.Outcome != test.want {
			t.Errorf("%s: error %#v, want outcome %d", name, e, test.want)
		}
	}
}
