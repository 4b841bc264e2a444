package streams

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Retry limits the attempts of one request and the waits between them. An update can always be
// repeated, because sending the whole set twice has the same effect as sending it once.
type Retry struct {
	MaxAttempts int           // at least 1; 1 means no retry
	MinBackoff  time.Duration // shortest wait, unless the service asks for another
	MaxBackoff  time.Duration // longest wait, unless the service asks for another
}

// DefaultRetry is used if [Config] has no Retry.
var DefaultRetry = Retry{MaxAttempts: 5, MinBackoff: 500 * time.Millisecond, MaxBackoff: 30 * time.Second}

// checkRetry decides after an attempt whether another one follows. Both go to the log.
func (r *request) checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	r.due = time.Time{}
	if r.attempt == nil {
		return false, nil
	}
	if err == nil && isRetryableStatus(resp.StatusCode) || err != nil && isRetryableError(err) {
		r.planRetry(ctx, resp, err)
	}
	if observe := r.client.settings.Observe; observe != nil {
		observe(ctx, *r.attempt)
	}
	return r.attempt.Retry, nil
}

// planRetry notes whether another attempt follows one that failed for the moment, and when.
func (r *request) planRetry(ctx context.Context, resp *http.Response, err error) {
	retryAfter, now := "", time.Now()
	if err == nil {
		retryAfter = resp.Header.Get("Retry-After")
	}
	wait, requested := parseRetryAfter(retryAfter, now)
	if !requested {
		wait = r.client.settings.Retry.backoff(r.draft.Attempts, rand.Float64())
	}
	r.due = now.Add(wait)
	deadline, limited := ctx.Deadline()
	tooLong := limited && deadline.Before(r.due) // to wait until the deadline would only delay the error
	last := r.draft.Attempts >= r.client.settings.Retry.MaxAttempts
	r.draft.Repeated = r.endpoint.isBad(1)
	if last || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.endpoint.failed(r.successesBefore)
	}
	switch {
	case last, ctx.Err() != nil && errors.Is(err, ctx.Err()): // the error says why
	case ctx.Err() != nil:
		r.draft.Reason = "the request was not retried, because the operation was interrupted or its time limit had passed"
	case r.draft.Repeated: // another operation has used up its attempts, and nothing has worked since
	case tooLong && requested:
		r.draft.Reason = fmt.Sprintf("the %s asked to wait (Retry-After: %s), longer than the operation's time limit allows",
			r.draft.Receiver(), r.client.redactor.printable(retryAfter, maxText))
	case tooLong:
		r.draft.Reason = "the operation's time limit leaves no time for another attempt"
		r.endpoint.failed(r.successesBefore)
	default:
		r.attempt.Retry, r.attempt.RetryWait = true, wait
	}
}

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

// backoff returns the wait after an attempt; the first attempt is number 1. Its upper bound doubles
// with each attempt. random, from 0 to 1, selects the wait from a quarter of the bound up to the bound, so
// that requests spread out, and all default attempts together outlast an outage of four seconds.
func (r Retry) backoff(attempt int, random float64) time.Duration {
	bound := retryablehttp.DefaultBackoff(r.MinBackoff, r.MaxBackoff, attempt, nil)
	shortest := max(r.MinBackoff, bound/4)
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

// health is what all requests learn together about an endpoint or a credential, so that a fleet does not find out
// the same for each stream. Failures count only if there was no success in the meantime.
type health struct {
	mu        sync.Mutex
	successes int // so far
	failures  int // since the last success
}

func (h *health) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.successes
}

func (h *health) succeeded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.successes++
	h.failures = 0
}

// failed reports a failure of a request that began after the given number of successes.
func (h *health) failed(successes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.successes == successes {
		h.failures++
	}
}

// isBad reports whether there were that many failures.
func (h *health) isBad(failures int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failures >= failures
}
