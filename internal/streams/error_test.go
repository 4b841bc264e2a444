package streams_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Each error status has one kind and one outcome, and is retried or not. A read never changes the stream. The error has
// the id of the request, for the service's support, from any of the usual headers.
func TestStatus(t *testing.T) {
	t.Parallel()
	type result struct {
		kind     streams.Kind
		outcome  streams.Outcome
		attempts int
	}
	requestIDs := []string{"x-request-id", "X-Correlation-ID", "traceparent"}
	rejected := result{"Bad Request Error", streams.NotChanged, 1}
	for status, want := range map[int]result{
		400: rejected, 405: rejected, 422: rejected,
		401: {"Authentication Error", streams.NotChanged, 2},
		403: {"Unauthorized Error", streams.NotChanged, 1},
		404: {"Resource Not Found Error", streams.NotChanged, 1},
		408: {"Timeout Error", streams.Unknown, 5},
		409: {"Bad Request Error", streams.NotChanged, 5},
		423: {"Bad Request Error", streams.NotChanged, 5},
		425: {"Bad Request Error", streams.NotChanged, 5},
		429: {"Bad Request Error", streams.NotChanged, 5},
		500: {"Generic Error", streams.Unknown, 5},
		501: {"Generic Error", streams.NotChanged, 1},
		502: {"Bad Gateway Error", streams.Unknown, 5},
		503: {"Generic Error", streams.Unknown, 5},
		504: {"Timeout Error", streams.Unknown, 5},
		505: {"Generic Error", streams.Unknown, 1},
		507: {"Generic Error", streams.Unknown, 5},
		511: {"Generic Error", streams.Unknown, 1},
		520: {"Generic Error", streams.Unknown, 5},
		530: {"Generic Error", streams.Unknown, 5},
		451: rejected, 418: rejected,
		// Not registered: a proxy may have stopped waiting after the service had applied the set.
		444: {"Bad Request Error", streams.Unknown, 1},
		460: {"Bad Request Error", streams.Unknown, 1},
		499: {"Bad Request Error", streams.Unknown, 1},
	} {
		RunVirtual(t, fmt.Sprint(status), func(t *testing.T) {
			header := requestIDs[status%len(requestIDs)]
			s := StartService(t, RespondError(status, "a message", header, "req-4711\u202e"))
			e := s.UpdateError(t, requests.Config{})
			s.WantError(t, e, want.kind, want.outcome, requests.Result{
				Status: status, Message: "a message", Form: masking.FormDocumented, RequestID: `req-4711\u202e`, Attempts: want.attempts,
			})
			s.WantRequests(t, want.attempts)
			stream, err := NewClient(t, requests.Config{BaseURL: s.URL}).ReadStream(t.Context(), "s1")
			if e := AsError(t, err); stream != nil || e.Kind != want.kind || e.Outcome != streams.NotChanged || e.Method != "GET" {
				t.Errorf("read: %v, %#v", stream, e)
			}
		})
	}
}

// If an earlier attempt may have changed the stream, a later rejection or redirect leaves that unknown, and so does a
// failed token request.
func TestOutcomeOfSeveralAttempts(t *testing.T) {
	Virtual(t, testOutcomeOfSeveralAttempts)
}

func testOutcomeOfSeveralAttempts(t *testing.T) {
	for want, firsts := range map[streams.Outcome][]http.HandlerFunc{
		streams.Unknown: {
			ResetConnection, RespondTruncated(200), RespondTruncated(503), RespondError(503, "later"), RespondError(520, "later"),
		},
		streams.NotChanged: {RespondError(429, "slow down")},
	} {
		for n, first := range firsts {
			for _, status := range []int{302, 400, 403, 501} {
				e := StartService(t, first, RespondError(status, "no")).UpdateError(t, requests.Config{})
				if e.Outcome != want || e.Status != status || e.Message != "no" || e.Attempts != 2 {
					t.Errorf("%d after response %d: %#v", status, n, e)
				}
			}
			s := StartService(t, first)
			cfg := OAuth2Config(s, StartService(t, IssueTokens(1), RespondError(403, "no more"))) // the token expires before the second attempt
			cfg.Retry = requests.Retry{MaxAttempts: 2, MinBackoff: time.Second}
			if e := s.UpdateError(t, cfg); e.Outcome != want || e.Method != "POST" || e.Message != "no more" {
				t.Errorf("a token request after response %d: %#v", n, e)
			}
		}
	}
}

