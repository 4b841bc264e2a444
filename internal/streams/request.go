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
	"slices"
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

	sent     *found // the credential; an empty one for a token request
	hasTurn  bool   // with the credential, see [trial]
	replaced bool   // the service has rejected another credential before
	waited   bool   // since the service rejected the credential
	draft    Error  // the error so far; Reason is why a due retry could not be made
	began    time.Time
	patience patience
	response []byte  // body of the last response
	next     nextTry // what follows the last attempt
}

// sendAuthorized sends the request, again after a rejection that may not be final. A rejection that has arrived is the
// result if nothing can be sent after it.
func (r *request) sendAuthorized(ctx context.Context, credential *credential) (*http.Response, error) {
	defer r.endTurn()
	var rejection *http.Response
	header, err := credential.header(ctx, "")
	for err == nil {
		attempts := r.draft.Attempts
		resp, failure := r.send(ctx, header)
		switch {
		case errors.Is(failure, errRejected): // while the request waited for its turn
			header, err = credential.header(ctx, "")
			if err != nil && rejection != nil {
				return rejection, nil
			}
		case rejection != nil && r.draft.Attempts == attempts:
			return rejection, nil
		case failure != nil || resp.StatusCode != http.StatusUnauthorized:
			return resp, failure
		default:
			rejection = resp
			header, err = r.headerAfterRejection(ctx, credential)
			if errors.Is(err, errRejected) {
				return rejection, nil
			}
		}
	}
	return nil, err
}

// headerAfterRejection returns what to send after a 401: at once another header if there is one, else the same one after a
// second, because one node of the service may not know it yet. The error is errRejected if the rejection is final.
func (r *request) headerAfterRejection(ctx context.Context, credential *credential) (*found, error) {
	again := time.Now().Add(rejectionDelay)
	switch {
	case ctx.Err() != nil || r.waited:
		return nil, errRejected
	case r.replaced:
		r.sent.exhaust()
	default:
		header, err := credential.header(ctx, r.sent.header)
		switch {
		case ctx.Err() != nil:
			return nil, errRejected
		case err != nil || header.header != r.sent.header:
			r.replaced = true
			return header, err
		}
	}
	attempts := r.settings.Retry.MaxAttempts
	deadline, limited := ctx.Deadline()
	if r.sent.isWrong() || attempts > 0 && r.draft.Attempts >= attempts || limited && deadline.Before(again) {
		return nil, errRejected
	}
	r.waited = true
	select {
	case <-time.After(time.Until(again)):
	case <-ctx.Done():
		return nil, errRejected
	}
	header, err := credential.header(ctx, "") // by now, another operation may have found a better one
	if err != nil {
		return nil, errRejected
	}
	return header, nil
}

// send makes the attempts of a request with a credential.
func (r *request) send(ctx context.Context, credential *found) (*http.Response, error) {
	if r.sent != nil && r.sent.trial != credential.trial {
		r.endTurn()
	}
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
	if r.draft.Method == http.MethodGet { // a cache must not respond for the service (RFC 9111, section 5.2.1.4)
		req.Header.Set("Cache-Control", "no-cache")
	}
	if credential.header != "" {
		req.Header.Set("Authorization", credential.header)
	}
	return r.httpClient().Do(req)
}

