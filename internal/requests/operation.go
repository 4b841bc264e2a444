package requests

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
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// operation is one request, to the service or for a token, with all its attempts.
type operation struct {
	*Sender
	authorization
	endpoint *health
	request  Request
	began    time.Time // the first attempt
	patience patience
	next     nextTry // what follows the last attempt
	result   Result  // so far

	brokeEarly bool // the result MayHaveActed only because new connections broke without a response
}

// send makes the attempts of a request to the service with a header.
func (o *operation) send(ctx context.Context, h *header) error {
	o.use(h)
	req, err := retryablehttp.NewRequestWithContext(ctx, o.request.Method, o.request.URL, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	for name, value := range o.settings.Headers {
		req.Header.Set(name, value)
	}
	if o.request.Body != nil {
		req.Header.Set("Content-Type", "application/json")
		_ = req.SetBody(o.request.Body) // fails for no bytes
	}
	if o.request.Method == http.MethodGet { // a cache must not respond for the service (RFC 9111, section 5.2.1.4)
		req.Header.Set("Cache-Control", "no-cache")
	}
	if h.value != "" {
		req.Header.Set("Authorization", h.value)
	}
	resp, err := o.httpClient().Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (o *operation) httpClient() *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: o}, // see RoundTrip
		CheckRetry:   func(context.Context, *http.Response, error) (bool, error) { return o.next.ending == goesOn, nil },
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return time.Until(o.next.due) },
		RetryMax:     math.MaxInt, // RoundTrip decides
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// RoundTrip makes one attempt, and decides whether another one follows. Both go to the log.
func (o *operation) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	o.next = nextTry{ending: final}
	done, err := o.wait(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if o.result.Attempts++; o.result.Attempts == 1 {
		o.began = time.Now()
	}
	a := attempt{operation: o, number: o.result.Attempts}
	start := time.Now()
	resp, err := a.send(req)
	duration := time.Since(start)
	if mayRetry(resp, err) {
		o.next = o.patience.planRetry(ctx, o.settings.Retry, a.number, o.endpoint.now(), resp, rand.Float64())
		o.noteEnding(err)
	}
	if o.settings.Observe != nil {
		o.settings.Observe(ctx, a.log(resp, err, duration))
	}
	return resp, err
}

// wait returns when the next attempt may begin: with a turn, in a slot, and within the rate limit. The attempt holds its slot
// until it is done.
func (o *operation) wait(ctx context.Context) (done func(), err error) {
	if err := o.waitForTurn(ctx); err != nil {
		return nil, err
	}
	select {
	case o.slots <- struct{}{}:
	case <-ctx.Done():
		o.header.release(o.header.tries)
		return nil, fmt.Errorf("%w: %w", ErrSlotWait, ctx.Err())
	}
	done = func() { <-o.slots }
	if o.limiter.Wait(ctx) != nil { // last, because the requests after another wait would burst
		done()
		o.header.release(o.header.tries)
		return nil, cmp.Or(ctx.Err(), ErrRateLimit) // the limiter does not wait beyond the deadline
	}
	return done, nil
}

// noteEnding notes why no other attempt follows one that failed for the moment.
func (o *operation) noteEnding(err error) {
	o.result.Repeated = o.endpoint.now().condition != working
	reason := ""
	switch o.next.ending {
	case impatient:
		o.endpoint.lostPatience(o.patience.successes)
	case interrupted:
		if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) { // the error says why
			reason = "the request was not retried, because the operation was interrupted or its time limit had passed"
		}
	case noTime:
		o.result.Err, reason = ErrNoTime, ErrNoTime.Error()
		if o.next.asked != "" {
			reason = fmt.Sprintf("the %s asked to wait (%s), longer than the operation's time limit allows",
				o.result.Receiver(), o.printable(o.next.asked, MaxText))
		}
	}
	o.result = o.result.because(reason)
}

// failed returns the result of an operation whose last attempt got no response, or which had no header to send.
func (o *operation) failed(err error) Result {
	if search := (*failedSearch)(nil); errors.As(err, &search) {
		shared := search.result // of another request, which did not reach the stream
		shared.MayHaveActed, shared.Attempts = o.result.MayHaveActed, cmp.Or(shared.Attempts, o.result.Attempts)
		return shared
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // without method and URL, which the result has
	}
	failure, reason := TimedOut, ""
	switch {
	case errors.Is(err, context.Canceled):
		failure, reason = Interrupted, "the operation was interrupted"
	case errors.Is(err, ErrRateLimit), errors.Is(err, ErrRequestTimeout):
		reason = err.Error()
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*net.OpError)):
		reason = "the operation did not finish within its time limit"
		for _, wait := range []error{ErrSlotWait, ErrTurnWait, ErrTokenWait} {
			if errors.Is(err, wait) {
				reason += ": " + wait.Error()
			}
		}
	case errors.Is(err, ErrNotSent), errors.Is(err, ErrIncomplete):
		failure, reason = NoResponse, o.printable(err.Error(), MaxText)
	default:
		failure, reason = NoResponse, "the connection failed: "+o.printable(err.Error(), MaxText)
	}
	result := o.result.because(reason)
	result.Failure, result.Err = failure, err
	return result
}
