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

// Retry limits the attempts of one request and the waits between them. An update can always be
// repeated, because sending the whole set twice has the same effect as sending it once.
type Retry struct {
	MaxAttempts int           // 1 means no retry; 0 means DefaultAttempts
	MinBackoff  time.Duration // shortest wait, unless the service asks for another
	MaxBackoff  time.Duration // longest wait, unless the service asks for another
}

// DefaultRetry is used if [Config] has no Retry. DefaultAttempts take longer than an outage of DefaultPatience.
// They are fewer if no connection can be made and nothing has worked yet, and if attempts without a response take long.
var DefaultRetry = Retry{MinBackoff: 500 * time.Millisecond, MaxBackoff: 30 * time.Second}

const (
	DefaultAttempts = 6
	DefaultPatience = 20 * time.Second
)

// retryableStatuses are those after which the same request may succeed later.
var retryableStatuses = []int{408, 429, 500, 502, 503, 504}

func isRetryableStatus(status int) bool { return slices.Contains(retryableStatuses, status) }

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
