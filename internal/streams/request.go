package streams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/time/rate"
)

// sender is what all requests of a [Client] share.
type sender struct {
	settings Config // with the defaults
	network  http.RoundTripper
	slots    chan struct{} // holds an element for each attempt under way
	limiter  *rate.Limiter
	redactor *redactor
}

// request is one update, read or token request with all its attempts. Its error describes them all.
type request struct {
	*sender
	endpoint *health // of the service or the token endpoint
	body     []byte

	sent          *found    // the credential; an empty one for a token request
	hasTurn       bool      // with the credential, see [trial]
	untested      bool      // the service has rejected the credential before it had accepted any request with it
	draft         Error     // the error so far; Reason is why a due retry could not be made
	began         time.Time // the first attempt
	beganWith     view      // of the endpoint, at that time
	lastSuccesses int       // of the endpoint, at the end of the last attempt
	uncounted     int       // attempts that were not accepted beside others that were
	answered      bool      // an attempt has not just waited
	waited        bool      // an attempt has waited for the whole request timeout
	attempt       *Attempt  // the last one, for the log; nil if it did not get its turn
	response      []byte    // body of the last response
	due           time.Time // when another attempt may succeed; zero if none will
}

// sendAuthorized sends the request. If the service rejects its credential, the request is sent once with another one, and
// once more if the credential was new and the service accepts it in the meantime: it may not have known it yet.
func (r *request) sendAuthorized(ctx context.Context, credential *credential) (*http.Response, error) {
	canReplace := true
	sent, err := credential.header(ctx, "")
	for err == nil {
		var resp *http.Response
		resp, err = r.send(ctx, sent)
		switch {
		case errors.Is(err, errRejected): // while the request waited for its turn
			sent, err = credential.header(ctx, "")
			continue
		case err != nil || resp.StatusCode != http.StatusUnauthorized:
			return resp, err
		}
		next := sent
		if canReplace {
			next, err = credential.header(ctx, sent.header)
		} else {
			sent.exhaust()
		}
		limit := r.settings.Retry.MaxAttempts
		switch {
		case err != nil:
		case next.header != sent.header:
			canReplace = false
		case r.untested && (limit == 0 || r.draft.Attempts < limit) && next.awaitAcceptance(ctx): // at most once
		default:
			return resp, nil
		}
		sent = next
	}
	return nil, err
}

// send makes the attempts of a request. Its time begins when it gets its turn: the first responses show whether the
// credential is right, and an operation can do nothing about that.
func (r *request) send(ctx context.Context, credential *found) (*http.Response, error) {
	r.sent = credential
	req, err := retryablehttp.NewRequestWithContext(ctx, r.draft.Method, r.draft.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	for name, value := range r.settings.Headers {
		req.Header.Set(name, value)
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
		_ = req.SetBody(r.body) // fails for no bytes
	}
	if credential.header != "" {
		req.Header.Set("Authorization", credential.header)
	}
	defer r.endTurn()
	start := time.Now()
	if err := r.waitForTurn(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := postpone(ctx, time.Since(start))
	defer cancel()
	return r.httpClient().Do(req.WithContext(ctx))
}

// waitForTurn waits for a turn with the credential. While nothing responds, it takes half as long as an attempt.
func (r *request) waitForTurn(ctx context.Context) error {
	if ctx.Err() != nil || r.hasTurn { // an operation that has ended has not waited
		return ctx.Err()
	}
	full := r.settings.RequestTimeout
	hasTurn, err := r.sent.wait(ctx, silent.timeout(full)/2, func() error {
		if r.endpoint.now().condition != silent {
			return nil
		}
		r.draft.Repeated = true
		return fmt.Errorf("the %s %w %s to other operations", r.draft.Receiver(), ErrRequestTimeout, full)
	})
	r.hasTurn = hasTurn
	return err
}

func (r *request) endTurn() {
	if r.hasTurn {
		r.sent.endTurn()
	}
	r.hasTurn = false
}

func (r *request) httpClient() *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: r}, // see RoundTrip
		CheckRetry:   r.checkRetry,
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return time.Until(r.due) },
		RetryMax:     math.MaxInt, // checkRetry counts
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// checkRetry decides after an attempt whether another one follows. Both go to the log.
func (r *request) checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	r.due = time.Time{}
	if r.attempt == nil {
		return false, nil
	}
	if err == nil && isRetryableStatus(resp.StatusCode) || err != nil && isRetryableError(err) {
		r.planRetry(ctx, resp, err)
	}
	if observe := r.settings.Observe; observe != nil {
		observe(ctx, *r.attempt)
	}
	return r.attempt.Retry, nil
}

