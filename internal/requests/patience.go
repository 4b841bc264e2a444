package requests

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/stream-management/terraform-provider-stream/internal/transport"
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
	asked  string    // the header of the response that set it; may be empty
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
	now, counted := time.Now(), r.MaxAttempts > 0
	tooMany := resp != nil && resp.StatusCode == http.StatusTooManyRequests
	if p.ends.IsZero() || !counted && tooMany && h.successes > p.successes { // the service works, but asks for less
		*p = patience{now.Add(Patience), h.successes}
	}
	wait, left := r.backoff(attempt, random), p.ends.Sub(now)
	if !counted && left > 0 { // one attempt comes at the end
		wait = max(r.MinBackoff, min(wait, left))
	}
	next := nextTry{ending: goesOn}
	if asked, header := askedWait(resp, now); asked > wait {
		p.ends = p.ends.Add(asked - wait)
		wait, next.asked = asked, header
	}
	next.due = now.Add(wait)
	deadline, hasDeadline := ctx.Deadline()
	switch {
	case counted && attempt >= r.MaxAttempts, !counted && left <= 0:
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
	if proxy, refused := errors.AsType[*transport.ProxyError](err); refused && proxy.Status != 0 {
		return isRetryableStatus(proxy.Status)
	}
	return !transport.WouldFailAgain(err)
}

// isRetryableStatus reports whether the same request may succeed later: after 408, 409, 423, 425, 429 and every 5xx but 501,
// 505 and 511. A service behind a content delivery network responds with 520 to 530 for a moment.
func isRetryableStatus(status int) bool {
	return slices.Contains(conflicts, status) || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests ||
		status/100 == 5 && !slices.Contains(finalFaults, status)
}

// conflicts are responses of a service that works, and takes the request later, such as after another update.
var conflicts = []int{http.StatusConflict, http.StatusLocked, http.StatusTooEarly}

// finalFaults are not of the moment: what is not implemented or supported, and a network that requires a login.
var finalFaults = []int{http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusNetworkAuthenticationRequired}

// backoff returns the wait after an attempt; the first attempt is number 1. random, from 0 to 1, selects it, so that
// requests spread out.
func (r Retry) backoff(attempt int, random float64) time.Duration {
	bound := retryablehttp.DefaultBackoff(r.MinBackoff, r.MaxBackoff, attempt, nil)
	shortest := max(r.MinBackoff, bound/2)
	return shortest + time.Duration(random*float64(max(0, bound-shortest)))
}

const maxAsked = 24 * time.Hour // nobody means a longer wait

// askedWait returns how long a response asks to wait, with the header that says so. 0: it does not ask.
func askedWait(resp *http.Response, now time.Time) (wait time.Duration, header string) {
	if resp == nil {
		return 0, ""
	}
	names := []string{"Retry-After"}
	if resp.StatusCode == http.StatusTooManyRequests {
		names = append(names, "RateLimit-Reset", "X-RateLimit-Reset")
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil { // by the clock of the service
		now = date
	}
	for _, name := range names {
		value := resp.Header.Get(name)
		if wait := parseWait(value, now); wait > 0 && wait <= maxAsked {
			return wait, name + ": " + value
		}
	}
	return 0, ""
}

// parseWait reads a number of seconds, or a date (RFC 9110, section 10.2.3), which may be in seconds since 1970. Junk is no
// wait.
func parseWait(value string, now time.Time) time.Duration {
	if date, err := http.ParseTime(value); err == nil {
		return date.Sub(now)
	}
	seconds, err := strconv.ParseUint(value, 10, 32)
	switch wait := time.Duration(seconds) * time.Second; {
	case err != nil:
		return 0
	case wait > maxAsked:
		return time.Unix(int64(seconds), 0).Sub(now)
	default:
		return wait
	}
}
