package requests

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// patience is how long an operation retries. It begins at the end of the first attempt. The operation's own waits and the
// time of its later attempts use it up; the rest of a longer wait that the service asks for does not.
type patience struct {
	ends      time.Time // zero before the first attempt has ended
	successes int       // of the endpoint, when the patience began
}

// nextTry is what follows an attempt.
type nextTry struct {
	ending ending
	due    time.Time // when another attempt may succeed; not if the ending is final
	asked  string    // the Retry-After header that set it; may be empty
}

// ending is why no other attempt follows.
type ending int

const (
	final       ending = iota // another attempt would not succeed, or the request was not sent
	impatient                 // the operation has used up its patience, or its attempts
	repeated                  // another operation has, and nothing has worked since
	interrupted               // the operation has ended during the attempt
	noTime                    // the operation's time limit leaves no time for another attempt
	goesOn                    // another attempt follows
)

// planRetry decides what follows an attempt that failed for the moment. random, from 0 to 1, spreads the waits.
func (p *patience) planRetry(ctx context.Context, r Retry, attempt int, h view, resp *http.Response, random float64) nextTry {
	now, retryAfter, tooMany := time.Now(), "", false
	if resp != nil {
		retryAfter, tooMany = resp.Header.Get("Retry-After"), resp.StatusCode == http.StatusTooManyRequests
	}
	if p.ends.IsZero() || tooMany && h.successes > p.successes { // the service works, but asks for less
		*p = patience{now.Add(Patience), h.successes}
	}
	wait, left := r.backoff(attempt, random), p.ends.Sub(now)
	if r.MaxAttempts == 0 && left > 0 { // one attempt comes at the end
		wait = max(r.MinBackoff, min(wait, left))
	}
	next := nextTry{ending: goesOn}
	if asked := parseRetryAfter(retryAfter, now); asked > wait {
		p.ends = p.ends.Add(asked - wait)
		wait, next.asked = asked, retryAfter
	}
	next.due = now.Add(wait)
	deadline, hasDeadline := ctx.Deadline()
	switch {
	case r.MaxAttempts > 0 && attempt >= r.MaxAttempts, r.MaxAttempts == 0 && left <= 0:
		next.ending = impatient
	case ctx.Err() != nil:
		next.ending = interrupted
	case h.condition != working:
		next.ending = repeated
	case hasDeadline && deadline.Before(next.due): // to wait until the deadline would only delay the error
		next.ending = noTime
	}
	return next
}

// mayRetry reports whether an attempt failed for the moment.
func mayRetry(resp *http.Response, err error) bool {
	if err == nil {
		return isRetryableStatus(resp.StatusCode)
	}
	if proxy, refused := errors.AsType[*ProxyError](err); refused && proxy.status != 0 {
		return isRetryableStatus(proxy.status)
	}
	return !IsTLSFailure(err) && !errors.Is(err, ErrNotSent) // TLS settings stay
}

// isRetryableStatus reports whether the same request may succeed later: after 408, 429 and every 5xx but 501, 505 and 511. A
// service behind a content delivery network responds with 520 to 530 for a moment.
func isRetryableStatus(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests ||
		status/100 == 5 && !slices.Contains(finalFaults, status)
}

// finalFaults are not of the moment: what is not implemented or supported, and a network that requires a login.
var finalFaults = []int{http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusNetworkAuthenticationRequired}

// backoff returns the wait after an attempt; the first attempt is number 1. random, from 0 to 1, selects it, so that
// requests spread out.
func (r Retry) backoff(attempt int, random float64) time.Duration {
	bound := retryablehttp.DefaultBackoff(r.MinBackoff, r.MaxBackoff, attempt, nil)
	shortest := max(r.MinBackoff, bound/4*3)
	return shortest + time.Duration(random*float64(max(0, bound-shortest)))
}

// parseRetryAfter reads a Retry-After header, in seconds or as a date (RFC 9110, section 10.2.3). Junk is no wait.
func parseRetryAfter(value string, now time.Time) time.Duration {
	seconds, err := strconv.ParseUint(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) { // out of range, seconds is the largest number
		return time.Duration(min(seconds, math.MaxInt64/uint64(time.Second))) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}