// planRetry notes whether another attempt follows one that failed for the moment, and when.
func (r *request) planRetry(ctx context.Context, resp *http.Response, err error) {
	retryAfter, limited, now := "", false, time.Now()
	if err == nil {
		retryAfter, limited = resp.Header.Get("Retry-After"), resp.StatusCode == http.StatusTooManyRequests
	}
	pace, maxAttempts := r.choosePace(limited), r.settings.Retry.MaxAttempts
	wait, requested := parseRetryAfter(retryAfter, now)
	if !requested || maxAttempts == 0 { // a short Retry-After does not use up the default attempts
		wait = max(wait, r.settings.Retry.backoff(r.draft.Attempts, pace, rand.Float64()))
	}
	r.due = now.Add(wait)
	deadline, ends := ctx.Deadline()
	tooLong := ends && deadline.Before(r.due) // to wait until the deadline would only delay the error
	last := r.draft.Attempts-r.uncounted >= cmp.Or(maxAttempts, r.defaultAttempts(pace, requested))
	r.draft.Repeated = r.endpoint.now().condition != working
	if (last || tooLong || r.draft.Repeated) && !errors.Is(ctx.Err(), context.Canceled) {
		r.endpoint.note(r.end(), r.beganWith)
	}
	switch {
	case last, ctx.Err() != nil && errors.Is(err, ctx.Err()): // the error says why
	case ctx.Err() != nil:
		r.draft.Reason = "the request was not retried, because the operation was interrupted or its time limit had passed"
	case r.draft.Repeated: // another operation has used up its attempts, and nothing has worked since
	case tooLong && requested:
		r.draft.Reason = fmt.Sprintf("the %s asked to wait (Retry-After: %s), longer than the operation's time limit allows",
			r.draft.Receiver(), r.redactor.printable(retryAfter, maxText))
	case tooLong:
		r.draft.Reason = "the operation's time limit leaves no time for another attempt"
	default:
		r.attempt.Retry, r.attempt.RetryWait = true, wait
	}
}

// pace is how often an operation tries if the user has not said so, and how long it waits in between.
type pace struct {
	attempts int     // at most
	slow     int     // the same after attempts that took long
	least    float64 // part of the bound of a wait
	longest  int     // number of the attempt after which the bound of the wait does not double again
}

var (
	outlasting   = pace{DefaultAttempts, 2, 0.75, math.MaxInt}               // an outage of DefaultPatience
	besideOthers = pace{DefaultAttempts + 2, DefaultAttempts + 2, 0.25, 3}   // no outage, but perhaps a rhythm of failures
	slowingDown  = pace{DefaultAttempts, DefaultAttempts, 0.75, math.MaxInt} // because the service works, but asks for that
)

// choosePace chooses the pace after an attempt. If others have succeeded since the attempt before, the service works.
func (r *request) choosePace(limited bool) pace {
	successes := r.endpoint.now().successes
	others := successes > r.lastSuccesses
	r.lastSuccesses = successes
	switch {
	case !others || r.settings.Retry.MaxAttempts > 0:
		return outlasting
	case limited:
		r.uncounted++
		return slowingDown
	}
	return besideOthers
}

// defaultAttempts is how often an operation tries at a pace. If no connection can be made, and nothing has worked yet, the
// address may be wrong.
func (r *request) defaultAttempts(p pace, requested bool) int {
	switch {
	case !requested && time.Since(r.began) > 2*DefaultPatience:
		return p.slow
	case r.draft.Status == 0 && r.draft.Outcome == NotChanged && r.endpoint.now().successes == 0:
		return p.attempts - 1
	}
	return p.attempts
}

// end is what an operation without another attempt shows about the endpoint.
func (r *request) end() event {
	if r.waited && !r.answered {
		return unheard
	}
	return gaveUp
}

// fail returns the draft as an error of the given kind.
func (r *request) fail(kind Kind, reason string) *Error {
	e := r.draft
	e.Kind, e.Reason = kind, joinTexts("; ", truncate(reason, maxMessage), e.Reason)
	return &e
}

// noResponse is the error for a request whose last attempt got no response.
func (r *request) noResponse(err error) *Error {
	if shared := (*Error)(nil); errors.As(err, &shared) {
		e := *shared // all requests share a failed token request, and it does not reach their streams
		e.Outcome, e.Attempts = r.draft.Outcome, cmp.Or(e.Attempts, r.draft.Attempts)
		return &e
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // without method and URL, which the error shows already
	}
	kind, reason := KindTimeout, ""
	switch {
	case errors.Is(err, context.Canceled):
		kind, reason = KindInterrupted, "the operation was interrupted"
	case errors.Is(err, ErrRateLimit), errors.Is(err, ErrRequestTimeout):
		reason = err.Error()
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*net.OpError)):
		reason = "the operation did not finish within its time limit"
		for _, wait := range []error{ErrSlotWait, ErrTurnWait, ErrTokenWait} {
			if errors.Is(err, wait) {
				reason += ": " + wait.Error()
			}
		}
	case errors.Is(err, ErrNotSent):
		kind, reason = KindConnection, r.redactor.printable(err.Error(), maxText)
	default:
		kind, reason = KindConnection, "the connection failed: "+r.redactor.printable(err.Error(), maxText)
	}
	e := r.fail(kind, reason)
	e.Err = err
	return e
}

// isRetryableStatus reports whether the same request may succeed later: after 408, 429 and every 5xx but 501. A service
// behind a content delivery network responds with 520 to 530 for a moment.
func isRetryableStatus(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests ||
		status/100 == 5 && status != http.StatusNotImplemented
}

// isRetryableError reports whether an attempt without a response may succeed later: TLS settings stay.
func isRetryableError(err error) bool {
	if proxy, refused := errors.AsType[*ProxyError](err); refused {
		return isRetryableStatus(proxy.status)
	}
	return !IsTLSFailure(err) && !errors.Is(err, ErrNotSent)
}

// backoff returns the wait after an attempt; the first attempt is number 1. random, from 0 to 1, selects it, so that
// requests spread out.
func (r Retry) backoff(attempt int, p pace, random float64) time.Duration {
	bound := retryablehttp.DefaultBackoff(r.MinBackoff, r.MaxBackoff, min(attempt, p.longest), nil)
	shortest := max(r.MinBackoff, time.Duration(p.least*float64(bound)))
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
