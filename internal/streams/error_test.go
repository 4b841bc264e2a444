package streams_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Each error status has one kind and one outcome, and is retried or not.
func TestStatus(t *testing.T) {
	t.Parallel()
	const (
		bad            = "Bad Request Error"
		authentication = "Authentication Error"
		unauthorized   = "Unauthorized Error"
		notFound       = "Resource Not Found Error"
		timeout        = "Timeout Error"
		gateway        = "Bad Gateway Error"
		generic        = "Generic Error"
	)
	for status, want := range map[int]struct {
		kind     streams.Kind
		outcome  streams.Outcome
		attempts int
	}{
		400: {bad, streams.NotChanged, 1},
		401: {authentication, streams.NotChanged, 1},
		403: {unauthorized, streams.NotChanged, 1},
		404: {notFound, streams.NotChanged, 1},
		405: {bad, streams.NotChanged, 1},
		408: {timeout, streams.Unknown, 5},
		409: {bad, streams.NotChanged, 1},
		422: {bad, streams.NotChanged, 1},
		429: {bad, streams.NotChanged, 5},
		500: {generic, streams.Unknown, 5},
		501: {generic, streams.NotChanged, 1},
		502: {gateway, streams.Unknown, 5},
		503: {generic, streams.Unknown, 5},
		504: {timeout, streams.Unknown, 5},
		505: {generic, streams.Unknown, 1},
		599: {generic, streams.Unknown, 1},
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			s := startService(t, respondError(status, "a message"))
			e := s.updateError(t, streams.Config{})
			got := *e
			got.Err = nil
			if diff := cmp.Diff(streams.Error{
				Kind: want.kind, Method: "PATCH", URL: s.URL + "/v2/streams/s1", Status: status,
				Message: "a message", Documented: true, Attempts: want.attempts, Outcome: want.outcome,
			}, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			line := fmt.Sprintf("%s: PATCH %s/v2/streams/s1: %s: a message", want.kind, s.URL, streams.StatusText(status))
			if e.Error() != line {
				t.Errorf("Error() = %q, want %q", e, line)
			}
			s.wantRequests(t, want.attempts)

			// A read never changes the stream.
			stream, err := newClient(t, streams.Config{BaseURL: s.URL}).ReadStream(t.Context(), "s1")
			if e := asError(t, err); stream != nil || e.Kind != want.kind || e.Outcome != streams.NotChanged || e.Method != "GET" {
				t.Errorf("read: %v, %#v", stream, e)
			}
		})
	}
}

// If an earlier attempt may have changed the stream, a later refusal or redirect leaves that unknown.
func TestOutcomeOfSeveralAttempts(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]http.HandlerFunc{
		"reset": resetConnection, "incomplete 200": respondTruncated(200), "incomplete 400": respondTruncated(400), "503": respondError(503, "later"), "408": respondError(408, "slow"),
	} {
		for _, status := range []int{302, 400, 401, 404, 501} {
			s := startService(t, first, respondError(status, "no"))
			if e := s.updateError(t, streams.Config{}); e.Outcome != streams.Unknown || e.Status != status || e.Message != "no" || e.Attempts != 2 {
				t.Errorf("%d after %s: %#v", status, name, e)
			}
		}
	}
	// 429 means that the service did not apply the update.
	if e := startService(t, respondError(429, "slow down"), respondError(400, "no")).updateError(t, streams.Config{}); e.Outcome != streams.NotChanged {
		t.Errorf("400 after 429: %#v", e)
	}
}

// An error has the id of the request, for the service's support.
func TestRequestID(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"x-request-id", "X-Correlation-ID", "x-amzn-RequestId", "CF-Ray"} {
		e := startService(t, respondError(500, "broken", header, "req-4711 t0ken\u202e")).updateError(t, streams.Config{Token: "t0ken"})
		if e.RequestID != `req-4711 ***\u202e` {
			t.Errorf("%s: %#v", header, e)
		}
	}
}

// What Go's HTTP library refuses to send is not retried, and the service is not blamed.
func TestNotSent(t *testing.T) {
	t.Parallel()
	s := startService(t, applyUpdate)
	tries := 0
	e := s.updateError(t, streams.Config{
		Headers: map[string]string{"X-Key": "a\nb"}, Observe: func(context.Context, streams.Attempt) { tries++ },
	})
	if tries != 1 || e.Kind != streams.KindConnection || e.Attempts != 0 || e.Outcome != streams.NotChanged || !errors.Is(e, streams.ErrNotSent) {
		t.Errorf("error %#v", e)
	}
	wantText(t, e.Reason, "the request cannot be sent: ", "X-Key")
	s.wantRequests(t, 0)
	_, err := streams.New(streams.Config{BaseURL: s.URL, UserAgent: "me\nX: y"})
	wantText(t, errorText(err), "TF_APPEND_USER_AGENT")
}
