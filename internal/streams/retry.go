package streams

import (
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// retryableStatuses are those after which the same request may succeed later.
var retryableStatuses = []int{408, 429, 500, 502, 503, 504}

func isRetryableStatus(status int) bool { return slices.Contains(retryableStatuses, status) }

// isRetryableError reports whether an attempt without a response may succeed later: TLS settings and redirects stay.
func isRetryableError(err error) bool {
	if proxy := (*proxyError)(nil); errors.As(err, &proxy) {
		return isRetryableStatus(proxy.status)
	}
	return tlsFailure(err) == nil && !errors.Is(err, ErrNotSent) && !errors.As(err, new(*Error)) // a redirect
}

// backoff returns the wait after an attempt; the first attempt is number 1. Its upper bound doubles with each attempt.
// random, from 0 to 1, selects the wait from three quarters of the bound up to the bound, so that requests spread out.
func (r Retry) backoff(attempt int, random float64) time.Duration {
	bound := retryablehttp.DefaultBackoff(r.MinBackoff, r.MaxBackoff, attempt, nil)
	shortest := max(r.MinBackoff, bound/4*3)
	return shortest + time.Duration(random*float64(max(0, bound-shortest)))
}

// parseRetryAfter reads a Retry-After header, in seconds or as a date (RFC 9110, section 10.2.3).
func parseRetryAfter(value string, now time.Time) (wait time.Duration, ok bool) {
	seconds, err := strconv.ParseUint(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) { // out of range, seconds is the largest number
		return time.Duration(min(seconds, math.MaxInt64/uint64(time.Second))) * time.Second, true
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now)), true
	}
	return 0, false
}
