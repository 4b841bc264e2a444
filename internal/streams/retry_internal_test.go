package streams

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, test := range []struct {
		retry  Retry
		bounds []time.Duration // longest wait after the first, the second, … attempt
	}{
		{DefaultRetry, []time.Duration{1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 16000 * ms, 30000 * ms, 30000 * ms}},
		{Retry{MinBackoff: ms, MaxBackoff: 5 * ms}, []time.Duration{2 * ms, 4 * ms, 5 * ms, 5 * ms}},
		{Retry{MinBackoff: ms, MaxBackoff: 4 * ms}, []time.Duration{2 * ms, 4 * ms, 4 * ms}},
		{Retry{MinBackoff: ms, MaxBackoff: ms}, []time.Duration{ms, ms}},
		{Retry{MinBackoff: 5 * ms, MaxBackoff: ms}, []time.Duration{5 * ms, 5 * ms}}, // MinBackoff takes precedence
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

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for value, want := range map[string]struct {
		wait time.Duration
		ok   bool
	}{
		"0":                                 {0, true},
		"1":                                 {time.Second, true},
		" 120 ":                             {2 * time.Minute, true},
		"007":                               {7 * time.Second, true},
		"9223372036":                        {9223372036 * time.Second, true},
		"9223372037":                        {9223372036 * time.Second, true}, // the longest time.Duration
		"18446744073709551615":              {9223372036 * time.Second, true},
		"18446744073709551616":              {9223372036 * time.Second, true}, // beyond 64 bits
		"99999999999999999999999999999":     {9223372036 * time.Second, true},
		"-99999999999999999999999999999":    {0, false},
		"Wed, 04 Mar 2026 05:06:17 GMT":     {10 * time.Second, true},
		"Wed, 04 Mar 2026 05:06:07 GMT":     {0, true},
		"Wed, 04 Mar 2026 05:06:06 GMT":     {0, true},
		"Thu, 01 Jan 1970 00:00:00 GMT":     {0, true},
		"Wednesday, 04-Mar-26 05:07:07 GMT": {time.Minute, true}, // RFC 9110 requires the obsolete forms, too
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
		if wait, ok := parseRetryAfter(value, now); wait != want.wait || ok != want.ok {
			t.Errorf("parseRetryAfter(%q) = %s, %t; want %s, %t", value, wait, ok, want.wait, want.ok)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, value := range []string{
		"0", "120", "-1", "18446744073709551615", "99999999999999999999", "Wed, 04 Mar 2026 05:06:17 GMT",
		"Wednesday, 04-Mar-26 05:07:07 GMT", "Wed Mar  4 06:06:07 2026", "Fri, 31 Dec 9999 23:59:59 GMT", "soon", "\xff",
	} {
		f.Add(value, int64(1772600767))
	}
	f.Add("Mon, 01 Jan 0001 00:00:00 GMT", int64(math.MaxInt64))
	f.Add("Fri, 31 Dec 9999 23:59:59 GMT", int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, value string, now int64) {
		wait, ok := parseRetryAfter(value, time.Unix(now, 0))
		if wait < 0 || !ok && wait != 0 {
			t.Errorf("parseRetryAfter(%q, %d) = %s, %t", value, now, wait, ok)
		}
	})
}

func TestIsRetryableError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"refused":             {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true},
		"reset":               {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, true},
		"no such host":        {&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}, true},
		"end of file":         {io.ErrUnexpectedEOF, true},
		"request timeout":     {ErrRequestTimeout, true},
		"local TLS alert":     {&net.OpError{Op: "local error", Err: errors.New("tls: bad record MAC")}, true},
		"remote TLS alert":    {&net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}, false},
		"error of the client": {&Error{}, false},
		"unknown authority":   {x509.UnknownAuthorityError{}, false},
		"other host":          {x509.HostnameError{Certificate: &x509.Certificate{}}, false},
		"expired":             {x509.CertificateInvalidError{Reason: x509.Expired}, false},
		"certificate":         {&tls.CertificateVerificationError{Err: errors.New("no")}, false},
		"response is not TLS": {tls.RecordHeaderError{}, false},
		"response is HTTP":    {http.ErrSchemeMismatch, false},
	} {
		for _, err := range []error{test.err, fmt.Errorf("proxy: %w", test.err), &url.Error{Op: "Patch", Err: test.err}} {
			if got := isRetryableError(err); got != test.want {
				t.Errorf("%s (%T): %t", name, err, got)
			}
		}
	}
}