func (r *request) httpClient() *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: r}, // see RoundTrip
		CheckRetry:   func(context.Context, *http.Response, error) (bool, error) { return r.next.ending == goesOn, nil },
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return time.Until(r.next.due) },
		RetryMax:     math.MaxInt, // RoundTrip counts
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// RoundTrip makes one attempt, and decides whether another one follows.
func (r *request) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	r.next, r.response = nextTry{ending: final}, nil
	if err := r.waitForTurn(ctx); err != nil {
		return nil, err
	}
	if err := r.waitForSlot(ctx); err != nil {
		r.sent.release(r.sent.tries)
		return nil, err
	}
	defer func() { <-r.slots }()
	if r.draft.Attempts++; r.draft.Attempts == 1 {
		r.began = time.Now()
	}
	_, successes := r.sent.state()
	attempt := Attempt{
		Number: r.draft.Attempts, Method: r.draft.Method, URL: r.draft.URL, RequestBody: string(r.body),
		ResponseBody: Text{redactor: r.redactor},
	}
	start := time.Now()
	resp, err := r.try(req)
	attempt.Duration = time.Since(start)
	if resp != nil {
		attempt.Status = resp.StatusCode
	} else {
		attempt.Err = r.redactor.printable(err.Error(), maxMessage)
	}
	if !r.draft.TokenRequest {
		attempt.ResponseBody.text = r.response
	}
	r.judge(attempt.Status, err, successes)
	if err == nil && isRetryableStatus(resp.StatusCode) || err != nil && isRetryableError(err) {
		r.next = r.patience.planRetry(ctx, r.settings.Retry, r.draft.Attempts, r.endpoint.now(), resp, rand.Float64())
		r.noteEnding(err, resp)
	}
	attempt.Retry = r.next.ending == goesOn
	if attempt.Retry {
		attempt.RetryWait = time.Until(r.next.due)
	}
	if observe := r.settings.Observe; observe != nil {
		observe(ctx, attempt)
	}
	return resp, err
}

// waitForTurn waits until the credential may be sent. While nothing answers, that takes no longer than a short attempt.
func (r *request) waitForTurn(ctx context.Context) error {
	if ctx.Err() != nil { // an operation that has ended has not waited
		return ctx.Err()
	}
	full := r.settings.RequestTimeout
	ask := func() error {
		if r.endpoint.now().condition != mute {
			return nil
		}
		r.draft.Repeated = true
		return fmt.Errorf("the %s %w %s to other operations", r.draft.Receiver(), ErrRequestTimeout, full)
	}
	if !r.hasTurn {
		if err := r.sent.acquire(ctx, r.sent.turns, shortened(full), ask); err != nil {
			return err
		}
		r.hasTurn = true
	}
	return r.sent.acquire(ctx, r.sent.tries, shortened(full), ask)
}

func (r *request) endTurn() {
	if r.hasTurn {
		r.sent.release(r.sent.turns)
	}
	r.hasTurn = false
}

// waitForSlot waits until fewer requests are under way, and for the rate limit.
func (r *request) waitForSlot(ctx context.Context) error {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrSlotWait, ctx.Err())
	}
	if r.limiter.Wait(ctx) != nil { // last, because the requests after another wait would burst
		<-r.slots
		return cmp.Or(ctx.Err(), ErrRateLimit) // the limiter does not wait beyond the deadline
	}
	return nil
}

// noteEnding notes why no other attempt follows one that failed for the moment.
func (r *request) noteEnding(err error, resp *http.Response) {
	r.draft.Repeated = r.endpoint.now().condition != working
	switch r.next.ending {
	case impatient:
		r.endpoint.lostPatience(r.patience.successes)
	case interrupted:
		if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) { // the error says why
			r.draft.Reason = "the request was not retried, because the operation was interrupted or its time limit had passed"
		}
	case noTime:
		r.draft.Reason = "the operation's time limit leaves no time for another attempt"
		if r.next.asked != "" {
			r.draft.Reason = fmt.Sprintf("the %s asked to wait (Retry-After: %s), longer than the operation's time limit allows",
				r.draft.Receiver(), r.redactor.printable(r.next.asked, maxText))
		}
	}
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

// isRetryableStatus reports whether the same request may succeed later: after 408, 429 and every 5xx but 501, 505 and 511. A service
// behind a content delivery network responds with 520 to 530 for a moment.
func isRetryableStatus(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests ||
		status/100 == 5 && !slices.Contains(finalFaults, status)
}

// finalFaults are not of the moment: what is not implemented or supported, and a network that requires a login.
var finalFaults = []int{http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusNetworkAuthenticationRequired}

// isRetryableError reports whether an attempt without a response may succeed later: TLS settings stay.
func isRetryableError(err error) bool {
	if proxy, refused := errors.AsType[*ProxyError](err); refused && proxy.status != 0 {
		return isRetryableStatus(proxy.status)
	}
	return !IsTLSFailure(err) && !errors.Is(err, ErrNotSent)
}