// The error says why the last attempt failed and no other one follows. It has the last message of the service, also if
// later attempts get no response. The outcome is unknown if a request may have been sent.
func TestLastAttempt(t *testing.T) {
	t.Parallel()
	const (
		lost, generic, timeout = streams.KindConnection, streams.KindGeneric, streams.KindTimeout
		farDate                = "Sat, 01 Jan 2000 23:59:59 GMT" // a virtual clock starts 24 hours before
		failed                 = "the connection failed: "
		noCode                 = "net/http: HTTP/1.x transport connection broken: malformed HTTP status code "
		noTime                 = "the operation's time limit leaves no time for another attempt"
	)
	const tooLong = "the service asked to wait (Retry-After: %s), longer than the operation's time limit allows"
	first, later, cutOff := RespondError(502, "first"), RespondError(503, "later"), RespondTruncated(200)
	noStatus := RespondRaw("HTTP/1.1 0\r\n\r\n")
	after := func(value string) http.HandlerFunc { return RespondError(503, "later", "Retry-After", value) }
	for name, test := range map[string]struct {
		first, second http.HandlerFunc // nil: there is no second attempt; no first: connections are refused
		limit         time.Duration
		kind          streams.Kind
		status        int
		reason        string
	}{
		"reset":                 {ResetConnection, ResetConnection, time.Hour, lost, 0, failed + "EOF"},
		"incomplete":            {cutOff, cutOff, time.Hour, lost, 200, "the response is incomplete: unexpected EOF"},
		"refused":               {nil, later, time.Hour, lost, 0, failed + "dial tcp: connect: connection refused"},
		"no status of 3 digits": {noStatus, RespondRaw("HTTP/1.1 1000 X\r\n\r\n"), time.Hour, lost, 0, failed + noCode + `"1000"`},
		"another message":       {first, later, time.Hour, generic, 503, ""},
		"reset after a message": {later, ResetConnection, time.Hour, lost, 503, failed + "EOF"},
		"no response after it":  {later, NeverRespond, time.Hour, timeout, 503, "the service did not respond within 30s"},
		"time limit after it":   {later, NeverRespond, 10 * time.Second, timeout, 503, "the operation did not finish within its time limit"},
		"time limit before it":  {later, nil, time.Second - 1, generic, 503, noTime},
		"a long wait":           {after("3600"), nil, time.Hour - 1, generic, 503, fmt.Sprintf(tooLong, "3600")},
		"a far date":            {after(farDate), nil, time.Hour, generic, 503, fmt.Sprintf(tooLong, farDate)},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			s := StartService(t, test.first, test.second)
			outcome, want := streams.Unknown, requests.Result{Status: test.status, Reason: test.reason, Attempts: 2}
			if test.status == 503 {
				want.Message, want.Form = "later", masking.FormDocumented
			}
			if test.first == nil {
				s.Close()
				outcome = streams.NotChanged
			}
			start := time.Now()
			retry := requests.Retry{MaxAttempts: 2, MinBackoff: time.Second, MaxBackoff: time.Second}
			_, err := s.UpdateWithin(t, requests.Config{Retry: retry}, test.limit)
			if test.second == nil {
				want.Attempts = 1
				WantEqual(t, "the time until the error", time.Duration(0), time.Since(start))
			}
			s.WantError(t, err, test.kind, outcome, want)
		})
	}
}

// What Go's HTTP library refuses to send is not retried, and the service is not blamed.
func TestNotSent(t *testing.T) {
	t.Parallel()
	s := StartService(t, ApplyUpdate)
	tries := 0
	e := s.UpdateError(t, requests.Config{
		Headers: map[string]string{"X-Key": "a\nb"}, Observe: func(context.Context, requests.Attempt) { tries++ },
	})
	if WantFailed(t, e, streams.KindConnection, streams.NotChanged, 0); tries != 1 || !errors.Is(e, transport.ErrNotSent) {
		t.Errorf("error %#v", e)
	}
	streamstest.WantText(t, e.Reason, "the request cannot be sent: ", "X-Key")
	s.WantRequests(t, 0)
}

// A redirect is never followed: Go would send a GET instead of the PATCH, and its response would look like a success.
func TestRedirect(t *testing.T) {
	t.Parallel()
	target := StartService(t, ApplyUpdate)
	for location, shown := range map[string]string{
		target.URL + "/v2/streams/s1":                 target.URL + "/v2/streams/s1",
		"/login?next=%2Fv2":                           "/login?next=%2Fv2",
		"http://[::1":                                 "http://[::1",
		"https://x/\xff\xe2\x80\xae":                  `https://x/\xff\u202e`,
		"https://x/" + strings.Repeat("a", 5000):      "https://x/" + strings.Repeat("a", 290) + "…",
		"https://x/login?token=" + "t0ken%2F" + "abc": "https://x/login?***",
	} {
		for status, outcome := range map[int]streams.Outcome{
			301: streams.NotChanged, 302: streams.NotChanged, 303: streams.Unknown,
			307: streams.NotChanged, 308: streams.NotChanged, 399: streams.Unknown,
		} {
			s := StartService(t, RespondError(status, "moved", "Location", location))
			s.WantError(t, s.UpdateError(t, requests.Config{Token: "t0ken/abc"}), streams.KindRedirect, outcome, requests.Result{
				Status: status, Message: "moved", Form: masking.FormDocumented, Location: shown, Attempts: 1,
			})
			s.WantRequests(t, 1)
		}
	}
	target.WantRequests(t, 0)
}

// A 304 is no redirect: the service says that nothing changes. It does not show the stream.
func TestNotModified(t *testing.T) {
	t.Parallel()
	s := StartService(t, Respond(http.StatusNotModified, ""))
	s.WantError(t, s.UpdateError(t, requests.Config{}), streams.KindUnexpected, streams.NotChanged, requests.Result{
		Status: 304, Reason: "the response says that nothing changes, and does not show the stream", Attempts: 1,
	})
	s.WantRequests(t, 1)
	_, err := NewClient(t, requests.Config{BaseURL: s.URL}).ReadStream(t.Context(), "s1")
	WantFailed(t, AsError(t, err), streams.KindUnexpected, streams.NotChanged, 1)
}
