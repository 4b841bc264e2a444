package streams_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Each error status has one kind and one outcome, and is retried or not. A read never changes the stream.
func TestStatus(t *testing.T) {
	t.Parallel()
	type result struct {
		kind     streams.Kind
		outcome  streams.Outcome
		attempts int
	}
	rejected := result{"Bad Request Error", streams.NotChanged, 1}
	for status, want := range map[int]result{
		400: rejected, 405: rejected, 409: rejected, 422: rejected,
		401: {"Authentication Error", streams.NotChanged, 1},
		403: {"Unauthorized Error", streams.NotChanged, 1},
		404: {"Resource Not Found Error", streams.NotChanged, 1},
		408: {"Timeout Error", streams.Unknown, 5},
		429: {"Bad Request Error", streams.NotChanged, 5},
		500: {"Generic Error", streams.Unknown, 5},
		501: {"Generic Error", streams.NotChanged, 1},
		502: {"Bad Gateway Error", streams.Unknown, 5},
		503: {"Generic Error", streams.Unknown, 5},
		504: {"Timeout Error", streams.Unknown, 5},
		505: {"Generic Error", streams.Unknown, 1},
	} {
		runVirtual(t, fmt.Sprint(status), func(t *testing.T) {
			s := startService(t, respondError(status, "a message"))
			e := s.updateError(t, streams.Config{})
			s.wantError(t, e, streams.Error{
				Kind: want.kind, Status: status, Message: "a message", Documented: true, Attempts: want.attempts, Outcome: want.outcome,
			})
			line := fmt.Sprintf("%s: PATCH %s/v2/streams/s1: %s: a message", want.kind, s.URL, streams.StatusText(status))
			if e.Error() != line {
				t.Errorf("Error() = %q, want %q", e, line)
			}
			s.wantRequests(t, want.attempts)
			stream, err := newClient(t, streams.Config{BaseURL: s.URL}).ReadStream(t.Context(), "s1")
			if e := asError(t, err); stream != nil || e.Kind != want.kind || e.Outcome != streams.NotChanged || e.Method != "GET" {
				t.Errorf("read: %v, %#v", stream, e)
			}
		})
	}
}

// A status line with 000 is a response, of no documented kind. One without a status of three digits is none.
func TestStatusLine(t *testing.T) {
	t.Parallel()
	const connection, malformed = "Connection Failed", "the connection failed: net/http: HTTP/1.x transport connection broken: "
	for line, test := range map[string]struct {
		kind     streams.Kind
		attempts int
		text     string
	}{
		"000 odd": {streams.KindGeneric, 1, "000: no"},
		"0":       {connection, 5, malformed + `malformed HTTP status code "0"`},
		"1000 X":  {connection, 5, malformed + `malformed HTTP status code "1000"`},
	} {
		s := startService(t, respondRaw("HTTP/1.1 "+line+"\r\nContent-Length: 2\r\n\r\nno"))
		e := s.updateError(t, streams.Config{})
		wantFailed(t, e, test.kind, streams.Unknown, test.attempts)
		wantEqual(t, "error", fmt.Sprintf("%s: PATCH %s/v2/streams/s1: %s", test.kind, s.URL, test.text), e.Error())
		if e.Status != 0 || e.Responded() != (line == "000 odd") {
			t.Errorf("%s: status %d, responded %t", line, e.Status, e.Responded())
		}
	}
}

// If an earlier attempt may have changed the stream, a later rejection or redirect leaves that unknown.
func TestOutcomeOfSeveralAttempts(t *testing.T) {
	t.Parallel()
	for want, firsts := range map[streams.Outcome][]http.HandlerFunc{
		streams.Unknown:    {resetConnection, respondTruncated(200), respondTruncated(400), respondError(503, "later")},
		streams.NotChanged: {respondError(429, "slow down")},
	} {
		for n, first := range firsts {
			for _, status := range []int{302, 400, 401, 501} {
				e := startService(t, first, respondError(status, "no")).updateError(t, streams.Config{})
				if e.Outcome != want || e.Status != status || e.Message != "no" || e.Attempts != 2 {
					t.Errorf("%d after response %d: %#v", status, n, e)
				}
			}
		}
	}
}

// The error says why the last attempt failed, and has the last message of the service, also if later attempts get no
// response. The outcome is unknown if a request may have been sent.
func TestNoResponse(t *testing.T) {
	t.Parallel()
	const connection, timeout, failed = streams.KindConnection, streams.KindTimeout, "the connection failed: "
	first, later, cutOff := respondError(502, "first"), respondError(503, "later"), respondTruncated(200)
	for name, test := range map[string]struct {
		first, second http.HandlerFunc // nil: connections are refused
		limit         time.Duration
		kind          streams.Kind
		status        int
		reason        string
	}{
		"reset":                 {resetConnection, resetConnection, time.Hour, connection, 0, failed + "EOF"},
		"incomplete":            {cutOff, cutOff, time.Hour, connection, 0, failed + "the response is incomplete: unexpected EOF"},
		"refused":               {nil, nil, time.Hour, connection, 0, failed + "dial tcp: connect: connection refused"},
		"another message":       {first, later, time.Hour, streams.KindGeneric, 503, ""},
		"reset after a message": {later, resetConnection, time.Hour, connection, 503, failed + "EOF"},
		"no response after it":  {later, neverRespond, time.Hour, timeout, 503, "the service did not respond within 30s"},
		"time limit after it":   {later, neverRespond, 10 * time.Second, timeout, 503, "the operation did not finish within its time limit"},
	} {
		runVirtual(t, name, func(t *testing.T) {
			s := startService(t, test.first, test.second)
			want := streams.Error{Kind: test.kind, Status: test.status, Reason: test.reason, Attempts: 2, Outcome: streams.Unknown}
			if test.status != 0 {
				want.Message, want.Documented = "later", true
			}
			if test.first == nil {
				s.Close()
				want.Outcome = streams.NotChanged
			}
			retry := streams.Retry{MaxAttempts: 2, MinBackoff: time.Second, MaxBackoff: time.Second}
			_, err := s.updateWithin(t, streams.Config{Retry: retry}, test.limit)
			s.wantError(t, err, want)
		})
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
	if wantFailed(t, e, streams.KindConnection, streams.NotChanged, 0); tries != 1 || !errors.Is(e, streams.ErrNotSent) {
		t.Errorf("error %#v", e)
	}
	streamstest.WantText(t, e.Reason, "the request cannot be sent: ", "X-Key")
	s.wantRequests(t, 0)
}
