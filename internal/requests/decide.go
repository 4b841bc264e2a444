package requests

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// step is what follows an attempt.
type step struct {
	ending    ending
	secondTry bool          // the next attempt follows a rejection, with the newest credential
	due       time.Time     // when another attempt may succeed; zero after a final response
	backoff   time.Duration // the delivery's own part of the wait
	short     bool          // the next attempt has a part of the request timeout
	askedBy   string        // the header of the response that asked for a longer wait; may be empty
}

// ending is why no other attempt follows, or that one does.
type ending int

const (
	final         ending = iota // another attempt would not succeed, or the request was not sent
	outOfPatience               // the delivery has used up its patience
	outOfAttempts               // the delivery has made the attempts that the user allows
	repeated                    // the endpoint does not work, as other deliveries have shown: one attempt is enough
	interrupted                 // the operation has ended during the attempt
	noTime                      // the operation's time limit leaves no time for another attempt
	goesOn                      // another attempt follows
)

// timeLimit is how long a delivery may take.
type timeLimit struct {
	deadline time.Time // zero without one
	ended    bool      // by the deadline, or an interrupt
}

// timeLimitOf returns that of an operation.
func timeLimitOf(ctx context.Context) timeLimit {
	deadline, _ := ctx.Deadline()
	return timeLimit{deadline, ctx.Err() != nil}
}

// allows reports whether there is time until then. To wait until the deadline would only delay the error.
func (l timeLimit) allows(due time.Time) bool { return l.deadline.IsZero() || !l.deadline.Before(due) }

// rejectionDelay is until a rejected credential is sent again: a node of the service may not know it yet.
const rejectionDelay = time.Second

// decide decides what follows the last attempt. random, from 0 to 1, spreads the waits.
func decide(attempts []attempt, retry Retry, limit timeLimit, now time.Time, random float64) step {
	last, counted := attempts[len(attempts)-1], retry.MaxAttempts > 0
	allowed := !counted || len(attempts) < retry.MaxAttempts
	if last.isRejection() {
		due, tried := now.Add(rejectionDelay), slices.ContainsFunc(attempts, func(a attempt) bool { return a.secondTry })
		if tried || !allowed || limit.ended || !limit.allows(due) {
			return step{ending: final}
		}
		return step{ending: goesOn, secondTry: true, due: due}
	}
	if !last.failedForNow() {
		return step{ending: final}
	}
	wait, left := retry.backoff(len(attempts), random), patienceLeft(attempts)
	if !counted && left > 0 { // one attempt comes at the end
		wait = max(retry.MinBackoff, min(wait, left))
	}
	next := step{ending: goesOn, backoff: wait}
	if asked, header := askedWait(last.status, last.head, now); asked > wait {
		wait, next.askedBy = asked, header
	}
	next.due = now.Add(wait)
	most := minAttempts
	if counted {
		most = retry.MaxAttempts
	}
	next.short = !last.isResponse() && last.beside && len(attempts)+1 < most
	switch {
	case limit.ended:
		next.ending = interrupted
	case !allowed:
		next.ending = outOfAttempts
	case !counted && left <= 0 && !mayHang(attempts):
		next.ending = outOfPatience
	case last.health.condition != working:
		next.ending = repeated
	case !limit.allows(next.due):
		next.ending = noTime
	}
	return next
}

// minAttempts is how many a request without a response makes while the endpoint takes others, the last one with all of the request
// timeout: it has reached what is broken of the endpoint, such as one of three zones.
const minAttempts = 5

// mayHang reports whether another attempt may get a response although the patience is used up.
func mayHang(attempts []attempt) bool {
	last := attempts[len(attempts)-1]
	return !last.isResponse() && (last.beside || last.short) && len(attempts) < minAttempts
}

// patienceLeft returns what a delivery has left of its patience, which begins at the end of its first failure. Its own waits and its
// later attempts use it up. An endpoint that is busy with other requests gives it back while half of it is left: where a part of the
// requests is never taken, each one of them that fails lets others be taken.
func patienceLeft(attempts []attempt) time.Duration {
	begin := slices.IndexFunc(attempts, attempt.failedForNow)
	left := Patience
	for _, a := range attempts[begin+1:] {
		if slices.Contains(busy, a.status) && a.beside && left >= Patience/2 {
			left = Patience
		} else {
			left -= a.backoff + a.ended.Sub(a.began)
		}
	}
	return left
}

// showsOutage returns what the end of a delivery shows about the endpoint, unless that has taken other requests since the first failure:
// taken is how many there were then. Its failures have lasted as long as its patience, however it ended, or have used up its attempts.
func showsOutage(attempts []attempt, end ending, now time.Time) (taken int, shows condition) {
	first, last := slices.IndexFunc(attempts, attempt.failedForNow), len(attempts)-1
	if last < 0 || !attempts[last].failedForNow() || end != outOfAttempts && now.Sub(attempts[first].ended) < Patience {
		return 0, working
	}
	if attempts[last].isSilence() {
		return attempts[first].health.taken, silent
	}
	return attempts[first].health.taken, failing
}

// backoff returns the wait after an attempt; the first attempt is number 1. It doubles up to the longest one. random, from 0 to 1,
// selects it, so that requests spread out.
func (r Retry) backoff(attempt int, random float64) time.Duration {
	bound, longest := r.MinBackoff, max(r.MinBackoff, r.MaxBackoff)
	for range attempt {
		bound += min(bound, longest-bound)
	}
	shortest := max(r.MinBackoff, bound/2)
	return shortest + time.Duration(random*float64(bound-shortest))
}

const maxAsked = 24 * time.Hour // nobody means a longer wait

// askedWait returns how long a response asks to wait, with the header that says so. 0: it does not ask.
func askedWait(status int, head http.Header, now time.Time) (wait time.Duration, header string) {
	names := []string{"Retry-After"}
	if status == http.StatusTooManyRequests {
		names = append(names, "RateLimit-Reset", "X-RateLimit-Reset")
	}
	if date, err := http.ParseTime(head.Get("Date")); err == nil { // by the clock of the service
		now = date
	}
	for i, name := range names {
		value := head.Get(name)
		if wait := parseWait(value, now, i > 0); wait > 0 && wait <= maxAsked {
			return wait, name + ": " + value
		}
	}
	return 0, ""
}

// parseWait reads a number of seconds, or a date (RFC 9110, section 10.2.3). For the reset of a limit, some services send the epoch of
// its end. Junk is no wait.
func parseWait(value string, now time.Time, isReset bool) time.Duration {
	if date, err := http.ParseTime(value); err == nil {
		return date.Sub(now)
	}
	seconds, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return 0
	}
	if wait := time.Duration(seconds) * time.Second; !isReset || wait <= maxAsked {
		return wait
	}
	return time.Unix(int64(seconds), 0).Sub(now)
}
