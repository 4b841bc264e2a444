package streams

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// request is one update, read or token request with all its attempts. Its error describes all attempts, not only
// the last one.
type request struct {
	client   *Client
	endpoint *health // of the service or the token endpoint
	body     []byte

	known           Error     // what an error would say; Reason is why a due retry could not be made
	successesBefore int       // of the endpoint, before the first attempt
	attempt         *Attempt  // the last one, for the log; nil if it did not get its turn
	response        []byte    // body of the last response
	due             time.Time // when another attempt may succeed; zero if none will
}

// sendAuthorized sends the request, and once more with a new credential if the service refuses the first one.
func (r *request) sendAuthorized(ctx context.Context, credential *credential) (*http.Response, error) {
	first, err := credential.header(ctx, "")
	if err != nil {
		return nil, err
	}
	sent, before := first, first.count()
	resp, err := r.send(ctx, sent.header)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && first.header != "" {
		sent, err = credential.header(ctx, first.header)
		if err == nil && sent != first {
			before = sent.count()
			resp, err = r.send(ctx, sent.header)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusUnauthorized:
		credential.refused(sent, before, r.fail(KindAuthentication, ""))
	case resp.StatusCode/100 == 2:
		sent.succeeded()
	}
	return resp, nil
}

func (r *request) send(ctx context.Context, authorization string) (*http.Response, error) {
	req, err := retryablehttp.NewRequestWithContext(ctx, r.known.Method, r.known.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	for name, value := range r.client.settings.Headers {
		req.Header.Set(name, value)
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
		_ = req.SetBody(r.body) // fails for no bytes
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	return r.httpClient().Do(req)
}

// httpClient returns a client that makes the attempts of this request.
func (r *request) httpClient() *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: r}, // see RoundTrip
		CheckRetry:   r.checkRetry,
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return time.Until(r.due) },
		RetryMax:     r.client.settings.Retry.MaxAttempts - 1,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}
