package streams

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// interruptedUpdate updates stream s1, cancels the operation after the given time, and returns what the
// update returned, and how long it took after the cancellation.
func interruptedUpdate(t *testing.T, c *Client, after time.Duration) (*Stream, *Error, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	time.AfterFunc(after, cancel)
	start := time.Now()
	got, err := c.UpdateStream(ctx, "s1", NewProcessorSet("p1"))
	return got, asError(t, err), time.Since(start) - after
}

// respondAfter responds after a time, unless the client gives up before.
func respondAfter(d time.Duration, response roundTrip) roundTrip {
	return func(req *http.Request) (*http.Response, error) {
		traceConnection(req)
		select {
		case <-time.After(d):
			return response(req)
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
}

// An attempt under way may end within five seconds after an interrupt, and its response counts. Nothing
// new starts.
func TestInterruptedAttempt(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, test := range map[string]struct {
		response roundTrip
		took     time.Duration
		ok       bool
		status   int
		outcome  Outcome
		reason   string
	}{
		"success in time":  {respondAfter(5*second, respondSuccess), 4 * second, true, 0, NotChanged, ""},
		"refusal in time":  {respondAfter(5*second, respond(403, laterBody)), 4 * second, false, 403, NotChanged, ""},
		"token refused":    {respondAfter(2*second, respond(401, laterBody)), second, false, 401, NotChanged, ""},
		"redirect in time": {respondAfter(2*second, respond(307, "")), second, false, 307, NotChanged, "the response is a redirect, and redirects are never followed"},
		"no retry": {respondAfter(2*second, respond503), second, false, 503, Unknown,
			"the request was not retried, because the operation was interrupted or its time limit had passed"},
		"no retry of a connection": {respondAfter(2*second, failWith(errConnectionRefused)), second, false, 0, Unknown,
			"the connection failed: dial tcp: connect: connection refused; the request was not retried, " +
				"because the operation was interrupted or its time limit had passed"},
		"too late":           {respondAfter(7*second, respondSuccess), 5 * second, false, 0, Unknown, "the operation was interrupted"},
		"no response at all": {neverRespond, 5 * second, false, 0, Unknown, "the operation was interrupted"},
		"no connection":      {failAfterCancel, 5 * second, false, 0, NotChanged, "the operation was interrupted"},
		"the request timeout": {respondAfter(90*second, respondSuccess), 3 * second, false, 0, Unknown,
			"the service did not respond within 4s; the request was not retried, because the operation was interrupted or its time limit had passed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cfg := Config{}
				if name == "the request timeout" {
					cfg.RequestTimeout = 4 * second
				}
				s := scripted(test.response)
				got, e, took := interruptedUpdate(t, clientOver(t, cfg, s), second)
				if (got != nil) != test.ok || took != test.took || len(s.times) != 1 {
					t.Fatalf("stream %v, error %v, after %s and %d attempts", got, e, took, len(s.times))
				}
				if !test.ok && (e.Status != test.status || e.Outcome != test.outcome || e.Reason != test.reason || e.Attempts != 1) {
					t.Errorf("error %#v", e)
				}
			})
		})
	}
}

// failAfterCancel fails to connect until the client gives up.
func failAfterCancel(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// An interrupt during the token request: the token is not used any more.
func TestInterruptedTokenRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scripted(respondAfter(3*time.Second, respond(200, `{"access_token":"a"}`, "Content-Type", "application/json")), respondSuccess)
		_, e, took := interruptedUpdate(t, clientOver(t, Config{OAuth2: &OAuth2{TokenURL: "https://token.example"}}, s), time.Second)
		if e == nil || e.Outcome != NotChanged || e.Reason != "the operation was interrupted" || e.Method != http.MethodPatch || len(s.times) != 1 ||
			took != 2*time.Second {
			t.Errorf("error %#v after %s and %d requests", e, took, len(s.times))
		}
	})
}

// The time limit of the operation also ends an interrupted attempt.
func TestInterruptedNearTheTimeLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		attempt, end := attemptContext(ctx, time.Minute)
		defer end()
		<-attempt.Done()
		if took := time.Since(start); took != 3*time.Second || !errors.Is(context.Cause(attempt), context.Canceled) {
			t.Errorf("%v after %s", context.Cause(attempt), took)
		}
	})
}

// An attempt that waits for the first connection has not started.
func TestInterruptedWaitForTheFirstConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clientOver(t, Config{}, transportFunc(failAfterCancel))
		limited, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		go func() { _, _ = c.UpdateStream(limited, "s0", NewProcessorSet("p1")) }()
		synctest.Wait()
		_, e, took := interruptedUpdate(t, c, time.Second)
		if e == nil || e.Attempts != 0 || e.Outcome != NotChanged || took != 0 {
			t.Errorf("error %#v after %s", e, took)
		}
		<-limited.Done()
		synctest.Wait()
	})
}
