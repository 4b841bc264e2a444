package requests

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

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
	a := attempt{operation: o, number: o.result.Attempts, timeout: o.timeLimit()}
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
