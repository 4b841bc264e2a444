package streams

import (
	"context"
	"errors"
	"math"
	"net/http"
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
	now, retryAfter, limited := time.Now(), "", false
	if resp != nil {
		retryAfter, limited = resp.Header.Get("Retry-After"), resp.StatusCode == http.StatusTooManyRequests
	}
	if p.ends.IsZero() || limited && h.successes > p.successes { // the service works, but asks for less
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
	deadline, limits := ctx.Deadline()
	switch {
	case r.MaxAttempts > 0 && attempt >= r.MaxAttempts, r.MaxAttempts == 0 && left <= 0:
		next.ending = impatient
	case ctx.Err() != nil:
		next.ending = interrupted
	case h.condition != working:
		next.ending = repeated
	case limits && deadline.Before(next.due): // to wait until the deadline would only delay the error
		next.ending = noTime
	}
	return next
}

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
